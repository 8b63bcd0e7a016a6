// A tree of runs where things meet: order and parking, plans and their callers, conversations and
// their bases, handles and those who wait for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/testing.h"
#include "tug/agent/agent.h"
#include "tug/model/script.h"

namespace tug {
namespace {

std::string told(const RunResult& result) {
  return std::string(name_of(result.status)) + " " + std::string(name_of(result.stop)) + ": " +
         result.text + (result.error ? " / " + to_string(*result.error) : "");
}

// A harness whose model plays a script.
struct Stage {
  explicit Stage(const std::string& script, std::shared_ptr<RecordStore> with = nullptr,
                 HarnessOptions options = {})
      : store(with ? std::move(with) : std::shared_ptr(make_memory_record_store())) {
    options.engine = engine;
    options.store = store;
    options.models = make_models();
    options.models->add(make_script_model(parse_script(script, "stage").value(),
                                          {.provider = "script", .name = "stage"}));
    options.model = "script/stage";
    options.steering = SteeringPolicy::allow_all();
    harness = std::make_unique<Harness>(std::move(options));
    harness->inline_tool("pay", "Pays",
                         [this] {
                           log.push_back("pay");
                           return "paid";
                         },
                         {.requires_approval = true});
    harness->inline_tool("look", "Looks", [this] {
      log.push_back("look");
      return "seen";
    });
  }
  RunResult run(std::string prompt, RunOptions options = {}) {
    options.observers.push_back(seen);
    tug::Run run = harness->start(std::move(prompt), std::move(options));
    engine->run_until_idle();
    EXPECT_TRUE(run.ended()) << "it hangs";
    if (!run.ended()) run.cancel("it hangs");
    return run.wait();
  }

  std::shared_ptr<SimEngine> engine = make_sim_engine({.seed = 11});
  std::shared_ptr<RecordStore> store;
  std::shared_ptr<SeenEvents> seen = std::make_shared<SeenEvents>();
  std::vector<std::string> log;  // what was done, in order
  std::unique_ptr<Harness> harness;
};

constexpr const char* kAskThenLook =
    R"({"agent":"main","tool_calls":[{"id":"a","name":"clerk","arguments":{"input":"pay it"}},{"id":"b","name":"look","arguments":{}}]}
{"agent":"clerk","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"clerk","text":"done"}
{"agent":"main","text":"over"}
)";

TEST(TreeEdges, CallsThatComeOneAfterTheOtherDoSoWhereTheFirstIsParked) {
  Stage stage(kAskThenLook, nullptr, {.tool_execution = ToolExecution::sequential});
  stage.harness->agent("clerk", "Pays.");
  const RunResult parked = stage.run("go");
  ASSERT_EQ(parked.status, RunStatus::parked) << told(parked);
  EXPECT_EQ(stage.log, std::vector<std::string>{}) << "the second waits for the first";
  expect_journal_says(*stage.store, parked);
  const RunResult done =
      stage.harness->approve(parked.root, decide_all(parked.pending, true)).wait();
  EXPECT_EQ(done.text, "over") << told(done);
  EXPECT_EQ(stage.log, (std::vector<std::string>{"pay", "look"}));
  expect_journal_says(*stage.store, done);
}

TEST(TreeEdges, AgentsComeOneAfterTheOtherWhereCallsDo) {
  const char* kTwo =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"clerk","arguments":{"input":"one"}},{"id":"b","name":"clerk","arguments":{"input":"two"}}]}
{"agent":"clerk","text":"done","repeat":true,"delay_ms":10}
{"agent":"main","text":"over"}
)";
  Stage stage(kTwo, nullptr, {.tool_execution = ToolExecution::sequential});
  stage.harness->agent("clerk", "Pays.");
  const RunResult result = stage.run("go");
  ASSERT_EQ(result.text, "over") << told(result);
  std::vector<std::string> order;
  for (const Event& event : stage.seen->events) {
    if (event.kind == Kind::subagent_started) order.emplace_back("started");
    if (event.kind == Kind::subagent_completed) order.emplace_back("completed");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"started", "completed", "started", "completed"}));
}

TEST(TreeEdges, AnAgentAsARootHasNothingOfARunThatIsGone) {
  const char* kOnce =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"clerk","arguments":{"input":"one"}}]}
{"agent":"clerk","when":"pay it","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"clerk","text":"done"}
{"agent":"main","text":"over"}
)";
  Stage stage(kOnce);
  const Agent clerk = stage.harness->agent("clerk", "Pays.");
  RunOptions loose;
  loose.permissions = Permissions{.mode = PermissionMode::yolo};
  ASSERT_EQ(stage.run("go", loose).text, "over");
  auto running = clerk.run("pay it");
  const auto result = stage.engine->run(stage.engine->place(), std::move(running));
  EXPECT_EQ(result->status, RunStatus::parked) << told(*result);
  EXPECT_EQ(stage.log, std::vector<std::string>{});
}

TEST(TreeEdges, AnUnnamedAgentInTheBackgroundGoesOnWhenTheRootDoes) {
  const char* kBackground =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"subagent","arguments":{"task":"pay it","background":true}}]}
{"agent":"default","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"default","text":"done"}
{"agent":"main","text":"over"}
)";
  Stage stage(kBackground);
  stage.harness->subagents({.background = true});
  const RunResult parked = stage.run("go");
  ASSERT_EQ(parked.status, RunStatus::parked) << told(parked);
  ASSERT_EQ(parked.pending.size(), 1u);
  const RunResult done =
      stage.harness->approve(parked.root, decide_all(parked.pending, true)).wait();
  EXPECT_EQ(done.status, RunStatus::completed) << told(done);
  EXPECT_EQ(stage.log, std::vector<std::string>{"pay"});
  for (const FoldedRun& run : fold_root(*stage.store, done.root)->runs) {
    EXPECT_EQ(run.result.status, RunStatus::completed) << told(run.result);
  }
}

// A tool that talks to an agent in a conversation which another root has begun.
TEST(TreeEdges, AConversationTakenUpFromAnotherRootReadsBackAsItWas) {
  const char* kTalk =
      R"({"agent":"main","when":"go","tool_calls":[{"id":"a","name":"talk","arguments":{}}]}
{"agent":"clerk","when":"first","text":"hello"}
{"agent":"clerk","when":"second","tool_calls":[{"id":"c","name":"look","arguments":{}}]}
{"agent":"clerk","text":"seen it"}
{"agent":"main","text":"over"}
)";
  Stage stage(kTalk);
  const Agent clerk = stage.harness->agent("clerk", "Talks.");
  std::optional<ResumeState> at;
  std::vector<RunResult> sent;
  stage.harness->tool("talk", "Talks", [&](const Context& ctx) -> Task<std::string> {
    AgentSession session = clerk.session(ctx);
    if (at) EXPECT_TRUE(session.take_up(*at));
    auto sending = session.send(at ? "second" : "first");
    RunResult result = co_await std::move(sending);
    at = session.at();
    sent.push_back(result);
    co_return result.text;
  });
  ASSERT_EQ(stage.run("go").text, "over");
  const RunResult second = stage.run("go");
  ASSERT_EQ(second.text, "over") << told(second);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].messages.messages().size(), 6u);
  const auto folded = fold_root(*stage.store, second.root);
  ASSERT_TRUE(folded) << to_string(folded.error());
  ASSERT_EQ(folded->runs.size(), 2u);
  EXPECT_EQ(folded->runs[1].result.messages, sent[1].messages);
  EXPECT_EQ(folded->runs[1].result.tool_calls, sent[1].tool_calls);
}

TEST(TreeEdges, AConversationOfAChildIsNotTakenUpAsOneOfItsRoot) {
  const char* kTalk =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"clerk","arguments":{"input":"hi"}}]}
{"agent":"clerk","text":"hello"}
{"agent":"main","text":"one"}
{"agent":"clerk","text":"again"}
)";
  Stage stage(kTalk);
  const Agent clerk = stage.harness->agent("clerk", "Talks.");
  const RunResult root = stage.run("go");
  ASSERT_EQ(root.text, "one");
  const auto folded = fold_root(*stage.store, root.root);
  ASSERT_EQ(folded->runs.size(), 2u);
  AgentSession session = clerk.session();
  const auto taken = session.take_up({folded->runs[1].who->run_id, 0});
  ASSERT_FALSE(taken) << "a root would go on from the root";
  EXPECT_EQ(taken.error().kind(), ErrorKind::invalid);
  EXPECT_EQ(session.turns(), 0u);
}

TEST(TreeEdges, ACallThatWaitsForAChildInTheBackgroundByItsHandleDoesNotKeepTheTreeFromParking) {
  const char* kScript =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"start","arguments":{}}]}
{"agent":"clerk","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"clerk","text":"done"}
{"agent":"main","text":"over"}
)";
  Stage stage(kScript);
  const Agent clerk = stage.harness->agent("clerk", "Pays.");
  stage.harness->tool("start", "Starts", [&](const Context& ctx) -> Task<std::string> {
    tug::Run child = clerk.start(ctx, "pay it");
    auto waiting = child.result();
    const RunResult result = co_await std::move(waiting);
    co_return std::string(name_of(result.status));
  });
  const RunResult parked = stage.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked) << told(parked);
  EXPECT_EQ(parked.pending.size(), 1u);
}

TEST(TreeEdges, AChildThatHasAnsweredIsNotAskedAgainWhenItsCallGoesOn) {
  const char* kScript =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"both","arguments":{}}]}
{"agent":"scout","text":"found"}
{"agent":"clerk","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"clerk","text":"done"}
{"agent":"main","text":"over"}
)";
  Stage stage(kScript);
  const Agent scout = stage.harness->agent("scout", "Looks.");
  const Agent clerk = stage.harness->agent("clerk", "Pays.");
  stage.harness->tool("both", "Both",
                      [&](const Context& ctx) -> Task<std::string> {
                        auto first = scout.run(ctx, "look");
                        const RunResult found = co_await std::move(first);
                        auto second = clerk.run(ctx, "pay it");
                        const RunResult paid = co_await std::move(second);
                        co_return found.text + ", " + paid.text;
                      },
                      {.effect = Effect::pure});
  const RunResult parked = stage.run("go");
  ASSERT_EQ(parked.status, RunStatus::parked) << told(parked);
  const RunResult done =
      stage.harness->approve(parked.root, decide_all(parked.pending, true)).wait();
  EXPECT_EQ(done.text, "over") << told(done);
  ASSERT_EQ(done.tool_calls.size(), 1u);
  EXPECT_EQ(done.tool_calls[0].result.content, "found, done");
}

// Hears how calls end.
class Listener final : public Middleware {
 public:
  explicit Listener(std::vector<std::string>& heard) : heard_(heard) {}
  std::string name() const override { return "listener"; }
  Around around() const noexcept override { return {.run = false, .tool = true}; }
  Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
    const std::string tool = input.tool->name();
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (result) heard_.push_back(tool + ": " + result->content);
    co_return result;
  }

 private:
  std::vector<std::string>& heard_;
};

TEST(TreeEdges, NobodyHearsOfTheEndOfACallWhoseChildIsParked) {
  Stage stage(kAskThenLook);
  stage.harness->agent("clerk", "Pays.");
  std::vector<std::string> heard;
  stage.harness->use(std::make_shared<Listener>(heard));
  const RunResult parked = stage.run("go");
  ASSERT_EQ(parked.status, RunStatus::parked) << told(parked);
  EXPECT_EQ(heard, std::vector<std::string>{"look: seen"});
  const RunResult done =
      stage.harness->approve(parked.root, decide_all(parked.pending, true)).wait();
  EXPECT_EQ(done.text, "over") << told(done);
  EXPECT_EQ(heard, (std::vector<std::string>{"look: seen", "pay: paid", "clerk: done"}));
  expect_journal_says(*stage.store, done);
}

TEST(TreeEdges, WhatARunBelowWasRefusedIsListedAtTheRoot) {
  Stage stage(kAskThenLook, nullptr, {.permissions = {.on_ask = OnAsk::deny}});
  stage.harness->agent("clerk", "Pays.");
  const RunResult result = stage.run("go");
  ASSERT_EQ(result.text, "over") << told(result);
  ASSERT_EQ(result.denials.size(), 1u);
  EXPECT_EQ(result.denials[0].tool, "pay");
  expect_journal_says(*stage.store, result);
}

TEST(TreeEdges, AGrantForTheTreeFreesWhatItCoversAtOnce) {
  const char* kTwo =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"clerk","arguments":{"input":"one"}},{"id":"b","name":"clerk","arguments":{"input":"two"}}]}
{"agent":"clerk","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"clerk","tool_calls":[{"id":"c","name":"pay","arguments":{}}]}
{"agent":"clerk","text":"done","repeat":true}
{"agent":"main","text":"over"}
)";
  for (const OnAsk how : {OnAsk::wait, OnAsk::park}) {
    Stage stage(kTwo, nullptr, {.permissions = {.on_ask = how}});
    stage.harness->agent("clerk", "Pays.");
    tug::Run run = stage.harness->start("go");
    stage.engine->run_until_idle();
    const auto pending = run.pending();
    ASSERT_EQ(pending.size(), 2u);
    Decision decision = Decision::approve(pending[0].call);
    decision.scope = GrantScope::tree;
    if (how == OnAsk::wait) {
      ASSERT_TRUE(run.approve({decision}));
    } else {
      run = stage.harness->approve(run.id(), {decision});
    }
    stage.engine->run_until_idle();
    EXPECT_TRUE(run.ended()) << name_of(how);
    EXPECT_EQ(stage.log.size(), 2u) << name_of(how);
    run.cancel();
  }
}

}  // namespace
}  // namespace tug
