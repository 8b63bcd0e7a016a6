#include "tug/middleware/hooks.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/try.h"
#include "core/words.h"
#include "middleware/hook_input.h"
#include "tools/envelope.h"
#include "tug/core/codec.h"
#include "tug/core/loop.h"
#include "tug/journal/event.h"
#include "tug/journal/payloads.h"

namespace tug {
namespace {

constexpr std::size_t kEvents = 8;

struct Entry {
  Hook hook;
  HookCounts::Counter* counter = nullptr;
};

// What the hooks of one event came to.
struct Verdict {
  const Hook* denied_by = nullptr;
  std::string reason;
  std::vector<std::string> context;
};

bool is_tool_event(HookEvent event) noexcept {
  return event == HookEvent::before_tool_call || event == HookEvent::after_tool_call;
}
bool is_child_event(HookEvent event) noexcept {
  return event == HookEvent::before_subagent_run || event == HookEvent::after_subagent_run;
}
bool may_deny(HookEvent event) noexcept {
  return event == HookEvent::user_prompt_submit || event == HookEvent::before_tool_call ||
         event == HookEvent::before_subagent_run;
}

bool tells_the_end(HookEvent event) noexcept {
  return event == HookEvent::limit_reached || event == HookEvent::run_end ||
         event == HookEvent::after_subagent_run;
}

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_meant(const Hook& hook, const HookInput& input) {
  const auto& names = is_tool_event(hook.event) ? hook.tools : hook.agents;
  if (!names) return true;
  return lists(*names, is_tool_event(hook.event) ? input.tool : input.agent);
}

Result<void> check_reply(HookEvent event, const HookReply& reply) {
  const auto beyond = [&](std::string_view what) {
    return fail(ErrorKind::invalid,
                "a hook on " + std::string(name_of(event)) + " cannot " + std::string(what));
  };
  if (reply.deny && !may_deny(event)) return beyond("deny");
  if (reply.context && event != HookEvent::user_prompt_submit) return beyond("add context");
  if ((reply.output || reply.envelope) && event != HookEvent::after_tool_call) {
    return beyond("replace an output");
  }
  return {};
}

Result<void> check_filter(const std::optional<std::vector<std::string>>& names,
                          std::string_view what, bool fits) {
  if (!names) return {};
  if (!fits) {
    return fail(ErrorKind::invalid, "it has a filter by " + std::string(what),
                std::string(what) == "tool"
                    ? "leave it out: only before_tool_call and after_tool_call have a tool"
                    : "leave it out: only before_subagent_run and after_subagent_run have one");
  }
  if (names->empty() || lists(*names, "")) {
    return fail(ErrorKind::invalid,
                "its filter by " + std::string(what) +
                    (names->empty() ? " is empty" : " has an empty name in it"),
                "name at least one, or leave the filter out");
  }
  return {};
}

Result<void> check_hook(const Hook& hook) {
  const bool callable =
      std::visit([](const auto& handler) { return handler != nullptr; }, hook.handler);
  if (!callable) return fail(ErrorKind::invalid, "it has no handler");
  TUG_TRY(tools, check_filter(hook.tools, "tool", is_tool_event(hook.event)));
  return check_filter(hook.agents, "agent", is_child_event(hook.event));
}

bool is_late(const Context& served) { return !served.budget().check_deadline(served.loop().now()); }

// A hook that was stopped with the run has not agreed to the call.
ToolResult stopped_call(const ToolInput& input, const Context& served) {
  const bool late = is_late(served);
  ToolResult stopped =
      late ? ToolResult::error("the time of the run was over before the call", "Timeout")
           : ToolResult::error("the run was stopped before the call", "Cancelled");
  if (!late) set_metadata(stopped, "cancelled", true);
  stopped.call = input.call;
  if (input.tool) stopped.tool = input.tool->name();
  return stopped;
}

RunResult ended_by(const Context& served, RunStatus status, StopReason stop, Error error) {
  const Identity id = served.id();
  RunResult result;
  result.id = id.run_id;
  result.root = id.root_run_id;
  result.thread = id.thread_id;
  result.status = status;
  result.stop = stop;
  result.error = std::move(error);
  return result;
}

RunResult refused(const Context& served, const Verdict& verdict, const std::string& what) {
  const std::string& by = verdict.denied_by->name;
  std::string message = what + " was refused by the hook " + detail::quoted(by);
  if (!verdict.reason.empty()) message += ": " + verdict.reason;
  return ended_by(served, RunStatus::cancelled, StopReason::cancelled_by_hook,
                  Error(ErrorKind::denied, std::move(message), "", Denied{what, by}));
}

ToolResult cancelled_call(const ToolInput& input, const Verdict& verdict) {
  std::string text =
      "the call was cancelled by the hook " + detail::quoted(verdict.denied_by->name);
  if (!verdict.reason.empty()) text += ": " + verdict.reason;
  ToolResult result = ToolResult::error(std::move(text), "ToolCallCancelled");
  set_metadata(result, "cancelled", true);
  result.call = input.call;
  if (input.tool) result.tool = input.tool->name();
  return result;
}

std::string hook_context(const std::vector<std::string>& added) {
  std::string block = "<hook_context>\n";
  for (const std::string& text : added) block += text + "\n";
  return block + "</hook_context>";
}

bool tripped(const RunResult& result) {
  const bool by_limit =
      result.stop == StopReason::limit_reached || result.stop == StopReason::tool_retries_exceeded;
  return by_limit && result.error && result.error->detail_if<Limit>();
}

class HookMiddleware final : public Middleware {
 public:
  HookMiddleware(std::vector<Hook> hooks, std::shared_ptr<HookCounts> counts)
      : counts_(std::move(counts)) {
    Json shown = Json::array();
    for (Hook& hook : hooks) {
      (is_tool_event(hook.event) ? around_.tool : around_.run) = true;
      shown.push_back(Json::object({{"event", name_of(hook.event)}, {"name", hook.name}}));
      HookCounts::Counter* counter =
          counts_ ? &counts_->counter("hooks", name_of(hook.event)) : nullptr;
      entries_[static_cast<std::size_t>(hook.event)].emplace_back(std::move(hook), counter);
    }
    settings_ = Json::object({{"hooks", std::move(shown)}});
  }

  std::string name() const override { return "hooks"; }
  Json settings() const override { return settings_; }
  Around around() const noexcept override { return around_; }
  bool is_hooks() const noexcept override { return true; }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    const Context served = ctx.target();
    const std::string prompt = input.prompt;
    const bool starts = !served.id().parent_run_id.empty() && !input.resumed;
    if (starts && has(HookEvent::before_subagent_run)) {
      auto asking = fire_for_run(HookEvent::before_subagent_run, served, input);
      TUG_CO_TRY(verdict, co_await std::move(asking));
      if (verdict.denied_by) {
        const std::string what = "SubAgentCancelled: the run of " + served.id().agent;
        co_return next.finish(refused(served, verdict, what));
      }
    }
    auto running = segment(served, std::move(input), next);
    Result<RunResult> result = co_await std::move(running);
    auto ending = tell_end(served, prompt, std::move(result));
    Result<RunResult> ended = co_await std::move(ending);
    co_return ended;
  }

  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    const Context served = ctx.target();
    if (has(HookEvent::before_tool_call)) {
      HookInput told = hook_input(HookEvent::before_tool_call, served);
      describe_call(told, input);
      auto asking = fire(served, std::move(told));
      TUG_CO_TRY(verdict, co_await std::move(asking));
      if (verdict.denied_by) co_return next.finish(cancelled_call(input, verdict));
      if (served.cancelled() || is_late(served)) {
        co_return next.finish(stopped_call(input, served));
      }
    }
    if (!has(HookEvent::after_tool_call)) {
      auto running = next.run(std::move(input));
      Result<ToolResult> result = co_await std::move(running);
      co_return result;
    }
    HookInput told = hook_input(HookEvent::after_tool_call, served);
    describe_call(told, input);
    const Instant began = served.loop().now();
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (!result || result->metadata["error_type"].as_string() == "Cancelled") co_return result;
    const auto took = served.loop().now() - began;
    told.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    auto rewriting = rewrite(served, std::move(told), *std::move(result));
    Result<ToolResult> rewritten = co_await std::move(rewriting);
    co_return rewritten;
  }

 private:
  bool has(HookEvent event) const noexcept { return !entries(event).empty(); }
  const std::vector<Entry>& entries(HookEvent event) const noexcept {
    return entries_[static_cast<std::size_t>(event)];
  }

  Task<Result<RunResult>> segment(Context served, RunInput input, NextRun& next) {
    if (has(HookEvent::run_start)) {
      auto telling = fire_for_run(HookEvent::run_start, served, input);
      TUG_CO_TRY(told, co_await std::move(telling));
    }
    const bool prompted = !input.resumed || !input.prompt.empty();
    if (prompted && has(HookEvent::user_prompt_submit)) {
      auto asking = fire_for_run(HookEvent::user_prompt_submit, served, input);
      TUG_CO_TRY(verdict, co_await std::move(asking));
      if (verdict.denied_by) co_return next.finish(refused(served, verdict, "the prompt"));
      if (!verdict.context.empty()) input.context.push_back(hook_context(verdict.context));
    }
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    co_return result;
  }

  // Everybody is told, whatever happens in between; the first strict failure counts, unless the run
  // has failed on its own.
  Task<Result<RunResult>> tell_end(Context served, std::string prompt, Result<RunResult> result) {
    const RunResult seen =
        result ? *result : ended_by(served, RunStatus::failed, StopReason::error, result.error());
    const bool over = !served.id().parent_run_id.empty() && seen.status != RunStatus::parked;
    std::vector<HookEvent> events;
    if (tripped(seen)) events.push_back(HookEvent::limit_reached);
    events.push_back(HookEvent::run_end);
    if (over) events.push_back(HookEvent::after_subagent_run);
    std::optional<Error> failed;
    for (HookEvent event : events) {
      if (!has(event)) continue;
      HookInput told = hook_input(event, served);
      told.prompt = prompt;
      told.parent_call_id = served.id().parent_call_id;
      describe_end(told, seen);
      auto telling = fire(served, std::move(told));
      Result<Verdict> verdict = co_await std::move(telling);
      if (!verdict && !failed) failed = verdict.error();
    }
    const bool went_well = seen.status == RunStatus::completed || seen.status == RunStatus::parked;
    if (failed && went_well) co_return Failure(*std::move(failed));
    co_return result;
  }

  Task<Result<ToolResult>> rewrite(Context served, HookInput told, ToolResult result) {
    told.original_output = result.content;
    for (const Entry& entry : entries(HookEvent::after_tool_call)) {
      if (!is_meant(entry.hook, told)) continue;
      describe_output(told, result);
      auto calling = call(entry, served, told);
      TUG_CO_TRY(reply, co_await std::move(calling));
      if (reply.output || reply.envelope) replace_output(result, reply);
    }
    co_return result;
  }

  Task<Result<Verdict>> fire_for_run(HookEvent event, Context served, const RunInput& input) {
    HookInput told = hook_input(event, served);
    describe_run(told, served, input);
    return fire(std::move(served), std::move(told));
  }

  Task<Result<Verdict>> fire(Context served, HookInput input) {
    Verdict verdict;
    for (const Entry& entry : entries(input.event)) {
      if (!is_meant(entry.hook, input)) continue;
      auto calling = call(entry, served, input);
      TUG_CO_TRY(reply, co_await std::move(calling));
      if (reply.deny) {
        verdict.denied_by = &entry.hook;
        verdict.reason = *std::move(reply.deny);
        break;
      }
      if (reply.context) verdict.context.push_back(*std::move(reply.context));
    }
    co_return verdict;
  }

  // What goes wrong is recorded, and a failure only of a strict hook. A hook that was stopped
  // together with its run has nothing to answer for.
  Task<Result<HookReply>> call(const Entry& entry, Context served, HookInput input) {
    const Hook& hook = entry.hook;
    if (entry.counter) entry.counter->fetch_add(1, std::memory_order_relaxed);
    auto entering = enter(hook, served, std::move(input));
    Result<HookReply> reply = co_await std::move(entering);
    if (reply) {
      Result<void> allowed = check_reply(hook.event, *reply);
      if (!allowed) reply = Failure(allowed.error());
    }
    if (reply) co_return reply;
    if (reply.error().kind() == ErrorKind::cancelled && served.cancelled()) co_return HookReply{};
    const bool cut = reply.error().kind() == ErrorKind::exhausted && is_late(served);
    if (cut && !tells_the_end(hook.event)) co_return HookReply{};
    served.emit(Kind::hook_failed,
                write_json(payload::HookFailed{.hook = hook.name,
                                               .event = std::string(name_of(hook.event)),
                                               .error = to_string(reply.error())}));
    if (!hook.strict) co_return HookReply{};
    co_return Failure(reply.error().within("the hook " + detail::quoted(hook.name)));
  }

  static Task<Result<HookReply>> enter(const Hook& hook, Context served, HookInput input) {
    if (const auto* function = std::get_if<HookFunction>(&hook.handler)) {
      co_return guarded("the handler", [&] { return (*function)(input); });
    }
    std::optional<Error> thrown;
    try {
      auto working = std::get<HookTask>(hook.handler)(std::move(served), std::move(input));
      if (!working) throw std::logic_error("it gave an empty task");
      Result<HookReply> reply = co_await std::move(working);
      co_return reply;
    } catch (...) {
      thrown = detail::error_in_flight("the handler");
    }
    co_return Failure(*std::move(thrown));
  }

  std::shared_ptr<HookCounts> counts_;
  std::array<std::vector<Entry>, kEvents> entries_;
  Around around_{.run = false, .model = false, .tool = false};
  Json settings_;
};

}  // namespace

Result<MiddlewarePtr> make_hooks(std::vector<Hook> hooks, std::shared_ptr<HookCounts> counts) {
  for (std::size_t place = 0; place < hooks.size(); ++place) {
    Hook& hook = hooks[place];
    if (hook.name.empty()) {
      hook.name = std::string(name_of(hook.event)) + "#" + std::to_string(place + 1);
    }
    Result<void> checked = check_hook(hook);
    if (!checked) return Failure(checked.error().within("hook " + detail::quoted(hook.name)));
  }
  return MiddlewarePtr(std::make_shared<HookMiddleware>(std::move(hooks), std::move(counts)));
}

}  // namespace tug
