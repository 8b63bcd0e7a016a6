#include <algorithm>
#include <map>

#include "core/try.h"
#include "model/openai_responses/wire.h"
#include "model/wire_words.h"

namespace tug::responses {
namespace {

// More than this in one answer is a provider gone wild.
constexpr std::size_t kMaxItems = 4096;

class ResponsesDecoder final : public Decoder {
 public:
  explicit ResponsesDecoder(const WireCall& call) : call_(call) {}

  Result<void> on_event(std::string_view name, std::string_view data,
                        std::vector<ModelEvent>& out) override {
    // Some servers close like Chat Completions do.
    if (done_ || data == "[DONE]") return {};
    auto parsed = parse_wire(data);
    if (!parsed || !parsed->is_object())
      return unreadable(parsed ? "an event that is no object" : parsed.error().message());
    const Json& event = *parsed;
    const std::string_view said = event["type"].as_string();
    const std::string_view type = said.empty() ? name : said;
    if (type == "response.output_text.delta" || type == "response.refusal.delta")
      return on_text(event, out);
    if (type == "response.function_call_arguments.delta") return on_arguments(event, out);
    if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta")
      return on_thought(event, out);
    if (type == "response.reasoning_summary_part.added") return on_summary_part(event, out);
    if (type == "response.output_item.added") return on_item(event, out);
    if (type == "response.output_item.done") return on_item_done(event, out);
    if (type == "response.created" || type == "response.in_progress" || type == "response.queued")
      return same_answer(event["response"]);
    if (type == "response.completed" || type == "response.incomplete") {
      Json response = event["response"];
      if (!response["status"].is_string()) response.set("status", type.substr(9));
      return on_response(std::move(response), out);
    }
    if (type == "response.failed") return failed(event["response"]["error"]);
    if (type == "error" || event["error"].is_object()) return failed(event);
    return {};
  }

  Result<void> on_reply(std::string_view body, std::vector<ModelEvent>& out) override {
    if (done_) return {};
    auto parsed = parse_wire(body);
    if (!parsed) return unreadable(parsed.error().message());
    if (!parsed->is_object()) return unreadable("JSON that is no object");
    if ((*parsed)["error"].is_object() && !(*parsed)["output"].is_array()) return failed(*parsed);
    if (!(*parsed)["output"].is_array()) return unreadable("an object without `output`");
    return on_response(*std::move(parsed), out);
  }

  Result<void> on_end(std::vector<ModelEvent>&) override {
    if (done_) return {};
    return Failure(fault_error(fault_source(call_), Fault::stream_cut,
                               "the answer ended before the provider said that it was done"));
  }

 private:
  // An item as far as it has come.
  struct Item {
    Json begun;  // as it was announced
    Json done;   // as it is in the end; null until then
    std::string id;
    std::string text;                   // what was added to it since: text, thoughts, arguments
    std::optional<std::uint32_t> call;  // the how many-th call it is
  };

  Result<void> unreadable(std::string_view what) const {
    return Failure(fault_error(fault_source(call_), Fault::not_an_answer,
                               "what came is not an answer: " + std::string(what.substr(0, 200)),
                               "check the base URL and the API of the provider"));
  }

  // A response echoes the whole request; only its error is of interest.
  Result<void> failed(const Json& error) {
    const std::string body = print_json(Json::object({{"error", error}}));
    return Failure(classify_fault(fault_source(call_), {.status = 0, .body = body}));
  }

  // A proxy that mixes answers up hands out somebody else's.
  Result<void> same_answer(const Json& response) {
    const std::string_view id = response["id"].as_string();
    if (id_.empty()) id_ = id;
    if (id.empty() || id == id_) return {};
    return unreadable("it began as " + id_.substr(0, 64) + " and goes on as " +
                      std::string(id.substr(0, 64)));
  }

  // The item that an event is about; a new one where nothing else fits.
  Result<Item*> item_of(const Json& event, std::string_view id) {
    std::optional<std::int64_t> index = event["output_index"].as_int();
    if (!index) {
      const auto known = std::ranges::find_if(
          items_, [&](const auto& entry) { return !id.empty() && entry.second.id == id; });
      if (known != items_.end()) return &known->second;
      index = items_.empty() ? 0 : items_.rbegin()->first + (id.empty() ? 0 : 1);
    }
    const bool full =
        items_.size() >= kMaxItems || *index == std::numeric_limits<std::int64_t>::max();
    if (full && !items_.contains(*index)) return Failure(too_large());
    Item& item = items_[*index];
    if (item.id.empty()) item.id = id;
    return &item;
  }
  Result<Item*> item_of(const Json& event) { return item_of(event, event["item_id"].as_string()); }

  Error too_large() const {
    return fault_error(fault_source(call_), Fault::response_too_large,
                       "the answer holds more than is taken");
  }

  Result<void> add(Item& item, std::string_view delta) {
    bytes_ += delta.size();
    if (bytes_ > kMaxAnswerBytes) return Failure(too_large());
    item.text += delta;
    return {};
  }

  void begin(Item& item, std::string_view type) {
    if (item.begun.is_null()) item.begun = Json::object({{"type", type}});
  }

  Result<void> on_text(const Json& event, std::vector<ModelEvent>& out) {
    const std::string_view delta = event["delta"].as_string();
    if (delta.empty()) return {};
    TUG_TRY(item, item_of(event));
    begin(*item, "message");
    TUG_TRY(added, add(*item, delta));
    out.emplace_back(TextDelta{std::string(delta)});
    return {};
  }

  Result<void> on_thought(const Json& event, std::vector<ModelEvent>& out) {
    const std::string_view delta = event["delta"].as_string();
    if (delta.empty()) return {};
    TUG_TRY(item, item_of(event));
    begin(*item, "reasoning");
    TUG_TRY(added, add(*item, delta));
    out.emplace_back(ReasoningDelta{std::string(delta)});
    return {};
  }

  Result<void> on_summary_part(const Json& event, std::vector<ModelEvent>& out) {
    TUG_TRY(item, item_of(event));
    begin(*item, "reasoning");
    if (item->text.empty()) return {};
    TUG_TRY(added, add(*item, "\n\n"));
    out.emplace_back(ReasoningDelta{"\n\n"});
    return {};
  }

  // Announces a call, once.
  void begin_call(Item& item, const Json& said, std::vector<ModelEvent>& out) {
    if (item.call) return;
    item.call = calls_++;
    out.emplace_back(ToolCallDelta{.index = *item.call,
                                   .provider_id = std::string(said["call_id"].as_string()),
                                   .tool = tool_named(call_.request, said["name"].as_string())});
  }

  Result<void> on_arguments(const Json& event, std::vector<ModelEvent>& out) {
    const std::string_view delta = event["delta"].as_string();
    TUG_TRY(item, item_of(event));
    begin(*item, "function_call");
    begin_call(*item, item->begun, out);
    if (delta.empty()) return {};
    TUG_TRY(added, add(*item, delta));
    out.emplace_back(ToolCallDelta{.index = *item->call, .arguments = std::string(delta)});
    return {};
  }

  Result<void> on_item(const Json& event, std::vector<ModelEvent>& out) {
    const Json& said = event["item"];
    TUG_TRY(item, item_of(event, said["id"].as_string()));
    if (!said.is_object() || !item->done.is_null()) return {};
    item->begun = said;
    if (said["type"].as_string() == "function_call") begin_call(*item, said, out);
    return {};
  }

  // The whole item. What was never streamed of it is shown now.
  Result<void> on_item_done(const Json& event, std::vector<ModelEvent>& out) {
    const Json& said = event["item"];
    TUG_TRY(item, item_of(event, said["id"].as_string()));
    if (!said.is_object() || !item->done.is_null()) return {};
    item->done = said;
    show_rest(*item, said, out);
    return {};
  }

  void show_rest(Item& item, const Json& said, std::vector<ModelEvent>& out) {
    const std::string_view type = said["type"].as_string();
    if (type == "function_call") {
      begin_call(item, said, out);
      if (!item.text.empty()) return;
      out.emplace_back(ToolCallDelta{.index = *item.call, .arguments = arguments_of(said)});
    } else if (type == "message" && item.text.empty()) {
      std::string text = text_of_message(said);
      if (!text.empty()) out.emplace_back(TextDelta{std::move(text)});
    } else if (type == "reasoning" && item.text.empty()) {
      std::string text = text_of_reasoning(said);
      if (!text.empty()) out.emplace_back(ReasoningDelta{std::move(text)});
    }
  }

  // An item that was begun and never said to be done, from its pieces.
  static Json put_together(const Item& item) {
    Json whole = item.begun;
    const std::string_view type = whole["type"].as_string();
    if (item.text.empty()) return whole;
    if (type == "function_call") {
      whole.set("arguments", item.text);
    } else if (type == "message") {
      const Json part = Json::object({{"type", "output_text"}, {"text", item.text}});
      whole.set("content", Json::array({part}));
    } else if (type == "reasoning") {
      const Json part = Json::object({{"type", "summary_text"}, {"text", item.text}});
      whole.set("summary", Json::array({part}));
    }
    return whole;
  }

  // What is said last is true: the items of the response, or those that were done one by one where
  // it has fewer.
  std::vector<Json> items_of(const Json& response) const {
    const auto output = response["output"].items();
    const auto done = std::ranges::count_if(
        items_, [](const auto& entry) { return !entry.second.done.is_null(); });
    if (!output.empty() && output.size() >= static_cast<std::size_t>(done))
      return {output.begin(), output.end()};
    std::vector<Json> items;
    for (const auto& [index, item] : items_) {
      if (!item.done.is_null()) {
        items.push_back(item.done);
      } else if (item.begun.is_object()) {
        items.push_back(put_together(item));
      }
    }
    return items;
  }

  Result<void> on_response(Json response, std::vector<ModelEvent>& out) {
    TUG_TRY(same, same_answer(response));
    const std::string_view status = response["status"].as_string();
    if (status == "failed" || (response["error"].is_object() && status != "completed"))
      return failed(response["error"]);
    if (status == "cancelled") {
      return Failure(
          fault_error(fault_source(call_), Fault::stream_cut, "the provider cancelled the answer"));
    }
    if (status == "in_progress" || status == "queued")
      return unreadable("the answer is still being made (" + std::string(status) + ")");
    const std::vector<Json> items = items_of(response);
    if (items.size() > kMaxItems) return Failure(too_large());
    if (!response["id"].is_string() && !id_.empty()) response.set("id", id_);
    done_ = true;
    out.emplace_back(turn_of(call_, response, items));
    return {};
  }

  const WireCall call_;
  std::string id_;
  std::map<std::int64_t, Item> items_;  // by output_index
  std::uint32_t calls_ = 0;
  std::size_t bytes_ = 0;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(const WireCall& call) {
  return std::make_unique<ResponsesDecoder>(call);
}

}  // namespace tug::responses
