// The twenty-five cases of the context object, one test each, in their order. Where the source left
// a case open, the decision stands beside the test. Cases 11 to 16 are about chains of middleware;
// here they say what the context alone owes them, and the chain's own behaviour (the order of the
// onion, `finish`, `fail`, `inject`) is tested with the middleware.
#include "context/testing.h"

namespace tug {
namespace {

using ContextCase = ContextTest;

TEST_F(ContextCase, C01_ARootHasNoParentAndIsItsOwnRootAndTarget) {
  const Context root = grow();
  EXPECT_FALSE(root.parent());
  EXPECT_EQ(root.id().root_run_id, root.id().run_id);
  EXPECT_EQ(root.target(), root);
  EXPECT_FALSE(root.has_other_target());
  EXPECT_EQ(root.get("envelope.parent"), Json());
}

TEST_F(ContextCase, C02_AChildHasAnIdOfItsOwnAndTheSameRoot) {
  const Context root = grow();
  const Context run = run_below(root);
  const Context call = below(run, {.kind = NodeKind::tool, .call = CallId("3.0")});
  EXPECT_EQ(run.parent(), root);
  EXPECT_EQ(call.parent(), run);
  EXPECT_NE(run.id().run_id, root.id().run_id);
  EXPECT_EQ(call.id().run_id, run.id().run_id);
  EXPECT_EQ(root.get("envelope.id"), Json("run-1"));
  EXPECT_EQ(run.get("envelope.id"), Json("run-2"));
  EXPECT_EQ(call.get("envelope.id"), Json("run-2#2"));
  EXPECT_EQ(call.id().root_run_id, root.id().run_id);
}

TEST_F(ContextCase, C03_AGrandchildSeesWhatTheRootPassedOn) {
  const Context root = grow();
  ASSERT_TRUE(root.set("inherited.region", "north"));
  const Context leaf = below(run_below(root));
  EXPECT_EQ(leaf.get("inherited.region"), Json("north"));
  EXPECT_EQ(leaf.get("nonlocals.region"), Json("north"));
}

TEST_F(ContextCase, C04_AChildsOwnValueLeavesTheParentsAlone) {
  const Context root = grow();
  ASSERT_TRUE(root.set("inherited.region", "north"));
  const Context child = below(root);
  ASSERT_TRUE(child.set("inherited.region", "south"));
  EXPECT_EQ(root.get("inherited.region"), Json("north"));
  EXPECT_EQ(child.get("inherited.region"), Json("south"));
}

// The source copies shallowly, so a nested change leaks upward. Here it does not: a child never
// changes its parent, however deep the value.
TEST_F(ContextCase, C05_ANestedChangeDoesNotReachTheParent) {
  const Context root = grow();
  ASSERT_TRUE(root.set("inherited.settings.colour", "red"));
  const Context child = below(root);
  ASSERT_TRUE(child.set("inherited.settings.colour", "blue"));
  EXPECT_EQ(root.get("inherited.settings.colour"), Json("red"));
  EXPECT_EQ(child.get("inherited.settings.colour"), Json("blue"));
}

TEST_F(ContextCase, C06_WhatAParentSetsLaterTheChildDoesNotSee) {
  const Context root = grow();
  const Context child = below(root);
  ASSERT_TRUE(root.set("inherited.region", "north"));
  EXPECT_EQ(child.get("inherited.region"), Json());
}

TEST_F(ContextCase, C07_LocalsStartFreshWithTheConfig) {
  const Context root = grow();
  ASSERT_TRUE(root.set("locals.scratch", 1));
  ASSERT_TRUE(root.set("locals.config.cwd", "/elsewhere"));
  const Context child = below(root);
  EXPECT_EQ(child.get("locals.scratch"), Json());
  EXPECT_EQ(child.locals(), Json::object({{"config", Json::object({{"cwd", "/work"},
                                                                   {"library", "tugline 0.1.0"},
                                                                   {"runtime", "c++"}})}}));
}

TEST_F(ContextCase, C08_ASeedReachesTheChildAndNotTheParent) {
  const Context root = grow();
  const Context child = below(
      root, {.locals = Json::object({{"b", 2}}), .inherit = {.values = Json::object({{"a", 1}})}});
  EXPECT_EQ(child.get("inherited.a"), Json(1));
  EXPECT_EQ(child.get("locals.b"), Json(2));
  EXPECT_EQ(root.get("inherited.a"), Json());
  EXPECT_EQ(below(child).get("inherited.a"), Json(1));
  EXPECT_EQ(below(child).get("locals.b"), Json());
}

TEST_F(ContextCase, C09_ArgumentsCannotBeReplaced) {
  const Json args = Json::object({{"city", "Oslo"}});
  const Context root = grow();
  const Context call = below(root, {.args = args});
  const Context middleware = below(root, {.kind = NodeKind::middleware, .target = &call});
  EXPECT_EQ(error_of(middleware.target().set("args.city", "Bergen")),
            "args.city: \"args\" cannot be written");
  EXPECT_FALSE(call.set("args", Json()));
  EXPECT_EQ(call.args(), args);
  EXPECT_EQ(call.get("args.city"), Json("Oslo"));
}

TEST_F(ContextCase, C10_HistoryOnlyGrowsAndKeepsItsOrder) {
  const Context root = grow();
  loop.advance(std::chrono::seconds(5));
  root.add_frame("read", Json::object({{"path", "a"}}));
  EXPECT_EQ(
      root.history(),
      (std::vector<Frame>{{"read", Json::object({{"path", "a"}}), Time(std::chrono::seconds(5))}}));
  EXPECT_FALSE(root.set("locals.history", Json::array()));
  EXPECT_FALSE(root.set("locals.history.0", Json()));
  for (int i = 0; i < 100; ++i) root.add_frame("t" + std::to_string(i), {});
  ASSERT_EQ(root.history().size(), kHistoryFrames);
  EXPECT_EQ(root.history().front().tool, "t36");
  EXPECT_EQ(root.history().back().tool, "t99");
  EXPECT_EQ(root.get("locals.history.63.tool"), Json("t99"));
}

// Owned by the middleware: the order A, B, leaf, B, A. Owed by the context: whoever is inside sees
// the resolved chain, and the result stands on the served context, where the outer one reads it.
TEST_F(ContextCase, C11_TheChainAndTheResultAreOnTheServedContext) {
  const Context root = grow();
  auto chain = std::make_shared<const MiddlewareChain>(
      MiddlewareChain{{"A", "harness", Json()}, {"B", "run", Json::object({{"level", 2}})}});
  const Context call = below(root, {.chain = chain});
  const Context outer = below(root, {.kind = NodeKind::middleware, .target = &call});
  call.set_result("sun");
  EXPECT_EQ(outer.target().result(), Json("sun"));
  EXPECT_EQ(call.chain(), *chain);
  EXPECT_EQ(call.get("run.middleware.1.settings.level"), Json(2));
  EXPECT_TRUE(outer.chain().empty());
}

// Owned by the middleware: that the leaf does not run. Owed: a result is null until somebody sets
// it.
TEST_F(ContextCase, C12_WithoutAnybodySettingOneTheResultIsNull) {
  const Context call = below(grow());
  EXPECT_EQ(call.result(), Json());
  EXPECT_FALSE(call.locals().contains("result"));
}

// Owned by the middleware: that B and the leaf are skipped. Owed: a result comes without an error.
TEST_F(ContextCase, C13_AResultIsNoError) {
  const Context call = below(grow());
  call.set_result(5);
  EXPECT_EQ(call.get("locals.result"), Json(5));
  EXPECT_EQ(call.error(), nullptr);
}

// Decided here: result and error are independent. Setting a result does not clear the error;
// whoever recovers clears it with set_error(nullopt). So a context tells that something failed even
// where a fallback was found, unless somebody says otherwise.
TEST_F(ContextCase, C14_AnErrorStaysOnTheServedContextUntilItIsCleared) {
  const Context root = grow();
  const Context call = below(root);
  call.set_error(Error(ErrorKind::denied, "no", "ask"));
  ASSERT_NE(call.error(), nullptr);
  EXPECT_EQ(call.error()->message(), "no");
  EXPECT_EQ(root.error(), nullptr);
  call.set_result("fallback");
  EXPECT_EQ(call.get("locals.error"),
            *parse_json(
                R"({"kind":"denied","message":"no","detail":null,"fix":"ask","retryable":false})"));
  call.set_error(std::nullopt);
  EXPECT_EQ(call.error(), nullptr);
  EXPECT_EQ(call.result(), Json("fallback"));
}

// Owned by the middleware: the order A, X, B. Owed: the chain on a context can be replaced by a
// longer one, and handles to the old one keep what they had.
TEST_F(ContextCase, C15_AnInjectedChainReplacesTheOneThatIsShown) {
  auto before = std::make_shared<const MiddlewareChain>(MiddlewareChain{{"A", {}}, {"B", {}}});
  const Context call = below(grow(), {.chain = before});
  call.set_chain(
      std::make_shared<const MiddlewareChain>(MiddlewareChain{{"A", {}}, {"X", {}}, {"B", {}}}));
  EXPECT_EQ(call.chain().size(), 3u);
  EXPECT_EQ(before->size(), 2u);
}

// Owned by the middleware: that injecting while unwinding has no effect. Owed: a child's chain is
// its own, so a late change reaches nobody who ran already.
TEST_F(ContextCase, C16_AChainIsNotInherited) {
  auto chain = std::make_shared<const MiddlewareChain>(MiddlewareChain{{"A", {}}});
  const Context call = below(grow(), {.chain = chain});
  EXPECT_TRUE(below(call).chain().empty());
}

TEST_F(ContextCase, C17_AMiddlewareHasAContextOfItsOwn) {
  const Context root = grow();
  const Context served = below(root);
  const Context middleware = below(root, {.kind = NodeKind::middleware, .target = &served});
  EXPECT_NE(middleware, served);
  EXPECT_TRUE(middleware.has_other_target());
  ASSERT_TRUE(middleware.require_target());
  EXPECT_EQ(*middleware.require_target(), served);
  ASSERT_TRUE(middleware.set("locals.mine", 1));
  EXPECT_EQ(served.get("locals.mine"), Json());
  ASSERT_TRUE(middleware.target().set("locals.config.paths", Json::array({"tools"})));
  EXPECT_EQ(served.get("locals.config.paths.0"), Json("tools"));
}

TEST_F(ContextCase, C18_RequiringATargetFailsWhereThereIsNone) {
  const Context call = below(grow());
  EXPECT_EQ(error_of(call.require_target()), "context run-1#1 serves no other context");
}

TEST_F(ContextCase, C19_CancelReachesDescendantsWithItsReasonAndNoSibling) {
  const Context root = grow();
  const Context one = run_below(root);
  const Context two = run_below(root);
  const Context leaf = below(one);
  one.cancel().request({CancelReason::Why::user, "enough"});
  EXPECT_TRUE(leaf.cancelled());
  EXPECT_EQ(*leaf.cancel_reason(), (CancelReason{CancelReason::Why::user, "enough"}));
  EXPECT_FALSE(two.cancelled());
  EXPECT_FALSE(root.cancelled());
  root.cancel().request({CancelReason::Why::user, "stop"});
  EXPECT_EQ(root.cancel_reason()->text, "stop");
  EXPECT_EQ(two.cancel_reason()->text, "stop");
  EXPECT_EQ(leaf.cancel_reason()->text, "enough") << "the first reason stays";
}

TEST_F(ContextCase, C20_AnAdditionalTokenStopsTheChildAlone) {
  const Context root = grow();
  const CancelToken extra = CancelToken::root();
  const Context child = below(root, {.cancel = extra});
  const Context leaf = below(child);
  extra.request({CancelReason::Why::caller, "switch"});
  EXPECT_TRUE(child.cancelled());
  EXPECT_TRUE(leaf.cancelled());
  EXPECT_FALSE(root.cancelled());
}

TEST_F(ContextCase, C21_AChildOfACancelledContextIsBornCancelled) {
  const Context root = grow();
  root.cancel().request({CancelReason::Why::user, "stop"});
  const Context child = below(root);
  EXPECT_TRUE(child.cancelled());
  EXPECT_TRUE(child.cancel().requested());
  EXPECT_EQ(child.cancel_reason()->text, "stop");
}

// Owned by the scopes: that the failure of a child nobody waits for becomes an event. Owed: it
// hangs on its parent's token also when nobody has asked for a token in between.
TEST_F(ContextCase, C22_ABackgroundChildHangsOnItsParentsToken) {
  const Context root = grow();
  const Context middle = below(root);
  const Context background = run_below(middle);
  const CancelToken token = background.cancel();
  background.set_error(Error(ErrorKind::internal, "it threw"));
  EXPECT_EQ(middle.error(), nullptr);
  middle.cancel().request({CancelReason::Why::parent, "over"});
  EXPECT_TRUE(token.requested());
  EXPECT_FALSE(root.cancelled());
}

TEST_F(ContextCase, C23_InteractiveDoesNotInherit) {
  const Context root = grow({.interactive = true});
  EXPECT_TRUE(root.interactive());
  EXPECT_FALSE(run_below(root).interactive());
  EXPECT_FALSE(below(root).interactive());
}

TEST_F(ContextCase, C24_PathsReadEverythingAndWriteWhatIsOpen) {
  const Context root = grow();
  EXPECT_EQ(root.get("locals.config.cwd"), Json("/work"));
  EXPECT_EQ(error_of(root.set("envelope.id", "forged")),
            "envelope.id: \"envelope\" cannot be written");
  EXPECT_EQ(root.id().run_id, RunId("run-1"));
  EXPECT_EQ(root.get("locals.no.such.thing"), Json());
  EXPECT_EQ(root.get("nowhere"), Json());
}

TEST_F(ContextCase, C25_LogTailAndSnapshot) {
  const Context root = grow({.log_ring = 4});
  root.log("hi");
  const LogEntry said = root.tail({.last = 1}).entries.at(0);
  EXPECT_EQ(said, (LogEntry{.text = "hi", .root = RunId("run-1"), .run = RunId("run-1")}));
  EXPECT_EQ(said.type, "message");
  EXPECT_EQ(said.tag, "user");
  EXPECT_EQ(said.level, LogLevel::error);

  const Context other = grow({.log = std::make_shared<RememberingLog>(Lineage{
                                  .run_id = RunId("run-2"), .root_run_id = RunId("run-2")})});
  EXPECT_TRUE(other.tail().entries.empty());
  for (int i = 0; i < 9; ++i) root.log(std::to_string(i));
  const Tail tail = root.tail();
  ASSERT_EQ(tail.entries.size(), 4u);
  EXPECT_EQ(tail.entries.front().text, "5");
  EXPECT_EQ(tail.dropped, 6u);

  Json deep = "bottom";
  for (int i = 0; i < 20; ++i) deep = Json::object({{"in", deep}});
  ASSERT_TRUE(root.set("locals.deep", deep));
  root.set(std::string("a typed value is a handle, and absent"));
  const Json page = root.snapshot();
  EXPECT_EQ(page["envelope"]["target"], Json("[Circular]"));
  EXPECT_FALSE(page.contains("services"));
  EXPECT_FALSE(page.contains("globals"));
  EXPECT_EQ(print_json(page["locals"]["deep"]),
            R"({"in":{"in":{"in":{"in":{"in":{"in":"[Truncated]"}}}}}})");
}

}  // namespace
}  // namespace tug
