// What Anthropic sends, as events of ours.
#include <utility>

#include "core/try.h"
#include "model/anthropic/answer.h"
#include "model/anthropic/wire.h"
#include "model/wire_words.h"
#include "tug/core/utf8.h"

namespace tug::anthropic {
namespace {

constexpr std::size_t kShownBytes = 200;  // of what is not understood

class MessagesDecoder final : public Decoder {
 public:
  explicit MessagesDecoder(const WireCall& call) : call_(call), answer_(call) {}

  Result<void> on_event(std::string_view name, std::string_view data,
                        std::vector<ModelEvent>& out) override {
    // Gateways for many APIs end every stream with [DONE].
    if (over_ || name == "ping" || data.empty() || data == "[DONE]") return {};
    Result<void> taken = take(name, data, out);
    if (!taken) over_ = true;
    return taken;
  }

  Result<void> on_reply(std::string_view body, std::vector<ModelEvent>& out) override {
    if (over_) return {};
    over_ = true;
    TUG_TRY(reply, parsed(body));
    if (is_error(reply)) return Failure(classify_fault(fault_source(call_), {.body = body}));
    if (!reply["content"].is_array()) return Failure(not_an_answer(body, "no content in it"));
    std::vector<ModelEvent> unused;
    TUG_TRY(begun, answer_.begin(reply, unused));
    for (const Json& block : reply["content"].items()) {
      const Json event = Json::object({{"content_block", block}});
      TUG_TRY(opened, answer_.open_block(event, unused));
      answer_.close_block(Json(), unused);
    }
    answer_.stop(reply);
    TUG_TRY(turn, answer_.turn(reply));
    out.emplace_back(std::move(turn));
    return {};
  }

  Result<void> on_end(std::vector<ModelEvent>&) override {
    if (over_) return {};
    over_ = true;
    return Failure(fault_error(fault_source(call_), Fault::stream_cut,
                               "the answer broke off before it was complete", "ask again"));
  }

 private:
  Result<void> take(std::string_view name, std::string_view data, std::vector<ModelEvent>& out) {
    TUG_TRY(event, parsed(data));
    std::string_view type = event["type"].as_string();
    if (type.empty()) type = name;
    if (type == "content_block_delta") return answer_.extend_block(event, out);
    if (type == "content_block_start") return answer_.open_block(event, out);
    if (type == "content_block_stop") {
      answer_.close_block(event, out);
      return {};
    }
    if (type == "message_start") return answer_.begin(event["message"], out);
    if (type == "message_delta") {
      answer_.stop(with_details(event));
      answer_.count(event["usage"], out);
      return {};
    }
    if (type == "message_stop") {
      over_ = true;
      TUG_TRY(turn, answer_.turn(Json()));
      out.emplace_back(std::move(turn));
      return {};
    }
    if (is_error(event)) return Failure(classify_fault(fault_source(call_), {.body = data}));
    return {};
  }

  // Where the details of a refusal stand beside the delta instead of inside it.
  static Json with_details(const Json& event) {
    Json delta = event["delta"];
    const Json& details = event["stop_details"];
    if (details.is_object() && !delta.contains("stop_details")) delta.set("stop_details", details);
    return delta;
  }

  static bool is_error(const Json& json) noexcept {
    return json["type"].as_string() == "error" || json["error"].is_object();
  }

  Result<Json> parsed(std::string_view text) const {
    Result<Json> json = parse_wire(text);
    if (!json) return Failure(not_an_answer(text, json.error().message()));
    if (!json->is_object()) return Failure(not_an_answer(text, "it is no object"));
    return json;
  }
  Error not_an_answer(std::string_view text, std::string_view why) const {
    return fault_error(fault_source(call_), Fault::not_an_answer,
                       "sent what is no message of this API (" + std::string(why) +
                           "): " + repair_utf8(text.substr(0, kShownBytes)),
                       "check the provider's api and base_url");
  }

  const WireCall& call_;
  Answer answer_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(const WireCall& call) {
  return std::make_unique<MessagesDecoder>(call);
}

}  // namespace tug::anthropic
