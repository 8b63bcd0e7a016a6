#include "context/testing.h"

namespace tug {
namespace {

class ContextPath : public ContextTest {
 protected:
  Context root = grow({.run = {.args = *parse_json(R"({"items":[1,{"a":2}]})"),
                               .run_id = RunId("r"),
                               .agent = "boss"}});
};

TEST_F(ContextPath, ReadsEveryRoot) {
  root.set_turn(2);
  ASSERT_TRUE(root.set("locals.x", 1));
  ASSERT_TRUE(root.set("inherited.y", 2));
  ASSERT_TRUE(root.set("metadata.z", 3));
  ASSERT_TRUE(root.set("configurable.c", 4));
  ASSERT_TRUE(root.set("globals.g.deep", 5));
  struct Case {
    const char* path;
    Json value;
  };
  const Case cases[] = {
      {"envelope.id", "r"},
      {"envelope.root_run_id", "r"},
      {"envelope.agent", "boss"},
      {"envelope.turn", 2},
      {"envelope.depth", 0},
      {"envelope.target", "r"},
      {"envelope.has_other_target", false},
      {"args.items.0", 1},
      {"args.items.1.a", 2},
      {"args.items.2", Json()},
      {"args.items.x", Json()},
      {"args.items.-1", Json()},
      {"args", root.args()},
      {"run.kind", "run"},
      {"run.interactive", false},
      {"run.cancelled", false},
      {"run.tool", Json()},
      {"locals.x", 1},
      {"locals.x.deeper", Json()},
      {"locals.result", Json()},
      {"inherited.y", 2},
      {"nonlocals.y", 2},
      {"inherited", Json::object({{"y", 2}})},
      {"metadata.z", 3},
      {"configurable.c", 4},
      {"globals.g.deep", 5},
      {"globals", Json::object({{"g", Json::object({{"deep", 5}})}})},
      {"globals.none.deep", Json()},
      {"", Json()},
      {".", Json()},
      {"locals.", Json()},
      {".locals", Json()},
      {"locals..x", Json()},
      {"services.journal", Json()},
  };
  for (const Case& c : cases) EXPECT_EQ(root.get(c.path), c.value) << c.path;
}

TEST_F(ContextPath, WritesWhatIsOpenAndNamesWhatIsNot) {
  ASSERT_TRUE(root.set("locals.n", 5));
  ASSERT_TRUE(root.set("locals.list", Json::array({"a", "b"})));
  struct Case {
    const char* path;
    const char* error;
  };
  const Case cases[] = {
      {"envelope.run_id", "envelope.run_id: \"envelope\" cannot be written"},
      {"run.tool", "run.tool: \"run\" cannot be written"},
      {"args.x", "args.x: \"args\" cannot be written"},
      {"services.x", "services.x: \"services\" cannot be written"},
      {"locals", "\"locals\" cannot be replaced as a whole"},
      {"globals", "\"globals\" cannot be replaced as a whole"},
      {"", "\"\" is not a dotted path"},
      {"locals..x", "\"locals..x\" is not a dotted path"},
      {"locals.n.x", "locals.n.x: cannot set \"x\" of a number"},
      {"locals.list.x", "locals.list.x: \"x\" is no place in a list of 2"},
      {"locals.list.3", "locals.list.3: \"3\" is no place in a list of 2"},
      {"locals.history.0", "locals.history is only appended to"},
      {"locals.error.message", "locals.error is set as a whole"},
      {"locals.fresh.list.0.x", "no error"},
      {"locals.list.1", "no error"},
      {"locals.list.2", "no error"},
      {"nonlocals.k", "no error"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_of(root.set(c.path, "v")), c.error) << c.path;
  EXPECT_EQ(root.get("locals.list"), Json::array({"a", "v", "v"}));
  EXPECT_EQ(root.get("locals.n"), Json(5));
  EXPECT_EQ(root.get("inherited.k"), Json("v"));
  // A number names a member where there is no list yet.
  EXPECT_EQ(root.get("locals.fresh"), *parse_json(R"({"list":{"0":{"x":"v"}}})"));
}

TEST_F(ContextPath, ARefusedWriteChangesNothing) {
  ASSERT_TRUE(root.set("locals.a", Json::object({{"n", 1}})));
  const Json before = root.locals();
  EXPECT_FALSE(root.set("locals.a.n.x.y", 2));
  EXPECT_EQ(root.locals(), before);
  ASSERT_TRUE(root.set("globals.a", 1));
  EXPECT_FALSE(root.set("globals.a.b", 2));
  EXPECT_EQ(root.get("globals.a"), Json(1));
}

TEST_F(ContextPath, ResultAndErrorAreMembersOfLocals) {
  ASSERT_TRUE(root.set("locals.result", Json::object({{"a", 1}})));
  ASSERT_TRUE(root.set("locals.result.b", 2));
  EXPECT_EQ(root.result(), Json::object({{"a", 1}, {"b", 2}}));
  ASSERT_TRUE(root.set("locals.error", "it broke"));
  EXPECT_EQ(root.error()->kind(), ErrorKind::internal);
  ASSERT_TRUE(root.set("locals.error", Json::object({{"kind", "denied"}, {"message", "no"}})));
  EXPECT_EQ(root.error()->kind(), ErrorKind::denied);
  ASSERT_TRUE(root.set("locals.error", root.locals()["error"])) << "what is read can be written";
  EXPECT_EQ(root.locals()["error"]["message"], Json("no"));
  EXPECT_EQ(root.error()->kind(), ErrorKind::denied);
  EXPECT_FALSE(root.set("locals.error", 5));
  ASSERT_TRUE(root.set("locals.error", Json()));
  EXPECT_EQ(root.error(), nullptr);
}

TEST_F(ContextPath, AVeryLongPathIsRefusedAndNotFollowed) {
  std::string path = "locals";
  for (int i = 0; i < 100'000; ++i) path += ".a";
  EXPECT_FALSE(root.set(path, 1));
  EXPECT_EQ(root.get(path), Json());
}

TEST_F(ContextPath, GlobalsAreTheSharedStateOfAllRoots) {
  const Context other = grow();
  ASSERT_TRUE(root.set("globals.count", 1));
  bundle->shared().update("count", [](Json& n) { n = *n.as_int() + 1; });
  EXPECT_EQ(other.get("globals.count"), Json(2));
}

TEST_F(ContextPath, ASnapshotShowsDataAndNoHandles) {
  const Context call = below(root, {.call = CallId("2.0"), .args = Json::object({{"q", 1}})});
  call.set(Context(root));  // a handle
  ASSERT_TRUE(call.set("globals.g", 1));
  const Json page = call.snapshot();
  EXPECT_EQ(page["envelope"]["parent"], Json("r"));
  EXPECT_EQ(page["envelope"]["target"], Json("[Circular]"));
  EXPECT_EQ(page["args"], Json::object({{"q", 1}}));
  std::vector<std::string> keys;
  for (const Json::Member& member : page.members()) keys.emplace_back(member.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"envelope", "args", "run", "locals", "inherited",
                                            "metadata", "configurable", "tags"}));
  EXPECT_EQ(call.snapshot({.globals = true})["globals"], Json::object({{"g", 1}}));
}

TEST_F(ContextPath, AContextInsideItselfIsCircular) {
  const Context served = below(root);
  const Context middleware = below(served, {.kind = NodeKind::middleware, .target = &served});
  const Json page = middleware.snapshot({.depth = 100, .ancestors = true});
  EXPECT_EQ(page["envelope"]["parent"]["envelope"]["parent"]["envelope"]["id"], Json("r"));
  EXPECT_EQ(page["envelope"]["parent"]["envelope"]["target"], Json("[Circular]"));
  EXPECT_EQ(page["envelope"]["target"]["envelope"]["id"], Json("r#1"));
  EXPECT_EQ(middleware.snapshot()["envelope"]["target"], Json("r#1"));
}

TEST_F(ContextPath, TheDepthOfASnapshotIsTheCallersChoice) {
  ASSERT_TRUE(root.set("locals.a.b.c", 1));
  EXPECT_EQ(print_json(root.snapshot({.depth = 3})["locals"]["a"]), R"({"b":"[Truncated]"})");
  EXPECT_EQ(root.snapshot({.depth = 0}), Json("[Truncated]"));
  Json deep;
  for (int i = 0; i < 100'000; ++i) deep = Json::array({deep});
  ASSERT_TRUE(root.set("locals.deep", deep));
  EXPECT_TRUE(root.snapshot({.depth = SIZE_MAX}).is_object());
}

}  // namespace
}  // namespace tug
