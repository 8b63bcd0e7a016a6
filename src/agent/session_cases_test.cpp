// Agents over several inputs, agents that know what their caller knows, and agents beside it: the
// cases of the references. TA: TinyAgents, C: the table of the seeds.
#include "agent/tree_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::fails;
using testkit::recording;
using testkit::says;
using testkit::scripted;

RunResult send(Rig& rig, AgentSession& session, std::string input) {
  return on_loop(rig, session.send(std::move(input)));
}

// The records of a root, read back.
std::vector<Event> records_of(Rig& rig, const RunId& root) {
  std::vector<Event> events;
  const auto records = rig.store->read(root, 0, 1000);
  EXPECT_TRUE(records);
  for (const Record& record : *records) events.push_back(decode(record, *rig.store).value());
  return events;
}
const Event* find(const std::vector<Event>& events, Kind kind) {
  const auto found = std::ranges::find(events, kind, &Event::kind);
  return found == events.end() ? nullptr : &*found;
}

// --- TA 62, C9: sessions -------------------------------------------------------------------

// Answers by what it is asked, whatever it was asked before.
std::vector<ScriptTurn> answers() {
  std::vector<ScriptTurn> turns;
  for (const auto& [question, answer] : std::map<std::string, ScriptTurn>{
           {"one", says("first")},
           {"two", says("second")},
           {"three", says("third")},
           {"broken", fails(401)},
           {"pay", calls("pay")},
       }) {
    turns.push_back(again(answer));
    turns.back().when = question;
  }
  return turns;
}

TEST(SessionCases, TheSecondSendKnowsTheFirst) {
  auto model = recording(scripted(answers()));
  Rig rig(model);
  AgentSession talk = rig.harness->agent("helper", "Helps.").session();
  EXPECT_TRUE(talk.transcript().empty());
  EXPECT_TRUE(talk.thread().empty());
  EXPECT_EQ(send(rig, talk, "one").text, "first");
  EXPECT_EQ(texts_of(talk.transcript()), (Trace{"one", "first"}));
  EXPECT_EQ(send(rig, talk, "two").text, "second");
  EXPECT_EQ(texts_of(model->requests().at(1).transcript), (Trace{"one", "first", "two"}));
  EXPECT_EQ(texts_of(talk.transcript()), (Trace{"one", "first", "two", "second"}));
  EXPECT_EQ(talk.turns(), 2u);
}

TEST(SessionCases, EverySendIsARunOfItsOwnOnOneThread) {
  Rig rig(scripted(answers()));
  AgentSession talk = rig.harness->agent("helper", "Helps.").session();
  const RunResult first = send(rig, talk, "one");
  const RunResult second = send(rig, talk, "two");
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(first.thread, second.thread);
  EXPECT_EQ(talk.thread(), first.thread);
  EXPECT_EQ(talk.at().run, second.id);
  AgentSession other = rig.harness->agent("other", "Helps too.").session();
  EXPECT_NE(send(rig, other, "one").thread, first.thread);
}

TEST(SessionCases, EverySendButTheFirstRecordsThatTheAgentIsUsedAgain) {
  Rig rig(scripted(answers()));
  AgentSession talk = rig.harness->agent("helper", "Helps.").session();
  Trace turns;
  for (const char* input : {"one", "two", "three"}) {
    const RunResult result = send(rig, talk, input);
    const std::vector<Event> records = records_of(rig, result.root);
    const Event* reused = find(records, Kind::subagent_reused);
    turns.push_back(reused ? print_json(reused->data["turn"]) : "none");
    if (reused) EXPECT_EQ(reused->data["name"].as_string(), "helper");
  }
  EXPECT_EQ(turns, (Trace{"none", "1", "2"}));
}

TEST(SessionCases, TheInstructionsAreTheFirstRunsAndStandOnce) {
  auto model = recording(scripted(answers()));
  Rig rig(model, 1, {.system_prompt = "Be brief."});
  AgentSession talk = rig.harness->agent("helper", "Helps.").session();
  (void)send(rig, talk, "one");
  rig.harness->system_prompt("Be long.");
  (void)send(rig, talk, "two");
  ASSERT_EQ(model->requests().size(), 2u);
  for (const ModelRequest& request : model->requests()) EXPECT_EQ(*request.system, "Be brief.");
  for (const MessagePtr& message : talk.transcript().messages()) {
    EXPECT_NE(message->role(), Role::system);
  }
}

TEST(SessionCases, ASendThatDoesNotEndWellLeavesTheConversationAsItWas) {
  for (const char* input : {"broken", "pay"}) {
    auto model = recording(scripted(answers()));
    Rig rig(model);
    rig.harness->inline_tool("pay", "Pays", [] { return "paid"; }, {.requires_approval = true});
    AgentSession talk = rig.harness->agent("helper", "Helps.").session();
    const RunResult first = send(rig, talk, "one");
    const Transcript before = talk.transcript();
    const RunResult second = send(rig, talk, input);
    EXPECT_FALSE(second.ok()) << input;
    EXPECT_EQ(talk.transcript(), before) << input;
    EXPECT_EQ(talk.turns(), 1u) << input;
    EXPECT_EQ(talk.at().run, first.id) << input;
    EXPECT_EQ(send(rig, talk, "three").text, "third") << input;
    EXPECT_EQ(texts_of(model->requests().back().transcript), (Trace{"one", "first", "three"}));
  }
}

TEST(SessionCases, AResetForgetsWhatWasSaid) {
  auto model = recording(scripted(answers()));
  Rig rig(model);
  AgentSession talk = rig.harness->agent("helper", "Helps.").session();
  (void)send(rig, talk, "one");
  talk.reset();
  EXPECT_TRUE(talk.transcript().empty());
  EXPECT_EQ(talk.turns(), 0u);
  const RunResult result = send(rig, talk, "two");
  EXPECT_EQ(texts_of(model->requests().at(1).transcript), Trace{"two"});
  EXPECT_EQ(find(records_of(rig, result.root), Kind::subagent_reused), nullptr);
  EXPECT_EQ(talk.turns(), 1u);
}

TEST(SessionCases, AnotherHarnessOnTheSameJournalTakesTheConversationUp) {
  const ModelPtr script = scripted(answers());
  Rig rig(script, 1, {.system_prompt = "Be brief."});
  AgentSession talk = rig.harness->agent("helper", "Helps.").session();
  const RunResult first = send(rig, talk, "one");
  auto model = recording(script);
  Rig next = beside(rig, model, {.system_prompt = "Be long."});
  AgentSession more = next.harness->agent("helper", "Helps.").session();
  const auto taken = more.take_up(talk.at());
  ASSERT_TRUE(taken) << to_string(taken.error());
  EXPECT_EQ(more.transcript(), talk.transcript());
  EXPECT_EQ(more.thread(), first.thread);
  const RunResult second = send(next, more, "two");
  EXPECT_EQ(second.text, "second");
  EXPECT_EQ(second.thread, first.thread);
  EXPECT_EQ(texts_of(model->requests().at(0).transcript), (Trace{"one", "first", "two"}));
  EXPECT_EQ(*model->requests().at(0).system, "Be brief.") << "the first run's, here too";
}

TEST(SessionCases, OnlyARunThatEndedWellCanBeTakenUp) {
  Rig rig(scripted(answers()));
  const Agent helper = rig.harness->agent("helper", "Helps.");
  AgentSession talk = helper.session();
  const RunResult failed = send(rig, talk, "broken");
  for (const RunId& run : {RunId("nobody"), failed.id}) {
    AgentSession other = helper.session();
    const auto taken = other.take_up({.run = run});
    ASSERT_FALSE(taken) << run.text();
    EXPECT_EQ(taken.error().kind(), ErrorKind::invalid);
    EXPECT_TRUE(contains(taken.error().message(), run.text())) << taken.error().message();
    EXPECT_TRUE(other.transcript().empty());
  }
}

TEST(SessionCases, InsideARunTheSendsAreItsChildrenOneAfterTheOther) {
  std::vector<ScriptTurn> turns = answers();
  turns.insert(turns.begin(), {by("main", calls("talk")), by("main", says("done"))});
  auto model = recording(scripted(turns));
  Rig rig(model);
  const Agent helper = rig.harness->agent("helper", "Helps.");
  std::vector<ThreadId> threads;
  rig.harness->tool("talk", "Talks", [helper, &threads](const Context& ctx) -> Task<std::string> {
    AgentSession talk = helper.session(ctx);
    auto asking = talk.send("one");
    const RunResult first = co_await std::move(asking);
    auto more = talk.send("two");
    const RunResult second = co_await std::move(more);
    threads = {first.thread, second.thread, talk.thread()};
    co_return first.text + " " + second.text;
  });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "first second");
  EXPECT_EQ(threads, (std::vector<ThreadId>(3, result.thread)));
  EXPECT_EQ(texts_of(model->requests().at(2).transcript), (Trace{"one", "first", "two"}));
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 3u);
  EXPECT_EQ(texts_of(tree.runs[2].result.messages), (Trace{"one", "first", "two", "second"}));
  EXPECT_EQ(events_of(*rig.seen, Kind::subagent_reused).size(), 1u);
  expect_gap_free(*rig.seen);
}

// --- fork: a child that knows what its caller knows ----------------------------------------

TEST(ForkCases, AChildKnowsWhatWasSaidBeforeTheTurnThatCallsIt) {
  auto model =
      recording(scripted({by("main", calls("look")), by("main", asks("helper", "and you?")),
                          by("helper", says("gold")), by("main", says("done"))}));
  Rig rig(model);
  give_look(rig);
  AgentConfig config;
  config.fork = true;
  rig.harness->agent("helper", "Helps.", config);
  const RunResult result = rig.run("go");
  ASSERT_EQ(result.text, "done");
  const Transcript& above = model->requests().at(1).transcript;
  const Transcript& below = model->requests().at(2).transcript;
  EXPECT_EQ(texts_of(below), (Trace{"go", "(look)", "[seen]", "and you?"}));
  ASSERT_EQ(below.size(), above.size() + 1);
  for (std::size_t i = 0; i < above.size(); ++i) {
    EXPECT_EQ(below[i].get(), above[i].get()) << "shared, not copied: " << i;
  }
  EXPECT_EQ(texts_of(result.messages),
            (Trace{"go", "(look)", "[seen]", "(helper)", "[gold]", "done"}));
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 2u);
  EXPECT_EQ(texts_of(tree.runs[1].result.messages),
            (Trace{"go", "(look)", "[seen]", "and you?", "gold"}));
  const auto started = events_of(*rig.seen, Kind::run_started);
  EXPECT_EQ(started.at(1)->data["base"]["root"].as_string(), result.id.text());
  EXPECT_EQ(started.at(1)->data["prompt"].as_string(), "and you?");
}

TEST(ForkCases, CodeForksAChildOfTheRunItIsPartOf) {
  auto model = recording(scripted({by("main", calls("errand")), by("helper", calls("look")),
                                   by("helper", says("gold")), by("main", says("done"))}));
  Rig rig(model);
  give_look(rig);
  const Agent helper = rig.harness->agent("helper", "Helps.");
  RunResult child;
  rig.harness->tool("errand", "Sends somebody",
                    [helper, &child](const Context& ctx) -> Task<std::string> {
                      auto running = helper.fork(ctx, "and you?");
                      child = co_await std::move(running);
                      co_return child.text;
                    });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "gold");
  EXPECT_EQ(texts_of(model->requests().at(1).transcript), (Trace{"go", "and you?"}));
  EXPECT_EQ(texts_of(child.messages), (Trace{"go", "and you?", "(look)", "[seen]", "gold"}));
  const FoldedRoot tree = folded(rig, result.id);
  EXPECT_EQ(tree.runs.at(1).result.messages, child.messages);
  expect_legal(child.messages);
}

TEST(ForkCases, AForkOfAForkKnowsBoth) {
  AgentConfig config;
  config.fork = true;
  auto model = recording(
      scripted({by("main", calls("look")), by("main", asks("helper", "a?")),
                by("helper", calls("look")), by("helper", asks("other", "b?")),
                by("other", says("x")), by("helper", says("y")), by("main", says("done"))}));
  Rig rig(model);
  give_look(rig);
  rig.harness->agent("helper", "Helps.", config);
  rig.harness->agent("other", "Helps too.", config);
  const RunResult result = rig.run("go");
  ASSERT_EQ(result.text, "done");
  const Trace known = {"go", "(look)", "[seen]", "a?", "(look)", "[seen]", "b?"};
  EXPECT_EQ(texts_of(model->requests().at(4).transcript), known);
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 3u);
  EXPECT_EQ(tree.runs[2].result.messages.size(), known.size() + 1);
  expect_legal(tree.runs[2].result.messages);
}

}  // namespace
}  // namespace tug
