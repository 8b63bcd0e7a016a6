// Plain functions on the pool: what they see, what they may say, and when they are given up.
#include <condition_variable>
#include <mutex>

#include "tools/testing.h"
#include "tug/core/scope.h"
#include "tug/journal/event.h"

namespace tug {
namespace {

using std::chrono::milliseconds;

struct Account {
  std::string owner;
};

class PoolTool : public ToolTest {};

TEST_F(PoolTool, AnInvocationIsTheContextAsItWasWhenTheCallBegan) {
  auto tool = made(make_tool("look", "d", [](Invocation& call) {
    Json seen = Json::object({{"run", call.run_id().text()},
                              {"root", call.root_run_id().text()},
                              {"call", call.call_id().text()},
                              {"agent", call.agent()},
                              {"depth", call.depth()},
                              {"turn", call.turn()},
                              {"args", call.args()},
                              {"values", call.values()},
                              {"metadata", call.metadata()},
                              {"configurable", call.configurable()},
                              {"cwd", call.config()["cwd"]},
                              {"stopping", call.stopping()}});
    for (const std::string& tag : call.tags()) seen.edit("tags").push_back(tag);
    auto account = call.get<Account>();
    seen.set("account", account ? Json(account->owner) : Json());
    seen.set("number", call.get<int>() == nullptr);
    return seen;
  }));
  const ToolResult got = world.call(tool, "{}", [](Context& root) {
    root.set_turn(3);
    root.inherit(Account{"ann"});
    ASSERT_TRUE(root.set("inherited.city", "Oslo"));
    ASSERT_TRUE(root.set("configurable.mode", "fast"));
    root.inherit_metadata("who", "me");
    root.inherit_tag("night");
  });
  EXPECT_EQ(shown(got),
            R"(ok {"run":"run-1","root":"run-1","call":"1.0","agent":"main","depth":0,"turn":3,)"
            R"("args":{},"values":{"city":"Oslo"},"metadata":{"who":"me"},)"
            R"("configurable":{"mode":"fast"},"cwd":"/work","stopping":false,"tags":["night"],)"
            R"("account":"ann","number":true})");
}

std::vector<std::string> lines_of(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& event : events)
    lines.push_back(std::string(name_of(event.kind)) + " " + print_json(event.data));
  return lines;
}

TEST_F(PoolTool, ProgressLogAndEventsReachTheLoopBeforeTheCallEnds) {
  const auto says = [](Invocation& call) {
    call.progress(Json::object({{"percent", 50}}));
    call.emit("found", Json(3));
    call.log({.level = LogLevel::info, .text = "half done"});
    return "said";
  };
  world.listens = true;
  for (auto tool : {made(make_tool("t", "d", says)), made(make_inline_tool("t", "d", says))}) {
    EXPECT_EQ(shown(world.call(tool)), "ok said");
    EXPECT_EQ(lines_of(world.log->live),
              std::vector<std::string>{
                  R"(tool.progress {"call_id":"1.0","tool":"t","progress":{"percent":50}})"});
    ASSERT_EQ(world.log->records.size(), 2u);
    EXPECT_EQ(lines_of(world.log->records)[0], R"(custom {"name":"found","data":3})");
    EXPECT_EQ(world.log->records[1].data["text"], Json("half done"));
  }
}

TEST_F(PoolTool, NobodyListeningCostsNoEvent) {
  auto tool = made(make_tool("t", "d", [](Invocation& call) { call.progress(1); }));
  EXPECT_EQ(shown(world.call(tool)), "ok done");
  EXPECT_TRUE(world.log->live.empty());
}

TEST_F(PoolTool, AFloodOfProgressIsThinnedNotQueued) {
  world.listens = true;
  auto tool = made(make_tool("t", "d", [](Invocation& call) {
    for (int i = 0; i < 100'000; ++i) call.progress(i);
  }));
  EXPECT_EQ(shown(world.call(tool)), "ok done");
  EXPECT_LE(world.log->live.size(), 256u);
  EXPECT_GE(world.log->live.size(), 1u);
}

// --- with real threads

class RealPool : public testing::Test {
 protected:
  static ToolPtr made(Result<ToolPtr> tool) {
    EXPECT_TRUE(tool) << to_string(tool.error());
    return *tool;
  }
  std::shared_ptr<Engine> engine =
      make_engine({.loops = 1, .workers = 4, .grace = milliseconds(30)});
  ToolWorld world{engine};
};

// A place where threads wait for each other.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int there = 0;
  bool arrive_and_wait_for(int others) {
    std::unique_lock lock(mutex);
    ++there;
    changed.notify_all();
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return there >= others; });
  }
};

struct Results : BatchObserver {
  explicit Results(std::size_t count) : list(count) {}
  void on_end(std::size_t index, ToolResult result, Duration) override {
    list[index] = std::move(result);
  }
  std::vector<ToolResult> list;
};

TEST_F(RealPool, BlockingFunctionsRunAtTheSameTime) {
  Meeting meeting;
  auto tool = made(make_tool("meet", "d", [&] { return meeting.arrive_and_wait_for(3); }));
  Results results(3);
  auto ended = world.run([&](Context root) {
    std::vector<BatchCall> calls;
    for (std::size_t i = 0; i < 3; ++i)
      calls.push_back({tool, ToolWorld::child(root, tool, {}, i), Json::object()});
    return run_batch(std::move(calls), results, root.cancel());
  });
  ASSERT_TRUE(ended);
  for (const ToolResult& result : results.list) EXPECT_EQ(shown(result), "ok true");
}

TEST_F(RealPool, AFunctionThatIgnoresItsStopIsAbandonedAndCanDoNoMoreHarm) {
  struct Shared {
    Meeting leave;
    Meeting left;
  };
  auto shared = std::make_shared<Shared>();  // the function outlives this test
  world.listens = true;
  auto tool = made(make_tool("stuck", "d",
                             [shared](Invocation& call) {
                               shared->leave.arrive_and_wait_for(2);
                               call.progress(1);
                               call.log({.text = "too late"});
                               call.emit("too_late", {});
                               shared->left.arrive_and_wait_for(1);
                             },
                             {.timeout = milliseconds(20)}));
  const ToolResult got = world.call(tool);
  EXPECT_EQ(shown(got),
            "error the tool was asked to stop and did not end; nobody knows whether what it was "
            R"(asked to do has happened {"error_type":"OutcomeUnknown"})");
  EXPECT_EQ(engine->abandoned(), std::vector<std::string>{"stuck"});
  const auto log = world.log;
  shared->leave.arrive_and_wait_for(2);
  shared->left.arrive_and_wait_for(2);
  // Whatever it had posted would have been delivered before this.
  ASSERT_TRUE(world.run([](Context) -> Task<void> { co_return; }));
  EXPECT_TRUE(log->records.empty());
  EXPECT_TRUE(log->live.empty());
}

TEST_F(RealPool, AFunctionThatSeesItsStopTimesOutInTime) {
  auto tool = made(make_tool("polite", "d",
                             [](Invocation& call) -> Result<std::string> {
                               std::mutex mutex;
                               std::condition_variable_any stopped;
                               std::unique_lock lock(mutex);
                               stopped.wait(lock, call.stop(), [] { return false; });
                               return fail(ErrorKind::cancelled, "asked to stop");
                             },
                             {.timeout = milliseconds(20)}));
  EXPECT_EQ(shown(world.call(tool)), R"(error timed out after 20 ms {"error_type":"Timeout"})");
  EXPECT_TRUE(engine->abandoned().empty());
}

TEST_F(RealPool, ACancelledRunStopsItsFunctions) {
  Meeting begun;
  auto tool = made(make_tool("polite", "d", [&](Invocation& call) -> Result<std::string> {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    begun.arrive_and_wait_for(1);
    stopped.wait(lock, call.stop(), [] { return false; });
    return fail(ErrorKind::cancelled, "asked to stop");
  }));
  const auto cancel_when_begun = [](Context root, Meeting* meeting) -> Task<void> {
    while (true) {
      co_await sleep_for(milliseconds(1));
      std::unique_lock lock(meeting->mutex);
      if (meeting->there > 0) break;
    }
    root.cancel().request({CancelReason::Why::user, "enough"});
  };
  auto both = world.run([&](Context root) {
    return when_all(invoke(*tool, ToolWorld::child(root, tool, {}), Json::object()),
                    cancel_when_begun(root, &begun));
  });
  ASSERT_TRUE(both);
  EXPECT_EQ(shown(std::get<0>(*both)),
            "error the call was cancelled: enough "
            R"({"error_type":"Cancelled","cancelled":true})");
}

TEST_F(RealPool, ManyThreadsMayPostAtOnce) {
  world.listens = true;
  auto tool = made(make_tool("chatty", "d", [](Invocation& call) {
    for (int i = 0; i < 200; ++i) {
      call.progress(i);
      call.emit("step", i);
    }
  }));
  Results results(8);
  auto ended = world.run([&](Context root) {
    std::vector<BatchCall> calls;
    for (std::size_t i = 0; i < 8; ++i)
      calls.push_back({tool, ToolWorld::child(root, tool, {}, i), Json::object()});
    return run_batch(std::move(calls), results, root.cancel());
  });
  ASSERT_TRUE(ended);
  EXPECT_EQ(world.log->records.size(), 1600u);
}

}  // namespace
}  // namespace tug
