#include "model/gemini/answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/try.h"
#include "model/wire_words.h"
#include "tug/core/base64.h"

namespace tug::gemini {
namespace {

constexpr std::size_t kMaxParts = 16'384;

void raise(std::int64_t& count, std::int64_t to) noexcept { count = std::max(count, to); }

bool is_said(std::string_view reason, std::string_view prefix) noexcept {
  return !reason.empty() && reason != prefix;
}

Finish finish_of(std::string_view reason, bool calls) noexcept {
  constexpr std::array<std::pair<std::string_view, Finish>, 12> kReasons = {
      {{"STOP", Finish::stop},
       {"MAX_TOKENS", Finish::length},
       {"SAFETY", Finish::refusal},
       {"RECITATION", Finish::refusal},
       {"BLOCKLIST", Finish::refusal},
       {"PROHIBITED_CONTENT", Finish::refusal},
       {"SPII", Finish::refusal},
       {"IMAGE_SAFETY", Finish::refusal},
       {"IMAGE_PROHIBITED_CONTENT", Finish::refusal},
       {"IMAGE_RECITATION", Finish::refusal},
       {"CONTINUATION", Finish::pause},
       {"OTHER", Finish::other}}};
  for (const auto& [name, finish] : kReasons) {
    if (name != reason) continue;
    return finish == Finish::stop && calls ? Finish::tool_calls : finish;
  }
  return Finish::other;
}

}  // namespace

Result<void> Answer::grow(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kMaxAnswerBytes && parts_.size() <= kMaxParts && calls_ <= kMaxCallsOfAnAnswer)
    return {};
  return Failure(fault_error(fault_source(call_), Fault::response_too_large,
                             "the answer holds more than 64 MB, " +
                                 std::to_string(kMaxCallsOfAnAnswer) + " calls or " +
                                 std::to_string(kMaxParts) + " parts",
                             "ask for less at once"));
}

Result<void> Answer::take(const Json& reply, std::vector<ModelEvent>& out) {
  const std::string_view id = reply["responseId"].as_string();
  if (!id.empty() && !id_.empty() && id != id_) {
    return Failure(fault_error(fault_source(call_), Fault::not_an_answer,
                               "the stream holds two answers, " + id_ + " and " + std::string(id),
                               "something between us and the provider mixes them up; ask again"));
  }
  begun_ |= reply.contains("candidates") || reply.contains("usageMetadata");
  if (id_.empty()) id_ = std::string(id);
  if (model_.empty()) model_ = std::string(reply["modelVersion"].as_string());
  Result<void> taken;
  if (!ended()) {
    const Json& candidate = reply["candidates"][0];
    const std::string_view blocked = reply["promptFeedback"]["blockReason"].as_string();
    if (call_.request.keep_raw && (candidate.is_object() || !blocked.empty())) last_ = reply;
    taken = take_candidate(candidate, out);
    if (candidate.is_null() && is_said(blocked, "BLOCKED_REASON_UNSPECIFIED"))
      blocked_ = std::string(blocked);
  }
  count(reply["usageMetadata"], out);
  return taken;
}

Result<void> Answer::take_candidate(const Json& candidate, std::vector<ModelEvent>& out) {
  for (const Json& part : candidate["content"]["parts"].items()) {
    TUG_TRY(taken, take_part(part, out));
  }
  const std::string_view reason = candidate["finishReason"].as_string();
  if (!is_said(reason, "FINISH_REASON_UNSPECIFIED")) return {};
  reason_ = std::string(reason);
  message_ = std::string(candidate["finishMessage"].as_string());
  if (reason != "MALFORMED_FUNCTION_CALL" && reason != "UNEXPECTED_TOOL_CALL") return {};
  return Failure(fault_error(fault_source(call_), Fault::malformed_call,
                             "the model made a call that is none (" + reason_ + ")" +
                                 (message_.empty() ? "" : ": " + message_),
                             "ask again"));
}

void Answer::sign(const Json& part) {
  const Json& signature = part["thoughtSignature"];
  if (!signature.is_string() || signature.as_string().empty()) return;
  parts_.emplace_back(ReasoningPart{"", call_.provider.name,
                                    Json::object({{"thoughtSignature", signature}}), false});
}

Result<void> Answer::take_part(const Json& part, std::vector<ModelEvent>& out) {
  if (!part.is_object()) return {};
  const Json& media = part["inlineData"].is_object() ? part["inlineData"] : part["fileData"];
  if (part["text"].is_string() && part["functionCall"].is_null() && media.is_null()) {
    TUG_TRY(grown, grow(part["text"].as_string().size()));
    take_text(part, out);
    return {};
  }
  keep_raw(part, false);
  open_ = false;
  if (part["functionCall"].is_object()) return take_call(part, out);
  if (media.is_object()) {
    MediaPart made{.mime = std::string(media["mimeType"].as_string()),
                   .name = std::string(media["displayName"].as_string()),
                   .url = std::string(media["fileUri"].as_string())};
    std::optional<std::string> bytes = from_base64(media["data"].as_string());
    if (made.url.empty() && bytes && !bytes->empty())
      made.bytes = std::make_shared<const std::string>(*std::move(bytes));
    if (made.bytes || !made.url.empty()) {
      sign(part);
      parts_.emplace_back(std::move(made));
      return grow(media["data"].as_string().size());
    }
  }
  if (part.empty()) return {};
  // Code that ran at the provider, and whatever else comes: back as it came.
  parts_.emplace_back(ProviderBlock{call_.provider.name, part});
  return grow(print_json(part).size());
}

void Answer::take_text(const Json& part, std::vector<ModelEvent>& out) {
  const std::string_view text = part["text"].as_string();
  const bool thought = part["thought"].as_bool();
  const Json& signature = part["thoughtSignature"];
  const bool is_signed = signature.is_string() && !signature.as_string().empty();
  if (text.empty() && !is_signed) return;
  const bool same =
      open_ && !is_signed && std::holds_alternative<ReasoningPart>(parts_.back()) == thought;
  keep_raw(part, same);
  if (same && thought) {
    std::get<ReasoningPart>(parts_.back()).text += text;
  } else if (same) {
    std::get<TextPart>(parts_.back()).text += text;
  } else if (thought) {
    parts_.emplace_back(
        ReasoningPart{std::string(text), call_.provider.name,
                      is_signed ? Json::object({{"thoughtSignature", signature}}) : Json(), false});
  } else {
    sign(part);
    parts_.emplace_back(TextPart{std::string(text)});
  }
  open_ = !is_signed;
  if (text.empty()) return;
  if (thought) {
    out.emplace_back(ReasoningDelta{std::string(text)});
  } else {
    out.emplace_back(TextDelta{std::string(text)});
  }
}

Result<void> Answer::take_call(const Json& part, std::vector<ModelEvent>& out) {
  const Json& call = part["functionCall"];
  if (call.contains("partialArgs") || call["willContinue"].as_bool()) {
    return fail(ErrorKind::unsupported,
                call_.profile.id() + ": the arguments of a call came in pieces",
                "leave streamFunctionCallArguments out of the provider's options",
                Provider{.provider = call_.provider.name,
                         .model = call_.profile.name,
                         .fault = std::string(name_of(Fault::malformed_call))});
  }
  sign(part);
  const Json& args = call["args"];
  std::string arguments = args.is_null()     ? "{}"
                          : args.is_string() ? std::string(args.as_string())
                                             : print_json(args);
  if (arguments.empty()) arguments = "{}";
  ToolCall made{.provider_id = std::string(call["id"].as_string()),
                .tool = tool_named(call_.request, call["name"].as_string()),
                .arguments = std::move(arguments)};
  out.emplace_back(ToolCallDelta{.index = calls_++,
                                 .provider_id = made.provider_id,
                                 .tool = made.tool,
                                 .arguments = made.arguments});
  const std::size_t size = made.arguments.size();
  parts_.emplace_back(std::move(made));
  return grow(size);
}

void Answer::count(const Json& usage, std::vector<ModelEvent>& out) {
  if (!usage.is_object()) return;
  const std::int64_t thoughts = count_of(usage, "thoughtsTokenCount");
  raise(usage_.input_tokens,
        count_of(usage, "promptTokenCount") + count_of(usage, "toolUsePromptTokenCount"));
  raise(usage_.cache_read_tokens, count_of(usage, "cachedContentTokenCount"));
  raise(usage_.output_tokens, count_of(usage, "candidatesTokenCount") + thoughts);
  raise(usage_.reasoning_tokens, thoughts);
  if (const std::int64_t total = count_of(usage, "totalTokenCount"); total > 0)
    usage_.total_tokens = std::max(usage_.total_tokens.value_or(0), total);
  out.emplace_back(UsageDelta{usage_});
}

void Answer::keep_raw(const Json& part, bool joins) {
  if (!call_.request.keep_raw) return;
  if (joins) {
    raw_text_ += part["text"].as_string();
    return;
  }
  if (open_ && !raw_parts_.empty()) raw_parts_.back().set("text", raw_text_);
  raw_parts_.push_back(part);
  raw_text_ = std::string(part["text"].as_string());
}

Json Answer::raw() const {
  if (!call_.request.keep_raw) return {};
  Json raw = last_;
  if (!raw["candidates"][0].is_object()) return raw;
  Json parts = Json::array();
  for (const Json& part : raw_parts_) parts.push_back(part);
  if (open_ && !raw_parts_.empty()) {
    Json last = raw_parts_.back();
    last.set("text", raw_text_);
    parts = Json::array();
    for (std::size_t i = 0; i + 1 < raw_parts_.size(); ++i) parts.push_back(raw_parts_[i]);
    parts.push_back(std::move(last));
  }
  Json candidate = raw["candidates"][0];
  candidate.set("content", Json::object({{"role", "model"}, {"parts", std::move(parts)}}));
  raw.set("candidates", Json::array({std::move(candidate)}));
  return raw;
}

ModelTurn Answer::turn() {
  ModelTurn turn;
  turn.raw = raw();
  turn.message = Message::make(Role::assistant, std::move(parts_));
  turn.finish = blocked_.empty() ? finish_of(reason_.empty() ? "STOP" : reason_, calls_ > 0)
                                 : Finish::refusal;
  turn.usage = usage_;
  turn.model = model_;
  turn.response_id = id_;
  if (!blocked_.empty()) {
    turn.notes.push_back("the prompt was blocked (" + blocked_ + ")");
  } else if (turn.finish == Finish::refusal) {
    turn.notes.push_back("refused (" + reason_ + ")" + (message_.empty() ? "" : ": " + message_));
  }
  return turn;
}

}  // namespace tug::gemini
