#include "model/script/script_model.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "model/speech.h"
#include "tug/core/error_json.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

// A turn as it will be served, built once: serving it copies pointers and the text of the deltas.
struct Line {
  Speech speech;
  Json reservation;
  std::string agent;
  std::string when;
  bool repeat = false;
  bool down = false;  // fails in a way that a later try may not
};

struct Script {
  ModelProfile profile;
  ScriptOrder order = ScriptOrder::once;
  std::vector<Line> lines;
  // No line has a condition and none repeats: each is served in its place.
  bool plain = true;
};

constexpr std::string_view kLine = "line";

Json to_json(const ScriptCall& call) {
  // Arguments that are an object stand as one, so that the line reads as it was written.
  Result<Json> parsed = parse_json(call.arguments);
  Json arguments = parsed && parsed->is_object() ? *std::move(parsed) : Json(call.arguments);
  return Json::object({{"id", call.id}, {"name", call.name}, {"arguments", std::move(arguments)}});
}

Json to_json(const ScriptTurn& turn, Finish finish) {
  Json json = Json::object();
  if (!turn.text.empty()) json.set("text", turn.text);
  if (!turn.reasoning.empty()) json.set("reasoning", turn.reasoning);
  if (!turn.tool_calls.empty()) {
    Json calls = Json::array();
    for (const ScriptCall& call : turn.tool_calls) calls.push_back(to_json(call));
    json.set("tool_calls", std::move(calls));
  }
  if (turn.usage != Usage{}) json.set("usage", JsonForm<Usage>::write(turn.usage));
  json.set("finish", name_of(finish));
  return json;
}

MessagePtr message_of(const ScriptTurn& turn) {
  std::vector<Part> parts;
  if (!turn.reasoning.empty()) parts.emplace_back(ReasoningPart{.text = turn.reasoning});
  if (!turn.text.empty()) parts.emplace_back(TextPart{turn.text});
  for (const ScriptCall& call : turn.tool_calls) {
    parts.emplace_back(
        ToolCall{.provider_id = call.id, .tool = call.name, .arguments = call.arguments});
  }
  return Message::make(Role::assistant, std::move(parts));
}

Line line_of(ScriptTurn turn, std::size_t number, const ModelProfile& profile) {
  Line line;
  line.reservation = Json::object({{kLine, number}});
  line.agent = std::move(turn.agent);
  line.when = std::move(turn.when);
  line.repeat = turn.repeat;
  if (turn.error) {
    line.down = is_retryable(provider_error(profile, turn.error->status, turn.error->body, {}));
  }
  line.speech = speech_of(std::move(turn), profile);
  return line;
}

bool says(const Message& message, std::string_view text) {
  for (const Part& part : message.parts()) {
    if (const auto* words = std::get_if<TextPart>(&part)) {
      if (words->text.contains(text)) return true;
    } else if (const auto* result = std::get_if<ToolResult>(&part)) {
      if (result->content.contains(text)) return true;
    }
  }
  return false;
}

bool fits(const Line& line, const ModelRequest& request) {
  if (!line.agent.empty() && line.agent != request.agent) return false;
  if (line.when.empty()) return true;
  const MessagePtr newest = request.transcript.newest_said();
  return newest && says(*newest, line.when);
}

std::size_t line_in(const Json& reservation) noexcept {
  return static_cast<std::size_t>(reservation[kLine].as_uint().value_or(0));
}

// The newest line that was served, 0 for none; attempts that found none do not count.
std::size_t last_served(const ModelRequest& request) noexcept {
  if (!request.reserved) return 0;
  for (std::size_t i = request.reserved->size(); i-- > 0;) {
    if (const std::size_t line = line_in((*request.reserved)[i])) return line;
  }
  return 0;
}

std::vector<bool> used_lines(const Script& script, const ModelRequest& request) {
  std::vector<bool> used(script.lines.size() + 1);
  if (!request.reserved) return used;
  for (const Json& reservation : *request.reserved) {
    const std::size_t line = line_in(reservation);
    if (line < used.size()) used[line] = true;
  }
  return used;
}

// A provider that was down when the script ended stays down.
std::size_t after_the_end(const Script& script, const ModelRequest& request) {
  const std::size_t last = last_served(request);
  return last > 0 && last <= script.lines.size() && script.lines[last - 1].down ? last : 0;
}

// Counted from 1; 0 when no line is left.
std::size_t pick(const Script& script, const ModelRequest& request) {
  const std::size_t count = script.lines.size();
  if (script.plain || script.order == ScriptOrder::in_turn) {
    const std::size_t last = last_served(request);
    if (last < count) return last + 1;
    if (script.order == ScriptOrder::in_turn && count > 0) return 1;
    return after_the_end(script, request);
  }
  std::vector<bool> used;
  for (std::size_t number = 1; number <= count; ++number) {
    const Line& line = script.lines[number - 1];
    if (!fits(line, request)) continue;
    if (line.repeat) return number;
    if (used.empty()) used = used_lines(script, request);
    if (!used[number]) return number;
  }
  return after_the_end(script, request);
}

Error exhausted(const Script& script, const ModelRequest& request) {
  const std::size_t count = script.lines.size();
  const std::string lines = std::to_string(count) + (count == 1 ? " line" : " lines");
  std::string message = script.profile.id() + " is exhausted: ";
  if (script.plain) {
    message += "its " + lines + (count == 1 ? " is used" : " are used");
  } else {
    message += "none of its " + lines + " is unused and fits this request";
    if (!request.agent.empty()) message += " of agent \"" + request.agent + "\"";
  }
  return Error(ErrorKind::invalid, std::move(message),
               "add a line for this model call, or put \"repeat\": true on one",
               Provider{.provider = script.profile.provider,
                        .model = script.profile.name,
                        .fault = "script_exhausted"});
}

class ScriptModel final : public Model {
 public:
  explicit ScriptModel(std::shared_ptr<const Script> script) : script_(std::move(script)) {}

  const ModelProfile& profile() const noexcept override { return script_->profile; }

  Json reserve(const ModelRequest& request) const override {
    const std::size_t line = pick(*script_, request);
    return line == 0 ? Json::object({{kLine, 0}}) : script_->lines[line - 1].reservation;
  }

  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    const bool reserved = request.reservation.contains(kLine);
    const std::size_t line = reserved ? line_in(request.reservation) : pick(*script_, request);
    if (line == 0 || line > script_->lines.size()) {
      auto nothing = std::make_shared<Speech>();
      nothing->error = exhausted(*script_, request);
      return make_speech_stream(std::move(nothing), std::move(until));
    }
    std::shared_ptr<const Speech> speech(script_, &script_->lines[line - 1].speech);
    return make_speech_stream(std::move(speech), std::move(until));
  }

 private:
  std::shared_ptr<const Script> script_;
};

}  // namespace

Speech speech_of(ScriptTurn turn, const ModelProfile& profile) {
  if (!is_utf8(turn.text)) turn.text = repair_utf8(turn.text);
  const Finish finish =
      turn.finish.value_or(turn.tool_calls.empty() ? Finish::stop : Finish::tool_calls);
  Speech speech;
  speech.turn = ModelTurn{.message = message_of(turn),
                          .finish = finish,
                          .usage = turn.usage,
                          .model = profile.name,
                          .raw = to_json(turn, finish)};
  speech.cuts = cut_evenly(turn.text, turn.chunks);
  speech.before = std::chrono::milliseconds(turn.delay_ms);
  speech.between = std::chrono::milliseconds(turn.chunk_delay_ms);
  if (turn.error) {
    speech.error =
        provider_error(profile, turn.error->status, turn.error->body, turn.error->retry_after);
  }
  return speech;
}

ModelPtr make_script_model(std::vector<ScriptTurn> turns, ModelProfile profile, ScriptOrder order) {
  auto script = std::make_shared<Script>();
  script->profile = std::move(profile);
  script->order = order;
  script->lines.reserve(turns.size());
  std::size_t calls = 0;
  for (ScriptTurn& turn : turns) {
    for (ScriptCall& call : turn.tool_calls) {
      ++calls;
      if (call.id.empty()) call.id = "call_" + std::to_string(calls);
    }
    const bool plain = turn.agent.empty() && turn.when.empty() && !turn.repeat;
    script->plain = script->plain && plain;
    script->lines.push_back(line_of(std::move(turn), script->lines.size() + 1, script->profile));
  }
  return std::make_shared<ScriptModel>(std::move(script));
}

ModelPtr make_script_model(std::vector<ScriptTurn> turns, ModelProfile profile) {
  return make_script_model(std::move(turns), std::move(profile), ScriptOrder::once);
}

}  // namespace tug
