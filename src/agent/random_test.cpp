// Random scripts, random interruptions, many seeds: whatever happens, a run ends once, its
// transcript is legal, and the journal folds to the result that was handed out.
#include <cstdlib>
#include <map>
#include <set>

#include "agent/crash_testing.h"
#include "core/try.h"
#include "tug/core/rng.h"
#include "tug/core/wait.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

using std::chrono::milliseconds;

struct Nap {
  std::int64_t ms = 0;
};

struct Oddity {};

// Everything a tool may do to its run.
void add_tools(Harness& harness) {
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

ScriptCall random_call(Rng& rng) {
  static constexpr std::string_view kNames[] = {"shout",  "pool",  "again", "throws", "odd",
                                                "odder",  "nap",   "doze",  "child",  "left",
                                                "beside", "ghost", "shout"};
  ScriptCall call{.id = rng.below(3) ? "" : "same",
                  .name = std::string(kNames[rng.below(std::size(kNames))]),
                  .arguments = R"({"text":"t"})"};
  if (call.name == "nap" || call.name == "doze")
    call.arguments = "{\"ms\":" + std::to_string(rng.below(400)) + "}";
  if (call.name == "child" || call.name == "left" || call.name == "beside" ||
      call.name == "throws" || call.name == "odd" || call.name == "odder")
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
  EXPECT_TRUE(result.error->message().starts_with("the model ")) << to_string(*result.error);
}

void expect_sound(RecordStore& store, const RunResult& result, Segments before = Segments::whole) {
  expect_no_bug(result);
  if (result.id.empty()) {
    EXPECT_TRUE(result.error);
    return;
  }
  expect_sound_records(store, result.id, before);
  expect_legal(result.messages);
  auto folded = fold_root(store, result.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  EXPECT_EQ(print_json(to_json(folded->runs[0].result)), print_json(to_json(result)));
  EXPECT_EQ(folded->runs[0].result.messages, result.messages);
  EXPECT_EQ(folded->runs[0].result.tool_calls, result.tool_calls);
  for (const FoldedRun& run : folded->runs) expect_legal(run.result.messages);
}

RunOptions random_options(Rng& rng, const std::stop_source& stop) {
  RunOptions options{.cancel = stop.get_token()};
  if (rng.below(5) == 0) options.timeout = static_cast<double>(rng.below(600)) / 1000;
  if (rng.below(6) == 0) options.limits.max_turns = static_cast<std::int64_t>(rng.below(5));
  if (rng.below(6) == 0) options.limits.max_tool_calls = static_cast<std::int64_t>(rng.below(6));
  if (rng.below(8) == 0) options.limits.max_tokens = static_cast<std::int64_t>(rng.below(20'000));
  if (rng.below(4) == 0) options.limits.max_concurrency = 1;
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
