#include "core/try.h"
#include "model/openai_chat/wire.h"
#include "tug/core/utf8.h"

namespace tug::chat {
namespace {

constexpr std::size_t kShown = 120;  // bytes of something unexpected that an error quotes

const Json kNothing;

// The members of a chunk that matter, found in one pass: there are as many chunks as words.
struct Outline {
  const Json* id = &kNothing;
  const Json* model = &kNothing;
  const Json* choices = &kNothing;
  bool counts = false;  // something is said about usage
  bool fails = false;
};

bool is_error(const Json& error) noexcept {
  return (error.is_object() && !error.empty()) || !error.as_string().empty();
}

Outline outline_of(const Json& reply) noexcept {
  Outline outline;
  for (const auto& [name, value] : reply.members()) {
    const std::string_view key = name.as_string();
    if (key == "id") {
      outline.id = &value;
    } else if (key == "model") {
      outline.model = &value;
    } else if (key == "choices") {
      outline.choices = &value;
    } else if (key == "error") {
      outline.fails = outline.fails || is_error(value);
    } else if (key == "object") {
      outline.fails = outline.fails || value.as_string() == "error";
    } else if (key == "usage" || key == "x_groq" || key == "timings") {
      outline.counts = outline.counts || value.is_object();
    }
  }
  return outline;
}

const Json& first_choice(const Json& choices) noexcept {
  for (const Json& choice : choices.items()) {
    if (choice.is_object() && choice["index"].as_int().value_or(0) == 0) return choice;
  }
  return kNothing;
}

class ChatDecoder final : public Decoder {
 public:
  explicit ChatDecoder(const WireCall& call) : call_(call) {}

  Result<void> on_event(std::string_view name, std::string_view data,
                        std::vector<ModelEvent>& out) override {
    if (over_) return {};
    if (DeltaTemplate::Hit hit = template_.match(data); hit.kind != DeltaTemplate::Kind::none)
      return take_hit(std::move(hit), out);
    if (data == "[DONE]") return close(out);
    return take_chunk(name, data, out);
  }
  Result<void> on_reply(std::string_view body, std::vector<ModelEvent>& out) override;
  Result<void> on_end(std::vector<ModelEvent>& out) override {
    if (over_) return {};
    return close(out);
  }

 private:
  FaultSource who() const {
    return {.provider = call_.provider.name,
            .model = call_.profile.name,
            .key = &call_.provider.key,
            .key_env = call_.provider.key_env,
            .context_tokens = call_.profile.context_tokens};
  }
  Failure broken(Fault fault, std::string what, std::string fix = {}) {
    over_ = true;
    return Failure(fault_error(who(), fault, std::move(what), std::move(fix)));
  }
  Failure no_answer(std::string_view what, std::string_view data) {
    return broken(Fault::not_an_answer,
                  std::string(what) + ": " + std::string(clip_utf8(repair_utf8(data), kShown)),
                  "check the base URL of " + call_.provider.name +
                      ": something that is no model may stand there");
  }
  Failure said_no(std::string_view data) {
    over_ = true;
    return Failure(classify_fault(who(), {.body = data}));
  }

  Result<void> take_hit(DeltaTemplate::Hit hit, std::vector<ModelEvent>& out);
  Result<void> take_chunk(std::string_view name, std::string_view data,
                          std::vector<ModelEvent>& out);
  Result<void> take_choice(const Json& choice, std::string_view data, std::vector<ModelEvent>& out);
  void take_delta(const Json& delta, std::vector<ModelEvent>& out);
  void take_content(const Json& content, std::vector<ModelEvent>& out);
  void take_call(const Json& fragment, std::vector<ModelEvent>& out);
  bool take_usage(const Json& reply);  // it says something about it
  Result<void> identify(const Outline& outline);
  void keep_envelope(const Json& chunk);
  Result<void> check_size();
  void learn(std::string_view data, const Json& delta, const ModelEvent& event);
  Result<void> close(std::vector<ModelEvent>& out);
  Json raw(const std::vector<ToolCall>& calls) const;

  const WireCall call_;
  DeltaTemplate template_;
  std::string text_;
  std::string refusal_;
  ReasoningAssembly reasoning_;
  CallAssembly calls_;
  std::string finish_;  // the provider's word; empty while it speaks
  Usage usage_;
  std::optional<Cost> cost_;
  std::string id_;
  std::string model_;
  std::vector<std::string> notes_;
  Json envelope_;  // what a chunk says beside its choices
  Json whole_;     // a reply that came in one piece
  bool over_ = false;
};

void add_text(std::string_view text, std::string& whole, std::vector<ModelEvent>& out) {
  if (text.empty()) return;
  whole += text;
  out.emplace_back(TextDelta{std::string(text)});
}

Result<void> ChatDecoder::take_hit(DeltaTemplate::Hit hit, std::vector<ModelEvent>& out) {
  if (hit.text.empty()) return {};
  switch (hit.kind) {
    case DeltaTemplate::Kind::text:
      text_ += hit.text;
      out.emplace_back(TextDelta{std::move(hit.text)});
      break;
    case DeltaTemplate::Kind::reasoning:
      reasoning_.append(hit.text);
      out.emplace_back(ReasoningDelta{std::move(hit.text)});
      break;
    case DeltaTemplate::Kind::arguments:
      calls_.append(hit.call, hit.text);
      out.emplace_back(ToolCallDelta{.index = static_cast<std::uint32_t>(hit.call),
                                     .arguments = std::move(hit.text)});
      break;
    case DeltaTemplate::Kind::none:
      break;
  }
  return check_size();
}

Result<void> ChatDecoder::take_chunk(std::string_view name, std::string_view data,
                                     std::vector<ModelEvent>& out) {
  template_.forget();
  if (data.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  const Result<Json> parsed = parse_wire(data);
  if (!parsed) return no_answer("sent an event that is not JSON", data);
  const Json& chunk = *parsed;
  if (chunk.is_null()) return {};
  if (!finish_.empty()) {  // done: only what it used is still to come
    take_usage(chunk);
    return {};
  }
  if (!chunk.is_object()) return no_answer("sent an event that is not an object", data);
  const Outline outline = outline_of(chunk);
  if (outline.fails || name == "error") return said_no(data);
  TUG_TRY(same, identify(outline));
  if (call_.request.keep_raw && envelope_.is_null()) keep_envelope(chunk);
  const bool counts = outline.counts && take_usage(chunk);
  const Json& choice = first_choice(*outline.choices);
  if (choice.is_object()) {
    const std::size_t before = out.size();
    TUG_TRY(taken, take_choice(choice, data, out));
    if (finish_.empty() && !counts && out.size() == before + 1)
      learn(data, choice["delta"], out.back());
  }
  if (counts && finish_.empty()) out.emplace_back(UsageDelta{usage_});
  return {};
}

Result<void> ChatDecoder::take_choice(const Json& choice, std::string_view data,
                                      std::vector<ModelEvent>& out) {
  // Some send a message where the delta should be; some repeat the whole one at the end.
  const bool silent = text_.empty() && refusal_.empty() && reasoning_.empty() && calls_.empty();
  const Json& delta = choice[silent && !choice["delta"].is_object() ? "message" : "delta"];
  const std::string_view finish = choice["finish_reason"].as_string();
  if (is_error(choice["error"])) return said_no(data);
  if (delta.is_object()) take_delta(delta, out);
  if (finish == "error") {
    return broken(Fault::overloaded, "broke its answer off with an error it does not name",
                  "ask again");
  }
  if (finish == "insufficient_system_resource")  // DeepSeek
    return broken(Fault::overloaded, "broke its answer off for want of resources", "ask again");
  finish_ = finish;
  return check_size();
}

void ChatDecoder::take_delta(const Json& delta, std::vector<ModelEvent>& out) {
  const Json* content = &kNothing;
  const Json* refusal = &kNothing;
  const Json* calls = &kNothing;
  const Json* call = &kNothing;
  bool thinks = false;
  for (const auto& [name, value] : delta.members()) {
    const std::string_view key = name.as_string();
    if (key == "content") {
      content = &value;
    } else if (key == "refusal") {
      refusal = &value;
    } else if (key == "tool_calls") {
      calls = &value;
    } else if (key == "function_call") {
      call = &value;
    } else if (key.starts_with("reasoning")) {
      thinks = thinks || !value.is_null();
    }
  }
  if (thinks) {
    std::string thought = reasoning_.take(delta);
    if (!thought.empty()) out.emplace_back(ReasoningDelta{std::move(thought)});
  }
  take_content(*content, out);
  add_text(refusal->as_string(), refusal_, out);
  for (const Json& fragment : calls->items()) {
    if (fragment.is_object()) take_call(fragment, out);
  }
  if (call->is_object()) take_call(*call, out);
}

// Text, or Mistral's list of chunks, some of which are thoughts.
void ChatDecoder::take_content(const Json& content, std::vector<ModelEvent>& out) {
  add_text(content.as_string(), text_, out);
  for (const Json& chunk : content.items()) {
    add_text(chunk["text"].as_string(), text_, out);
    const Json& thinking = chunk["thinking"];
    std::string thought(thinking.as_string());
    for (const Json& piece : thinking.items()) thought += piece["text"].as_string();
    if (thought.empty()) continue;
    reasoning_.append(thought);
    out.emplace_back(ReasoningDelta{std::move(thought)});
  }
}

void ChatDecoder::take_call(const Json& fragment, std::vector<ModelEvent>& out) {
  if (calls_.size() > kMaxCallsOfAnAnswer) return;
  ToolCallDelta delta = calls_.take(fragment, call_.request);
  if (!delta.arguments.empty() || !delta.tool.empty() || !delta.provider_id.empty())
    out.emplace_back(std::move(delta));
}

bool ChatDecoder::take_usage(const Json& reply) {
  const std::optional<Usage> usage = usage_of(reply);
  if (!usage) return false;
  if (std::optional<Cost> cost = cost_of(reply)) cost_ = cost;
  if (usage->total() < usage_.total()) return true;
  usage_ = *usage;
  if (call_.request.keep_raw) envelope_.set("usage", reply["usage"]);
  return true;
}

// One answer has one id. Some gateways make a new one for each chunk, so that alone is only told;
// another model with it is somebody else's answer.
Result<void> ChatDecoder::identify(const Outline& outline) {
  const std::string_view id = outline.id->as_string();
  const std::string_view model = outline.model->as_string();
  const bool other_id = !id_.empty() && !id.empty() && id != id_;
  const bool other_model = !model_.empty() && !model.empty() && model != model_;
  if (other_id && other_model)
    return broken(Fault::not_an_answer,
                  "mixed two answers up: " + id_ + " of " + model_ + ", then " + std::string(id) +
                      " of " + std::string(model),
                  "ask again");
  if (other_id && notes_.empty())
    notes_.push_back("the answer changed its id as it came: " + id_ + ", then " + std::string(id));
  if (id_.empty()) id_ = id;
  if (model_.empty()) model_ = model;
  return {};
}

void ChatDecoder::keep_envelope(const Json& chunk) {
  envelope_ = chunk;
  envelope_.erase("choices");
  envelope_.set("object", "chat.completion");
}

Result<void> ChatDecoder::check_size() {
  if (text_.size() + refusal_.size() + reasoning_.bytes() + calls_.bytes() > kMaxAnswerBytes)
    return broken(Fault::response_too_large, "answered with more than 64 MB",
                  "lower max_output_tokens");
  if (calls_.size() > kMaxCallsOfAnAnswer)
    return broken(Fault::response_too_large,
                  "made more than " + std::to_string(kMaxCallsOfAnAnswer) + " calls in one turn");
  return {};
}

void ChatDecoder::learn(std::string_view data, const Json& delta, const ModelEvent& event) {
  using Kind = DeltaTemplate::Kind;
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    if (delta["content"].is_string() && delta["refusal"].as_string().empty())
      template_.learn(data, "content", text->text, Kind::text);
  } else if (const auto* thought = std::get_if<ReasoningDelta>(&event)) {
    if (!delta.contains("reasoning_details") && delta[reasoning_.field()].is_string())
      template_.learn(data, reasoning_.field(), thought->text, Kind::reasoning);
  } else if (const auto* piece = std::get_if<ToolCallDelta>(&event)) {
    // Only what goes on with a call: an id or a name may begin another one.
    const Json& fragment = delta["tool_calls"][0];
    if (delta["tool_calls"].size() == 1 && fragment["index"].is_number() &&
        !fragment.contains("id") && !fragment["function"].contains("name"))
      template_.learn(data, "arguments", piece->arguments, Kind::arguments, piece->index);
  }
}

Result<void> ChatDecoder::on_reply(std::string_view body, std::vector<ModelEvent>& out) {
  if (over_) return {};
  const Result<Json> parsed = parse_wire(body);
  if (!parsed) return no_answer("answered with something that is not JSON", body);
  const Outline outline = outline_of(*parsed);
  if (outline.fails) return said_no(body);
  const Json& choice = first_choice(*outline.choices);
  if (!choice["message"].is_object()) return no_answer("answered without a message", body);
  whole_ = *parsed;
  TUG_TRY(same, identify(outline));
  take_usage(*parsed);
  std::vector<ModelEvent> deltas;
  TUG_TRY(taken, take_choice(choice, body, deltas));
  if (finish_.empty()) finish_ = "stop";  // a whole reply is an end by itself
  return close(out);
}

Result<void> ChatDecoder::close(std::vector<ModelEvent>& out) {
  if (finish_.empty())
    return broken(Fault::stream_cut, "broke its answer off: it never said that it was done",
                  "ask again");
  over_ = true;
  ModelTurn turn;
  turn.finish = finish_of(finish_, !calls_.empty());
  if (!refusal_.empty() && calls_.empty()) turn.finish = Finish::refusal;
  std::vector<ToolCall> calls = std::move(calls_).take_all();
  // What the cap cut off may not have got as far as its name.
  if (turn.finish == Finish::length)
    std::erase_if(calls, [](const ToolCall& call) { return call.tool.empty(); });
  for (const ToolCall& call : calls) {
    if (call.tool.empty())
      return broken(Fault::malformed_call, "called a tool without naming it", "ask again");
  }
  if (call_.request.keep_raw) turn.raw = whole_.is_null() ? raw(calls) : std::move(whole_);
  std::vector<Part> parts;
  if (!reasoning_.empty())
    parts.emplace_back(
        std::move(reasoning_).take_all(call_.provider.name, has_quirk(call_, "reasoning_content")));
  text_ += refusal_;
  if (!text_.empty()) parts.emplace_back(TextPart{std::move(text_)});
  for (ToolCall& call : calls) parts.emplace_back(std::move(call));
  turn.message = Message::make(Role::assistant, std::move(parts));
  turn.usage = usage_;
  turn.cost = cost_;
  turn.model = std::move(model_);
  turn.response_id = std::move(id_);
  turn.notes = std::move(notes_);
  out.emplace_back(std::move(turn));
  return {};
}

// The reply as it would have come in one piece.
Json ChatDecoder::raw(const std::vector<ToolCall>& calls) const {
  Json message = Json::object({{"role", "assistant"}, {"content", text_}});
  if (!refusal_.empty()) message.set("refusal", refusal_);
  reasoning_.add_to(message);
  for (const ToolCall& call : calls) {
    Json function = Json::object({{"name", call.tool}, {"arguments", call.arguments}});
    message.edit("tool_calls")
        .push_back(Json::object(
            {{"id", call.provider_id}, {"type", "function"}, {"function", std::move(function)}}));
  }
  Json reply = envelope_;
  // Azure's first chunk has neither.
  if (!id_.empty()) reply.set("id", id_);
  if (!model_.empty()) reply.set("model", model_);
  reply.set("choices",
            Json::array({Json::object(
                {{"index", 0}, {"message", std::move(message)}, {"finish_reason", finish_}})}));
  return reply;
}

}  // namespace

std::unique_ptr<Decoder> make_decoder(const WireCall& call) {
  return std::make_unique<ChatDecoder>(call);
}

}  // namespace tug::chat
