// What a model can do with agents that work in the background: the tools `subagent` and
// `subagent_runs`. C: the table of the seeds.
#include "agent/approval_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

constexpr const char* kId = "thechild";

// Calls of `subagent_runs` name the run, which no script can know: a middleware puts it in.
class NamesTheRun final : public Middleware {
 public:
  std::string name() const override { return "names the run"; }
  Around around() const noexcept override { return {.run = false, .tool = false}; }
  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    for (const MessagePtr& message : request.transcript.messages()) {
      for (const ToolResult* result : message->tool_results()) {
        const std::string_view id = result->metadata["child_run_id"].as_string();
        if (!id.empty() && ctx.target().id().depth == 0) run_ = id;
      }
    }
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    if (turn && !run_.empty()) turn->message = named(*turn->message);
    co_return turn;
  }

 private:
  MessagePtr named(const Message& message) const {
    std::vector<Part> parts = message.parts();
    for (Part& part : parts) {
      auto* call = std::get_if<ToolCall>(&part);
      const std::size_t at = call ? call->arguments.find(kId) : std::string::npos;
      if (at != std::string::npos) {
        call->arguments.replace(at, std::string_view(kId).size(), run_);
      }
    }
    return Message::make(message.role(), std::move(parts));
  }
  std::string run_;
};

ScriptTurn begins(const char* agent = "helper") {
  return calls("subagent",
               print_json(Json::object({{"task", "dig"}, {"agent", agent}, {"background", true}})));
}
ScriptTurn looks_after(const char* action, const char* text = nullptr) {
  Json args = Json::object({{"action", action}, {"run", kId}});
  if (text) args.set("text", text);
  return calls("subagent_runs", print_json(args));
}

// A root that begins a child in the background, and what it does then.
struct Keeper {
  explicit Keeper(std::vector<ScriptTurn> then, std::vector<ScriptTurn> child,
                  AgentConfig config = {}) {
    std::vector<ScriptTurn> turns = {by("main", begins())};
    for (ScriptTurn& turn : then) turns.push_back(by("main", std::move(turn)));
    for (ScriptTurn& turn : child) turns.push_back(by("helper", std::move(turn)));
    model = recording(scripted(std::move(turns)));
    rig = std::make_unique<Rig>(model);
    give_nap(*rig);
    rig->harness->agent("helper", "Helps.", std::move(config));
    rig->harness->subagents({.background = true});
    rig->harness->use(std::make_shared<NamesTheRun>());
  }
  const ToolResult& told_at(const RunResult& result, std::size_t call) const {
    return result.tool_calls.at(call).result;
  }

  std::shared_ptr<testkit::RecordingModel> model;
  std::unique_ptr<Rig> rig;
};

TEST(SubagentRunsCases, ARunIsBegunListedPolledAndWaitedFor) {
  Keeper keeper({looks_after("list"), looks_after("poll"), looks_after("wait"), looks_after("poll"),
                 says("done")},
                {after_ms(500, says("gold"))});
  const RunResult result = keeper.rig->run("go");
  ASSERT_EQ(result.text, "done");
  const std::string id = run_of(*keeper.rig->seen, "helper").text();
  EXPECT_TRUE(contains(keeper.told_at(result, 0).content, id));
  const Json list = parse_json(keeper.told_at(result, 1).content).value();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["run"].as_string(), id);
  EXPECT_EQ(list[0]["agent"].as_string(), "helper");
  EXPECT_EQ(list[0]["status"].as_string(), "running");
  EXPECT_EQ(parse_json(keeper.told_at(result, 2).content).value()["status"].as_string(), "running");
  EXPECT_EQ(keeper.told_at(result, 3).content, "gold");
  EXPECT_EQ(keeper.told_at(result, 4).content, "gold");
  EXPECT_EQ(result.duration_ms, 500);
}

// C5
TEST(SubagentRunsCases, AModelTellsItsChildWhatTheAgentPermits) {
  AgentConfig open;
  open.steering = {SteerKind::inject};
  for (const bool permitted : {true, false}) {
    Keeper keeper({looks_after("inject", "look for silver"), says("done")},
                  {naps(300), says("metal")}, permitted ? open : AgentConfig{});
    const RunResult result = keeper.rig->run("go");
    EXPECT_EQ(result.text, "done");
    EXPECT_EQ(keeper.told_at(result, 1).ok, permitted);
    const FoldedRoot tree = folded(*keeper.rig, result.id);
    const Trace texts = texts_of(tree.runs.at(1).result.messages);
    EXPECT_EQ(std::ranges::count(texts, "look for silver"), permitted ? 1 : 0);
    if (!permitted) continue;
    const Event* applied = keeper.rig->seen->find(Kind::steering_applied);
    ASSERT_TRUE(applied);
    EXPECT_EQ(applied->data["sender"].as_string(), "parent");
  }
}

TEST(SubagentRunsCases, AModelPausesAndResumesItsChild) {
  AgentConfig open;
  open.steering = {SteerKind::pause, SteerKind::resume};
  Keeper keeper({looks_after("pause"), naps(600), looks_after("resume"), says("done")},
                {naps(300), says("gold")}, open);
  const RunResult result = keeper.rig->run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(keeper.rig->seen->count(Kind::run_paused), 0u);
  Trace child;
  for (const std::string& told :
       told_of(*keeper.rig->seen, {Kind::model_started, Kind::steering_applied})) {
    if (told.starts_with("helper")) child.push_back(told);
  }
  EXPECT_EQ(child, (Trace{"helper model.started", "helper steering.applied",
                          "helper steering.applied", "helper model.started"}));
  EXPECT_EQ(result.duration_ms, 600);
}

TEST(SubagentRunsCases, AModelThatWaitsForAPausedChildParksTheTreeAndItGoesOn) {
  AgentConfig open;
  open.steering = {SteerKind::pause};
  Keeper keeper({looks_after("pause", "lunch"), looks_after("wait"), says("done")},
                {naps(300), says("gold")}, open);
  const RunResult parked = run_on(*keeper.rig, "go");
  ASSERT_EQ(parked.stop, StopReason::paused);
  const RunResult result = resume_on(*keeper.rig, parked);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(keeper.told_at(result, 2).content, "gold");
  EXPECT_EQ(keeper.rig->seen->count(Kind::run_started), 2u);
  expect_journal_says(*keeper.rig->store, result);
}

TEST(SubagentRunsCases, AModelStopsItsChild) {
  AgentConfig open;
  open.steering = {SteerKind::cancel};
  Keeper keeper({looks_after("cancel", "no need"), looks_after("wait"), says("done")},
                {after_ms(60'000, says("late"))}, open);
  const RunResult result = keeper.rig->run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_LT(result.duration_ms, 1000);
  EXPECT_FALSE(keeper.told_at(result, 2).ok);
  EXPECT_EQ(error_type_of(result.tool_calls.at(2)), "SubAgentCancelled");
}

TEST(SubagentRunsCases, AnUnknownRunAndAMissingOneAreToldToTheModel) {
  Keeper keeper({calls("subagent_runs", R"({"action":"poll","run":"nobody"})"),
                 calls("subagent_runs", R"({"action":"wait"})"),
                 calls("subagent_runs", R"({"action":"dance"})"), says("done")},
                {says("gold")});
  const RunResult result = keeper.rig->run("go");
  EXPECT_EQ(result.text, "done");
  for (std::size_t call : {1u, 2u, 3u}) EXPECT_FALSE(keeper.told_at(result, call).ok) << call;
}

TEST(SubagentRunsCases, WithoutBackgroundThereIsNoSuchTool) {
  auto model = recording(scripted({says("done")}));
  Rig rig(model);
  rig.harness->subagents();
  (void)rig.run("go");
  EXPECT_EQ(tools_of(model->requests().at(0)), Trace{"subagent"});
  const Json& schema = (*model->requests()[0].tools)[0]->parameters;
  EXPECT_FALSE(schema["properties"].contains("background"));
}

TEST(SubagentRunsCases, AModelThatWaitsForAChildThatWaitsForApprovalParksWithIt) {
  std::vector<ScriptTurn> turns = {by("main", begins()), by("helper", pays(5)),
                                   by("main", looks_after("wait")), by("helper", says("bought")),
                                   by("main", says("done"))};
  auto model = recording(scripted(turns));
  Rig rig(model);
  Till till(rig);
  rig.harness->agent("helper", "Helps.");
  rig.harness->subagents({.background = true});
  rig.harness->use(std::make_shared<NamesTheRun>());
  const RunResult parked = run_on(rig, "go");
  expect_parked(rig, parked);
  ASSERT_EQ(parked.pending.size(), 1u);
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.tool_calls.at(1).result.content, "bought");
  EXPECT_EQ(till.paid, std::vector<int>{5});
  EXPECT_EQ(model->requests().size(), 5u);
}

}  // namespace
}  // namespace tug
