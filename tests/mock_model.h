// Models over HTTP whose provider is the mock: for tests of what may happen on the wire.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tug/context/transcript.h"
#include "tug/core/json.h"
#include "tug/io/engine.h"
#include "tug/io/http.h"
#include "tug/io/sim_engine.h"
#include "tug/model/faults.h"
#include "tug/model/model.h"
#include "tug/model/provider.h"
#include "tug/testkit/mock_provider.h"

namespace tug {

inline constexpr Api kApis[] = {Api::openai_chat, Api::openai_responses, Api::anthropic,
                                Api::gemini};

// "mock/m" of this API, at the mock.
inline ModelPtr mock_model(MockProvider& mock, Api api, HttpClientPtr client,
                           ProviderConfig config = {}) {
  config.name = "mock";
  config.api = api;
  if (config.base_url.empty()) config.base_url = mock.base_url(api);
  config.needs_key = false;
  auto model = make_http_model(
      std::move(config), {.provider = "mock", .name = "m", .reasoning = true}, std::move(client));
  EXPECT_TRUE(model) << to_string(model.error());
  return model ? *std::move(model) : nullptr;
}

inline std::string fault_name(const Error& error) {
  const auto fault = fault_of(error);
  return fault ? std::string(name_of(*fault)) : std::string(name_of(error.kind()));
}

// What one question came to.
struct Answered {
  std::string text;  // all deltas, or the turn's where there were none
  std::optional<ModelTurn> turn;
  std::optional<Error> error;
  Duration took{};

  std::string fault() const { return error ? fault_name(*error) : "none"; }
};

inline Task<Answered> hear_answer(std::shared_ptr<ModelStream> stream) {
  Loop& loop = co_await this_loop();
  const Instant begun = loop.now();
  Answered answered;
  while (true) {
    auto reading = stream->next();
    auto event = co_await std::move(reading);
    answered.took = loop.now() - begun;
    if (!event) answered.error = event.error();
    if (!event || !*event) co_return answered;
    if (const auto* delta = std::get_if<TextDelta>(&**event)) answered.text += delta->text;
    if (auto* turn = std::get_if<ModelTurn>(&**event)) {
      if (answered.text.empty() && turn->message) answered.text = turn->message->text();
      answered.turn = std::move(*turn);
    }
  }
}

inline Answered ask_model(Engine& engine, Model& model, Until until = {},
                          std::optional<bool> stream = {}) {
  ModelRequest request;
  request.model = "mock/m";
  request.stream = stream;
  EXPECT_TRUE(request.transcript.append_user(Message::user("hi")));
  std::shared_ptr<ModelStream> answer = model.ask(std::move(request), std::move(until));
  auto task = hear_answer(answer);
  answer.reset();
  auto heard = engine.run(engine.loop(0), std::move(task));
  EXPECT_TRUE(heard) << to_string(heard.error());
  return heard ? *std::move(heard) : Answered{};
}

}  // namespace tug
