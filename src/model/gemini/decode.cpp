// What Gemini sends, as events of ours.
#include <utility>

#include "core/try.h"
#include "model/gemini/answer.h"
#include "model/gemini/wire.h"
#include "model/wire_words.h"
#include "tug/core/utf8.h"

namespace tug::gemini {
namespace {

constexpr std::size_t kShownBytes = 200;  // of what is not understood

class ContentDecoder final : public Decoder {
 public:
  explicit ContentDecoder(const WireCall& call) : call_(call), answer_(call) {}

  Result<void> on_event(std::string_view, std::string_view data,
                        std::vector<ModelEvent>& out) override {
    // Gateways for many APIs end every stream with [DONE].
    if (over_ || data.empty() || data == "[DONE]") return {};
    Result<void> taken = take(data, out);
    if (!taken) over_ = true;
    return taken;
  }

  Result<void> on_reply(std::string_view body, std::vector<ModelEvent>& out) override {
    if (over_) return {};
    over_ = true;
    std::vector<ModelEvent> unused;
    TUG_TRY(taken, take(body, unused));
    if (!answer_.ended() && !answer_.begun())
      return Failure(not_an_answer(body, "no candidates in it"));
    out.emplace_back(answer_.turn());
    return {};
  }

  Result<void> on_end(std::vector<ModelEvent>& out) override {
    if (over_) return {};
    over_ = true;
    if (!answer_.ended()) {
      return Failure(fault_error(fault_source(call_), Fault::stream_cut,
                                 "the answer broke off before it was complete", "ask again"));
    }
    out.emplace_back(answer_.turn());
    return {};
  }

 private:
  Result<void> take(std::string_view data, std::vector<ModelEvent>& out) {
    Result<Json> parsed = parse_wire(data);
    if (!parsed) return Failure(not_an_answer(data, parsed.error().message()));
    // Without alt=sse, and in some errors, the pieces come as one list.
    if (parsed->is_array() && !parsed->empty()) {
      for (const Json& reply : parsed->items()) {
        TUG_TRY(taken, take_reply(reply, data, out));
      }
      return {};
    }
    return take_reply(*parsed, data, out);
  }

  Result<void> take_reply(const Json& reply, std::string_view data, std::vector<ModelEvent>& out) {
    if (!reply.is_object()) return Failure(not_an_answer(data, "it is no object"));
    if (reply["error"].is_object() && !answer_.ended()) {
      const std::string body = print_json(reply);
      return Failure(classify_fault(fault_source(call_), {.body = body}));
    }
    return answer_.take(reply, out);
  }

  Error not_an_answer(std::string_view text, std::string_view why) const {
    return fault_error(fault_source(call_), Fault::not_an_answer,
                       "sent what is no answer of this API (" + std::string(why) +
                           "): " + repair_utf8(text.substr(0, kShownBytes)),
                       "check the provider's api and base_url");
  }

  const WireCall& call_;
  Answer answer_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(const WireCall& call) {
  return std::make_unique<ContentDecoder>(call);
}

}  // namespace tug::gemini
