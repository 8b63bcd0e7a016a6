#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "tug/core/json.h"

namespace {

using tug::Json;

// A conversation of 400 messages, about 1 MB: prose with escapes and some non-ASCII text, tool
// calls with nested arguments, tool results with numbers.
Json conversation() {
  std::mt19937 random(1);
  const char* words[] = {"the",     "run",        "context",       "returns", "\"quoted\"",
                         "line\n",  "value",      "caf\xc3\xa9",   "tab\t",   "file/path.cpp",
                         "because", "a",          "number",        "of",      "every",
                         "while",   "message",    "(budget_.hold", "and",     "result);",
                         "if",      "transcript", "was",           "tokens",  "const auto&"};
  const auto prose = [&](std::size_t size) {
    std::string out;
    while (out.size() < size) {
      out += words[random() % std::size(words)];
      out += ' ';
    }
    return out;
  };
  Json messages = Json::array();
  for (int i = 0; i < 400; ++i) {
    Json message = Json::object();
    message.set("role", i % 2 == 0 ? "user" : "assistant");
    Json content = Json::array();
    content.push_back(Json::object({{"type", "text"}, {"text", prose(1500)}}));
    if (i % 2 == 1) {
      Json input = Json::object({{"path", "src/core/json.cpp"},
                                 {"limit", static_cast<int>(random() % 1000)},
                                 {"offset", 1.5 * static_cast<double>(random() % 1000)},
                                 {"recursive", true},
                                 {"filter", nullptr}});
      content.push_back(Json::object({{"type", "tool_use"},
                                      {"id", "toolu_" + std::to_string(random())},
                                      {"name", "read_file"},
                                      {"input", std::move(input)}}));
    } else {
      Json rows = Json::array();
      for (int row = 0; row < 20; ++row) {
        rows.push_back(Json::object(
            {{"line", row}, {"score", static_cast<double>(random()) / 1e9}, {"text", prose(30)}}));
      }
      content.push_back(Json::object({{"type", "tool_result"},
                                      {"tool_use_id", "toolu_" + std::to_string(random())},
                                      {"content", std::move(rows)}}));
    }
    message.set("content", std::move(content));
    messages.push_back(std::move(message));
  }
  return Json::object({{"model", "some-model"}, {"max_tokens", 4096}, {"messages", messages}});
}

void json_parse_1mb(benchmark::State& state) {
  const std::string text = tug::print_json(conversation());
  for (auto _ : state) benchmark::DoNotOptimize(tug::parse_json(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(json_parse_1mb)->Unit(benchmark::kMicrosecond);

void json_print_1mb(benchmark::State& state) {
  const Json value = *tug::parse_json(tug::print_json(conversation()));
  std::size_t size = 0;
  for (auto _ : state) {
    const std::string text = tug::print_json(value);
    size = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * size));
}
BENCHMARK(json_print_1mb)->Unit(benchmark::kMicrosecond);

void json_parse_tool_arguments(benchmark::State& state) {
  const std::string text =
      R"({"path":"src/core/json.cpp","limit":200,"offset":1.5,"recursive":true,"tags":["a","b"]})";
  for (auto _ : state) benchmark::DoNotOptimize(tug::parse_json(text));
}
BENCHMARK(json_parse_tool_arguments);

}  // namespace
