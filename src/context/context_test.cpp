#include "tug/context/context.h"

#include <algorithm>

#include "context/node.h"
#include "context/testing.h"

namespace tug {
namespace {

struct Session {
  std::string user;
};
struct Flags {
  int verbosity = 0;
};

TEST(ContextNode, IsOneSmallAllocation) { EXPECT_LE(sizeof(detail::ContextNode), 256u); }

TEST_F(ContextTest, ARootNeedsServicesALoopAndALog) {
  EXPECT_EQ(error_of(Context::root({})), "a root context needs services, a loop and a log");
  const Context other = grow();
  RootSpec serving{.services = bundle, .loop = &loop, .log = log};
  serving.run.run_id = RunId("another");
  EXPECT_EQ(error_of(Context::root(serving)),
            "the root context of run run-1 with another id, thread, agent or call");
  serving.run.run_id = {};
  serving.run.target = &other;
  EXPECT_EQ(error_of(Context::root(serving)), "a root context cannot serve another");
}

TEST_F(ContextTest, ARootMakesWhatItIsNotGiven) {
  const Context root = grow();
  EXPECT_EQ(root.id().run_id, RunId("run-1"));
  EXPECT_EQ(root.id().thread_id, ThreadId("run-1"));
  EXPECT_EQ(root.id().depth, 0u);
  EXPECT_EQ(root.kind(), NodeKind::run);
  const Context named =
      grow({.run = {.run_id = RunId("r"), .thread_id = ThreadId("t"), .agent = "a"}});
  EXPECT_EQ(*named.lineage(), (Lineage{.run_id = RunId("r"),
                                       .thread_id = ThreadId("t"),
                                       .root_run_id = RunId("r"),
                                       .agent = "a"}));
}

// The inheritance matrix, row by row: what a nested run gets.
TEST_F(ContextTest, ANestedRunInheritsTheWholeMatrix) {
  const CancelToken callers = CancelToken::root();
  const Context root =
      grow({.run = {.thread_id = ThreadId("thread"),
                    .agent = "boss",
                    .tags = {"local"},
                    .metadata = Json::object({{"mine", 1}}),
                    .inherit = {.values = Json::object({{"k", 1}}),
                                .metadata = Json::object({{"team", "x"}}),
                                .configurable = Json::object({{"tone", "dry"}}),
                                .tags = {"prod"}},
                    .limits = {.tokens = 100, .wall_clock = std::chrono::seconds(9)},
                    .cancel = callers}});
  root.inherit(Session{"ann"});
  const Context call = below(root, {.call = CallId("4.1")});
  const Context child = run_below(call, {.agent = "helper"});

  // root and parent run id, and the call that started it
  EXPECT_EQ(*child.lineage(), (Lineage{.run_id = RunId("run-2"),
                                       .thread_id = ThreadId("thread"),
                                       .root_run_id = RunId("run-1"),
                                       .parent_run_id = RunId("run-1"),
                                       .parent_call_id = CallId("4.1"),
                                       .depth = 1,
                                       .agent = "helper"}));
  // thread id unless overridden
  EXPECT_EQ(run_below(root, {.thread_id = ThreadId("own")}).id().thread_id, ThreadId("own"));
  EXPECT_EQ(run_below(root).id().agent, "boss");
  // event sink
  EXPECT_EQ(&child.events(), &root.events());
  // stores, services (caches among them)
  EXPECT_EQ(&child.stores(), &root.stores());
  EXPECT_EQ(&child.services(), &root.services());
  // inherited tags and metadata, configurable values, typed data; not the local ones
  EXPECT_EQ(child.tags(), std::vector<std::string>{"prod"});
  EXPECT_EQ(child.metadata(), Json::object({{"team", "x"}}));
  EXPECT_EQ(child.get("configurable.tone"), Json("dry"));
  EXPECT_EQ(child.get("inherited.k"), Json(1));
  EXPECT_EQ(child.get<Session>()->user, "ann");
  EXPECT_EQ(root.tags(), (std::vector<std::string>{"prod", "local"}));
  EXPECT_EQ(root.metadata(), Json::object({{"team", "x"}, {"mine", 1}}));
  // limits, deadline, usage and cost
  EXPECT_FALSE(child.budget().hold({.tokens = 101}));
  child.budget().charge({.tokens = 60, .cost = 7});
  EXPECT_EQ(root.budget().used(), (Amount{.tokens = 60, .cost = 7}));
  EXPECT_EQ(child.budget().deadline(loop.now()), loop.now() + std::chrono::seconds(9));
  // cancellation
  callers.request({CancelReason::Why::caller, "all of you"});
  EXPECT_TRUE(root.cancelled());
  EXPECT_EQ(child.cancel_reason()->text, "all of you");
}

TEST_F(ContextTest, AFreshRootsTokenIsCancelledByNobodyElse) {
  const Context one = grow();
  const Context two = grow();
  EXPECT_TRUE(one.cancel());
  one.cancel().request({CancelReason::Why::user, ""});
  EXPECT_FALSE(two.cancelled());
}

TEST_F(ContextTest, OneTokenOfTheCallerCanStopManyRuns) {
  const CancelToken callers = CancelToken::root();
  const Context one = grow({.run = {.cancel = callers}});
  const Context two = grow({.run = {.cancel = callers}});
  one.cancel().request({CancelReason::Why::user, "this one"});
  EXPECT_FALSE(callers.requested());
  EXPECT_FALSE(two.cancelled());
  callers.request({CancelReason::Why::caller, "all"});
  EXPECT_TRUE(two.cancelled());
}

TEST_F(ContextTest, ShutdownReachesEveryRoot) {
  const Context leaf = below(grow());
  loop.stopping().request({CancelReason::Why::shutdown, "going down"});
  EXPECT_EQ(leaf.cancel_reason()->why, CancelReason::Why::shutdown);
}

TEST_F(ContextTest, ToolAndMiddlewareNodesShareTheLineageOfTheirRun) {
  const Context root = grow();
  root.set_turn(3);
  const Context call = below(root, {.call = CallId("7.0")});
  const Context inner = below(call, {.kind = NodeKind::graph_node});
  EXPECT_EQ(inner.lineage(), root.lineage());
  EXPECT_EQ(inner.id().call_id, CallId("7.0"));
  EXPECT_EQ(inner.id().depth, 0u);
  EXPECT_EQ(inner.id().turn, 3u);
  EXPECT_EQ(inner.id().node, 2u);
  root.set_turn(4);
  EXPECT_EQ(call.id().turn, 3u) << "a call belongs to the turn that made it";
  EXPECT_EQ(run_below(call).id().turn, 0u);
}

TEST_F(ContextTest, AFieldThatANodeDoesNotHaveIsRefused) {
  const Context root = grow();
  struct Case {
    ChildSpec spec;
    std::string error;
  };
  const Case cases[] = {
      {{.run_id = RunId("r")}, "run_id was set for a context of kind tool"},
      {{.kind = NodeKind::middleware, .thread_id = ThreadId("t")},
       "thread_id was set for a context of kind middleware"},
      {{.kind = NodeKind::graph_node, .agent = "a"},
       "agent was set for a context of kind graph_node"},
      {{.defaults = {.tokens = 1}}, "defaults was set for a context of kind tool"},
      {{.restored = BudgetSnapshot{}}, "restored was set for a context of kind tool"},
      {{.target = &root}, "target was set for a context of kind tool"},
      {{.metadata = 5}, "metadata of a context must be a JSON object"},
      {{.locals = Json::array()}, "locals of a context must be a JSON object"},
      {{.locals = Json::object({{"history", Json::array()}})},
       "locals.history is only appended to"},
      {{.inherit = {.values = "x"}}, "inherit.values of a context must be a JSON object"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_of(root.child(c.spec)), c.error);
  const Context other = grow();
  EXPECT_EQ(error_of(root.child({.kind = NodeKind::middleware, .target = &other})),
            "the target of a middleware is in another root's tree");
  const Context empty;
  EXPECT_EQ(error_of(root.child({.kind = NodeKind::middleware, .target = &empty})),
            "the target of a middleware is an empty context");
}

TEST_F(ContextTest, ARunDeeperThanTheLimitIsALimitError) {
  const Context root = grow({.run = {.limits = {.depth = 1}}});
  const Context child = run_below(root);
  EXPECT_EQ(child.id().depth, 1u) << "at the limit is allowed";
  const auto deeper = below(child).child({.kind = NodeKind::run});
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().kind(), ErrorKind::exhausted);
  const Limit* limit = deeper.error().detail_if<Limit>();
  ASSERT_NE(limit, nullptr);
  EXPECT_EQ(limit->kind, LimitKind::depth);
  EXPECT_EQ(limit->limit, 1);
  EXPECT_EQ(limit->scope, "run-1");
}

TEST_F(ContextTest, TighterLimitsBindTheChildAndWhatIsBelowIt) {
  const Context root = grow({.run = {.limits = {.tokens = 100}}});
  const Context tight = below(root, {.limits = {.tokens = 10}});
  EXPECT_FALSE(run_below(tight).budget().hold({.tokens = 11}));
  EXPECT_TRUE(root.budget().hold({.tokens = 11}));
  EXPECT_EQ(below(root).budget(), root.budget())
      << "without limits of its own a part shares the node";
}

TEST_F(ContextTest, ASharedTypedValueOutlivesItsContext) {
  std::shared_ptr<const Session> kept;
  {
    const Context root = grow();
    EXPECT_EQ(root.share<Session>(), nullptr);
    root.inherit(Session{"ann"});
    root.inherit(3);
    const Context child = below(root);
    child.set(Session{"bob"});
    kept = child.share<Session>();
    EXPECT_EQ(kept.get(), child.get<Session>());
    EXPECT_EQ(below(child).share<Session>()->user, "ann");
    const auto all = child.share_all();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].first, type_key<Session>());
    EXPECT_EQ(all[0].second, kept);
    EXPECT_EQ(*std::static_pointer_cast<const int>(all[1].second), 3);
  }
  EXPECT_EQ(kept->user, "bob");
}

TEST_F(ContextTest, TypedValuesAreFoundByTypeLocalsFirst) {
  const Context root = grow();
  EXPECT_EQ(root.get<Session>(), nullptr);
  root.inherit(Session{"ann"});
  root.set(Flags{2});
  const Context child = below(root);
  EXPECT_EQ(child.get<Session>()->user, "ann");
  EXPECT_EQ(child.get<Flags>(), nullptr) << "locals do not inherit";
  child.set(Session{"bob"});
  EXPECT_EQ(child.get<Session>()->user, "bob");
  EXPECT_EQ(below(child).get<Session>()->user, "ann");
  child.inherit(Session{"cleo"});
  EXPECT_EQ(below(child).get<Session>()->user, "cleo");
  EXPECT_EQ(root.get<Session>()->user, "ann");
  auto shared = std::make_shared<const Session>(Session{"dan"});
  root.set(shared);
  EXPECT_EQ(root.get<Session>(), shared.get());
  root.set(std::make_shared<Flags>(Flags{7}));
  EXPECT_EQ(root.get<Flags>()->verbosity, 7);
}

TEST_F(ContextTest, TagsAreLocalOrInheritedAndNeverTwice) {
  const Context root = grow();
  root.add_tag("a");
  root.inherit_tag("b");
  root.inherit_tag("b");
  root.add_tag("b");
  root.inherit_metadata("k", 1);
  ASSERT_TRUE(root.set("metadata.own", 2));
  const Context child = below(root, {.tags = {"c"}});
  child.inherit_tag("d");
  ASSERT_TRUE(child.set("metadata.k", 9));
  EXPECT_EQ(root.tags(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(child.tags(), (std::vector<std::string>{"b", "d", "c"}));
  EXPECT_EQ(child.metadata(), Json::object({{"k", 9}}));
  EXPECT_EQ(below(child).metadata(), Json::object({{"k", 1}}));
  EXPECT_EQ(root.metadata(), Json::object({{"k", 1}, {"own", 2}}));
}

TEST_F(ContextTest, TheDeclarationUnderInvocationIsOnTheContext) {
  auto tool = std::make_shared<const ToolSpec>(
      ToolSpec{.name = "read", .description = "Reads", .origin = {.uri = "mcp://files/read"}});
  const Context root = grow();
  EXPECT_EQ(root.tool(), nullptr);
  EXPECT_EQ(root.origin().uri, "");
  const Context call = below(root, {.tool = tool});
  EXPECT_EQ(call.tool(), tool.get());
  EXPECT_EQ(call.origin().uri, "mcp://files/read");
  EXPECT_EQ(call.get("run.tool.name"), Json("read"));
  EXPECT_EQ(call.get("run.origin.uri"), Json("mcp://files/read"));
  const Context from_file = below(
      root,
      {.tool = tool, .origin = std::make_shared<const Origin>(Origin{.uri = "file:///a.md"})});
  EXPECT_EQ(from_file.origin().uri, "file:///a.md");
  EXPECT_EQ(below(call).tool(), nullptr);
  call.set_tool(std::make_shared<const ToolSpec>(ToolSpec{.name = "read2"}));
  EXPECT_EQ(call.tool()->name, "read2");
}

TEST_F(ContextTest, TheWindowIsTheRunsAndAllItsNodesSeeIt) {
  const Context root = grow();
  const Context call = below(root);
  EXPECT_EQ(call.window(), ContextWindow{});
  root.set_window({.model = "m", .max_tokens = 1000, .prompt_tokens = 10});
  EXPECT_EQ(call.window().model, "m");
  EXPECT_EQ(call.get("run.window.prompt_tokens"), Json(10));
  EXPECT_EQ(run_below(call).window(), ContextWindow{});
}

TEST_F(ContextTest, EventsCarryTheLineageAndTheTurnOfTheNode) {
  const Context root = grow();
  const Context child = run_below(root);
  child.set_turn(2);
  const MessagePtr message = Message::user("hi");
  EXPECT_EQ(child.emit(Kind::model_started, Json::object({{"call", "1"}}), message), 1u);
  EXPECT_EQ(below(child).emit("billing", Json::object({{"cents", 5}})), 2u);
  ASSERT_EQ(log->records.size(), 2u);
  EXPECT_EQ(log->records[0].kind, Kind::model_started);
  EXPECT_EQ(log->records[0].who, child.lineage());
  EXPECT_EQ(log->records[0].turn, 2u);
  EXPECT_EQ(log->records[0].message, message);
  EXPECT_EQ(log->records[1].kind, Kind::custom);
  EXPECT_EQ(log->records[1].data,
            Json::object({{"name", "billing"}, {"data", Json::object({{"cents", 5}})}}));
  root.emit_live(Kind::tool_progress, Json());
  EXPECT_TRUE(log->live.empty()) << "nobody listens";
  log->listens = true;
  root.emit_live(Kind::tool_progress, Json());
  EXPECT_EQ(log->live.size(), 1u);
}

TEST_F(ContextTest, RandomNumbersDependOnTheSeedAndTheRootAlone) {
  const auto first = [&](std::uint64_t seed, const char* run) {
    const Context root = grow({.services = services(seed).build(), .run = {.run_id = RunId(run)}});
    return below(root).rng().next();
  };
  EXPECT_EQ(first(1, "a"), first(1, "a"));
  EXPECT_NE(first(1, "a"), first(2, "a"));
  EXPECT_NE(first(1, "a"), first(1, "b"));
}

TEST_F(ContextTest, AHundredThousandChildrenOfOneParentGrowNothing) {
  const Context root = grow();
  root.inherit(Session{"ann"});
  for (int i = 0; i < 100'000; ++i) {
    const Context child = below(root, {.args = Json(i)});
    if (i % 1000 == 0) ASSERT_EQ(child.get<Session>()->user, "ann");
  }
  std::vector<Context> alive;
  for (int i = 0; i < 100'000; ++i) alive.push_back(below(root));
  EXPECT_EQ(alive.back().id().node, 200'000u);
  root.cancel().request({CancelReason::Why::user, "all"});
  EXPECT_TRUE(std::ranges::all_of(alive, [](const Context& c) { return c.cancelled(); }));
}

TEST_F(ContextTest, ALongChainIsBornAndDiesWithoutRecursion) {
  Context at = grow({.run = {.limits = {.depth = 64}}});
  for (int i = 0; i < 64; ++i) at = run_below(below(at));
  EXPECT_EQ(at.id().depth, 64u);
  EXPECT_FALSE(at.child({.kind = NodeKind::run}));
  for (int i = 0; i < 200'000; ++i) at = below(at);
  const CancelToken token = at.cancel();  // made for every node on the way
  EXPECT_FALSE(token.requested());
  at = {};
}

TEST_F(ContextTest, NodesDieInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<Context> nodes{grow({.run = {.limits = {.depth = 1000}}})};
    for (int i = 0; i < 400; ++i) {
      const std::size_t at = rng.below(nodes.size());
      if (rng.below(3) == 0 && nodes.size() > 1) {
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      ChildSpec spec{.kind = static_cast<NodeKind>(rng.below(4))};
      if (spec.kind == NodeKind::middleware) spec.target = &nodes[rng.below(nodes.size())];
      nodes.push_back(below(nodes[at], std::move(spec)));
      if (rng.below(4) == 0) nodes.back().inherit(Session{"s" + std::to_string(i)});
      if (rng.below(4) == 0) (void)nodes.back().cancel();
    }
    for (const Context& node : nodes) {
      EXPECT_EQ(node.id().root_run_id, nodes[0].id().root_run_id);
      for (ConstContext up = node; up; up = up.parent()) EXPECT_FALSE(up.id().run_id.empty());
    }
    while (!nodes.empty()) {
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(rng.below(nodes.size())));
    }
  }
}

TEST_F(ContextTest, AValueWhoseDestructorWalksTheTreeIsFine) {
  struct Walker {
    Context at;
    explicit Walker(Context context) : at(std::move(context)) {}
    Walker(Walker&&) = default;
    ~Walker() {
      if (at) (void)at.get("locals.config.cwd");
    }
  };
  const Context root = grow();
  Context child = below(root);
  child.set(Walker(root));
  child.set(Walker(root));
  child = {};
}

}  // namespace
}  // namespace tug
