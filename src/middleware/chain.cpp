#include "middleware/chain.h"

#include <algorithm>
#include <stdexcept>

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/journal/journal.h"
#include "tug/journal/payloads.h"

namespace tug {
namespace {

template <class In>
struct HookOf;
template <>
struct HookOf<RunInput> {
  static constexpr std::string_view kName = "run";
  static bool has(const Middleware& link) { return link.around().run; }
  static auto enter(Middleware& link, Context ctx, RunInput in, NextRun& next) {
    return link.around_run(std::move(ctx), std::move(in), next);
  }
};
template <>
struct HookOf<ModelRequest> {
  static constexpr std::string_view kName = "model";
  static bool has(const Middleware& link) { return link.around().model; }
  static auto enter(Middleware& link, Context ctx, ModelRequest in, NextModel& next) {
    return link.around_model(std::move(ctx), std::move(in), next);
  }
};
template <>
struct HookOf<ToolInput> {
  static constexpr std::string_view kName = "tool";
  static bool has(const Middleware& link) { return link.around().tool; }
  static auto enter(Middleware& link, Context ctx, ToolInput in, NextTool& next) {
    return link.around_tool(std::move(ctx), std::move(in), next);
  }
};

// The steps of one middleware, for who watches them: left however it is left.
class Step {
 public:
  Step(const Context& ctx, const Middleware& link, std::string_view hook)
      : ctx_(ctx), link_(link), hook_(hook) {
    if (!ctx.events().wants_steps()) return;
    shown_ = link.name();
    show(Kind::middleware_started);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() {
    if (shown_) show(Kind::middleware_completed);
  }

  void failed(const Error& error) {
    ctx_.emit(Kind::middleware_failed,
              write_json(payload::MiddlewareStep{
                  .name = link_.name(), .hook = std::string(hook_), .error = error.message()}));
  }

 private:
  void show(Kind kind) const {
    ctx_.emit_live(
        kind, write_json(payload::MiddlewareStep{.name = *shown_, .hook = std::string(hook_)}));
  }

  const Context& ctx_;
  const Middleware& link_;
  std::string_view hook_;
  std::optional<std::string> shown_;  // its name; asked for once, as it may throw
};

template <class In, class Out>
Task<Result<Out>> run_chain(const Middlewares& links, Context served, In in,
                            detail::ChainCore<In, Out>& core) {
  detail::ChainRun<In, Out> chain(links, std::move(served), core);
  auto entering = chain.from(0, std::move(in));
  Result<Out> out = co_await std::move(entering);
  co_return out;
}

template <class In, class Out>
Task<Result<Out>> go_through(const Middlewares& links, Context served, In in,
                             detail::ChainCore<In, Out>& core) {
  const bool any =
      std::ranges::any_of(links, [](const MiddlewarePtr& link) { return HookOf<In>::has(*link); });
  if (!any) return core.call(std::move(in));
  return run_chain(links, std::move(served), std::move(in), core);
}

}  // namespace

namespace detail {

// One that injects itself would never come to an end.
constexpr std::size_t kMaxLinks = 1000;

template <class In, class Out>
ChainRun<In, Out>::ChainRun(const Middlewares& links, Context served, ChainCore<In, Out>& core)
    : served_(std::move(served)), core_(core) {
  links_.reserve(links.size());
  for (const MiddlewarePtr& link : links) {
    if (HookOf<In>::has(*link)) links_.push_back(link);
  }
}

template <class In, class Out>
Task<Result<Out>> ChainRun<In, Out>::from(std::size_t place, In in) {
  if (place == links_.size()) return core_.call(std::move(in));
  return enter(place, std::move(in));
}

template <class In, class Out>
void ChainRun<In, Out>::inject(std::size_t place, MiddlewarePtr other) {
  if (!other || !HookOf<In>::has(*other)) return;
  links_.insert(links_.begin() + static_cast<std::ptrdiff_t>(std::min(place, links_.size())),
                std::move(other));
}

template <class In, class Out>
Task<Result<Out>> ChainRun<In, Out>::enter(std::size_t place, In in) {
  if (place >= kMaxLinks) {
    co_return fail(ErrorKind::exhausted,
                   "more than " + std::to_string(kMaxLinks) + " middlewares stand around one call",
                   "inject a middleware once, not from itself");
  }
  const MiddlewarePtr link = links_[place];
  TUG_CO_TRY(ctx, served_.child({.kind = NodeKind::middleware, .target = &served_}));
  Next<In, Out> next(*this, place + 1);
  Step step(ctx, *link, HookOf<In>::kName);
  std::optional<Error> thrown;
  try {
    auto entering = HookOf<In>::enter(*link, ctx, std::move(in), next);
    if (!entering) throw std::logic_error("it gave an empty task");
    Result<Out> out = co_await std::move(entering);
    co_return out;
  } catch (...) {
    thrown = error_in_flight("the middleware " + link->name());
  }
  step.failed(*thrown);
  co_return Failure(*std::move(thrown));
}

}  // namespace detail

template <class In, class Out>
Task<Result<Out>> Next<In, Out>::run(In in) {
  return chain_.from(place_, std::move(in));
}

template <class In, class Out>
void Next<In, Out>::inject(MiddlewarePtr other) {
  chain_.inject(place_ + injected_, std::move(other));
  ++injected_;
}

template class Next<RunInput, RunResult>;
template class Next<ModelRequest, ModelTurn>;
template class Next<ToolInput, ToolResult>;

Task<Result<RunResult>> around_run(const Middlewares& links, Context served, RunInput input,
                                   RunCore& core) {
  return go_through(links, std::move(served), std::move(input), core);
}
Task<Result<ModelTurn>> around_model(const Middlewares& links, Context served, ModelRequest request,
                                     ModelCore& core) {
  return go_through(links, std::move(served), std::move(request), core);
}
Task<Result<ToolResult>> around_tool(const Middlewares& links, Context served, ToolInput input,
                                     ToolCore& core) {
  return go_through(links, std::move(served), std::move(input), core);
}

Middlewares in_order(const Middlewares& list) {
  Middlewares sorted;
  for (const bool hooks : {true, false}) {
    for (const MiddlewarePtr& link : list) {
      if (link->is_hooks() == hooks) sorted.push_back(link);
    }
  }
  return sorted;
}

Task<Result<RunResult>> Middleware::around_run(Context, RunInput input, NextRun& next) {
  return next.run(std::move(input));
}
Task<Result<ModelTurn>> Middleware::around_model(Context, ModelRequest request, NextModel& next) {
  return next.run(std::move(request));
}
Task<Result<ToolResult>> Middleware::around_tool(Context, ToolInput input, NextTool& next) {
  return next.run(std::move(input));
}

}  // namespace tug
