#include "tug/middleware/command_hook.h"

#include <algorithm>

#include "core/try.h"
#include "core/words.h"
#include "tug/core/loop.h"
#include "tug/core/utf8.h"
#include "tug/io/engine.h"
#include "tug/io/process.h"

namespace tug {
namespace {

constexpr int kDenies = 2;                              // the exit code
constexpr std::size_t kMaxSaid = std::size_t{2} << 20;  // room for the output of any tool
constexpr std::size_t kMaxReason = 4096;
constexpr std::size_t kMaxName = 80;

bool is_ending(HookEvent event) noexcept {
  return event == HookEvent::limit_reached || event == HookEvent::run_end ||
         event == HookEvent::after_subagent_run;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string reason_in(std::string_view said) {
  return repair_utf8(clip_utf8(trimmed(said), kMaxReason));
}

Until until_for(const Context& ctx, HookEvent event, Duration timeout) {
  const Instant now = ctx.loop().now();
  const Instant run_ends = ctx.budget().deadline(now);
  if (!is_ending(event)) {
    return {.cancel = ctx.cancel(), .deadline = std::min(later(now, timeout), run_ends)};
  }
  if (ctx.cancelled() || run_ends <= now) timeout = std::min(timeout, kLastHookTime);
  return {.cancel = ctx.cancelled() ? CancelToken() : ctx.cancel(),
          .deadline = later(now, timeout)};
}

Failure not_an_answer(const std::string& why) {
  return fail(ErrorKind::invalid, "it printed something that is no answer: " + why,
              R"(print {"decision": "allow"} or {"decision": "deny", "reason": ".."}, or nothing)");
}

Result<void> read_member(const Json::Member& member, HookReply& reply, bool& denies,
                         std::string& reason) {
  const std::string key(member.key());
  const Json& value = member.value;
  if (key == "output" && value.is_object()) {
    reply.envelope = value;
    return {};
  }
  if (!value.is_string()) return not_an_answer(detail::quoted(key) + " is not a string");
  const std::string text(value.as_string());
  if (key == "decision") {
    denies = text == "deny";
    if (!denies && text != "allow") {
      return not_an_answer("the decision is neither allow nor deny: " + detail::quoted(text));
    }
  } else if (key == "reason") {
    reason = text;
  } else if (key == "context") {
    reply.context = text;
  } else if (key == "output") {
    reply.output = text;
  } else {
    return not_an_answer("there is no member " + detail::quoted(key));
  }
  return {};
}

Result<HookReply> read_answer(const ProcessResult& result) {
  const std::string_view said = trimmed(result.out);
  if (said.empty()) return HookReply{};
  if (result.out_cut) return not_an_answer("it is longer than " + std::to_string(kMaxSaid));
  const Result<Json> json = parse_json(said);
  if (!json) return not_an_answer(json.error().message());
  if (!json->is_object()) return not_an_answer("it is not an object");
  HookReply reply;
  bool denies = false;
  std::string reason;
  for (const Json::Member& member : json->members()) {
    TUG_TRY(read, read_member(member, reply, denies, reason));
  }
  return denies ? deny(std::move(reason)) : reply;
}

Result<HookReply> judge(const ProcessResult& result, Duration allowed) {
  if (result.timed_out) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(allowed).count();
    return fail(ErrorKind::exhausted,
                "it ran longer than " + std::to_string(ms) + " ms and was stopped",
                "make it faster or raise its timeout");
  }
  if (result.signal != 0) {
    return fail(ErrorKind::internal, "it was ended by signal " + std::to_string(result.signal));
  }
  if (result.exit == kDenies) return deny(reason_in(result.err));
  if (result.exit == 0) return read_answer(result);
  const std::string why = reason_in(result.err);
  return fail(ErrorKind::internal,
              "it exited with " + std::to_string(result.exit) + (why.empty() ? "" : ": " + why));
}

Task<Result<HookReply>> ask_command(std::string command, Duration timeout, Context ctx,
                                    HookInput input) {
  Engine* engine = ctx.services().get<Engine>();
  if (!engine) co_return fail(ErrorKind::internal, "the run has no engine to run a command on");
  ProcessSpec spec;
  spec.shell = std::move(command);
  spec.input = print_json(to_json(input)) + "\n";
  spec.cwd = ctx.get("locals.config.cwd").as_string();
  spec.max_output = kMaxSaid;
  const Instant began = ctx.loop().now();
  Until until = until_for(ctx, input.event, timeout);
  const Duration allowed = until.deadline - began;
  auto running = run_process(*engine, std::move(spec), std::move(until));
  Result<ProcessResult> result = co_await std::move(running);
  if (!result) co_return Failure(result.error());
  co_return judge(*result, allowed);
}

}  // namespace

Hook make_command_hook(CommandHook command) {
  Hook hook;
  hook.event = command.event;
  hook.tools = std::move(command.tools);
  hook.agents = std::move(command.agents);
  hook.strict = command.strict;
  hook.name = std::move(command.name);
  if (hook.name.empty()) hook.name = clip_utf8(command.command, kMaxName);
  // Without a command there is no handler, and make_hooks says so.
  if (trimmed(command.command).empty()) return hook;
  hook.handler = HookTask(
      [text = std::move(command.command), timeout = command.timeout](Context ctx, HookInput input) {
        return ask_command(text, timeout, std::move(ctx), std::move(input));
      });
  return hook;
}

}  // namespace tug
