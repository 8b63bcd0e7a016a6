#include "tug/middleware/message_trim.h"

#include <algorithm>

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/journal/event.h"
#include "tug/journal/payloads.h"

namespace tug {
namespace {

using List = std::vector<MessagePtr>;

std::int64_t tokens_of(const Message& message) { return estimate_tokens(message.size()); }

// Messages with what boundaries put in their place; a newer boundary covers older ones whole.
List shown(const Transcript& transcript) {
  const Messages messages = transcript.messages();
  List all(messages.begin(), messages.end());
  std::vector<BoundaryPtr> outer;
  const auto boundaries = transcript.boundaries();
  for (auto at = boundaries.rbegin(); at != boundaries.rend(); ++at) {
    const bool inside = std::ranges::any_of(outer, [&](const BoundaryPtr& other) {
      return (*at)->from >= other->from && (*at)->to <= other->to;
    });
    if (!inside) outer.push_back(*at);
  }
  // From the end on, so that places before it stay as they are.
  std::ranges::sort(outer, std::greater(), [](const BoundaryPtr& one) { return one->from; });
  for (const BoundaryPtr& one : outer) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(one->from);
    const auto put = all.erase(from, from + static_cast<std::ptrdiff_t>(one->to - one->from));
    all.insert(put, one->replacement.begin(), one->replacement.end());
  }
  return all;
}

class MessageTrim final : public Middleware {
 public:
  explicit MessageTrim(TrimPolicy policy) : policy_(policy) {}

  std::string name() const override { return "message_trim"; }
  Json settings() const override {
    return Json::object({{"keep_first", policy_.keep_first},
                         {"keep_last", policy_.keep_last},
                         {"max_tokens", policy_.max_tokens}});
  }
  Around around() const noexcept override { return {.run = false, .tool = false}; }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    const List all = shown(request.transcript);
    const std::vector<std::size_t> places = kept_messages(all, policy_);
    if (places.size() < all.size() && !request.transcript.has_open_calls()) {
      List kept;
      for (const std::size_t place : places) kept.push_back(all[place]);
      TUG_CO_TRY(shorter, Transcript::of(kept));
      request.transcript = std::move(shorter);
      tell(ctx, all, kept, places);
    }
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    co_return turn;
  }

 private:
  static void tell(const Context& ctx, const List& all, const List& kept,
                   const std::vector<std::size_t>& places) {
    payload::ContextReduced trimmed{.boundary = 0, .reason = "message_trim"};
    for (const MessagePtr& message : all) trimmed.before_tokens += tokens_of(*message);
    for (const MessagePtr& message : kept) trimmed.after_tokens += tokens_of(*message);
    std::size_t first = 0;
    while (first < places.size() && places[first] == first) ++first;
    std::size_t behind = all.size();
    for (std::size_t i = places.size(); i > 0 && places[i - 1] == behind - 1; --i) --behind;
    trimmed.covers = {first, behind};
    ctx.emit(Kind::context_trimmed, write_json(trimmed));
  }

  TrimPolicy policy_;
};

}  // namespace

MiddlewarePtr make_message_trim(TrimPolicy policy) { return std::make_shared<MessageTrim>(policy); }

}  // namespace tug
