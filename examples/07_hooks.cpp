// Hooks: plain functions at fixed points of a run, for those who need no `next`. Two kinds: the
// nine of a lifecycle, and the eight events with filters that may also be shell commands.
#include <tug/middleware/hooks.h>
#include <tug/middleware/lifecycle.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <cstdio>
#include <string>
#include <vector>

struct Path {
  std::string path;
};

int main() {
  using namespace tug::testkit;
  tug::Harness harness{scripted(
      {calls({{"a", "remove", R"({"path":"old.log"})"}, {"b", "remove", R"({"path":"src"})"}}),
       says("Removed the log, kept the sources.")})};
  harness.tool("remove", "Removes a file", [](const Path& path) { return "removed " + path.path; });

  auto counts = std::make_shared<tug::HookCounts>();
  harness.use(tug::make_lifecycle(
      {.name = "trace",
       .before_model = [](const tug::Context&, tug::ModelRequest& request) -> tug::Result<void> {
         std::printf("asking with %zu messages\n", request.transcript.size());
         return {};
       },
       .after_tool = [](const tug::Context&, tug::ToolResult& result) -> tug::Result<void> {
         std::printf("tool: %s\n", result.content.c_str());
         return {};
       },
       .counts = counts}));

  auto hooks = tug::make_hooks({
      {.event = tug::HookEvent::user_prompt_submit,
       .handler = [](const tug::HookInput&) -> tug::Result<tug::HookReply> {
         return tug::HookReply{.context = "Today is cleaning day."};
       }},
      {.event = tug::HookEvent::before_tool_call,
       .handler = [](const tug::HookInput& input) -> tug::Result<tug::HookReply> {
         if (input.arguments["path"].as_string() != "src") return tug::HookReply{};
         return tug::deny("sources stay");
       },
       .tools = std::vector<std::string>{"remove"}},
  });
  if (!hooks) return 1;
  harness.use(*hooks);

  const tug::RunResult result = harness.run("Clean up");
  std::printf("told: %s\n", result.messages[1]->text().c_str());
  std::printf("%s\n", result.text.c_str());
  std::printf("%lld calls, %lld of them cancelled\n",
              static_cast<long long>(result.counts.tool_calls),
              static_cast<long long>(result.counts.cancelled_tool_calls));
  return result.ok() ? 0 : 1;
}
