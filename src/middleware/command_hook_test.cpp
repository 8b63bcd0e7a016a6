// Real commands on the real engine.
#include "tug/middleware/command_hook.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/testing.h"
#include "middleware/hook_testing.h"

namespace tug {
namespace {

class CommandHooks : public HookTest {
 protected:
  CommandHooks() {
    world.engine = make_engine({.loops = 1, .workers = 2});
    world.services = Services::Builder(1)
                         .ids(make_counting_ids("run"))
                         .config(Json::object({{"cwd", folder}}))
                         .put(world.engine)
                         .build();
  }
  ~CommandHooks() override { world.services.reset(); }

  static Middlewares made(CommandHook hook) {
    auto link = make_hooks({make_command_hook(std::move(hook))});
    EXPECT_TRUE(link) << to_string(link.error());
    return {*link};
  }
  // What becomes of a call of the tool `t`, which says "x".
  std::string called(CommandHook hook) {
    const auto result = call(made(std::move(hook)), tool_named("t"),
                             [](ToolInput) { return Result<ToolResult>(ToolResult::text("x")); });
    return result ? shown(*result) : "failed " + to_string(result.error());
  }
  std::string before(std::string command) {
    return called({.event = HookEvent::before_tool_call, .command = std::move(command)});
  }
  std::string after(std::string command) {
    return called({.event = HookEvent::after_tool_call, .command = std::move(command)});
  }
  // Why the hook failed.
  std::string failure(std::string command, Duration timeout = kHookTimeout) {
    const std::string result = called({.event = HookEvent::before_tool_call,
                                       .command = std::move(command),
                                       .timeout = timeout,
                                       .name = "h"});
    EXPECT_EQ(result, "ok x");
    const auto failed = records(Kind::hook_failed);
    return failed.size() == 1 ? std::string(failed[0].data["error"].as_string()) : "no failure";
  }
  std::string file(const std::string& name) const {
    std::ifstream stream(folder + "/" + name);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  const TempFolder temporary;
  const std::string folder = temporary.path();
};

const std::string kRefused = "error the call was cancelled by the hook ";
const std::string kCancelled = R"( {"error_type":"ToolCallCancelled","cancelled":true})";

TEST_F(CommandHooks, ACommandReadsWhatTheHookIsToldInTheFolderOfTheRun) {
  EXPECT_EQ(before("cat > seen"), "ok x");
  const auto json = parse_json(file("seen"));
  ASSERT_TRUE(json) << file("seen");
  EXPECT_EQ(print_json(*json),
            R"({"event":"before_tool_call","run_id":"run-1","thread_id":"thread-1",)"
            R"("root_run_id":"run-1","agent":"main","depth":0,"turn":0,"resumed":false,)"
            R"("metadata":{},"call_id":"1.0","tool":"t","tool_index":3,"arguments":{"n":1}})");
}

TEST_F(CommandHooks, SayingNothingOrAllowAllows) {
  EXPECT_EQ(before("true"), "ok x");
  EXPECT_EQ(before("echo; echo"), "ok x");
  EXPECT_EQ(before(R"(echo '{"decision":"allow","reason":"fine"}')"), "ok x");
  EXPECT_EQ(before("echo '{}'"), "ok x");
  EXPECT_TRUE(records(Kind::hook_failed).empty());
}

TEST_F(CommandHooks, ADecisionDenies) {
  const std::string command = R"(echo '{"decision":"deny","reason":"not on Mondays"}')";
  std::string name;
  print_json_string(command, name);
  EXPECT_EQ(before(command), kRefused + name + ": not on Mondays" + kCancelled);
}

TEST_F(CommandHooks, ExitCodeTwoDeniesWithWhatItSaidOnStderr) {
  EXPECT_EQ(before("echo 'no way' >&2; exit 2"),
            kRefused + "\"echo 'no way' >&2; exit 2\": no way" + kCancelled);
}

TEST_F(CommandHooks, AnOutputReplacesTheToolsOwn) {
  EXPECT_EQ(after(R"(echo '{"output":"redacted"}')"), "ok redacted");
  EXPECT_EQ(after(R"(echo '{"output":{"ok":false,"content":"no"}}')"),
            R"(error no {"error_type":"Exception"})");
  EXPECT_EQ(after(R"(read -r told; case $told in *'"output":"x"'*) echo '{"output":"y"}';; esac)"),
            "ok y");
}

TEST_F(CommandHooks, ContextIsToldToTheModel) {
  std::vector<std::string> told;
  const auto result = run(
      made({.event = HookEvent::user_prompt_submit, .command = R"(echo '{"context":"it rains"}')"}),
      {.prompt = "hi"}, [&](RunInput input) {
        told = input.context;
        return Result<RunResult>(RunResult{});
      });
  ASSERT_TRUE(result);
  EXPECT_EQ(told, Trace{"<hook_context>\nit rains\n</hook_context>"});
}

TEST_F(CommandHooks, WhatElseItDoesIsAFailure) {
  const std::string fix =
      R"( (print {"decision": "allow"} or {"decision": "deny", "reason": ".."}, or nothing))";
  const std::string wrong = "it printed something that is no answer: ";
  EXPECT_EQ(failure("echo 'disk full' >&2; exit 1"), "it exited with 1: disk full");
  EXPECT_EQ(failure("exit 127"), "it exited with 127");
  EXPECT_EQ(failure("kill -9 $$"), "it was ended by signal 9");
  EXPECT_EQ(failure("echo '[1]'"), wrong + "it is not an object" + fix);
  EXPECT_EQ(failure(R"(echo '{"decision":"maybe"}')"),
            wrong + "the decision is neither allow nor deny: \"maybe\"" + fix);
  EXPECT_EQ(failure(R"(echo '{"descision":"deny"}')"),
            wrong + "there is no member \"descision\"" + fix);
  EXPECT_EQ(failure(R"(echo '{"reason":7}')"), wrong + "\"reason\" is not a string" + fix);
  EXPECT_TRUE(failure("echo hello").starts_with(wrong)) << failure("echo hello");
  EXPECT_EQ(failure("head -c 5000000 /dev/zero | tr '\\0' x"),
            wrong + "it is longer than 2097152" + fix);
}

TEST_F(CommandHooks, OneThatTakesTooLongIsStoppedAndFails) {
  EXPECT_EQ(failure("sleep 60", std::chrono::milliseconds(50)),
            "it ran longer than 50 ms and was stopped (make it faster or raise its timeout)");
}

TEST_F(CommandHooks, AStrictFailureEndsTheRun) {
  EXPECT_EQ(
      called(
          {.event = HookEvent::before_tool_call, .command = "exit 1", .strict = true, .name = "h"}),
      "failed the hook \"h\": it exited with 1");
}

TEST_F(CommandHooks, TheEndOfACancelledRunIsStillTold) {
  const auto result = run(
      made({.event = HookEvent::run_end, .command = "cat > seen"}), {},
      [](RunInput) {
        RunResult cancelled;
        cancelled.status = RunStatus::cancelled;
        cancelled.stop = StopReason::cancelled;
        return Result<RunResult>(cancelled);
      },
      [](Context& root) { root.cancel().request({.text = "enough"}); });
  ASSERT_TRUE(result);
  const auto json = parse_json(file("seen"));
  ASSERT_TRUE(json) << file("seen");
  EXPECT_EQ((*json)["stop_reason"].as_string(), "cancelled");
  EXPECT_TRUE(records(Kind::hook_failed).empty());
}

TEST_F(CommandHooks, AnEmptyCommandIsRefusedWhenItIsMade) {
  const auto link = make_hooks({make_command_hook({.command = "  ", .name = "h"})});
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().message(), "hook \"h\": it has no handler");
}

}  // namespace
}  // namespace tug
