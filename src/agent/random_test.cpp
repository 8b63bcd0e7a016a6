// Random scripts, random interruptions, many seeds: whatever happens, a run ends once, its
// transcript is legal, and the journal folds to the result that was handed out.
#include <cstdlib>
#include <map>
#include <set>

#include "agent/crash_testing.h"
#include "core/try.h"
#include "tug/agent/invoke.h"
#include "tug/core/rng.h"
#include "tug/core/wait.h"
#include "tug/journal/journal.h"
#include "tug/middleware/control.h"

namespace tug {
namespace {

using std::chrono::milliseconds;

struct Nap {
  std::int64_t ms = 0;
};

struct Oddity {};

// Everything a tool may do to its run.
void add_tools(Harness& harness) {
  harness.tool("asks", "Calls others", [](const Context& ctx) -> Task<std::string> {
    (void)invoke_detached(ctx, "again", Json::object({{"text", "beside"}}));
    auto calling = invoke(ctx, "pool", Json::object({{"text", "below"}}));
    const ToolResult result = co_await std::move(calling);
    co_return result.content;
  });
  harness.tool("retry", "Wants another try", []() -> std::string { throw ModelRetry("again"); },
               {.max_retries = 2});
  harness.tool("fatal", "Ends the run", []() -> std::string { throw std::runtime_error("boom"); },
               {.on_error = OnError::fail_run});
  harness.inline_tool("shout", "Shouts", [](const Words& words) { return words.text + "!"; });
  harness.tool("pool", "On the pool", [](const Words& words) { return words.text; });
  harness.tool("again", "Pure", [](const Words& words) { return words.text; },
               {.effect = Effect::pure});
  harness.tool("throws", "Throws", []() -> std::string { throw std::runtime_error("boom"); });
  harness.tool("odd", "Throws what is no exception", []() -> std::string { throw Oddity{}; });
  harness.tool("odder", "The same on the loop", [](Context) -> Task<std::string> {
    co_await yield();
    throw 7;
  });
  harness.tool("nap", "Sleeps and heeds nothing", [](const Nap& nap) -> Task<std::string> {
    co_await sleep_for(milliseconds(nap.ms));
    co_return "rested";
  });
  harness.tool("doze", "Sleeps and heeds a cancel",
               [](const Context& ctx, const Nap& nap) -> Task<std::string> {
                 co_await sleep_for(milliseconds(nap.ms), Until{.cancel = ctx.cancel()});
                 co_return "rested";
               });
  harness.tool("child", "Runs a child", [&harness](const Context& ctx) -> Task<std::string> {
    auto asking = harness.run_async(ctx, "below", {.agent = "child", .limits = {.max_depth = 3}});
    RunResult result = co_await std::move(asking);
    co_return "child: " + result.text;
  });
  harness.tool("left", "Starts a child and lets go of it",
               [&harness](const Context& ctx) -> Task<std::string> {
                 (void)harness.start(ctx, "dropped", {.agent = "child"});
                 co_await yield();
                 co_return "dropped";
               });
  harness.tool("beside", "Starts a child that goes on beside it",
               [&harness](const Context& ctx) -> Task<std::string> {
                 harness.start(ctx, "beside", {.agent = "child"}).detach();
                 co_return "started";
               });
}

// A middleware that does anything a middleware may do, by chance.
class Meddler final : public Middleware {
 public:
  std::string name() const override { return "meddler"; }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    const std::uint64_t what = ctx.rng().below(24);
    if (what == 0) throw std::runtime_error("meddled");
    if (what == 1) co_return next.fail(Error(ErrorKind::denied, "meddled"));
    if (what == 2) input.context.push_back("meddled");
    co_await sleep_for(milliseconds(ctx.rng().below(3)), Until{.cancel = ctx.cancel()});
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    if (what == 3 && result) result->text += " (meddled)";
    if (what == 4) throw Oddity{};
    co_return result;
  }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    const std::uint64_t what = ctx.rng().below(40);
    if (what == 0) throw std::runtime_error("meddled");
    if (what == 1) co_return next.fail(Error(ErrorKind::denied, "meddled"));
    if (what == 2) co_return next.finish({.message = Message::assistant("meddled")});
    if (what == 3) stop_with_final(ctx, "meddled");
    if (what == 4) interrupt(ctx, "meddled");
    if (what == 5) ctx.remember("meddler", ctx.remembered("meddler").as_int().value_or(0) + 1);
    if (what == 6) request.model = "nobody/knows";
    if (what == 7) next.inject(std::make_shared<Meddler>());
    if (what < 12) co_await sleep_for(milliseconds(what), Until{.cancel = ctx.cancel()});
    ModelRequest same = request;
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    if (what == 12) {
      auto again = next.run(std::move(same));
      turn = co_await std::move(again);
    }
    if (what == 13) co_return next.fail(Error(ErrorKind::denied, "meddled too late"));
    co_return turn;
  }

  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    const std::uint64_t what = ctx.rng().below(40);
    if (what == 0) throw 7;
    if (what == 1) co_return next.fail(Error(ErrorKind::denied, "meddled"));
    if (what == 2) co_return next.finish(ToolResult::error("meddled", "ToolCallCancelled"));
    if (what < 6) co_await sleep_for(milliseconds(what), Until{.cancel = ctx.cancel()});
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (what == 6) result->content = "meddled";
    if (what == 7) throw std::runtime_error("meddled too late");
    co_return result;
  }
};

ScriptCall random_call(Rng& rng) {
  static constexpr std::string_view kNames[] = {
      "shout", "pool",   "again", "throws", "odd",  "odder", "nap",   "doze",        "child",
      "left",  "beside", "ghost", "shout",  "asks", "retry", "fatal", "final_result"};
  ScriptCall call{.id = rng.below(3) ? "" : "same",
                  .name = std::string(kNames[rng.below(std::size(kNames))]),
                  .arguments = R"({"text":"t"})"};
  if (call.name == "nap" || call.name == "doze")
    call.arguments = "{\"ms\":" + std::to_string(rng.below(400)) + "}";
  if (call.name == "final_result") call.arguments = rng.below(3) ? R"({"n":1})" : R"({"n":"x"})";
  if (call.name == "asks" || call.name == "retry" || call.name == "fatal" || call.name == "child" ||
      call.name == "left" || call.name == "beside" || call.name == "throws" || call.name == "odd" ||
      call.name == "odder")
    call.arguments = "{}";
  if (rng.below(12) == 0) call.arguments = "{not json";
  return call;
}

ScriptTurn random_turn(Rng& rng) {
  static constexpr Finish kFinishes[] = {Finish::stop,    Finish::length, Finish::tool_calls,
                                         Finish::refusal, Finish::pause,  Finish::other};
  ScriptTurn turn;
  if (rng.below(8)) turn.text = "words " + std::to_string(rng.below(100));
  if (rng.below(4) == 0) turn.reasoning = "hm";
  if (rng.below(3)) {
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n)
      turn.tool_calls.push_back(random_call(rng));
  }
  if (rng.below(6) == 0) turn.finish = kFinishes[rng.below(std::size(kFinishes))];
  turn.delay_ms = rng.below(2) ? 0 : static_cast<std::int64_t>(rng.below(200));
  turn.chunks = 1 + static_cast<std::uint32_t>(rng.below(4));
  turn.chunk_delay_ms = static_cast<std::int64_t>(rng.below(20));
  turn.usage = {.input_tokens = static_cast<std::int64_t>(rng.below(50)), .output_tokens = 3};
  if (rng.below(12) == 0) turn.error = ScriptError{.status = rng.below(2) ? 500 : 401};
  return turn;
}

ModelPtr random_model(Rng& rng) {
  std::vector<ScriptTurn> turns;
  for (std::uint64_t n = 1 + rng.below(7); n > 0; --n) turns.push_back(random_turn(rng));
  ScriptTurn last = testkit::says("done");
  last.repeat = rng.below(4) != 0;
  turns.push_back(last);
  return testkit::scripted(std::move(turns));
}

bool is_terminal(Kind kind) {
  return kind == Kind::run_completed || kind == Kind::run_failed || kind == Kind::run_cancelled ||
         kind == Kind::run_paused;
}

// Whether a segment may lack its end: one that a crash cut, before the run was resumed.
enum class Segments : bool { whole, cut };

// What must hold of any root's records, however it went.
void expect_sound_records(RecordStore& store, const RunId& root,
                          Segments before = Segments::whole) {
  auto verified = verify_root(store, root);
  EXPECT_TRUE(verified);
  Seq last = 0;
  std::map<std::string, int> open;  // segments of each run
  std::map<std::string, std::string> attempts;
  std::set<std::string> calls;
  auto records = store.read(root, 0, 100'000);
  ASSERT_TRUE(records);
  for (const Record& record : *records) {
    auto event = decode(record, store);
    ASSERT_TRUE(event) << to_string(event.error());
    EXPECT_EQ(event->seq, ++last);
    const std::string run = event->who->run_id.text();
    const std::string call = run + "/" + std::string(event->data["call_id"].as_string());
    if (event->kind == Kind::run_resumed && before == Segments::cut) {
      open[run] = 1;
    } else if (event->kind == Kind::run_started || event->kind == Kind::run_resumed) {
      EXPECT_EQ(open[run]++, 0) << run << " opens a segment in another, seq " << event->seq;
    } else if (is_terminal(event->kind)) {
      EXPECT_EQ(open[run]--, 1) << run << " ends what is not open, seq " << event->seq;
    } else if (event->kind == Kind::model_started) {
      EXPECT_EQ(open[run], 1);
      EXPECT_EQ(attempts[run], "");
      attempts[run] = event->data["call"].as_string();
    } else if (event->kind == Kind::model_completed || event->kind == Kind::model_failed) {
      EXPECT_EQ(attempts[run], event->data["call"].as_string());
      attempts[run].clear();
    } else if (event->kind == Kind::tool_started) {
      EXPECT_TRUE(calls.insert(call).second);
    } else if (event->kind == Kind::tool_completed || event->kind == Kind::tool_failed ||
               event->kind == Kind::tool_outcome_unknown) {
      EXPECT_EQ(calls.erase(call), 1u) << call;
    }
  }
  for (const auto& [run, segments] : open) EXPECT_EQ(segments, 0) << run << " has no end";
  for (const auto& [run, attempt] : attempts) EXPECT_EQ(attempt, "") << run;
  EXPECT_TRUE(calls.empty()) << *calls.begin() << " has no partner";
}

// What the model did wrong is `internal` too.
void expect_no_bug(const RunResult& result) {
  if (!result.error || result.error->kind() != ErrorKind::internal) return;
  const std::string& message = result.error->message();
  EXPECT_TRUE(message.starts_with("the model ") || message.starts_with("the middleware ") ||
              message.starts_with("the tool "))
      << to_string(*result.error);
}

void expect_sound(RecordStore& store, const RunResult& result, Segments before = Segments::whole) {
  expect_no_bug(result);
  if (result.id.empty()) {
    EXPECT_TRUE(result.error);
    return;
  }
  expect_sound_records(store, result.id, before);
  expect_legal(result.messages, result.status == RunStatus::parked);
  auto folded = fold_root(store, result.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  EXPECT_EQ(print_json(to_json(folded->runs[0].result)), print_json(to_json(result)));
  EXPECT_EQ(folded->runs[0].result.messages, result.messages);
  EXPECT_EQ(folded->runs[0].result.tool_calls, result.tool_calls);
  for (const FoldedRun& run : folded->runs)
    expect_legal(run.result.messages, run.result.status == RunStatus::parked);
}

RunOptions random_options(Rng& rng, const std::stop_source& stop) {
  RunOptions options{.cancel = stop.get_token()};
  if (rng.below(5) == 0) options.timeout = static_cast<double>(rng.below(600)) / 1000;
  if (rng.below(6) == 0) options.limits.max_turns = static_cast<std::int64_t>(rng.below(5));
  if (rng.below(6) == 0) options.limits.max_tool_calls = static_cast<std::int64_t>(rng.below(6));
  if (rng.below(8) == 0) options.limits.max_tokens = static_cast<std::int64_t>(rng.below(20'000));
  if (rng.below(4) == 0) options.limits.max_concurrency = 1;
  if (rng.below(4) == 0) options.limits.retries = static_cast<std::uint32_t>(rng.below(3));
  if (rng.below(4) == 0) options.limits.tool_retries = static_cast<std::uint32_t>(rng.below(4));
  if (rng.below(6) == 0) options.tool_execution = ToolExecution::sequential;
  if (rng.below(3) == 0) {
    options.output_schema =
        *parse_json(R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})");
    options.output_mode = rng.below(2) ? OutputMode::automatic : OutputMode::prompted;
    options.limits.output_retries = static_cast<std::uint32_t>(rng.below(3));
  }
  if (rng.below(3) == 0) options.middleware.push_back(std::make_shared<Meddler>());
  if (rng.below(6) == 0) options.inherited_middleware.push_back(std::make_shared<Meddler>());
  if (rng.below(3) == 0) options.fallback_models = {"nobody/knows", "test/constant"};
  return options;
}

// Lets the run go on for a while and does something to it, a few times.
void disturb(Rig& rig, Rng& rng, const tug::Run& run, std::stop_source& stop) {
  for (std::uint64_t n = rng.below(4); n > 0; --n) {
    if (rng.below(2)) {
      for (std::uint64_t steps = rng.below(60); steps > 0; --steps) rig.engine->step();
    } else {
      rig.engine->advance(milliseconds(rng.below(300)));
    }
    switch (rng.below(7)) {
      case 0:
        run.cancel("enough");
        break;
      case 1:
        run.pause("later");
        break;
      case 2:
        stop.request_stop();
        break;
      case 3:
        (void)run.status();
        (void)run.snapshot();
        break;
      case 4:
        (void)run.next_event();
        break;
      case 5: {
        // It is live, or it has ended and goes on elsewhere: never twice at once.
        const bool live = !run.ended();
        const RunResult second = rig.harness->resume(run.id(), "meanwhile").wait();
        if (live && !run.ended()) EXPECT_TRUE(second.id.empty()) << second.text;
        break;
      }
      default:
        break;
    }
  }
}

void live_through(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  Rig rig(random_model(rng), seed);
  rig.models->add(testkit::constant("the other one"));
  add_tools(*rig.harness);
  std::stop_source stop;
  tug::Run run = rig.harness->start("go", random_options(rng, stop));
  disturb(rig, rng, run, stop);
  if (rng.below(10) == 0) rig.harness->close();
  RunResult result = run.wait();
  EXPECT_TRUE(run.ended());
  EXPECT_NE(result.status, RunStatus::running);
  if (result.id.empty()) return;
  // A resume in the meantime may have gone on with it.
  const Seq last = fold_root(*rig.store, result.id).value().last_seq;
  if (last == result.last_seq) expect_sound(*rig.store, result);
  for (int again = 0; again < 3; ++again) {
    std::stop_source later;
    tug::Run next =
        rig.harness->resume(result.id, rng.below(2) ? "on" : "", random_options(rng, later));
    disturb(rig, rng, next, later);
    const RunResult more = next.wait();
    if (more.id.empty()) {
      EXPECT_TRUE(more.error);
      continue;
    }
    if (fold_root(*rig.store, more.id).value().last_seq == more.last_seq)
      expect_sound(*rig.store, more);
    result = more;
  }
  if (rng.below(8) == 0) {
    for (Seq at = 1; at <= result.last_seq; ++at) {
      const RunResult forked = rig.harness->fork(result.root, at, "another way").wait();
      if (!forked.id.empty()) expect_sound(*rig.store, forked);
    }
  }
  rig.harness->close();
  rig.engine->run_until_idle();
  auto all = rig.store->list(1000);
  ASSERT_TRUE(all);
  for (const RootInfo& info : *all) expect_sound_records(*rig.store, info.who->run_id);
}

void crash_everywhere(std::uint64_t seed) {
  Rng rng(seed);
  ModelPtr model = random_model(rng);
  Rig rig(model, seed);
  add_tools(*rig.harness);
  std::stop_source stop;
  const RunResult whole = rig.run("go", random_options(rng, stop));
  const std::size_t records = rig.store->read(whole.id, 0, 100'000)->size();
  for (std::size_t count = 1; count < records; ++count) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", crashed after record " +
                 std::to_string(count) + " of " + std::to_string(records));
    const std::string prompt = rng.below(4) ? "" : "on";
    Rig next = rig_after_crash(rig, model, whole.id, count);
    add_tools(*next.harness);
    std::stop_source later;
    const bool calm = rng.below(2);
    RunOptions changes = calm ? RunOptions{} : random_options(rng, later);
    tug::Run resumed = next.harness->resume(whole.id, prompt, std::move(changes));
    if (!calm) {
      for (std::uint64_t steps = rng.below(80); steps > 0; --steps) next.engine->step();
      if (rng.below(2)) resumed.cancel("enough");
      if (rng.below(4) == 0) resumed.pause("later");
    }
    const RunResult result = resumed.wait();
    ASSERT_EQ(result.id, whole.id) << (result.error ? to_string(*result.error) : "");
    expect_sound(*next.store, result, Segments::cut);
    const bool answered = count + 1 == records && whole.stop == StopReason::end_turn;
    if (!answered || !calm || !prompt.empty()) continue;
    EXPECT_EQ(result.text, whole.text) << "it had its answer";
    EXPECT_EQ(result.stop, StopReason::end_turn);
    EXPECT_EQ(result.counts.model_calls, whole.counts.model_calls);
  }
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// A run of this seed, cancelled after `steps` steps; how many there were when it was not.
std::uint64_t cancel_after(std::uint64_t seed, std::uint64_t steps) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", cancelled after step " + std::to_string(steps));
  Rng rng(seed);
  Rig rig(random_model(rng), seed);
  rig.models->add(testkit::constant("the other one"));
  add_tools(*rig.harness);
  std::stop_source stop;
  tug::Run run = rig.harness->start("go", random_options(rng, stop));
  std::uint64_t made = 0;
  while (made < steps && !run.ended() && rig.engine->step()) ++made;
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_TRUE(run.ended());
  if (!result.id.empty()) expect_sound(*rig.store, result);
  rig.harness->close();
  const auto left = rig.engine->shutdown();
  EXPECT_TRUE(left.stranded.empty()) << left.stranded.front();
  return made;
}

TEST(Random, ARunThatIsCancelledAtAnyPointEndsOnceAndLeavesNothingBehind) {
  const std::uint64_t first = from_environment("TUG_TEST_SEED", 1);
  const std::uint64_t wanted = from_environment("TUG_TEST_SCHEDULES", 10'000);
  std::uint64_t schedules = 0;
  for (std::uint64_t seed = first; schedules < wanted; ++seed) {
    const std::uint64_t all = cancel_after(seed, 1'000'000);
    for (std::uint64_t steps = 0; steps < all && schedules < wanted; ++steps) {
      cancel_after(seed, steps);
      ++schedules;
      if (HasFatalFailure() || HasNonfatalFailure()) {
        FAIL() << "TUG_TEST_SEED=" << seed << " TUG_TEST_SCHEDULES=" << steps + 1
               << " shows it again";
      }
    }
  }
}

TEST(Random, ARunThatIsDisturbedEndsOnceAndFoldsToItsResult) {
  const std::uint64_t first = from_environment("TUG_TEST_SEED", 1);
  const std::uint64_t count = from_environment("TUG_TEST_SEEDS", 150);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    live_through(seed);
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "TUG_TEST_SEED=" << seed << " TUG_TEST_SEEDS=1 shows it again";
    }
  }
}

TEST(Random, ARunThatCrashedAfterAnyRecordGoesOn) {
  const std::uint64_t first = from_environment("TUG_TEST_SEED", 1);
  const std::uint64_t count = from_environment("TUG_TEST_SEEDS", 60);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    crash_everywhere(seed);
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "TUG_TEST_SEED=" << seed << " TUG_TEST_SEEDS=1 shows it again";
    }
  }
}

}  // namespace
}  // namespace tug
