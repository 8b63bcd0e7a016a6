#include "tug/middleware/lifecycle.h"

#include <stdexcept>

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/journal/journal.h"
#include "tug/journal/payloads.h"
#include "tug/model/delta_filter.h"

namespace tug {
namespace {

// Hooks by name, with what each has been called.
struct Tally {
  HookCounts::Counter* before_agent = nullptr;
  HookCounts::Counter* after_agent = nullptr;
  HookCounts::Counter* before_model = nullptr;
  HookCounts::Counter* on_model_delta = nullptr;
  HookCounts::Counter* after_model = nullptr;
  HookCounts::Counter* before_tool = nullptr;
  HookCounts::Counter* on_tool_delta = nullptr;
  HookCounts::Counter* after_tool = nullptr;
  HookCounts::Counter* on_error = nullptr;
};

Tally tally_of(const Lifecycle& hooks) {
  if (!hooks.counts) return {};
  const auto counter = [&](const auto& hook, std::string_view name) {
    return hook ? &hooks.counts->counter(hooks.name, name) : nullptr;
  };
  return {.before_agent = counter(hooks.before_agent, "before_agent"),
          .after_agent = counter(hooks.after_agent, "after_agent"),
          .before_model = counter(hooks.before_model, "before_model"),
          .on_model_delta = counter(hooks.on_model_delta, "on_model_delta"),
          .after_model = counter(hooks.after_model, "after_model"),
          .before_tool = counter(hooks.before_tool, "before_tool"),
          .on_tool_delta = counter(hooks.on_tool_delta, "on_tool_delta"),
          .after_tool = counter(hooks.after_tool, "after_tool"),
          .on_error = counter(hooks.on_error, "on_error")};
}

void count(HookCounts::Counter* counter) noexcept {
  if (counter) counter->fetch_add(1, std::memory_order_relaxed);
}

// One middleware's hooks; outlives it while a filter or an observer is still held somewhere.
struct Body {
  explicit Body(Lifecycle given) : hooks(std::move(given)), tally(tally_of(hooks)) {}

  template <class Hook, class Value>
  auto call(const Hook& hook, HookCounts::Counter* counter, std::string_view event,
            const Context& ctx, Value& value) const -> decltype(hook(ctx, value)) {
    using Answer = decltype(hook(ctx, value));
    count(counter);
    const std::string what = std::string(event) + " of " + hooks.name;
    Answer answer = guarded(what, [&] { return hook(ctx, value); });
    if (!answer) {
      ctx.emit(Kind::hook_failed,
               write_json(payload::HookFailed{.hook = hooks.name,
                                              .event = std::string(event),
                                              .error = to_string(answer.error())}));
    }
    return answer;
  }

  Lifecycle hooks;
  Tally tally;
};

// One model call that is listened to. The call owns it; requests, which a model may keep for longer
// or elsewhere, only point to it.
struct Listening {
  std::shared_ptr<const Body> body;
  Context served;
  std::optional<Error> failed;
};

class HookedDeltas final : public DeltaFilter {
 public:
  explicit HookedDeltas(std::weak_ptr<Listening> listening) : listening_(std::move(listening)) {}

  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    if (const auto listening = listening_.lock()) {
      const Body& body = *listening->body;
      if (listening->failed) throw std::runtime_error(listening->failed->message());
      Result<DeltaFate> fate = body.call(body.hooks.on_model_delta, body.tally.on_model_delta,
                                         "on_model_delta", listening->served, delta);
      if (!fate) {
        // Ends the stream; the error itself is what the call answers with.
        listening->failed = fate.error();
        throw std::runtime_error(fate.error().message());
      }
      if (*fate == DeltaFate::drop) return;
    }
    out.push_back(std::move(delta));
  }
  void flush(std::vector<ModelEvent>&) override {}

 private:
  std::weak_ptr<Listening> listening_;
};

// Watches one tool call.
class ProgressSink final : public Sink {
 public:
  ProgressSink(std::shared_ptr<const Body> body, Context served)
      : body_(std::move(body)), served_(std::move(served)) {}

  void on_event(const Event& event) override {
    if (event.kind != Kind::tool_progress || failed) return;
    if (!event.who || event.who->run_id != served_.id().run_id) return;
    if (event.data["call_id"].as_string() != served_.id().call_id.text()) return;
    Result<void> told = body_->call(body_->hooks.on_tool_delta, body_->tally.on_tool_delta,
                                    "on_tool_delta", served_, event.data["progress"]);
    if (!told) failed = told.error();
  }

  std::optional<Error> failed;

 private:
  std::shared_ptr<const Body> body_;
  Context served_;
};

class Observing {
 public:
  Observing(const Context& ctx, std::shared_ptr<ProgressSink> sink)
      : ctx_(ctx), sink_(std::move(sink)) {
    if (sink_) ctx_.events().observe(sink_);
  }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;
  ~Observing() {
    if (sink_) ctx_.events().forget(*sink_);
  }

  std::optional<Error> failed() const { return sink_ ? sink_->failed : std::nullopt; }

 private:
  const Context& ctx_;
  std::shared_ptr<ProgressSink> sink_;
};

class LifecycleMiddleware final : public Middleware {
 public:
  explicit LifecycleMiddleware(Lifecycle given)
      : body_(std::make_shared<const Body>(std::move(given))), hooks_(body_->hooks) {}

  std::string name() const override { return hooks_.name; }
  bool is_hooks() const noexcept override { return true; }
  Around around() const noexcept override {
    return {.run = hooks_.before_agent || hooks_.after_agent,
            .model = hooks_.before_model || hooks_.on_model_delta || hooks_.after_model,
            .tool = hooks_.before_tool || hooks_.on_tool_delta || hooks_.after_tool};
  }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    const Context served = ctx.target();
    TUG_CO_TRY(before,
               call(hooks_.before_agent, body_->tally.before_agent, "before_agent", served, input));
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    if (!result) co_return result;
    if (result->status != RunStatus::completed && result->status != RunStatus::parked) {
      co_return result;
    }
    TUG_CO_TRY(after,
               call(hooks_.after_agent, body_->tally.after_agent, "after_agent", served, *result));
    co_return result;
  }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    const Context served = ctx.target();
    TUG_CO_TRY(before, call(hooks_.before_model, body_->tally.before_model, "before_model", served,
                            request));
    std::shared_ptr<Listening> listening;
    if (hooks_.on_model_delta) {
      listening = std::make_shared<Listening>(body_, served);
      request.filters.push_back([weak = std::weak_ptr(listening)] {
        return std::unique_ptr<DeltaFilter>(std::make_unique<HookedDeltas>(weak));
      });
    }
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    if (listening && listening->failed) co_return Failure(*listening->failed);
    if (!turn) co_return turn;
    TUG_CO_TRY(after,
               call(hooks_.after_model, body_->tally.after_model, "after_model", served, *turn));
    co_return turn;
  }

  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    const Context served = ctx.target();
    TUG_CO_TRY(before,
               call(hooks_.before_tool, body_->tally.before_tool, "before_tool", served, input));
    auto watching = watched(served, std::move(input), next);
    Result<ToolResult> result = co_await std::move(watching);
    if (!result) co_return result;
    TUG_CO_TRY(after,
               call(hooks_.after_tool, body_->tally.after_tool, "after_tool", served, *result));
    co_return result;
  }

  void on_error(Context ctx, const Error& error) override {
    if (!hooks_.on_error) return;
    count(body_->tally.on_error);
    static_cast<void>(guarded("on_error", [&] { hooks_.on_error(ctx.target(), error); }));
  }

 private:
  template <class Hook, class Value>
  Result<void> call(const Hook& hook, HookCounts::Counter* counter, std::string_view event,
                    const Context& ctx, Value& value) const {
    if (!hook) return {};
    return body_->call(hook, counter, event, ctx, value);
  }

  Task<Result<ToolResult>> watched(Context served, ToolInput input, NextTool& next) {
    std::shared_ptr<ProgressSink> sink;
    if (hooks_.on_tool_delta) sink = std::make_shared<ProgressSink>(body_, served);
    const Observing observing(served, std::move(sink));
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (auto failed = observing.failed()) co_return Failure(*std::move(failed));
    co_return result;
  }

  std::shared_ptr<const Body> body_;
  const Lifecycle& hooks_;  // of the body
};

}  // namespace

MiddlewarePtr make_lifecycle(Lifecycle hooks) {
  if (hooks.name.empty()) hooks.name = "lifecycle";
  return std::make_shared<LifecycleMiddleware>(std::move(hooks));
}

}  // namespace tug
