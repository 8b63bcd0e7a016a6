// What a run that goes on after a crash or a cancel must not do twice, and must not leave open.
#include "agent/crash_testing.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;

std::size_t records_of(Rig& rig, const RunId& root) {
  return rig.store->read(root, 0, 1000)->size();
}

// Cancels the run as soon as a record of this kind is there.
class CancelAt final : public Sink {
 public:
  explicit CancelAt(Kind kind) : kind_(kind) {}
  void on_event(const Event& event) override {
    if (event.kind == kind_) run.cancel();
  }
  tug::Run run;

 private:
  Kind kind_;
};

TEST(Resume, AnAnswerThatACrashLeftUndecidedIsTheResultAndNotAskedForAgain) {
  const ModelPtr model = scripted({says("first"), says("second")});
  Rig rig(model);
  const RunResult whole = rig.run("go");
  Rig next = rig_after_crash(rig, model, whole.id, records_of(rig, whole.id) - 1);
  const RunResult result = next.harness->resume(whole.id).wait();
  EXPECT_EQ(result.text, "first");
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.counts.model_calls, 1);
  Rig asked = rig_after_crash(rig, model, whole.id, records_of(rig, whole.id) - 1);
  EXPECT_EQ(asked.harness->resume(whole.id, "and then?").wait().text, "second");
}

TEST(Resume, AnAnswerThatCameWithTheCancelIsTheResultAndNotAskedForAgain) {
  Rig rig(scripted({says("first"), says("second")}));
  auto canceller = std::make_shared<CancelAt>(Kind::model_completed);
  canceller->run = rig.harness->start("go", {.observers = {canceller}});
  const RunResult cancelled = canceller->run.wait();
  canceller->run = {};
  ASSERT_EQ(cancelled.status, RunStatus::cancelled);
  ASSERT_EQ(cancelled.counts.model_calls, 1);
  const RunResult result = rig.harness->resume(cancelled.id).wait();
  EXPECT_EQ(result.text, "first");
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.counts.model_calls, 1);
}

TEST(Resume, ACallThatACrashLeftOpenHasAPartnerThoughTheRunEndsBeforeIt) {
  const ModelPtr model = scripted({calls({{"a", "look", "{}"}, {"b", "look", "{}"}}), says("x")});
  Rig rig(model);
  const auto look =
      make_inline_tool("look", "Looks", [] { return "seen"; }, {.effect = Effect::pure}).value();
  rig.harness->tool(look);
  const RunResult whole = rig.run("go");
  ASSERT_EQ(rig.seen->kinds()[3], "tool.started");
  Rig next = rig_after_crash(rig, model, whole.id, 4);
  next.harness->tool(look);
  std::stop_source stop;
  stop.request_stop();
  const RunResult result =
      next.harness->resume(whole.id, "", {.cancel = stop.get_token(), .observers = {next.seen}})
          .wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(next.seen->kinds(),
            (std::vector<std::string>{"run.resumed", "tool.outcome_unknown", "run.cancelled"}));
  expect_legal(result.messages);
}

TEST(Resume, CallsOfACutTurnCountAgainstTheLimitBeforeACrashAsAfterIt) {
  ScriptTurn cut = calls({{"a", "shout", "{}"}, {"b", "shout", "{}"}});
  cut.finish = Finish::length;
  Rig rig(scripted({cut, calls("shout", R"({"text":"x"})"), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", [](const Words& words) { return words.text; });
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 2}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(result.counts.tool_calls, 2);
}

// As deep as anything from outside may be; `inside` makes it long too.
std::string deepest(std::string_view open, const std::string& inside, std::string_view close) {
  std::string text = inside;
  for (std::size_t level = 0; level < kMaxJsonDepth; ++level) {
    text = std::string(open) + text + std::string(close);
  }
  return text;
}

TEST(Resume, WhatIsNestedAsDeepAsItMayBeIsReadBack) {
  for (const std::size_t size : {std::size_t{1}, kBlobThreshold}) {
    const std::string inside = '"' + std::string(size, 'x') + '"';
    const std::string arguments = deepest(R"({"not":)", inside, "}");
    const std::string answer = deepest("[", inside, "]");
    Rig rig(scripted(
        {calls("look", arguments), calls("nothing", arguments), says(answer), says("[1]")}));
    rig.harness->inline_tool("look", "Looks", [](const Words& words) { return words.text; });
    RunOptions options;
    options.output_schema = parse_json(R"({"type":"array"})").value();
    options.output_mode = OutputMode::prompted;
    options.metadata = parse_json(deepest(R"({"a":)", inside, "}")).value();
    const RunResult result = rig.run("go", std::move(options));
    EXPECT_EQ(result.output, parse_json(answer).value());
    const RunResult more = rig.harness->resume(result.id, "and then?").wait();
    EXPECT_EQ(more.output, result.output) << (more.error ? to_string(*more.error) : "");
  }
}

}  // namespace
}  // namespace tug
