// The mock provider as a program, for clients that are not ours: says where it listens, answers by
// what the first user message says, and tells on demand what it was asked.
//
//   {"url":"http://127.0.0.1:PORT"}     its first line
//   one line for each line it reads: a list of {path, api, stream, extends, faults}
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

#include "tug/core/json.h"
#include "tug/testkit/mock_provider.h"

namespace {

using tug::Json;
using tug::MockReply;
using tug::MockRequest;

bool has_result(const Json& json) {
  for (const std::string_view type : {"tool_result", "function_call_output"}) {
    if (json["type"].as_string() == type) return true;
  }
  if (json["role"].as_string() == "tool" || json.contains("functionResponse")) return true;
  for (const Json& item : json.items()) {
    if (has_result(item)) return true;
  }
  for (const Json::Member& member : json.members()) {
    if (has_result(member.value)) return true;
  }
  return false;
}

MockReply answer(const MockRequest& request) {
  const auto says = [&](std::string_view word) {
    return request.body.find("please " + std::string(word)) != std::string::npos;
  };
  if (says("fail")) return {.status = 429, .headers = {{"x-should-retry", "false"}}};
  if (says("break")) {
    const bool gemini = request.api == tug::Api::gemini;
    return {
        .text = "so far",
        .error_event =
            gemini
                ? R"({"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}})"
                : R"({"type":"error","error":{"type":"overloaded_error","message":"overloaded"}})"};
  }
  if (says("call") && !has_result(request.json)) {
    return {.text = "I will look.",
            .reasoning = "Two places, two calls.",
            .calls = {{.name = "weather", .arguments = R"({"city":"Oslo","days":[1,2]})"},
                      {.name = "weather", .arguments = R"({"city":"Bergen \u00e6\n"})"}},
            .usage = {.input_tokens = 120,
                      .output_tokens = 30,
                      .cache_read_tokens = 80,
                      .cache_write_tokens = 16,
                      .reasoning_tokens = 12},
            .chunks = 4};
  }
  return {.text = "Rain \xE2\x98\x94 in both.", .chunks = 3};
}

}  // namespace

int main() {
  const auto mock = tug::make_mock_provider();
  mock->reply_with(answer);
  auto url = mock->serve();
  if (!url) {
    std::cerr << to_string(url.error()) << '\n';
    return 1;
  }
  std::cout << print_json(Json::object({{"url", *url}})) << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    Json told = Json::array();
    for (const MockRequest& request : mock->requests()) {
      Json faults = Json::array();
      for (const std::string& fault : request.faults) faults.push_back(fault);
      told.push_back(Json::object({{"path", request.path},
                                   {"api", name_of(request.api)},
                                   {"stream", request.stream},
                                   {"extends", request.extends},
                                   {"faults", std::move(faults)}}));
    }
    std::cout << print_json(told) << std::endl;
  }
  return 0;
}
