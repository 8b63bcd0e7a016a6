// Agents below agents. An agent is a tool for models and a function for code; either way its run is
// a child, one level deeper in the same log, and what it spends is counted above it as it comes.
#include <tug/agent/fold.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// The same three words for every turn: for which agent, what it says, what it calls.
tug::ScriptTurn turn(std::string agent, std::string text, std::vector<tug::ScriptCall> calls = {}) {
  tug::ScriptTurn turn;
  turn.agent = std::move(agent);
  turn.text = std::move(text);
  turn.tool_calls = std::move(calls);
  turn.usage.input_tokens = 100;
  turn.usage.output_tokens = 10;
  return turn;
}

// A tool that asks an agent: code decides what a model would decide otherwise.
tug::Task<std::string> second_opinion(tug::Agent critic, tug::Context& ctx) {
  auto asking = critic.run(ctx, "Is the tide table right?");
  const tug::RunResult answer = co_await std::move(asking);
  co_return "The critic says: " + answer.text;
}

void print_tree(const tug::FoldedRoot& root, const tug::FoldedRun& run) {
  const tug::RunResult& result = run.result;
  std::printf("%*s%s: %s, turns %lld, own tokens %lld, with those below %lld\n",
              2 * static_cast<int>(run.who->depth), "", run.who->agent.c_str(),
              std::string(name_of(result.stop)).c_str(),
              static_cast<long long>(result.counts.model_calls),
              static_cast<long long>(result.own.usage.total()),
              static_cast<long long>(result.usage.total()));
  for (const std::size_t child : run.children) print_tree(root, root.runs[child]);
}

int main() {
  const std::string ask = R"({"input":"When is high water?"})";
  tug::Harness harness{tug::testkit::scripted({
      turn("main", "", {{"", "pilot", R"({"input":"Can we leave at noon?"})"}}),
      turn("pilot", "", {{"", "tides", ask}, {"", "weather", ask}, {"", "check", "{}"}}),
      turn("tides", "High water is at 11:40."),
      turn("weather", "", {{"", "barometer", "{}"}}),
      turn("critic", "It is."),
      turn("pilot", "Yes: the water is high at 11:40, whatever the weather does."),
      turn("main", "We leave at noon."),
  })};
  const std::vector<std::string> none;
  harness.inline_tool("barometer", "Reads the barometer", [] { return "1013 hPa"; });
  harness.agent("tides", "Knows the tide table", {.tools = none, .subagents = none});
  // Two turns would be needed; it may have one.
  harness.agent("weather", "Knows the weather",
                {.tools = std::vector<std::string>{"barometer"},
                 .subagents = none,
                 .limits = {.max_turns = 1}});
  const tug::Agent critic =
      harness.agent("critic", "Doubts everything", {.tools = none, .subagents = none});
  harness.tool("check", "Asks for a second opinion",
               [critic](tug::Context& ctx) { return second_opinion(critic, ctx); });
  harness.agent("pilot", "Knows when to leave",
                {.tools = std::vector<std::string>{"check"},
                 .subagents = std::vector<std::string>{"tides", "weather"}});

  const tug::RunResult result =
      harness.run("When do we leave?", {.tools = std::vector<std::string>{"pilot"}});
  std::printf("%s\n\n", result.text.c_str());

  const auto folded = tug::fold_root(harness.store(), result.root);
  if (!folded) return 1;
  print_tree(*folded, folded->runs.front());

  // What the pilot was told. A limit of a child is no answer, and no end of its parent.
  std::printf("\n");
  for (const tug::ToolCallRecord& call : folded->runs[1].result.tool_calls) {
    std::printf("%s %s: %s\n", call.tool.c_str(), call.result.ok ? "answered" : "did not answer",
                call.result.content.c_str());
  }
  return result.ok() && folded->runs.size() == 5 ? 0 : 1;
}
