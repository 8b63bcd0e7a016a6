// Code around model calls, and who stands around what: the cases of the references.
// TA: TinyAgents, TH: ThinHarness.
#include <stdexcept>

#include "agent/cases_testing.h"
#include "agent/probe_testing.h"
#include "tug/model/delta_filter.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

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
  give_child(rig);
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

// Says *** for a secret; a word is kept back until it is whole.
class Discreet final : public DeltaFilter {
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
    request.filters.push_back([] { return std::make_unique<Discreet>(); });
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

class WithoutTheFirstCall final : public DeltaFilter {
 public:
  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    const auto* call = std::get_if<ToolCallDelta>(&delta);
    if (!call || call->index != 0) out.push_back(std::move(delta));
  }
  void flush(std::vector<ModelEvent>&) override {}
};

TEST(DeltaFilterCases, ACallThatIsLeftHasOneIdInTheStreamAndInTheTurn) {
  ScriptTurn two = calls({{"a", "look", "{}"}, {"b", "look", "{}"}});
  two.chunks = 2;
  Rig rig(scripted({two, says("done")}));
  give_look(rig);
  auto drops = probe("drops");
  drops->before_model = [](Context&, ModelRequest& request) {
    request.filters.push_back([] { return std::make_unique<WithoutTheFirstCall>(); });
  };
  rig.harness->use(drops);
  const RunResult result = rig.run("go");
  ASSERT_EQ(result.tool_calls.size(), 1u);
  std::size_t shown = 0;
  for (const Event* event : events_of(*rig.seen, Kind::model_delta)) {
    if (!event->data.contains("tool_call")) continue;
    ++shown;
    EXPECT_EQ(event->data["tool_call"]["call_id"], Json(result.tool_calls[0].id.text()));
  }
  EXPECT_GT(shown, 0u);
}

TEST(DeltaFilterCases, ARetriedAttemptHasAFreshOne) {
  ScriptTurn broken = says("half of a sec");
  broken.chunks = 4;
  broken.error = ScriptError{.status = 500};
  Rig rig(scripted({broken, says("ret of nothing")}));
  auto redacts = probe("redacts");
  redacts->before_model = [](Context&, ModelRequest& request) {
    request.filters.push_back([] { return std::make_unique<Discreet>(); });
  };
  rig.harness->use(redacts);
  EXPECT_EQ(rig.run("go").text, "ret of nothing");
}

// TA 21
TEST(StepCases, EveryStepThatIsEnteredIsLeftAlsoWhenItFails) {
  class Steps final : public Sink {
   public:
    void on_event(const Event& event) override {
      if (event.kind != Kind::middleware_started && event.kind != Kind::middleware_completed)
        return;
      const std::string what = std::string(event.data["name"].as_string()) + " " +
                               std::string(event.data["hook"].as_string());
      open += event.kind == Kind::middleware_started ? 1 : -1;
      if (event.kind == Kind::middleware_started) entered.push_back(what);
    }
    bool wants_steps() const noexcept override { return true; }
    Trace entered;
    int open = 0;
  };
  auto steps = std::make_shared<Steps>();
  Rig rig(scripted({calls("look"), says("never")}));
  give_look(rig);
  auto broken = probe("B");
  broken->before_tool = [](Context&, ToolInput&) { throw std::runtime_error("boom"); };
  rig.harness->use(probe("A")).use(broken);
  (void)rig.run("go", {.observers = {steps}});
  EXPECT_EQ(steps->entered, (Trace{"A run", "B run", "A model", "B model", "A tool", "B tool"}));
  EXPECT_EQ(steps->open, 0);
  EXPECT_EQ(rig.seen->count(Kind::middleware_failed), 1u);
}

TEST(MiddlewareCases, AnAnswerThatWasSetAsideForAFailureIsStillPaidFor) {
  Rig rig(scripted({used(says("bad"), 100, 10), fails(401)}));
  auto picky = probe("picky");
  picky->ask_again = [](const Result<ModelTurn>& turn) { return turn.has_value(); };
  rig.harness->use(picky);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(result.usage.total(), 110);
  EXPECT_EQ(rig.seen->count(Kind::model_failed), 2u);
}

}  // namespace
}  // namespace tug
