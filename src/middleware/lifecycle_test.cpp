#include "tug/middleware/lifecycle.h"

#include <thread>

#include "middleware/hook_testing.h"
#include "tug/model/delta_filter.h"

namespace tug {
namespace {

using Ok = Result<void>;

class LifecycleHooks : public HookTest {
 protected:
  // All nine, each leaving its name in the trace.
  Lifecycle traced(std::string name) {
    const auto note = [this, name](std::string hook) { trace.push_back(name + "." + hook); };
    return {.name = name,
            .before_agent =
                [note](const Context&, RunInput&) {
                  note("before_agent");
                  return Ok();
                },
            .after_agent =
                [note](const Context&, RunResult&) {
                  note("after_agent");
                  return Ok();
                },
            .before_model =
                [note](const Context&, ModelRequest&) {
                  note("before_model");
                  return Ok();
                },
            .on_model_delta =
                [note](const Context&, ModelEvent&) {
                  note("on_model_delta");
                  return Result<DeltaFate>(DeltaFate::keep);
                },
            .after_model =
                [note](const Context&, ModelTurn&) {
                  note("after_model");
                  return Ok();
                },
            .before_tool =
                [note](const Context&, const ToolInput&) {
                  note("before_tool");
                  return Ok();
                },
            .on_tool_delta =
                [note](const Context&, const Json& progress) {
                  note("on_tool_delta " + print_json(progress));
                  return Ok();
                },
            .after_tool =
                [note](const Context&, ToolResult&) {
                  note("after_tool");
                  return Ok();
                },
            .on_error = [note](const Context&,
                               const Error& error) { note("on_error " + error.message()); },
            .counts = counts};
  }
  MiddlewarePtr made(std::string name) { return make_lifecycle(traced(std::move(name))); }

  // What the request's filters make of one delta, in their order.
  static std::vector<ModelEvent> filtered_delta(const ModelRequest& request, ModelEvent delta) {
    std::vector<ModelEvent> deltas{std::move(delta)};
    for (const MakeDeltaFilter& make : request.filters) {
      const auto filter = make();
      std::vector<ModelEvent> out;
      for (ModelEvent& each : deltas) filter->push(std::move(each), out);
      filter->flush(out);
      deltas = std::move(out);
    }
    return deltas;
  }

  Trace trace;
  std::shared_ptr<HookCounts> counts = std::make_shared<HookCounts>();
};

RunResult ended(RunStatus status) {
  RunResult result;
  result.status = status;
  return result;
}

TEST_F(LifecycleHooks, BeforeRunsInOrderAndAfterInReverse) {
  ASSERT_TRUE(run({made("A"), made("B")}, {},
                  [](RunInput) { return Result<RunResult>(ended(RunStatus::completed)); }));
  EXPECT_EQ(trace, (Trace{"A.before_agent", "B.before_agent", "B.after_agent", "A.after_agent"}));
}

TEST_F(LifecycleHooks, AfterAgentRunsForEveryEndingThatIsNoFailure) {
  Trace seen;
  for (RunStatus status :
       {RunStatus::completed, RunStatus::parked, RunStatus::failed, RunStatus::cancelled}) {
    trace.clear();
    ASSERT_TRUE(run({made("A")}, {}, [&](RunInput) { return Result<RunResult>(ended(status)); }));
    seen.push_back(std::string(name_of(status)) + " " + std::to_string(trace.size()));
  }
  EXPECT_EQ(seen, (Trace{"completed 2", "parked 2", "failed 1", "cancelled 1"}));
}

TEST_F(LifecycleHooks, AWrapThatAnswersIsFollowedByAfterModel) {
  class Answers final : public Middleware {
   public:
    std::string name() const override { return "answers"; }
    Task<Result<ModelTurn>> around_model(Context, ModelRequest, NextModel& next) override {
      co_return next.finish(ModelTurn{.message = Message::assistant("from the wrap")});
    }
  };
  bool asked = false;
  const auto turn = ask(in_order({std::make_shared<Answers>(), made("A")}), {}, [&](ModelRequest) {
    asked = true;
    return Result<ModelTurn>(ModelTurn{});
  });
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->message->text(), "from the wrap");
  EXPECT_FALSE(asked);
  EXPECT_EQ(trace, (Trace{"A.before_model", "A.after_model"}));
}

TEST_F(LifecycleHooks, HooksEditWhatTheyAreGiven) {
  Lifecycle edits{.name = "edits"};
  edits.before_agent = [](const Context&, RunInput& input) {
    input.context.push_back("be brief");
    return Ok();
  };
  edits.after_agent = [](const Context&, RunResult& result) {
    result.text += "!";
    return Ok();
  };
  edits.before_model = [](const Context&, ModelRequest& request) {
    request.model = "script/other";
    return Ok();
  };
  edits.after_model = [](const Context&, ModelTurn& turn) {
    turn.message = Message::assistant("edited");
    return Ok();
  };
  edits.after_tool = [](const Context&, ToolResult& result) {
    result.content = "redacted";
    return Ok();
  };
  const MiddlewarePtr link = make_lifecycle(edits);
  const auto result = run({link}, {}, [](RunInput input) {
    RunResult result = ended(RunStatus::completed);
    result.text = input.context.at(0);
    return Result<RunResult>(result);
  });
  EXPECT_EQ(result->text, "be brief!");
  std::string model;
  const auto turn = ask({link}, {.model = "script/one"}, [&](ModelRequest request) {
    model = request.model;
    return Result<ModelTurn>(ModelTurn{});
  });
  EXPECT_EQ(model + " " + turn->message->text(), "script/other edited");
  const auto called = call({link}, tool_named("t"), [](ToolInput) {
    return Result<ToolResult>(ToolResult::text("secret"));
  });
  EXPECT_EQ(called->content, "redacted");
}

TEST_F(LifecycleHooks, AFailingBeforeHookKeepsTheRestFromRunningAndIsWhatComesOut) {
  Lifecycle failing = traced("A");
  failing.before_model = [](const Context&, ModelRequest&) -> Result<void> {
    return fail(ErrorKind::denied, "not today", "ask tomorrow");
  };
  bool asked = false;
  const auto turn = ask({make_lifecycle(failing), made("B")}, {}, [&](ModelRequest) {
    asked = true;
    return Result<ModelTurn>(ModelTurn{});
  });
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::denied);
  EXPECT_EQ(to_string(turn.error()), "not today (ask tomorrow)");
  EXPECT_FALSE(asked);
  EXPECT_EQ(trace, Trace{});
  const auto failed = records(Kind::hook_failed);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].data,
            Json::object(
                {{"hook", "A"}, {"event", "before_model"}, {"error", "not today (ask tomorrow)"}}));
}

TEST_F(LifecycleHooks, WhatAHookThrowsIsItsError) {
  Lifecycle throwing{.name = "A"};
  throwing.after_tool = [](const Context&, ToolResult&) -> Result<void> {
    throw std::runtime_error("boom");
  };
  const auto result = call({make_lifecycle(throwing)}, tool_named("t"),
                           [](ToolInput) { return Result<ToolResult>(ToolResult::text("x")); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::internal);
  EXPECT_EQ(records(Kind::hook_failed).size(), 1u);
}

TEST_F(LifecycleHooks, ModelDeltasCanBeEditedAndDropped) {
  Lifecycle first{.name = "first"};
  first.on_model_delta = [](const Context&, ModelEvent& delta) -> Result<DeltaFate> {
    if (auto* text = std::get_if<TextDelta>(&delta)) text->text += "1";
    return std::holds_alternative<ReasoningDelta>(delta) ? DeltaFate::drop : DeltaFate::keep;
  };
  Lifecycle second{.name = "second"};
  second.on_model_delta = [](const Context&, ModelEvent& delta) -> Result<DeltaFate> {
    if (auto* text = std::get_if<TextDelta>(&delta)) text->text += "2";
    return DeltaFate::keep;
  };
  std::string seen;
  const auto turn =
      ask({make_lifecycle(first), make_lifecycle(second)}, {}, [&](ModelRequest request) {
        for (const ModelEvent& event : filtered_delta(request, TextDelta{"a"})) {
          seen += std::get<TextDelta>(event).text;
        }
        EXPECT_TRUE(filtered_delta(request, ReasoningDelta{"hm"}).empty());
        return Result<ModelTurn>(ModelTurn{});
      });
  ASSERT_TRUE(turn);
  EXPECT_EQ(seen, "a12");
}

TEST_F(LifecycleHooks, AFailingDeltaHookEndsTheCallWithItsOwnError) {
  Lifecycle failing{.name = "A"};
  failing.on_model_delta = [](const Context&, ModelEvent&) -> Result<DeltaFate> {
    return fail(ErrorKind::denied, "a secret");
  };
  const auto turn = ask({make_lifecycle(failing)}, {}, [&](ModelRequest request) {
    // As a stream does with what a filter throws.
    return guarded("the stream", [&]() -> Result<ModelTurn> {
      filtered_delta(request, TextDelta{"a"});
      return ModelTurn{};
    });
  });
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::denied);
  EXPECT_EQ(turn.error().message(), "a secret");
}

TEST_F(LifecycleHooks, ARequestThatIsKeptDoesNotKeepTheRun) {
  ModelRequest kept;
  ASSERT_TRUE(ask({made("A")}, {}, [&](ModelRequest request) {
    kept = std::move(request);
    return Result<ModelTurn>(ModelTurn{});
  }));
  trace.clear();
  EXPECT_EQ(filtered_delta(kept, TextDelta{"late"}).size(), 1u);
  EXPECT_EQ(trace, Trace{});
}

TEST_F(LifecycleHooks, ToolProgressOfTheCallReachesTheHook) {
  const auto progress = [&](std::string_view id, Json value) {
    served.emit_live(Kind::tool_progress, Json::object({{"call_id", id}, {"progress", value}}));
  };
  world.listens = true;
  const auto result = call({made("A")}, tool_named("t"), [&](ToolInput input) {
    progress(input.call.text(), 50);
    progress("9.9", "of another call");
    progress(input.call.text(), "done");
    return Result<ToolResult>(ToolResult::text("x"));
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(trace, (Trace{"A.before_tool", "A.on_tool_delta 50", "A.on_tool_delta \"done\"",
                          "A.after_tool"}));
  EXPECT_TRUE(world.log->sinks.empty());
}

TEST_F(LifecycleHooks, AFailingToolDeltaHookFailsTheCall) {
  world.listens = true;
  Lifecycle failing{.name = "A"};
  failing.on_tool_delta = [](const Context&, const Json&) -> Result<void> {
    return fail(ErrorKind::denied, "too loud");
  };
  const auto result = call({make_lifecycle(failing)}, tool_named("t"), [&](ToolInput input) {
    served.emit_live(Kind::tool_progress,
                     Json::object({{"call_id", input.call.text()}, {"progress", 1}}));
    return Result<ToolResult>(ToolResult::text("x"));
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "too loud");
}

TEST_F(LifecycleHooks, HooksThatAreNotSetAreNotEntered) {
  const Around none = make_lifecycle({.name = "none"})->around();
  EXPECT_FALSE(none.run || none.model || none.tool);
  Lifecycle one{.name = "one"};
  one.on_tool_delta = [](const Context&, const Json&) { return Ok(); };
  const Around some = make_lifecycle(one)->around();
  EXPECT_TRUE(some.tool && !some.run && !some.model);
}

TEST_F(LifecycleHooks, CallsAreCountedByMiddlewareAndHook) {
  const MiddlewarePtr a = made("A");
  ASSERT_TRUE(run({a, made("B")}, {},
                  [](RunInput) { return Result<RunResult>(ended(RunStatus::failed)); }));
  ASSERT_TRUE(run({a}, {}, [](RunInput) { return Result<RunResult>(ended(RunStatus::parked)); }));
  EXPECT_EQ(counts->of("A", "before_agent"), 2u);
  EXPECT_EQ(counts->of("A", "after_agent"), 1u);
  EXPECT_EQ(counts->of("B", "before_agent"), 1u);
  EXPECT_EQ(counts->of("C", "before_agent"), 0u);
  EXPECT_EQ(counts->all().at("B").size(), 9u);
}

TEST(HookCountsTable, IsReadWhileOthersCount) {
  HookCounts counts;
  constexpr std::uint64_t kTimes = 20000;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&counts, thread] {
      HookCounts::Counter& shared = counts.counter("A", "before_model");
      for (std::uint64_t n = 0; n < kTimes; ++n) {
        ++shared;
        if (n % 1000 == 0) ++counts.counter("B" + std::to_string(thread), std::to_string(n));
      }
    });
  }
  std::uint64_t seen = 0;
  while (seen < 2 * kTimes) {
    const HookCounts::Table table = counts.all();
    const auto row = table.find("A");
    const std::uint64_t now = row == table.end() ? 0 : row->second.at("before_model");
    ASSERT_GE(now, seen);
    seen = now;
  }
  threads.clear();
  EXPECT_EQ(counts.of("A", "before_model"), 2 * kTimes);
  EXPECT_EQ(counts.all().size(), 3u);
}

}  // namespace
}  // namespace tug
