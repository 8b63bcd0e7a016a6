// Middleware that does anything at any time, around runs that go wrong in every way: the events
// stay paired, the transcript legal, and the journal says what the caller was told.
#include <stdexcept>

#include "agent/cases_testing.h"
#include "tug/core/rng.h"
#include "tug/middleware/control.h"
#include "tug/model/delta_filter.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;

constexpr std::uint64_t kRuns = 3000;

Error random_error(Rng& rng) {
  static constexpr ErrorKind kKinds[] = {ErrorKind::denied, ErrorKind::cancelled,
                                         ErrorKind::internal, ErrorKind::overloaded};
  return Error(kKinds[rng.below(std::size(kKinds))], "no more of this");
}

class Passing final : public DeltaFilter {
 public:
  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    out.push_back(std::move(delta));
  }
  void flush(std::vector<ModelEvent>&) override {}
};

class Chaos final : public Middleware {
 public:
  explicit Chaos(Rng& rng) : rng_(rng) {}
  std::string name() const override { return "chaos"; }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    co_await yield();
    if (rng_.below(3) == 0) input.context.push_back("by the way");
    disturb(ctx);
    if (rng_.below(30) == 0) co_return next.fail(random_error(rng_));
    if (rng_.below(30) == 0) {
      RunResult answer;
      answer.status = rng_.below(2) ? RunStatus::completed : RunStatus::failed;
      answer.stop = answer.ok() ? StopReason::end_turn : StopReason::error;
      answer.text = "instead";
      co_return next.finish(std::move(answer));
    }
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    disturb(ctx);
    if (result && rng_.below(8) == 0) result->text += " (edited)";
    if (rng_.below(30) == 0) co_return next.fail(random_error(rng_));
    co_return result;
  }
  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    disturb(ctx);
    if (rng_.below(8) == 0) request.model = rng_.below(2) ? "nobody/knows" : "test/other";
    if (rng_.below(4) == 0) {
      request.filters.push_back([] { return std::make_unique<Passing>(); });
    }
    if (rng_.below(10) == 0) {
      co_return next.finish(ModelTurn{.message = Message::assistant(rng_.below(4) ? "mine" : "")});
    }
    const ModelRequest copy = request;
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    for (int n = 0; n < 2 && rng_.below(6) == 0; ++n) {
      auto again = next.run(copy);
      turn = co_await std::move(again);
    }
    co_await yield();
    disturb(ctx);
    if (rng_.below(25) == 0) co_return next.fail(random_error(rng_));
    if (turn && rng_.below(25) == 0) turn->message = nullptr;
    if (turn && rng_.below(12) == 0) turn->nudge = "go on";
    co_return turn;
  }
  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    disturb(ctx);
    if (rng_.below(12) == 0) co_return next.finish(ToolResult::error("no", "ToolCallCancelled"));
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    disturb(ctx);
    if (rng_.below(20) == 0) co_return next.fail(random_error(rng_));
    if (result && rng_.below(6) == 0) *result = ToolResult::text("rewritten");
    co_return result;
  }
  void on_error(Context, const Error&) override {
    if (rng_.below(2)) throw std::runtime_error("boom");
  }

 private:
  void disturb(const Context& ctx) {
    if (rng_.below(40) == 0) throw std::runtime_error("boom");
    if (rng_.below(40) == 0) stop_with_final(ctx, "enough");
    if (rng_.below(30) == 0) interrupt(ctx, "wait");
    if (rng_.below(20) == 0) ctx.remember("chaos", Json(static_cast<std::int64_t>(rng_.below(9))));
  }

  Rng& rng_;
};

ScriptTurn random_turn(Rng& rng) {
  static constexpr Finish kFinishes[] = {Finish::length, Finish::pause, Finish::refusal};
  static constexpr const char* kTools[] = {"look", "picky", "nap", "ghost", "final_result"};
  ScriptTurn turn;
  if (rng.below(5)) turn.text = rng.below(3) ? "words" : R"({"n":1})";
  for (std::uint64_t n = rng.below(4); n > 0; --n) {
    turn.tool_calls.push_back({"", kTools[rng.below(std::size(kTools))], "{}"});
  }
  if (rng.below(8) == 0) turn.finish = kFinishes[rng.below(std::size(kFinishes))];
  if (rng.below(8) == 0) turn.error = ScriptError{.status = rng.below(2) ? 503 : 401};
  turn.chunks = 1 + static_cast<std::uint32_t>(rng.below(3));
  turn.usage = {.input_tokens = 7, .output_tokens = 2};
  return turn;
}

RunOptions random_options(Rng& rng) {
  RunOptions options;
  if (rng.below(3) == 0) options.limits.max_turns = static_cast<std::int64_t>(rng.below(6));
  if (rng.below(4) == 0) options.limits.max_tool_calls = static_cast<std::int64_t>(rng.below(6));
  if (rng.below(4) == 0) options.timeout = static_cast<double>(rng.below(800)) / 1000;
  if (rng.below(3) == 0) {
    options.output_schema = Json::object({{"type", "object"}});
    if (rng.below(2)) options.output_mode = OutputMode::prompted;
  }
  if (rng.below(2)) options.fallback_models = {"nobody/knows", "test/other"};
  return options;
}

void expect_paired(const SeenEvents& seen) {
  const auto count = [&seen](std::initializer_list<Kind> kinds) {
    std::size_t found = 0;
    for (const Kind kind : kinds) found += seen.count(kind);
    return found;
  };
  EXPECT_EQ(count({Kind::run_started, Kind::run_resumed}),
            count({Kind::run_completed, Kind::run_failed, Kind::run_cancelled, Kind::run_paused}));
  EXPECT_EQ(count({Kind::model_started}), count({Kind::model_completed, Kind::model_failed}));
  EXPECT_EQ(count({Kind::tool_started}),
            count({Kind::tool_completed, Kind::tool_failed, Kind::tool_outcome_unknown}));
}

// Records that cannot be applied, and steps that lead nowhere.
void expect_no_bug(const RunResult& result) {
  if (!result.error) return;
  for (const char* sign : {"does not follow", "changed nothing", "left unfinished"}) {
    EXPECT_FALSE(contains(result.error->message(), sign)) << to_string(*result.error);
  }
}

// A run, and its segments after that while it is parked or was cancelled.
void run_one(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  std::vector<ScriptTurn> turns;
  for (std::uint64_t n = 1 + rng.below(6); n > 0; --n) turns.push_back(random_turn(rng));
  turns.push_back(again(says("done")));
  Rig rig(scripted(std::move(turns)), seed);
  rig.models->add(profiled({.name = "other", .tools = rng.below(2) == 0}, {again(says("other"))}));
  give_look(rig);
  give_picky(rig);
  rig.harness->tool("nap", "Sleeps", [](const Context& ctx) -> Task<std::string> {
    co_await sleep_for(std::chrono::milliseconds(50), Until{.cancel = ctx.cancel()});
    co_return "rested";
  });
  rig.harness->use(std::make_shared<Chaos>(rng)).use(std::make_shared<Chaos>(rng));
  RunOptions options = random_options(rng);
  options.observers = {rig.seen};
  tug::Run run = rig.harness->start("go", options);
  for (int segment = 0; segment < 6; ++segment) {
    if (rng.below(4) == 0) {
      for (std::uint64_t steps = rng.below(80); steps > 0; --steps) rig.engine->step();
      run.cancel("enough");
    }
    const RunResult result = run.wait();
    if (result.id.empty()) return;
    expect_no_bug(result);
    expect_paired(*rig.seen);
    expect_journal_says(*rig.store, result);
    expect_legal(result.messages, result.status == RunStatus::parked);
    EXPECT_EQ(rig.seen->events.back().data["result"], to_json(result));
    if (result.status != RunStatus::parked && result.status != RunStatus::cancelled) return;
    run = rig.harness->resume(result.id, rng.below(3) ? "" : "and?", {.observers = {rig.seen}});
  }
}

TEST(MiddlewareRandom, WhateverMiddlewareDoesTheRecordsAreSound) {
  for (std::uint64_t seed = 1; seed <= kRuns && !::testing::Test::HasFailure(); ++seed) {
    run_one(seed);
  }
}

}  // namespace
}  // namespace tug
