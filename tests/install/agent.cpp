// An outside program: a harness with a typed tool on the pool and a coroutine tool that asks a
// second harness, on disk.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include <tug/agent/fold.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

struct Account {
  std::string owner;
};
struct Where {
  tug::Described<std::string, "City, in English"> city;
  std::optional<int> days;
  tug::Injected<Account> account;
};
struct Forecast {
  std::string city;
  int days = 0;
  std::string asked_by;
};
struct Question {
  std::string text;
};

Forecast forecast(const Where& where) {
  return {where.city, where.days.value_or(1), where.account->owner};
}

// Named tasks, one co_await a statement: g++ 12 needs it so.
tug::Task<tug::Result<std::string>> ask(tug::Harness* expert, tug::Context& ctx,
                                        Question question) {
  auto asking = expert->run_async(ctx, question.text);
  tug::RunResult answer = co_await std::move(asking);
  if (answer.error) co_return tug::Failure(*answer.error);
  co_return answer.text;
}

int main(int, char** argv) {
  using tug::testkit::calls;
  using tug::testkit::says;
  tug::Harness expert{"offline/demo"};
  auto model = tug::testkit::scripted({calls({{"", "forecast", R"({"city":"Oslo","days":2})"},
                                              {"", "ask", R"({"text":"what is 6 * 7?"})"}}),
                                       says("done")});
  tug::Harness harness{model};
  harness.tool("forecast", "Weather forecast", forecast, {.effect = tug::Effect::pure});
  harness.tool("ask", "Asks another agent", [&expert](tug::Context& ctx, const Question& question) {
    return ask(&expert, ctx, question);
  });
  tug::RunOptions options;
  options.give(Account{"Ada"});
  const tug::RunResult result = harness.run("go", options);
  for (const tug::ToolCallRecord& call : result.tool_calls)
    std::printf("%s\n", call.result.content.c_str());
  const auto folded = tug::fold_root(harness.store(), result.id);
  std::printf("%s, %zu runs\n", result.text.c_str(), folded ? folded->runs.size() : 0);

  const std::string folder = std::string(argv[0]) + ".state";
  tug::Harness on_disk{tug::HarnessOptions{.model = "offline/demo", .state_dir = folder}};
  const tug::RunResult first = on_disk.run("what is 2 + 3?");
  const tug::RunResult next = on_disk.resume(first.id, "what is 3 + 4?").wait();
  on_disk.close();
  std::filesystem::remove_all(folder);
  std::printf("%s, %zu messages\n", next.text.c_str(), next.messages.size());
  return result.ok() && next.ok() ? 0 : 1;
}
