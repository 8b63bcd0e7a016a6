// A run is its log: stopped after any record, folded, and gone on with, it comes to the same.
#include "agent/harness_core.h"
#include "agent/recovery.h"
#include "agent/run.h"
#include "agent/testing.h"
#include "agent/tree_fold.h"
#include "core/try.h"
#include "tug/core/error_json.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

ToolSet make_tools() {
  ToolSet tools;
  tools.add(make_inline_tool("shout", "Shouts", [](const Words& words) {
              return words.text + "!";
            }).value());
  tools.add(make_tool("slowly", "On the pool", [](const Words& words) { return words.text; },
                      {.effect = Effect::pure, .lane = "one"})
                .value());
  tools.add(make_tool("bad", "Throws", []() -> std::string {
              throw std::runtime_error("boom");
            }).value());
  return tools;
}

std::vector<ScriptTurn> story() {
  ScriptTurn cut = says("one ");
  cut.finish = Finish::length;
  ScriptTurn usage = calls({{"a", "shout", R"({"text":"1"})"},
                            {"b", "slowly", R"({"text":"2"})"},
                            {"c", "bad", "{}"},
                            {"d", "ghost", "{}"},
                            {"e", "shout", "not json"}});
  usage.usage = {.input_tokens = 50, .output_tokens = 5};
  return {usage, calls({{"f", "slowly", R"({"text":"3"})"}, {"g", "slowly", R"({"text":"4"})"}}),
          says(""), cut, says("two")};
}

// What a run came to, without what is about time.
Json essence(const RunResult& result) {
  Json json = to_json(result);
  json.erase("duration_ms");
  json.erase("run_id");
  json.erase("root_run_id");
  json.erase("thread_id");
  Json records = Json::array();
  for (const ToolCallRecord& call : result.tool_calls) {
    records.push_back(Json::object({{"id", call.id.text()},
                                    {"arguments", call.arguments},
                                    {"content", call.result.content},
                                    {"ok", call.result.ok}}));
  }
  json.set("calls", std::move(records));
  json.set("responses", static_cast<std::int64_t>(result.responses.size()));
  return json;
}

std::vector<std::string> kinds_of(const std::vector<Record>& records, RecordStore& store) {
  std::vector<std::string> kinds;
  for (const Record& record : records) kinds.emplace_back(decode(record, store)->name());
  return kinds;
}

// A store that holds the first `count` records of a root and nothing else.
std::shared_ptr<RecordStore> prefix_of(RecordStore& whole, const RunId& root, std::size_t count) {
  std::shared_ptr<RecordStore> part = make_memory_record_store();
  RootInfo info = *whole.info(root);
  Batch batch{.root = root};
  batch.create = NewRoot{.who = info.who};
  batch.records = *whole.read(root, 0, count);
  batch.status = RootStatus::running;
  batch.release = true;
  EXPECT_TRUE(part->commit({&batch, 1})[0]);
  return part;
}

Task<Result<RunResult>> go_on(Journal& journal, RecordStore& store, ServicesPtr services,
                              RunPlanPtr plan, Limits limits, RunId root) {
  Loop& loop = co_await this_loop();
  auto claiming = journal.claim(root);
  TUG_CO_TRY(claimed, co_await std::move(claiming));
  std::shared_ptr<RootLog> log = std::move(claimed);
  TUG_CO_TRY(fold, fold_tree(store, root));
  RootSpec spec{.services = services, .loop = &loop, .log = log};
  spec.run.limits = limits;
  spec.run.restored = spent_by(fold);
  TUG_CO_TRY(ctx, Context::root(std::move(spec)));
  auto tree = RunTree::of(ctx);
  for (const auto& [model, reservations] : fold.reserved()) {
    for (const Json& reservation : reservations) tree->reserve(model, reservation);
  }
  ctx.set_turn(fold.root().turn);
  LiveRun run(*tree, ctx, plan, fold.root());
  auto driving = drive(run);
  co_await std::move(driving);
  auto writing = log->durable(log->last_seq());
  TUG_CO_TRY(written, co_await std::move(writing));
  co_return result_of(run.state);
}

// The models of a run and what it may be told.
struct Story {
  std::vector<ScriptTurn> turns;
  std::vector<ScriptTurn> fallback;
  RunOptions options;
};

void expect_goes_on_from_every_record(Story story) {
  Rig rig(scripted(story.turns));
  const ModelPtr fallback = scripted(story.fallback);
  if (!story.fallback.empty()) {
    rig.models->add(fallback);
    story.options.fallback_models = {fallback->profile().id()};
  }
  for (const ToolPtr& tool : make_tools().all()) rig.harness->tool(tool);
  const RunResult whole = rig.run("tell a story", story.options);
  const std::vector<Record> records = *rig.store->read(whole.id, 0, 1000);
  const auto kinds = kinds_of(records, *rig.store);
  const ModelPtr model = scripted(story.turns);
  PlanSpec spec{.models = {{model->profile().id(), model, {}}},
                .tools = make_tools(),
                .output_schema = story.options.output_schema,
                .limits = story.options.limits};
  if (!story.fallback.empty()) spec.models.push_back({fallback->profile().id(), fallback, {}});
  const RunPlanPtr plan = *make_run_plan(std::move(spec));
  const Limits limits = *limits_of(story.options);
  for (std::size_t count = 1; count < records.size(); ++count) {
    SCOPED_TRACE("stopped after record " + std::to_string(count) + ", " + kinds[count - 1]);
    auto engine = std::shared_ptr<Engine>(make_sim_engine({.seed = count}));
    auto store = prefix_of(*rig.store, whole.id, count);
    auto journal = make_journal(*engine, store);
    Services::Builder builder(1);
    builder.put(engine);
    auto result = engine->run(engine->loop(0),
                              go_on(*journal, *store, builder.build(), plan, limits, whole.id));
    ASSERT_TRUE(result) << to_string(result.error());
    EXPECT_EQ(result->messages, whole.messages);
    EXPECT_EQ(print_json(essence(*result)), print_json(essence(whole)));
    EXPECT_TRUE(verify_root(*store, whole.id));
    auto folded = fold_root(*store, whole.id);
    ASSERT_TRUE(folded) << to_string(folded.error());
    EXPECT_EQ(print_json(to_json(folded->runs[0].result)), print_json(to_json(*result)));
    EXPECT_EQ(folded->runs[0].result.messages, result->messages);
  }
}

TEST(Fold, ARunStoppedAfterAnyRecordGoesOnToTheSameResult) {
  expect_goes_on_from_every_record({.turns = story()});
}

TEST(Fold, SoDoesOneThatFails) {
  expect_goes_on_from_every_record(
      {.turns = {calls("shout", R"({"text":"1"})"), fails(503, "overloaded")}});
}

TEST(Fold, SoDoesOneWhoseAnswersAreEmpty) {
  expect_goes_on_from_every_record({.turns = {says(""), says("")}});
}

TEST(Fold, SoDoesOneThatIsTriedAgain) {
  expect_goes_on_from_every_record({.turns = {calls("shout", R"({"text":"1"})"), fails(503, "busy"),
                                              fails(429, "busy"), says("at last")}});
}

TEST(Fold, SoDoesOneThatFallsBack) {
  expect_goes_on_from_every_record(
      {.turns = {calls("shout", R"({"text":"1"})"), fails(401, "who are you")},
       .fallback = {fails(500, "hm"), calls("shout", R"({"text":"2"})"), says("the other one")}});
}

TEST(Fold, SoDoesOneThatIsWarnedAndReachesItsLimit) {
  expect_goes_on_from_every_record(
      {.turns = {calls("shout", R"({"text":"1"})"), calls("shout", R"({"text":"2"})"),
                 calls("shout", R"({"text":"3"})")},
       .options = {.limits = {.max_turns = 3, .max_tool_calls = 2}}});
}

TEST(Fold, SoDoesOneWhoseCallsAreRepairedOnceTooOften) {
  expect_goes_on_from_every_record(
      {.turns = {calls("shout", "{}"), calls({{"a", "shout", "[]"}, {"b", "bad", "{}"}})}});
}

TEST(Fold, SoDoesOneThatAnswersByASchema) {
  const Json schema =
      *parse_json(R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})");
  expect_goes_on_from_every_record(
      {.turns = {calls({{"a", "shout", R"({"text":"1"})"}, {"b", "final_result", R"({"n":0})"}}),
                 calls({{"c", "final_result", R"({"n":1})"}, {"d", "final_result", R"({"n":2})"}}),
                 calls("final_result", R"({"n":"three"})"), calls("final_result", R"({"n":3})")},
       .options = {.output_schema = schema}});
}

TEST(Resume, AfterAnyRecordAsksForNoTurnThatIsAlreadyThere) {
  ScriptTurn cut = says("one ");
  cut.finish = Finish::length;
  const std::vector<ScriptTurn> turns = {calls("slowly", R"({"text":"1"})"), cut, says("two")};
  Rig rig(scripted(turns));
  for (const ToolPtr& tool : make_tools().all()) rig.harness->tool(tool);
  const RunResult whole = rig.run("tell a story");
  const std::vector<Record> records = *rig.store->read(whole.id, 0, 1000);
  const auto kinds = kinds_of(records, *rig.store);
  for (std::size_t count = 1; count < records.size(); ++count) {
    // A line that was asked for and lost is gone from the script.
    if (kinds[count - 1] == "model.started") continue;
    SCOPED_TRACE("killed after record " + std::to_string(count) + ", " + kinds[count - 1]);
    Rig later(scripted(turns));
    HarnessOptions options{.seed = 7,
                           .engine = later.engine,
                           .store = prefix_of(*rig.store, whole.id, count),
                           .models = make_models()};
    options.models->add(scripted(turns));
    options.model = whole.model;
    Harness harness(std::move(options));
    for (const ToolPtr& tool : make_tools().all()) harness.tool(tool);
    const RunResult result = harness.resume(whole.id).wait();
    EXPECT_EQ(result.status, RunStatus::completed);
    EXPECT_EQ(result.messages.size(), whole.messages.size());  // ids of calls come from the seq
    EXPECT_EQ(result.text, whole.text);
    EXPECT_EQ(result.counts, whole.counts);
  }
}

TEST(Resume, APromptIsTakenAfterAnyRecord) {
  const std::vector<ScriptTurn> turns = {calls({{"a", "slowly", R"({"text":"1"})"},
                                                {"b", "shout", R"({"text":"2"})"},
                                                {"c", "ghost", "{}"}}),
                                         says("two"), says("three"), says("four")};
  Rig rig(scripted(turns));
  for (const ToolPtr& tool : make_tools().all()) rig.harness->tool(tool);
  const RunResult whole = rig.run("tell a story");
  const std::vector<Record> records = *rig.store->read(whole.id, 0, 1000);
  const auto kinds = kinds_of(records, *rig.store);
  for (std::size_t count = 1; count < records.size(); ++count) {
    SCOPED_TRACE("killed after record " + std::to_string(count) + ", " + kinds[count - 1]);
    Rig later(scripted(turns));
    auto store = prefix_of(*rig.store, whole.id, count);
    HarnessOptions options{
        .seed = 7, .engine = later.engine, .store = store, .models = make_models()};
    options.models->add(scripted(turns));
    options.model = whole.model;
    Harness harness(std::move(options));
    for (const ToolPtr& tool : make_tools().all()) harness.tool(tool);
    const RunResult result = harness.resume(whole.id, "be quick").wait();
    EXPECT_EQ(result.status, RunStatus::completed)
        << (result.error ? to_string(*result.error) : "");
    expect_legal(result.messages);
    std::size_t told = 0;
    for (const MessagePtr& message : result.messages.messages()) {
      if (message->role() == Role::user && message->text().ends_with("be quick")) ++told;
    }
    EXPECT_EQ(told, 1u);
    auto folded = fold_root(*store, whole.id);
    ASSERT_TRUE(folded) << to_string(folded.error());
    EXPECT_EQ(folded->runs[0].result.messages, result.messages);
  }
}

TEST(Fold, TheJournalGivesTheResultThatTheRunGave) {
  Rig rig(scripted(story()));
  for (const ToolPtr& tool : make_tools().all()) rig.harness->tool(tool);
  const RunResult result = rig.run("tell a story");
  auto folded = fold_root(*rig.store, result.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  ASSERT_EQ(folded->runs.size(), 1u);
  EXPECT_EQ(print_json(to_json(folded->runs[0].result)), print_json(to_json(result)));
  EXPECT_EQ(folded->runs[0].result.messages, result.messages);
  EXPECT_EQ(folded->runs[0].result.tool_calls, result.tool_calls);
  EXPECT_EQ(folded->runs[0].prompt, "tell a story");
  EXPECT_EQ(folded->runs[0].status.status, RunStatus::completed);
  EXPECT_EQ(folded->info.status, RootStatus::completed);
}

TEST(Fold, ARecordOutOfPlaceIsRefusedByItsSeq) {
  TreeFold fold;
  auto who = std::make_shared<const Lineage>(
      Lineage{.run_id = RunId("r"), .root_run_id = RunId("r"), .agent = "main"});
  Event started{.kind = Kind::run_started, .seq = 1, .who = who};
  started.data = Json::object({{"prompt", "hi"}, {"model", "m"}});
  ASSERT_TRUE(fold.take(started));
  Event ended{.kind = Kind::tool_completed, .seq = 2, .who = who};
  ended.data = Json::object({{"call_id", "1.0"}});
  auto taken = fold.take(ended);
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message().find("record 2 (tool.completed)"), std::string::npos);
}

TEST(FindRun, APartOfAnIdWillDoWhereItIsUnique) {
  Rig rig(testkit::constant("x"));
  const RunResult first = rig.run("a", {.run_id = "alpha-one-1111"});
  const RunResult second = rig.run("b", {.run_id = "alpha-two-2222"});
  EXPECT_EQ(find_run(*rig.store, "last")->run, second.id);
  EXPECT_EQ(find_run(*rig.store, "1111")->run, first.id);
  EXPECT_EQ(find_run(*rig.store, "alpha-t")->run, second.id);
  EXPECT_FALSE(find_run(*rig.store, "alpha"));
  EXPECT_FALSE(find_run(*rig.store, "111"));
  EXPECT_FALSE(find_run(*rig.store, "nothing"));
}

}  // namespace
}  // namespace tug
