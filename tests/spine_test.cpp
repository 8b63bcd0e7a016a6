// One run driven by hand through the whole spine: engine, SQLite, journal, context, budget,
// transcript. What a second process folds from the records is what the first one had.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/try.h"
#include "tug/context/context.h"
#include "tug/context/transcript.h"
#include "tug/core/scope.h"
#include "tug/io/sim_engine.h"
#include "tug/journal/journal.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

class Home {
 public:
  Home() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tug-spine-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Home() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Account {
  std::string user;
};

struct Ended {
  Transcript transcript;
  Amount used;
  Seq last = 0;
};

MessagePtr asks_for_a_file() {
  return Message::make(
      Role::assistant,
      {TextPart{"let me look"}, ToolCall{{}, "toolu_1", "read", R"({"path":"README.md"})"}});
}

// A tool: sees its arguments, the caller's typed value and the budget's deadline, and says what it
// does.
Task<Result<ToolResult>> read_tool(Context ctx, CallId call) {
  const Account* account = ctx.get<Account>();
  if (!account) co_return fail(ErrorKind::internal, "no account");
  ctx.log({.level = LogLevel::info, .text = "reading for " + account->user});
  co_await sleep_for(std::chrono::milliseconds(5), {ctx.cancel()});
  if (ctx.cancelled()) co_return fail(ErrorKind::cancelled, ctx.cancel_reason()->text);
  ToolResult result = ToolResult::text("# Tugline, read for " + account->user);
  result.call = call;
  result.tool = "read";
  co_return result;
}

Task<Result<Ended>> run_by_hand(Journal& journal, ServicesPtr services) {
  Loop& loop = co_await this_loop();
  auto who = std::make_shared<const Lineage>(Lineage{
      .run_id = RunId("run-1"), .thread_id = ThreadId("thread-1"), .root_run_id = RunId("run-1")});
  auto creating = journal.create({who});
  TUG_CO_TRY(opened, co_await std::move(creating));
  std::shared_ptr<RootLog> log = std::move(opened);
  RootSpec spec{.services = services, .loop = &loop, .log = log};
  spec.run.run_id = who->run_id;
  spec.run.thread_id = who->thread_id;
  spec.run.limits = {.model_calls = 2, .tokens = 10'000};
  TUG_CO_TRY(ctx, Context::root(std::move(spec)));
  ctx.inherit(Account{"ann"});

  Transcript transcript;
  MessagePtr prompt = Message::user("what is in README.md?");
  ctx.emit(Kind::run_started, Json::object({{"prompt", prompt->text()}, {"model", "none"}}),
           prompt);
  TUG_CO_TRY(asked, transcript.append_user(prompt));

  for (MessagePtr answer : {asks_for_a_file(), Message::assistant("It says: Tugline.")}) {
    TUG_CO_TRY(call,
               ctx.budget().hold_model_call({.prompt_tokens = 100, .max_output_tokens = 500}));
    ctx.set_turn(ctx.id().turn + 1);
    const Seq intent = ctx.emit(Kind::model_started, Json::object({{"call", "1"}, {"attempt", 1}}));
    auto leaving = log->durable(intent);
    TUG_CO_TRY(may_leave, co_await std::move(leaving));
    const Seq turn = log->last_seq() + 1;
    TUG_CO_TRY(said, transcript.append_turn(answer, turn));
    ctx.emit(Kind::model_completed, Json::object({{"call", "1"}}), said);
    call.hold.settle({.model_calls = 1, .tokens = 150});

    std::vector<ToolResult> results;
    for (const ToolCall* open : transcript.open_calls()) {
      TUG_CO_TRY(child, ctx.child({.kind = NodeKind::tool,
                                   .call = open->id,
                                   .args = parse_json(open->arguments).value_or(Json())}));
      child.emit(Kind::tool_started,
                 Json::object({{"call_id", open->id.text()}, {"tool", open->tool}}));
      auto working = read_tool(child, open->id);
      TUG_CO_TRY(result, co_await std::move(working));
      results.push_back(std::move(result));
    }
    if (results.empty()) continue;
    TUG_CO_TRY(closed, transcript.append_results(std::move(results)));
    ctx.emit(Kind::tool_completed, Json::object({{"ok", true}}), closed);
  }
  // A third call is over the limit, and says so before it happens.
  auto third = ctx.budget().hold_model_call({.prompt_tokens = 100, .max_output_tokens = 500});
  EXPECT_FALSE(third);
  EXPECT_EQ(third.error().detail_if<Limit>()->kind, LimitKind::model_calls);

  const Seq last = ctx.emit(Kind::run_completed, Json::object({{"stop_reason", "end_turn"}}));
  log->set_status(RootStatus::completed, Json::object({{"prompt", prompt->text()}}));
  auto leaving = log->durable(last);
  TUG_CO_TRY(durable, co_await std::move(leaving));
  auto closing = log->close();
  TUG_CO_TRY(closed, co_await std::move(closing));
  co_return Ended{transcript, ctx.budget().used(), last};
}

// What a resumed run would start from: a fold over records, no code run again.
Result<Transcript> fold(RecordStore& store) {
  Transcript transcript;
  TUG_TRY(records, store.read(RunId("run-1"), 0, 1000));
  for (const Record& record : records) {
    TUG_TRY(event, decode(record, store));
    if (event.kind == Kind::run_started) {
      TUG_TRY(asked, transcript.append_user(event.message));
    } else if (event.kind == Kind::model_completed) {
      TUG_TRY(said, transcript.append_turn(event.message, event.seq));
    } else if (event.kind == Kind::tool_completed) {
      std::vector<ToolResult> results;
      for (const ToolResult* result : event.message->tool_results()) results.push_back(*result);
      TUG_TRY(closed, transcript.append_results(std::move(results)));
    }
  }
  return transcript;
}

ServicesPtr make_services(std::shared_ptr<Ids> ids) {
  Services::Builder builder(1);
  builder.ids(std::move(ids));
  return builder.build();
}

void expect_folds_back(Engine& engine) {
  Home home;
  Ended ended;
  {
    auto store = open_sqlite_record_store(home.path());
    ASSERT_TRUE(store) << to_string(store.error());
    auto journal = make_journal(engine, *std::move(store));
    auto ran =
        engine.run(engine.loop(0), run_by_hand(*journal, make_services(make_counting_ids("id"))));
    ASSERT_TRUE(ran) << to_string(ran.error());
    ended = *std::move(ran);
  }
  EXPECT_EQ(ended.used, (Amount{.model_calls = 2, .tokens = 300}));
  auto store = open_sqlite_record_store(home.path()).value();
  EXPECT_TRUE(verify_root(*store, RunId("run-1")));
  EXPECT_EQ(store->info(RunId("run-1"))->status, RootStatus::completed);
  EXPECT_EQ(store->info(RunId("run-1"))->last_seq, ended.last);
  auto folded = fold(*store);
  ASSERT_TRUE(folded) << to_string(folded.error());
  EXPECT_EQ(*folded, ended.transcript);
  ASSERT_EQ(folded->size(), 4u);
  EXPECT_EQ((*folded)[2]->tool_results().front()->content, "# Tugline, read for ann");
  EXPECT_FALSE(folded->has_open_calls());
}

TEST(Spine, ARunFoldsBackFromItsRecordsOnTheRealEngine) {
  auto engine = make_engine({.loops = 1, .workers = 1});
  expect_folds_back(*engine);
}

TEST(Spine, ARunFoldsBackFromItsRecordsInVirtualTime) {
  auto engine = make_sim_engine({.seed = 3});
  expect_folds_back(*engine);
}

}  // namespace
}  // namespace tug
