// Middleware that looks and tells: logging, the guard of the prompt cache.
#include "middleware/testing.h"
#include "tug/middleware/logging.h"
#include "tug/middleware/prompt_cache_guard.h"

namespace tug {
namespace {

class LoggingTest : public BuiltIn {
 protected:
  class Ends final : public RunCore {
   public:
    Task<Result<RunResult>> call(RunInput) override { co_return result; }
    RunResult result;
  };

  std::vector<std::string> run(Ends& core, LogLevel level) {
    std::vector<std::string> lines;
    auto done = world.run([&](Context root) {
      EXPECT_TRUE(root.configure_log({.level = level}));
      return whole(links, root, core, model, outcomes, lines);
    });
    EXPECT_TRUE(done);
    return lines;
  }

 private:
  static Task<Result<void>> whole(const Middlewares& links, Context root, Ends& core,
                                  Answers& model, Outcomes& outcomes,
                                  std::vector<std::string>& lines) {
    auto running = around_run(links, root, RunInput{.prompt = "hi"}, core);
    Result<RunResult> result = co_await std::move(running);
    auto asking = around_model(links, root, ModelRequest{.model = "m"}, model);
    Result<ModelTurn> turn = co_await std::move(asking);
    ToolInput input = calls(tool("read"));
    auto reading = around_tool(links, root, std::move(input), outcomes);
    Result<ToolResult> read = co_await std::move(reading);
    for (const LogEntry& entry : root.tail({.tag = "logging"}).entries) {
      lines.push_back(std::string(name_of(entry.level)) + " " + entry.text);
    }
    co_return Result<void>();
  }
};

TEST_F(LoggingTest, SaysWhatHappensAndCountsIt) {
  auto counts = std::make_shared<LoggingCounts>();
  links = {make_logging(counts)};
  model.say("hello");
  outcomes.results = {ToolResult::text("x")};
  Ends core;
  core.result.stop = StopReason::end_turn;
  core.result.counts = {.model_calls = 2, .tool_calls = 1};
  EXPECT_EQ(run(core, LogLevel::debug),
            (std::vector<std::string>{
                "info the run starts", "info the run ends: end_turn, 2 model calls, 1 tool call",
                "debug m is asked: 0 messages, 0 tools", "debug m answers: stop, 5 bytes, 0 calls",
                "debug read is called (1.0)", "debug read answers: 1 byte"}));
  EXPECT_EQ(counts->runs, 1u);
  EXPECT_EQ(counts->model_calls, 1u);
  EXPECT_EQ(counts->tool_calls, 1u);
  EXPECT_EQ(counts->failures, 0u);
}

TEST_F(LoggingTest, FailuresAreWarnings) {
  auto counts = std::make_shared<LoggingCounts>();
  links = {make_logging(counts)};
  model.answers = {fail(ErrorKind::overloaded, "busy")};
  outcomes.results = {ToolResult::error("no such file", "NotFound")};
  Ends core;
  core.result.error = Error(ErrorKind::denied, "no key");
  EXPECT_EQ(run(core, LogLevel::info),
            (std::vector<std::string>{"info the run starts", "warning the run fails: no key",
                                      "warning m fails: busy", "warning read fails: NotFound"}));
  EXPECT_EQ(counts->failures, 3u);
}

class CacheGuard : public BuiltIn {
 protected:
  static ModelRequest request(std::string system, const std::vector<std::string>& said,
                              const std::vector<ToolPtr>& tools = {}) {
    ModelRequest made = shows(tools);
    made.system = std::make_shared<const std::string>(std::move(system));
    for (const std::string& text : said) {
      EXPECT_TRUE(made.transcript.append_user(Message::user(text)));
    }
    return made;
  }
  std::size_t changes(std::vector<Step> steps) {
    links = {make_prompt_cache_guard()};
    go(std::move(steps));
    return events(Kind::cache_prefix_changed).size();
  }
};

TEST_F(CacheGuard, RequestsThatOnlyGrowOrShrinkAtTheEndAreStable) {
  EXPECT_EQ(changes({request("s", {"a"}), request("s", {"a", "b"}), request("s", {"a", "b", "c"}),
                     request("s", {"a"}), request("s", {"a", "x"})}),
            0u);
}

TEST_F(CacheGuard, AnythingElseIsAnEventWithBothFingerprints) {
  EXPECT_EQ(changes({request("s", {"a", "b"}), request("s", {"a", "x"})}), 1u);
  const Json told = events(Kind::cache_prefix_changed)[0];
  EXPECT_EQ(told["before"].as_string().size(), 16u);
  EXPECT_NE(told["before"], told["after"]);
  EXPECT_EQ(told["violates_policy"], Json(true));
  EXPECT_EQ(changes({request("s", {"a"}), request("t", {"a"})}), 1u);
  EXPECT_EQ(changes({request("s", {"a", "b"}), request("s", {"b"})}), 1u);
  const ToolPtr a = tool("a");
  const ToolPtr b = tool("b");
  EXPECT_EQ(changes({request("s", {}, {a, b}), request("s", {}, {b, a})}), 1u);
  EXPECT_EQ(changes({request("s", {}, {a}), request("s", {}, {a, b}), request("s", {}, {a, b})}),
            1u);
  EXPECT_EQ(changes({request("s", {}, {a}), request("s", {}, {tool("a")})}), 0u)
      << "the same tool declared again";
}

TEST_F(CacheGuard, EachRunIsComparedWithItselfAlone) {
  EXPECT_EQ(changes({request("s", {"a"})}), 0u);
  EXPECT_EQ(changes({request("t", {"b"})}), 0u);
}

TEST_F(CacheGuard, WithoutAPolicyAChangeIsJustTold) {
  links = {make_prompt_cache_guard({.protect_prefix = false})};
  go({request("s", {}), request("t", {})});
  ASSERT_EQ(events(Kind::cache_prefix_changed).size(), 1u);
  EXPECT_EQ(events(Kind::cache_prefix_changed)[0]["violates_policy"], Json(false));
}

}  // namespace
}  // namespace tug
