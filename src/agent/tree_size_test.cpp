// Trees of many runs: all in flight at once, stopped at once, parked and taken up again.
#include "agent/approval_testing.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;

std::vector<ScriptCall> calls_of(const std::string& agent, std::size_t count) {
  std::vector<ScriptCall> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string input = "part " + std::to_string(i);
    all.push_back({"", agent, print_json(Json::object({{"input", input}}))});
  }
  return all;
}

// Says what it was asked, after a time that is shorter the later it was asked.
class Echo final : public Model {
 public:
  explicit Echo(std::size_t parts) : parts_(parts) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    if (request.agent == "main") return answer(script.at(asked_++), {}, {});
    most = std::max(most, ++open_);
    const std::chrono::milliseconds delay(1000 + parts_ - asked_parts_++);
    return answer(Message::assistant(request.transcript.back()->text()), delay, std::move(until));
  }

  std::vector<MessagePtr> script;
  std::size_t most = 0;  // at once

 private:
  class Once final : public ModelStream {
   public:
    Once(std::size_t& open, MessagePtr message, Duration delay, Until until)
        : open_(open), message_(std::move(message)), delay_(delay), until_(std::move(until)) {}
    Task<Result<std::optional<ModelEvent>>> next() override {
      std::optional<ModelEvent> event;
      if (!message_) co_return event;
      if (delay_ > Duration::zero()) {
        co_await sleep_for(delay_, until_);
        --open_;
      }
      event = ModelTurn{.message = std::exchange(message_, nullptr)};
      co_return event;
    }

   private:
    std::size_t& open_;
    MessagePtr message_;
    Duration delay_;
    Until until_;
  };
  std::unique_ptr<ModelStream> answer(MessagePtr message, Duration delay, Until until) {
    return std::make_unique<Once>(open_, std::move(message), delay, std::move(until));
  }

  ModelProfile profile_{.provider = "test", .name = "echo"};
  std::size_t parts_;
  std::size_t asked_ = 0;
  std::size_t asked_parts_ = 0;
  std::size_t open_ = 0;
};

TEST(TreeSize, AllAgentsOfOneBatchAreInFlightAtOnceAndAnsweredInCallOrder) {
  for (const std::size_t count : {std::size_t{64}, std::size_t{1000}}) {
    auto model = std::make_shared<Echo>(count);
    std::vector<Part> parts;
    for (const ScriptCall& call : calls_of("clerk", count)) {
      parts.push_back(ToolCall{.tool = call.name, .arguments = call.arguments});
    }
    model->script = {Message::make(Role::assistant, parts), Message::assistant("done")};
    Rig rig(model);
    rig.harness->agent("clerk", "Repeats.");
    const RunResult result =
        run_on(rig, "go", {.limits = {.max_tool_calls = 2000, .max_concurrency = 16}});
    EXPECT_EQ(result.text, "done");
    EXPECT_EQ(model->most, count);
    ASSERT_EQ(result.tool_calls.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(result.tool_calls[i].result.content, "part " + std::to_string(i));
    }
    expect_gap_free(*rig.seen);
    expect_journal_says(*rig.store, result);
  }
}

TEST(TreeSize, CancellingARootEndsAThousandLiveCallsTenLevelsBelowIt) {
  constexpr int kDeepest = 10;
  const auto level = [](int depth) { return depth ? "level" + std::to_string(depth) : "main"; };
  std::vector<ScriptTurn> turns;
  for (int depth = 0; depth < kDeepest - 1; ++depth) {
    turns.push_back(by(level(depth), asks(level(depth + 1), "down")));
  }
  turns.push_back(by(level(kDeepest - 1), calls(calls_of(level(kDeepest), 1000))));
  turns.push_back(again(by(level(kDeepest), after_ms(3'600'000, says("never")))));
  Rig rig(scripted(std::move(turns)));
  for (int depth = 1; depth <= kDeepest; ++depth) {
    rig.harness->agent(level(depth), "Goes down.", {.limits = {.max_tool_calls = 2000}});
  }
  const tug::Run run =
      start_on(rig, "go", {.limits = {.max_tool_calls = 2000, .max_depth = kDeepest}});
  rig.engine->advance(std::chrono::seconds(1));
  ASSERT_EQ(run.tree().size(), 1000u + kDeepest);
  const Time before = rig.engine->wall();
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(rig.engine->wall(), before) << "nobody waits for anything";
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 1000u + kDeepest);
  for (const FoldedRun& below : tree.runs) {
    ASSERT_EQ(below.result.status, RunStatus::cancelled);
    expect_legal(below.result.messages);
  }
  expect_gap_free(*rig.seen);
  rig.harness->close();
  EXPECT_TRUE(rig.engine->shutdown().stranded.empty());
}

TEST(TreeSize, AThousandAgentsThatAskAreParkedAndGoOn) {
  Rig rig(scripted({by("main", calls(calls_of("clerk", 1000))), again(by("clerk", pays(1))),
                    by("main", says("done"))}));
  Till till(rig);
  rig.harness->agent("clerk", "Pays.", {.limits = {.max_turns = 1}});
  const RunResult parked = run_on(rig, "go", {.limits = {.max_tool_calls = 2000}});
  ASSERT_EQ(parked.pending.size(), 1000u);
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(till.paid.size(), 1000u);
  EXPECT_EQ(folded(rig, result.id).runs.size(), 1001u);
}

}  // namespace
}  // namespace tug
