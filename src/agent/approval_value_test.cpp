// Decisions as values: their JSON form, and what is refused on the way in.
#include <gtest/gtest.h>

#include "tug/agent/approval.h"

namespace tug {
namespace {

Json json_of(std::string_view text) { return parse_json(text).value(); }

std::string refusal(std::string_view text) {
  const auto decision = decision_from(json_of(text));
  return decision ? "taken: " + print_json(to_json(*decision)) : to_string(decision.error());
}

TEST(Decision, ComesBackFromItsJsonForm) {
  const std::pair<Decision, const char*> cases[] = {
      {Decision::approve(CallId("7.0")), R"({"call":"7.0","approved":true})"},
      {Decision::deny(CallId("7.1")), R"({"call":"7.1","approved":false})"},
      {Decision::deny(CallId("7.1"), "not today"),
       R"({"call":"7.1","approved":false,"reason":"not today"})"},
      {{.call = CallId("7.2"),
        .approved = true,
        .reason = "fine",
        .arguments = Json::object({{"path", "a"}}),
        .scope = GrantScope::tree,
        .pattern = "write_file",
        .run = RunId("r2"),
        .digest = "ab"},
       R"({"call":"7.2","approved":true,"reason":"fine","arguments":{"path":"a"},"scope":"tree",)"
       R"("pattern":"write_file","run":"r2","digest":"ab"})"},
      {{.call = CallId("7.3"), .approved = true, .arguments = Json::object()},
       R"({"call":"7.3","approved":true,"arguments":{}})"},
  };
  for (const auto& [decision, text] : cases) {
    EXPECT_EQ(print_json(to_json(decision)), text);
    const auto back = decision_from(json_of(text));
    ASSERT_TRUE(back) << text << ": " << to_string(back.error());
    EXPECT_EQ(*back, decision) << text;
  }
  EXPECT_EQ(decision_from(json_of(R"({"call":"1.0","approved":true,"scope":"once"})")),
            Decision::approve(CallId("1.0")));
}

TEST(Decision, ARefusedOneNamesTheField) {
  EXPECT_EQ(refusal(R"({"call":"","approved":true})"),
            "$.call: expected the id of a call that waits, got \"\"");
  EXPECT_EQ(refusal(R"({"call":"1.0","approved":true,"arguments":[1]})"),
            "$.arguments: expected an object");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"call":"1.0"})", "\"approved\""},
      {R"({"approved":true})", "\"call\""},
      {R"({"call":"1.0","approved":"yes"})", "$.approved"},
      {R"({"call":1,"approved":true})", "$.call"},
      {R"({"call":"1.0","approved":true,"scope":"always"})", "$.scope"},
      {R"({"call":"1.0","approved":true,"pattern":7})", "$.pattern"},
      {R"({"call":"1.0","approve":true})", "\"approve\""},
      {R"([])", "$"},
  };
  for (const auto& [text, field] : cases) {
    EXPECT_EQ(refusal(text).find("taken"), std::string::npos) << text;
    EXPECT_NE(refusal(text).find(field), std::string::npos) << text << ": " << refusal(text);
  }
}

TEST(Decision, ScopesHaveTheirNames) {
  EXPECT_EQ(name_of(GrantScope::once), "once");
  EXPECT_EQ(name_of(GrantScope::run), "run");
  EXPECT_EQ(name_of(GrantScope::tree), "tree");
}

TEST(Decision, OneForAllIsBoundToWhatEachCallShows) {
  const std::vector<PendingApproval> pending = {
      {.call = CallId("3.0"), .tool = "a", .run = RunId("r1"), .digest = "aa"},
      {.call = CallId("3.0"), .tool = "b", .run = RunId("r2"), .digest = "bb"},
  };
  const std::vector<Decision> approved = {
      {.call = CallId("3.0"), .approved = true, .run = RunId("r1"), .digest = "aa"},
      {.call = CallId("3.0"), .approved = true, .run = RunId("r2"), .digest = "bb"},
  };
  EXPECT_EQ(decide_all(pending, true), approved);
  std::vector<Decision> denied = approved;
  for (Decision& each : denied) {
    each.approved = false;
    each.reason = "no";
  }
  EXPECT_EQ(decide_all(pending, false, "no"), denied);
  EXPECT_TRUE(decide_all({}, true).empty());
}

}  // namespace
}  // namespace tug
