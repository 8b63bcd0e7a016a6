// Code around runs, model calls and tool calls, through the public face: the cases of the
// references. TA: TinyAgents, TH: ThinHarness.
#include <functional>
#include <stdexcept>

#include "agent/cases_testing.h"
#include "agent/crash_testing.h"
#include "tug/middleware/control.h"
#include "tug/model/delta_filter.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;
using Trace = std::vector<std::string>;

// Says where it is, and does what it is told on the way in and on the way out.
class Probe final : public Middleware {
 public:
  explicit Probe(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Json settings() const override { return Json::object({{"of", name_}}); }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    say("run in");
    if (before_run) before_run(ctx, input);
    if (run_answer) co_return next.finish(*run_answer);
    if (run_error) co_return next.fail(*run_error);
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    if (after_run && result) after_run(ctx, *result);
    say("run out");
    co_return result;
  }
  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    say("model in");
    if (before_model) before_model(ctx, request);
    if (injected) next.inject(injected);
    if (model_answer) co_return next.finish(*model_answer);
    const ModelRequest copy = request;
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    if (ask_again && ask_again(turn)) {
      ModelRequest other = copy;
      if (again_with) other.model = *again_with;
      auto second = next.run(std::move(other));
      turn = co_await std::move(second);
    }
    if (after_model && turn) after_model(ctx, *turn);
    say("model out");
    if (model_error) co_return next.fail(*model_error);
    co_return turn;
  }
  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    say("tool in");
    if (before_tool) before_tool(ctx, input);
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (after_tool && result) after_tool(ctx, *result);
    say("tool out");
    co_return result;
  }
  void on_error(Context, const Error& error) override {
    errors.push_back(error.message());
    say("error");
  }

  std::function<void(Context&, RunInput&)> before_run;
  std::function<void(Context&, RunResult&)> after_run;
  std::function<void(Context&, ModelRequest&)> before_model;
  std::function<void(Context&, ModelTurn&)> after_model;
  std::function<void(Context&, ToolInput&)> before_tool;
  std::function<void(Context&, ToolResult&)> after_tool;
  std::function<bool(const Result<ModelTurn>&)> ask_again;
  std::optional<std::string> again_with;
  std::optional<RunResult> run_answer;
  std::optional<Error> run_error;
  std::optional<ModelTurn> model_answer;
  std::optional<Error> model_error;
  MiddlewarePtr injected;
  Trace* trace = nullptr;
  Trace errors;

 private:
  void say(const std::string& what) {
    if (trace) trace->push_back(name_ + " " + what);
  }
  std::string name_;
};
using ProbePtr = std::shared_ptr<Probe>;

ProbePtr probe(std::string name, Trace* trace = nullptr) {
  auto made = std::make_shared<Probe>(std::move(name));
  made->trace = trace;
  return made;
}

ModelTurn turn_of(std::string text) { return {.message = Message::assistant(std::move(text))}; }

void give_look(Rig& rig) {
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
}

// TA 21
TEST(MiddlewareCases, TheFirstIsOutermostAroundEverything) {
  Trace trace;
  Rig rig(scripted({calls("look"), says("done")}));
  give_look(rig);
  rig.harness->use(probe("A", &trace)).use(probe("B", &trace));
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(trace,
            (Trace{"A run in", "B run in", "A model in", "B model in", "B model out", "A model out",
                   "A tool in", "B tool in", "B tool out", "A tool out", "A model in", "B model in",
                   "B model out", "A model out", "B run out", "A run out"}));
}

TEST(MiddlewareCases, OneThatIsInjectedStandsRightAfterForThatCallAlone) {
  Trace trace;
  Rig rig(scripted({calls("look"), says("done")}));
  give_look(rig);
  auto outer = probe("A");
  outer->injected = probe("X", &trace);
  outer->after_model = [&outer](Context&, ModelTurn&) { outer->injected = nullptr; };
  rig.harness->use(outer).use(probe("B", &trace));
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(trace, (Trace{"B run in", "X model in", "B model in", "B model out", "X model out",
                          "B tool in", "B tool out", "B model in", "B model out", "B run out"}));
}

// TA 21
TEST(MiddlewareCases, AnAnswerInsteadOfTheModelAsksNobodyAndIsSeenOnTheWayOut) {
  Trace trace;
  auto model = testkit::recording(scripted({says("never")}));
  Rig rig(model);
  auto inner = probe("B", &trace);
  inner->model_answer = turn_of("from memory");
  rig.harness->use(probe("A", &trace)).use(inner);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 1}});
  EXPECT_EQ(result.text, "from memory");
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(result.counts.model_calls, 1);
  EXPECT_EQ(result.usage.total(), 0);
  EXPECT_EQ(result.cost.nanos(), 0);
  EXPECT_TRUE(result.cost.complete());
  const Event* started = rig.seen->find(Kind::model_started);
  ASSERT_TRUE(started);
  EXPECT_EQ(started->data["served_by"].as_string(), "middleware");
  EXPECT_EQ(rig.seen->count(Kind::model_completed), 1u);
  EXPECT_EQ(trace, (Trace{"A run in", "B run in", "A model in", "B model in", "A model out",
                          "B run out", "A run out"}));
}

TEST(MiddlewareCases, AnswersInsteadOfTheModelCountAgainstTheLimit) {
  Rig rig(scripted({says("never")}));
  give_look(rig);
  auto serving = probe("serving");
  ModelTurn turn{.finish = Finish::tool_calls};
  turn.message = Message::make(Role::assistant, {ToolCall{.provider_id = "x", .tool = "look"}});
  serving->model_answer = turn;
  rig.harness->use(serving);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 3}});
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(result.counts.tool_calls, 3);
  expect_legal(result.messages);
}

TEST(MiddlewareCases, AskingTwiceSetsTheFirstAnswerAsideAndPaysForIt) {
  Rig rig(scripted({used(says("bad"), 100, 10), used(says("good"), 100, 20)}));
  auto picky = probe("picky");
  picky->ask_again = [](const Result<ModelTurn>& turn) { return turn->message->text() == "bad"; };
  rig.harness->use(picky);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "good");
  EXPECT_EQ(result.usage.total(), 230);
  EXPECT_EQ(result.counts.attempts, 2);
  EXPECT_EQ(result.counts.model_calls, 1);
  EXPECT_EQ(result.messages.size(), 2u);
  const Event* failed = rig.seen->find(Kind::model_failed);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->data["superseded"].as_bool());
  EXPECT_EQ(failed->data["usage"]["output_tokens"].as_int(), 10);
}

TEST(MiddlewareCases, WhatWasSetAsideCountsAgainstTheLimitOfModelCalls) {
  auto model = testkit::recording(scripted({again(says("bad"))}));
  Rig rig(model);
  auto picky = probe("picky");
  picky->ask_again = [](const Result<ModelTurn>&) { return true; };
  rig.harness->use(picky);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 1}});
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(MiddlewareCases, AFailureCanBeAskedAgain) {
  auto model = testkit::recording(scripted({fails(401), says("second time")}));
  Rig rig(model);
  auto stubborn = probe("stubborn");
  stubborn->ask_again = [](const Result<ModelTurn>& turn) { return !turn; };
  rig.harness->use(stubborn);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "second time") << (result.error ? to_string(*result.error) : "");
  EXPECT_EQ(model->requests().size(), 2u);
}

TEST(MiddlewareCases, AFailureCanBeAskedOfAnotherModel) {
  Rig rig(scripted({again(fails(401))}));
  rig.models->add(profiled({.name = "backup"}, {says("from the backup")}));
  auto chooser = probe("chooser");
  chooser->ask_again = [](const Result<ModelTurn>& turn) { return !turn; };
  chooser->again_with = "test/backup";
  rig.harness->use(chooser);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "from the backup") << (result.error ? to_string(*result.error) : "");
}

TEST(MiddlewareCases, AFailureOnTheWayOutEndsTheRunAndTheAnswerIsPaidFor) {
  Rig rig(scripted({used(says("fine"), 100, 10)}));
  auto guard = probe("guard");
  guard->model_error = Error(ErrorKind::denied, "not allowed to say that");
  rig.harness->use(guard);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_TRUE(contains(result.error->message(), "not allowed"));
  EXPECT_EQ(result.usage.total(), 110);
  EXPECT_EQ(rig.seen->count(Kind::model_failed), 1u) << "every start has its partner";
  EXPECT_EQ(result.messages.size(), 1u);
}

TEST(MiddlewareCases, ATurnWithoutAMessageIsAnErrorAndTheAttemptHasItsPartner) {
  Rig rig(scripted({says("fine")}));
  auto broken = probe("broken");
  broken->after_model = [](Context&, ModelTurn& turn) { turn.message = nullptr; };
  rig.harness->use(broken);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(rig.seen->count(Kind::model_failed), 1u);
}

TEST(MiddlewareCases, WhatThrowsIsARecordAndTheEndOfTheRun) {
  Rig rig(scripted({says("never")}));
  auto broken = probe("broken");
  broken->before_model = [](Context&, ModelRequest&) { throw std::runtime_error("boom"); };
  rig.harness->use(broken);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_TRUE(contains(result.error->message(), "boom"));
  const Event* failed = rig.seen->find(Kind::middleware_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->data["name"].as_string(), "broken");
  EXPECT_EQ(failed->data["hook"].as_string(), "model");
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
  const ToolPtr look =
      make_inline_tool("look", "Looks", [] { return "seen"; }, {.effect = Effect::pure}).value();
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
  const ToolPtr look =
      make_inline_tool("look", "Looks", [] { return "seen"; }, {.effect = Effect::pure}).value();
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

// B8
TEST(ChainCases, TheChainIsReadableAndSaysWhereEachWasAdded) {
  Rig rig(scripted({says("done")}));
  MiddlewareChain seen;
  auto looks = probe("looks");
  looks->before_model = [&seen](Context& ctx, ModelRequest&) { seen = ctx.target().chain(); };
  rig.harness->use(looks);
  (void)rig.run("go", {.middleware = {probe("mine")}, .inherited_middleware = {probe("ours")}});
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0], (MiddlewareLink{"looks", "harness", Json::object({{"of", "looks"}})}));
  EXPECT_EQ(seen[1].name, "ours");
  EXPECT_EQ(seen[2], (MiddlewareLink{"mine", "run", Json::object({{"of", "mine"}})}));
  const Json& recorded = rig.seen->find(Kind::run_started)->data["middleware"];
  ASSERT_EQ(recorded.size(), 3u);
  EXPECT_EQ(recorded[2]["name"].as_string(), "mine");
  EXPECT_EQ(recorded[2]["source"].as_string(), "run");
}

// B8
TEST(ChainCases, WhatIsInheritedStandsAroundChildrenTooAndWhatIsNotDoesNot) {
  Trace trace;
  Rig rig(scripted({calls("child"), says("inner"), says("outer")}));
  rig.harness->tool("child", "Runs a child", [&rig](const Context& ctx) -> Task<std::string> {
    auto running = rig.harness->run_async(ctx, "go on");
    RunResult result = co_await std::move(running);
    co_return result.text;
  });
  rig.harness->use(probe("H", &trace));
  const RunResult result = rig.run(
      "go", {.middleware = {probe("M", &trace)}, .inherited_middleware = {probe("I", &trace)}});
  EXPECT_EQ(result.text, "outer");
  std::erase_if(trace, [](const std::string& step) { return !contains(step, "run in"); });
  EXPECT_EQ(trace, (Trace{"H run in", "I run in", "M run in", "H run in", "I run in"}));
  const auto started = events_of(*rig.seen, Kind::run_started);
  ASSERT_EQ(started.size(), 2u);
  EXPECT_EQ(started[1]->data["middleware"][1]["source"].as_string(), "inherited");
}

TEST(ChainCases, MiddlewareAddedWhileARunGoesOnIsForTheNext) {
  Trace trace;
  Rig rig(scripted({calls("grow"), says("done")}));
  Harness& harness = *rig.harness;
  harness.inline_tool("grow", "Adds middleware", [&] {
    harness.use(probe("late", &trace));
    return "added";
  });
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_TRUE(trace.empty());
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

// TA 23 of its section 1
TEST(ModelChoiceCases, ARequestMayNameAnotherModelForOneCall) {
  auto primary = testkit::recording(scripted({says("done")}));
  auto other = testkit::recording(profiled({.name = "other"}, {calls("look")}));
  Rig rig(primary);
  give_look(rig);
  rig.models->add(other);
  auto router = probe("router");
  int asked = 0;
  router->before_model = [&asked](Context&, ModelRequest& request) {
    if (asked++ == 0) request.model = "test/other";
  };
  rig.harness->use(router);
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(other->requests().size(), 1u);
  EXPECT_EQ(primary->requests().size(), 1u);
  const auto started = events_of(*rig.seen, Kind::model_started);
  EXPECT_EQ(started[0]->data["model"].as_string(), "test/other");
  EXPECT_EQ(started[1]->data["model"].as_string(), primary->profile().id());
}

TEST(ModelChoiceCases, AModelThatNobodyKnowsIsPassedOverWithAnEvent) {
  auto primary = testkit::recording(scripted({says("done")}));
  Rig rig(primary);
  auto router = probe("router");
  router->before_model = [](Context&, ModelRequest& request) { request.model = "nobody/knows"; };
  rig.harness->use(router);
  EXPECT_EQ(rig.run("go").text, "done");
  const Event* skipped = rig.seen->find(Kind::model_override_skipped);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->data["requested"].as_string(), "nobody/knows");
  EXPECT_EQ(skipped->data["resolved"].as_string(), primary->profile().id());
  EXPECT_FALSE(skipped->data["reason"].as_string().empty());
}

// Words in capitals; nothing that begins with "secret".
class Loud final : public DeltaFilter {
 public:
  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    auto* text = std::get_if<TextDelta>(&delta);
    if (!text) {
      out.push_back(std::move(delta));
      return;
    }
    kept_ += text->text;
    const std::size_t space = kept_.rfind(' ');
    if (space == std::string::npos) return;
    say(kept_.substr(0, space + 1), out);
    kept_.erase(0, space + 1);
  }
  void flush(std::vector<ModelEvent>& out) override { say(std::exchange(kept_, ""), out); }

 private:
  static void say(std::string text, std::vector<ModelEvent>& out) {
    for (std::size_t at; (at = text.find("secret")) != std::string::npos;) {
      text.replace(at, 6, "***");
    }
    if (!text.empty()) out.push_back(TextDelta{std::move(text)});
  }
  std::string kept_;
};

TEST(DeltaFilterCases, WhatAFilterTookOutIsNowhere) {
  Rig rig(testkit::streaming("my secret is a secret", 3));
  auto redacts = probe("redacts");
  redacts->before_model = [](Context&, ModelRequest& request) {
    request.filters.push_back([] { return std::make_unique<Loud>(); });
  };
  rig.harness->use(redacts);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "my *** is a ***");
  EXPECT_EQ(result.messages.back()->text(), "my *** is a ***");
  std::string shown;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::model_delta) shown += event.data["text"].as_string();
    EXPECT_FALSE(contains(print_json(event.data), "secret")) << event.name();
  }
  EXPECT_EQ(shown, "my *** is a ***");
  for (const Record& record : *rig.store->read(result.id, 0, 100)) {
    EXPECT_FALSE(contains(record.body, "secret"));
  }
}

TEST(DeltaFilterCases, ARetriedAttemptHasAFreshOne) {
  ScriptTurn broken = says("half of a sec");
  broken.chunks = 4;
  broken.error = ScriptError{.status = 500};
  Rig rig(scripted({broken, says("ret of nothing")}));
  auto redacts = probe("redacts");
  redacts->before_model = [](Context&, ModelRequest& request) {
    request.filters.push_back([] { return std::make_unique<Loud>(); });
  };
  rig.harness->use(redacts);
  EXPECT_EQ(rig.run("go").text, "ret of nothing");
}

// TH 25
TEST(ToolHookCases, AFailureEndsTheRunAndStopsTheOthersOfItsTurn) {
  Rig rig(scripted({calls({{"a", "look", "{}"}, {"b", "hang", "{}"}}), says("never")}));
  give_look(rig);
  rig.harness->tool("hang", "Hangs", [](const Context& ctx) -> Task<Result<std::string>> {
    const Until until{.cancel = ctx.cancel()};
    const Woken woken = co_await sleep_for(std::chrono::hours(9), until);
    co_return Failure(wait_error(woken, until, "nothing"));
  });
  auto strict = probe("strict");
  strict->before_tool = [](Context&, ToolInput& input) {
    if (input.tool->name() == "look") throw std::runtime_error("no looking");
  };
  rig.harness->use(strict);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_TRUE(contains(result.error->message(), "no looking")) << result.error->message();
  EXPECT_EQ(result.duration_ms, 0);
  EXPECT_EQ(result.counts.tool_calls, 2);
  EXPECT_EQ(result.counts.cancelled_tool_calls, 0);
  EXPECT_EQ(result.tool_calls[1].result.metadata["error_type"].as_string(), "Cancelled");
  expect_legal(result.messages);
}

// TH 20
TEST(ToolHookCases, WhatTheModelReadsCanBeRewrittenButNotHowItCounts) {
  for (const std::uint32_t budget : {0u, 1u}) {
    auto model = testkit::recording(scripted({calls("picky"), says("done")}));
    Rig rig(model, 1, {.defaults = {.tool_retries = budget}});
    rig.harness->inline_tool("picky", "Wants other arguments",
                             []() -> std::string { throw ModelRetry("other words"); });
    std::string seen;
    auto rewrites = probe("rewrites");
    rewrites->after_tool = [&seen](Context&, ToolResult& result) {
      seen = result.metadata["error_type"].as_string();
      result = ToolResult::text("all is well");
    };
    rig.harness->use(rewrites);
    const RunResult result = rig.run("go");
    EXPECT_EQ(seen, "ModelRetry");
    EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"picky", 1}}));
    EXPECT_EQ(result.stop, budget ? StopReason::end_turn : StopReason::tool_retries_exceeded);
    ASSERT_EQ(model->requests().size(), budget ? 2u : 1u);
    if (budget) {
      EXPECT_EQ(model->requests()[1].transcript.back()->tool_results()[0]->content, "all is well");
    }
  }
}

TEST(ToolHookCases, ArgumentsAreSetOnceAndChangingThemChangesNothing) {
  Rig rig(scripted({calls("shout", R"({"text":"go"})"), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", [](const Words& words) { return words.text + "!"; });
  auto meddles = probe("meddles");
  meddles->before_tool = [](Context&, ToolInput& input) {
    input.args = Json::object({{"text", "stop"}});
  };
  rig.harness->use(meddles);
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "go!");
}

TEST(ToolHookCases, ARewrittenResultIsBoundedToo) {
  Rig rig(scripted({calls("look"), says("done")}));
  give_look(rig);
  auto talks = probe("talks");
  talks->after_tool = [](Context&, ToolResult& result) {
    result.content = std::string(3u << 20, 'x') + "\xff";
  };
  rig.harness->use(talks);
  EXPECT_LE(rig.run("go").tool_calls.at(0).result.content.size(), 1u << 20);
}

// TA 20
TEST(ControlCases, StoppingWithAFinalTextAsksTheModelNoMore) {
  auto model = testkit::recording(scripted({calls("enough"), says("never")}));
  Rig rig(model);
  rig.harness->inline_tool("enough", "Ends the run", [](const Context& ctx) {
    stop_with_final(ctx, "that is all");
    return "stopping";
  });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.text, "that is all");
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(result.tool_calls.at(0).result.content, "stopping");
  const Event* applied = rig.seen->find(Kind::control_applied);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->data["control"].as_string(), "stop_with_final");
  EXPECT_EQ(applied->data["detail"].as_string(), "that is all");
  expect_legal(result.messages);
}

// TA 20
TEST(ControlCases, AnInterruptWinsOverAFinalText) {
  Rig rig(scripted({calls("both"), says("after all")}));
  rig.harness->inline_tool("both", "Wants both", [](const Context& ctx) {
    stop_with_final(ctx, "that is all");
    interrupt(ctx, "ask somebody");
    return "hm";
  });
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(exit_code(parked), 8);
  EXPECT_EQ(rig.seen->events.back().data["reason"].as_string(), "ask somebody");
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.text, "after all");
}

TEST(ControlCases, TheFirstOfSeveralFinalTextsCounts) {
  Rig rig(scripted({calls("twice"), says("never")}));
  rig.harness->inline_tool("twice", "Says two things", [](const Context& ctx) {
    stop_with_final(ctx, "one");
    stop_with_final(ctx, "two");
    return "said";
  });
  EXPECT_EQ(rig.run("go").text, "one");
}

TEST(ControlCases, AFinalTextFromAroundTheModelAnswersTheCallsOfItsTurn) {
  Rig rig(scripted({calls("look"), says("never")}));
  give_look(rig);
  auto stops = probe("stops");
  stops->after_model = [](Context& ctx, ModelTurn&) { stop_with_final(ctx, "enough"); };
  rig.harness->use(stops);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "enough");
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u);
  expect_legal(result.messages);
}

TEST(ControlCases, AnInterruptDuringTheLastTurnParksTheRun) {
  auto model = testkit::recording(scripted({says("the answer"), says("never")}));
  Rig rig(model);
  auto parks = probe("parks");
  bool parked_before = false;
  parks->after_model = [&](Context& ctx, ModelTurn&) {
    if (!std::exchange(parked_before, true)) interrupt(ctx, "look at this first");
  };
  rig.harness->use(parks);
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.text, "the answer");
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.text, "the answer") << "it is not asked for again";
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(ControlCases, AnInterruptBesideAStructuredAnswerParksTheRunWithIt) {
  auto model = testkit::recording(scripted({calls("final_result", R"({"n":1})"), says("never")}));
  Rig rig(model);
  auto parks = probe("parks");
  parks->after_model = [](Context& ctx, ModelTurn&) { interrupt(ctx, "look at this first"); };
  rig.harness->use(parks);
  const RunResult parked = rig.run("go", {.output_schema = Json::object({{"type", "object"}})});
  EXPECT_EQ(parked.status, RunStatus::parked);
  expect_legal(parked.messages);
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.output, Json::object({{"n", 1}}));
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(ControlCases, AnInterruptBesideCallsParksTheRunOnceTheyAreAnswered) {
  auto model = testkit::recording(scripted({calls("look"), says("done")}));
  Rig rig(model);
  give_look(rig);
  auto parks = probe("parks");
  bool parked_before = false;
  parks->after_model = [&](Context& ctx, ModelTurn&) {
    if (!std::exchange(parked_before, true)) interrupt(ctx, "wait");
  };
  rig.harness->use(parks);
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.tool_calls.at(0).result.content, "seen");
  expect_legal(parked.messages);
  EXPECT_EQ(rig.harness->resume(parked.id).wait().text, "done");
}

}  // namespace
}  // namespace tug
