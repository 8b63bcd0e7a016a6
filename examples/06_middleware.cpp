// Middleware: code around model calls and tool calls. This one answers what it has seen before,
// keeps a password out of what the model says, and remembers across calls how often it was asked.
#include <tug/model/delta_filter.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <cstdio>
#include <memory>
#include <string>

// Sees the pieces of an answer before anybody else does.
class NoDigits final : public tug::DeltaFilter {
 public:
  void push(tug::ModelEvent delta, std::vector<tug::ModelEvent>& out) override {
    if (auto* text = std::get_if<tug::TextDelta>(&delta)) {
      for (char& c : text->text) c = c >= '0' && c <= '9' ? '#' : c;
    }
    out.push_back(std::move(delta));
  }
  void flush(std::vector<tug::ModelEvent>&) override {}
};

class Guard final : public tug::Middleware {
 public:
  std::string name() const override { return "guard"; }

  tug::Task<tug::Result<tug::ModelTurn>> around_model(tug::Context ctx, tug::ModelRequest request,
                                                      tug::NextModel& next) override {
    // A record: still there when the run is resumed, by this process or by another.
    const auto asked = ctx.remembered("guard.asked").as_int().value_or(0) + 1;
    ctx.remember("guard.asked", asked);
    std::printf("model call %lld\n", static_cast<long long>(asked));
    request.filters.push_back([] { return std::make_unique<NoDigits>(); });
    return next.run(std::move(request));
  }

  tug::Task<tug::Result<tug::ToolResult>> around_tool(tug::Context, tug::ToolInput input,
                                                      tug::NextTool& next) override {
    if (input.args["file"].as_string() == "secret.txt") {
      // The model reads this instead; the tool is never called.
      co_return next.finish(
          tug::ToolResult::error("that file is not for you", "ToolCallCancelled"));
    }
    auto running = next.run(std::move(input));
    tug::Result<tug::ToolResult> result = co_await std::move(running);
    if (result) result->content += " (checked)";
    co_return result;
  }
};

struct Open {
  std::string file;
};

int main() {
  using namespace tug::testkit;
  tug::Harness harness{scripted(
      {calls({{"a", "open", R"({"file":"notes.txt"})"}, {"b", "open", R"({"file":"secret.txt"})"}}),
       says("The code is 4711.")})};
  harness.tool("open", "Reads a file", [](const Open& open) { return "text of " + open.file; });
  harness.use(std::make_shared<Guard>());

  const tug::RunResult result = harness.run("What is the code?");
  for (const tug::ToolCallRecord& call : result.tool_calls) {
    std::printf("%s: %s\n", call.result.ok ? "ok" : "refused", call.result.content.c_str());
  }
  std::printf("%s\n", result.text.c_str());
  return result.ok() ? 0 : 1;
}
