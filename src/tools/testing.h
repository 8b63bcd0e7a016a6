// What the tests of this area stand on: an engine, and calls made below a root of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "context/testing.h"
#include "tug/io/sim_engine.h"
#include "tug/tools/batch.h"
#include "tug/tools/invoke.h"
#include "tug/tools/typed_tool.h"

namespace tug {

// One engine and one root run after the other on its first loop.
class ToolWorld {
 public:
  explicit ToolWorld(std::shared_ptr<Engine> made) : engine(std::move(made)) {
    services = Services::Builder(1)
                   .ids(make_counting_ids("run"))
                   .config(Json::object({{"cwd", "/work"}}))
                   .put(engine)
                   .build();
  }

  // What body(root context) answers.
  template <class F>
  auto run(F body) {
    return engine->run(engine->loop(0), in_root(this, std::move(body)));
  }

  // One call; `prepare` may put things into its root.
  ToolResult call(const ToolPtr& tool, const std::string& arguments = "{}",
                  std::function<void(Context&)> prepare = {}) {
    auto result = run([&](Context root) {
      if (prepare) prepare(root);
      return one_call(root, tool, arguments);
    });
    EXPECT_TRUE(result) << to_string(result.error());
    return result ? *result : ToolResult{};
  }

  static Context child(const Context& root, const ToolPtr& tool, Json args, std::size_t index = 0) {
    auto made = root.child({.kind = NodeKind::tool,
                            .call = make_call_id(1, static_cast<std::uint32_t>(index)),
                            .args = std::move(args),
                            .tool = tool->shared_spec()});
    EXPECT_TRUE(made) << to_string(made.error());
    return *made;
  }

  std::shared_ptr<Engine> engine;
  ServicesPtr services;
  std::shared_ptr<RememberingLog> log;  // of the newest root
  bool listens = false;

 private:
  template <class F>
  static auto in_root(ToolWorld* world, F body) -> decltype(body(Context())) {
    Loop& loop = co_await this_loop();
    Lineage who{.run_id = RunId("run-1"), .thread_id = ThreadId("thread-1"), .agent = "main"};
    who.root_run_id = who.run_id;
    world->log = std::make_shared<RememberingLog>(std::move(who));
    world->log->listens = world->listens;
    RootSpec spec{.services = world->services, .loop = &loop, .log = world->log};
    spec.run.agent = "main";
    auto root = Context::root(std::move(spec));
    EXPECT_TRUE(root) << to_string(root.error());
    Context ctx = *root;
    auto task = body(ctx);
    if constexpr (std::is_same_v<decltype(task), Task<void>>) {
      co_await std::move(task);
    } else {
      auto value = co_await std::move(task);
      co_return value;
    }
  }

  static Task<ToolResult> one_call(Context root, ToolPtr tool, std::string arguments) {
    auto checked = check_arguments(*tool, arguments);
    if (!checked) co_return invalid_arguments_result(*tool, checked.error());
    Context ctx = child(root, tool, checked->args);
    auto running = invoke(*tool, ctx, checked->args);
    ToolResult result = co_await std::move(running);
    co_return result;
  }
};

class ToolTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kSeed = 7;
  ToolTest() { RecordProperty("seed", std::to_string(kSeed)); }

  static ToolPtr made(Result<ToolPtr> tool) {
    EXPECT_TRUE(tool) << to_string(tool.error());
    return tool ? *tool : nullptr;
  }

  std::shared_ptr<SimEngine> sim = make_sim_engine({.seed = kSeed});
  ToolWorld world{sim};
};

// A result as the tests compare it.
inline std::string shown(const ToolResult& result) {
  return std::string(result.ok ? "ok " : "error ") + result.content +
         (result.metadata.is_null() ? "" : " " + print_json(result.metadata));
}

}  // namespace tug
