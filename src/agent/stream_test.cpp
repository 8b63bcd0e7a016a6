#include "tug/agent/stream.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/testing.h"
#include "tug/agent/harness.h"

namespace tug {
namespace {

LineagePtr lineage(const char* run, const char* parent) {
  Lineage who{.run_id = RunId(run), .root_run_id = RunId("root")};
  who.parent_run_id = RunId(parent);
  who.depth = *parent ? 1 : 0;
  return std::make_shared<const Lineage>(who);
}
const LineagePtr kOwn = lineage("root", "");
const LineagePtr kChild = lineage("child", "root");

Event event(Kind kind, Json data = {}) {
  Event made{.kind = kind, .seq = 5, .who = kOwn, .data = std::move(data)};
  if (is_live(kind)) made.live = 1;
  return made;
}

const Event kText = event(Kind::model_delta, Json::object({{"text", "a"}}));
const Event kReasoning = event(Kind::model_delta, Json::object({{"reasoning", "a"}}));
const Event kArguments = event(Kind::model_delta, Json::object({{"tool_call", Json::object()}}));
const RunId kRun("root");

// The kinds that are shown, each named once.
std::set<std::string> shown(const StreamOptions& options) {
  std::set<std::string> names;
  for (Kind kind : all_kinds()) {
    if (shows(options, event(kind), kRun)) names.insert(std::string(name_of(kind)));
  }
  return names;
}

std::set<std::string> all_that_begin(std::initializer_list<std::string_view> beginnings) {
  std::set<std::string> names = {"run.completed", "run.failed", "run.cancelled", "run.paused"};
  for (Kind kind : all_kinds()) {
    for (std::string_view beginning : beginnings) {
      if (name_of(kind).starts_with(beginning)) names.insert(std::string(name_of(kind)));
    }
  }
  return names;
}

TEST(Stream, EachModeIsItsOwnKindsAndTheEnd) {
  EXPECT_EQ(shown({.modes = {}}), all_that_begin({}));
  EXPECT_EQ(shown({.modes = {.final = true}}), all_that_begin({}));
  EXPECT_EQ(shown({.modes = {.messages = true}}), all_that_begin({"model."}));
  EXPECT_EQ(shown({.modes = {.tools = true}}), all_that_begin({"tool."}));
  EXPECT_EQ(shown({.modes = {.updates = true}}), all_that_begin({"model.completed"}));
  EXPECT_EQ(shown({.modes = {.events = true}}), all_that_begin({""}));
  EXPECT_EQ(shown({}), all_that_begin({""}));
  EXPECT_EQ(shown({.modes = {.messages = true, .tools = true}}),
            all_that_begin({"model.", "tool."}));
  EXPECT_EQ(shown({.modes = {.tools = true, .updates = true, .final = true}}),
            all_that_begin({"model.completed", "tool."}));
}

TEST(Stream, MessagesHaveTextAndReasoningButNotArguments) {
  const StreamOptions messages{.modes = {.messages = true}};
  EXPECT_TRUE(shows(messages, kText, kRun));
  EXPECT_TRUE(shows(messages, kReasoning, kRun));
  EXPECT_FALSE(shows(messages, kArguments, kRun));
  EXPECT_TRUE(shows({}, kArguments, kRun));
}

TEST(Stream, DeltasCanBeLeftOut) {
  std::set<std::string> rest = all_that_begin({""});
  for (const char* name : {"model.delta", "output.delta", "tool.progress"}) rest.erase(name);
  EXPECT_EQ(shown({.deltas = false}), rest);
  EXPECT_FALSE(shows({.modes = {.messages = true}, .deltas = false}, kText, kRun));
}

TEST(Stream, RunsBelowCanBeHiddenTheirEndIsNotOurs) {
  for (Kind kind : all_kinds()) {
    Event below = event(kind);
    below.who = kChild;
    EXPECT_TRUE(shows({}, below, kRun)) << name_of(kind);
    EXPECT_FALSE(shows({.subagents = false}, below, kRun)) << name_of(kind);
    EXPECT_TRUE(shows({.subagents = false}, below, RunId("child"))) << name_of(kind);
    EXPECT_FALSE(shows({.modes = {.final = true}}, below, kRun)) << name_of(kind);
  }
  EXPECT_TRUE(shows({.subagents = false}, event(Kind::subagent_started), kRun));
}

TEST(Stream, FromSeqIsTheFirstRecordThatIsShown) {
  Event record = event(Kind::tool_started);
  Event live = kText;
  record.seq = live.seq = 5;
  EXPECT_TRUE(shows({.from_seq = 5}, record, kRun));
  EXPECT_FALSE(shows({.from_seq = 6}, record, kRun));
  EXPECT_TRUE(shows({.from_seq = 6}, live, kRun)) << "it came after record 5";
  EXPECT_FALSE(shows({.from_seq = 7}, live, kRun));
  EXPECT_FALSE(shows({.from_seq = 6}, event(Kind::run_completed), kRun));
}

TEST(Stream, OnlyAWholeStreamHasNoGaps) {
  EXPECT_TRUE(StreamOptions{}.whole());
  EXPECT_TRUE((StreamOptions{.deltas = false}.whole())) << "deltas are no records";
  EXPECT_FALSE((StreamOptions{.subagents = false}.whole()));
  EXPECT_FALSE((StreamOptions{.modes = {.messages = true}}.whole()));
}

TEST(Stream, ARunIsReadAsItsReaderWants) {
  Harness harness{"offline/demo"};
  std::map<std::string, int> seen;
  tug::Run run = harness.start("hello");
  for (const Event& event : run.stream({.modes = {.updates = true}}))
    ++seen[std::string(event.name())];
  EXPECT_EQ(seen, (std::map<std::string, int>{{"model.completed", 1}, {"run.completed", 1}}));
  tug::Run silent = harness.start("hello");
  std::vector<std::string> kinds;
  for (const Event& event : silent.stream({.modes = {}})) kinds.emplace_back(event.name());
  EXPECT_EQ(kinds, std::vector<std::string>{"run.completed"});
}

Task<std::string> ask_below(Harness* below, Context ctx) {
  auto asking = below->run_async(ctx, "and you?", {.agent = "below"});
  RunResult result = co_await std::move(asking);
  co_return result.text;
}

TEST(Stream, AReaderMayLeaveOutTheRunsBelow) {
  Rig below(testkit::scripted({testkit::says("from below")}));
  Rig rig(testkit::scripted({testkit::calls("ask"), testkit::says("done")}));
  Harness* asked = below.harness.get();
  rig.harness->tool("ask", "Asks another agent",
                    [asked](Context& ctx) { return ask_below(asked, ctx); });
  const auto texts = [&](StreamOptions options) {
    std::vector<std::string> list;
    tug::Run run = rig.harness->start("go");
    for (const Event& event : run.stream(options)) {
      if (event.kind == Kind::model_completed && !event.data["text"].as_string().empty())
        list.emplace_back(event.data["text"].as_string());
    }
    return list;
  };
  EXPECT_EQ(texts({.modes = {.updates = true}}), (std::vector<std::string>{"from below", "done"}));
  EXPECT_EQ(texts({.modes = {.updates = true}, .subagents = false}),
            std::vector<std::string>{"done"});
}

}  // namespace
}  // namespace tug
