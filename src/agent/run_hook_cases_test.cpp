// Code around whole runs: the cases of the references.
// TA: TinyAgents, TH: ThinHarness.
#include <stdexcept>

#include "agent/cases_testing.h"
#include "agent/crash_testing.h"
#include "agent/probe_testing.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

ToolPtr look_tool() {
  return make_inline_tool("look", "Looks", [] { return "seen"; }, {.effect = Effect::pure}).value();
}

TEST(RunHookCases, WhatItAddsIsToldToTheModelAfterThePrompt) {
  auto model = testkit::recording(scripted({says("done")}));
  Rig rig(model);
  auto adds = probe("adds");
  adds->before_run = [](Context&, RunInput& input) {
    input.context = {"Today is Monday.", "It rains."};
    input.prompt = "another prompt";
  };
  rig.harness->use(adds);
  EXPECT_EQ(rig.run("go").text, "done");
  const Transcript& sent = model->requests()[0].transcript;
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0]->text(), "go") << "the prompt is what was given";
  EXPECT_EQ(sent[1]->text(), "Today is Monday.");
  EXPECT_EQ(sent[2]->text(), "It rains.");
  EXPECT_EQ(rig.seen->count(Kind::context_injected), 2u);
}

TEST(RunHookCases, WhatItAddsToARunThatACrashLeftInTheMiddleComesWhenTheCallsAreDone) {
  auto model = testkit::recording(scripted({calls("look"), says("done")}));
  Rig rig(model);
  const ToolPtr look = look_tool();
  rig.harness->tool(look);
  const RunResult whole = rig.run("go");
  ASSERT_EQ(rig.seen->kinds()[3], "tool.started");
  Rig next = rig_after_crash(rig, model, whole.id, 4);
  next.harness->tool(look);
  auto adds = probe("adds");
  adds->before_run = [](Context&, RunInput& input) { input.context = {"You were away."}; };
  next.harness->use(adds);
  const RunResult result = next.harness->resume(whole.id).wait();
  EXPECT_EQ(result.text, "done") << (result.error ? to_string(*result.error) : "");
  ASSERT_EQ(result.messages.size(), 5u);
  EXPECT_EQ(result.messages[3]->text(), "You were away.");
  expect_legal(result.messages);
}

TEST(RunHookCases, WordsForARunThatACrashLeftInTheMiddleComeWhenTheCallsAreDone) {
  auto model = testkit::recording(scripted({calls("look"), says("done")}));
  Rig rig(model);
  const ToolPtr look = look_tool();
  rig.harness->tool(look);
  const RunResult whole = rig.run("go");
  Rig next = rig_after_crash(rig, model, whole.id, 4);
  next.harness->tool(look);
  const RunResult result = next.harness->resume(whole.id, "be quick").wait();
  EXPECT_EQ(result.text, "done") << (result.error ? to_string(*result.error) : "");
  EXPECT_TRUE(contains(result.messages[result.messages.size() - 2]->text(), "be quick"));
  expect_legal(result.messages);
}

TEST(RunHookCases, TheAnswerItGivesIsTheAnswerEverywhere) {
  Rig rig(scripted({says("the secret is 42")}));
  auto editor = probe("editor");
  editor->after_run = [](Context&, RunResult& result) {
    result.text = "the secret is ...";
    result.output = Json::object({{"edited", true}});
  };
  rig.harness->use(editor);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "the secret is ...");
  EXPECT_EQ(result.output, Json::object({{"edited", true}}));
  EXPECT_EQ(rig.seen->events.back().data["result"], to_json(result));
  const auto folded = fold_root(*rig.store, result.id);
  ASSERT_TRUE(folded);
  EXPECT_EQ(to_json(folded->runs[0].result), to_json(result));
}

TEST(RunHookCases, ItMayMakeAFailureOfASuccess) {
  Rig rig(scripted({says("rubbish")}));
  auto judge = probe("judge");
  judge->after_run = [](Context&, RunResult& result) {
    result.status = RunStatus::failed;
    result.stop = StopReason::unexpected_model_behavior;
    result.error = Error(ErrorKind::invalid, "that is rubbish");
  };
  rig.harness->use(judge);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::unexpected_model_behavior);
  EXPECT_EQ(rig.seen->kinds().back(), "run.failed");
  EXPECT_EQ(judge->errors, (Trace{"that is rubbish"}));
}

TEST(RunHookCases, ItMayMakeASuccessOfAFailure) {
  Rig rig(scripted({fails(401)}));
  auto calm = probe("calm");
  calm->after_run = [](Context&, RunResult& result) {
    result.status = RunStatus::completed;
    result.stop = StopReason::end_turn;
    result.error.reset();
    result.text = "Sorry, not now.";
  };
  rig.harness->use(calm);
  const RunResult result = rig.run("go");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.text, "Sorry, not now.");
  EXPECT_FALSE(result.error);
  EXPECT_EQ(rig.seen->kinds().back(), "run.completed");
  EXPECT_TRUE(calm->errors.empty());
}

TEST(RunHookCases, AnAnswerInsteadOfTheRunIsARunWithItsOwnIdentity) {
  auto model = testkit::recording(scripted({says("never")}));
  Rig rig(model);
  auto serving = probe("serving");
  RunResult answer;
  answer.status = RunStatus::completed;
  answer.stop = StopReason::end_turn;
  answer.text = "closed today";
  serving->run_answer = answer;
  rig.harness->use(serving);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "closed today");
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(rig.seen->kinds(), (Trace{"run.started", "run.completed"}));
  EXPECT_EQ(rig.seen->events.back().data["result"], to_json(result));
  EXPECT_EQ(result.messages.size(), 1u);
}

// B19
TEST(RunHookCases, OnErrorComesAfterTheTerminalEventOnceEach) {
  Trace trace;
  Rig rig(scripted({says("never")}));
  auto first = probe("A", &trace);
  auto second = probe("B", &trace);
  second->run_error = Error(ErrorKind::denied, "not on Mondays");
  // What a sink has seen by then is in the trace.
  class Terminal final : public Sink {
   public:
    explicit Terminal(Trace& trace) : trace_(trace) {}
    void on_event(const Event& event) override {
      if (event.kind == Kind::run_failed) trace_.push_back("run.failed");
    }

   private:
    Trace& trace_;
  };
  rig.harness->use(first).use(second);
  const RunResult result = rig.run("go", {.observers = {std::make_shared<Terminal>(trace)}});
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(trace,
            (Trace{"A run in", "B run in", "A run out", "run.failed", "A error", "B error"}));
  EXPECT_EQ(first->errors, (Trace{"not on Mondays"}));
}

TEST(RunHookCases, OnErrorIsForFailuresAndCancelsAlone) {
  auto seen = probe("seen");
  Rig limit(scripted({says("never")}));
  limit.harness->use(seen);
  (void)limit.run("go", {.limits = {.max_turns = 0}});
  EXPECT_TRUE(seen->errors.empty());
  std::stop_source stop;
  stop.request_stop();
  (void)limit.run("go", {.cancel = stop.get_token()});
  EXPECT_EQ(seen->errors.size(), 1u);
}

TEST(RunHookCases, AnErrorOfKindCancelledIsACancelByAHook) {
  Rig rig(scripted({says("never")}));
  auto guard = probe("guard");
  guard->run_error = Error(ErrorKind::cancelled, "not this prompt");
  rig.harness->use(guard);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(result.stop, StopReason::cancelled_by_hook);
  EXPECT_TRUE(contains(result.error->message(), "not this prompt"));
  EXPECT_EQ(exit_code(result), 130);
}

TEST(MemoryCases, WhatIsRememberedIsThereAfterAPauseAndTheSegmentKnowsThatItGoesOn) {
  Rig rig(scripted({calls("look"), says("done")}));
  give_look(rig);
  std::vector<std::string> segments;
  auto counter = probe("counter");
  counter->before_run = [&segments](Context& ctx, RunInput& input) {
    const std::int64_t seen = ctx.remembered("counter.segments").as_int().value_or(0);
    segments.push_back(std::to_string(seen) + (input.resumed ? " resumed" : " fresh") +
                       (ctx.target().resumed() ? " resumed" : " fresh"));
    ctx.remember("counter.segments", Json(seen + 1));
    EXPECT_EQ(ctx.remembered("counter.segments").as_int(), seen + 1);
  };
  rig.harness->use(counter);
  auto pause = std::make_shared<PauseAt>(Kind::tool_completed);
  const RunResult parked = run_to_pause(rig, pause);
  ASSERT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(rig.harness->resume(parked.id).wait().text, "done");
  EXPECT_EQ(segments, (std::vector<std::string>{"0 fresh fresh", "1 resumed resumed"}));
}

TEST(RunHookCases, MiddlewareOfOneRunIsGivenAgainWhenItGoesOn) {
  Trace trace;
  Rig rig(scripted({calls("look"), says("done")}));
  give_look(rig);
  auto pause = std::make_shared<PauseAt>(Kind::tool_completed);
  const RunResult parked = run_to_pause(rig, pause, {.middleware = {probe("M", &trace)}});
  ASSERT_EQ(parked.status, RunStatus::parked);
  trace.clear();
  const RunResult result =
      rig.harness->resume(parked.id, "", {.middleware = {probe("N", &trace)}}).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(trace, (Trace{"N run in", "N model in", "N model out", "N run out"}));
}

TEST(MemoryCases, WhatARunRemembersIsItsOwn) {
  Rig rig(scripted({calls("child"), says("inner"), says("outer")}));
  std::vector<bool> knew;
  auto keeper = probe("keeper");
  keeper->before_run = [&knew](Context& ctx, RunInput&) {
    knew.push_back(!ctx.remembered("keeper.been").is_null());
    ctx.remember("keeper.been", true);
  };
  keeper->after_run = [&knew](Context& ctx, RunResult&) {
    knew.push_back(!ctx.remembered("keeper.been").is_null());
  };
  rig.harness->use(keeper);
  give_child(rig);
  EXPECT_EQ(rig.run("go").text, "outer");
  EXPECT_EQ(knew, (std::vector<bool>{false, false, true, true}));
}

TEST(RunHookCases, WhatOnErrorThrowsChangesNothing) {
  class Throws final : public Middleware {
   public:
    std::string name() const override { return "throws"; }
    void on_error(Context, const Error&) override { throw std::runtime_error("boom"); }
  };
  Rig rig(scripted({fails(401)}));
  auto after = probe("after");
  rig.harness->use(std::make_shared<Throws>()).use(after);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(after->errors.size(), 1u);
}

}  // namespace
}  // namespace tug
