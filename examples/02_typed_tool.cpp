// A function becomes a tool: its argument struct is its schema, its result is what the model reads.
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <cstdio>
#include <optional>
#include <string>

struct Account {
  std::string unit;
};

struct Where {
  tug::Described<std::string, "City, in English"> city;
  std::optional<int> days;         // may be left out
  bool wind = false;               // may be left out, and the schema shows the default
  tug::Injected<Account> account;  // filled by the program: in no schema, and no model can set it
};

// Any plain struct is an answer; the model reads it as JSON.
struct Forecast {
  std::string city;
  int days = 0;
  std::string sky;
  std::string temperature;
};

// A plain function runs on a thread of the worker pool, so it may block.
Forecast forecast(const Where& where) {
  return {where.city, where.days.value_or(1), where.wind ? "sun and wind" : "sun",
          "21 " + where.account->unit};
}

int main() {
  using tug::testkit::calls;
  using tug::testkit::says;
  // What a model would say, turn by turn: a good call, one with a forged account and one without a
  // city, which the model is told about.
  tug::Harness harness{tug::testkit::scripted(
      {calls({{"", "forecast", R"({"city":"Oslo","days":3})"},
              {"", "forecast", R"({"city":"Rome","wind":true,"account":{"unit":"K"}})"},
              {"", "forecast", R"({"days":2})"}}),
       says("Sun everywhere.")})};
  harness.tool("forecast", "Weather forecast", forecast, {.effect = tug::Effect::pure});
  std::printf("schema  %s\n", tug::print_json(harness.tools()[0]->parameters).c_str());

  tug::RunOptions options;
  options.give(Account{"C"});
  const tug::RunResult result = harness.run("What's the weather?", options);
  for (const tug::ToolCallRecord& call : result.tool_calls) {
    const std::string& content = call.result.content;
    std::printf("%s  %s\n", call.result.ok ? "ok    " : "failed",
                content.substr(0, content.find("\nThe schema")).c_str());
  }
  std::printf("answer  %s\n", result.text.c_str());
  return result.ok() ? 0 : 1;
}
