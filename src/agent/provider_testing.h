// A harness whose models are asked over HTTP, in virtual time: the providers are mocks.
#pragma once

#include <string>
#include <utility>

#include "agent/testing.h"
#include "tug/model/provider.h"
#include "tug/testkit/mock_provider.h"

namespace tug {

inline constexpr Api kApis[] = {Api::openai_chat, Api::openai_responses, Api::anthropic,
                                Api::gemini};

inline ModelProfile capable(std::string provider) {
  ModelProfile profile{.provider = std::move(provider),
                       .name = "model",
                       .context_tokens = 200'000,
                       .max_output_tokens = 8'000};
  profile.structured = true;
  profile.reasoning = true;
  profile.vision = true;
  profile.input = {Modality::text, Modality::image};
  return profile;
}

// One provider: "<name>/model".
struct Mocked {
  explicit Mocked(Api api, std::string name = "mock", ProviderConfig config = {}) {
    config.name = name;
    config.api = api;
    config.base_url = provider->base_url(api);
    if (config.key.empty()) config.key = Secret("sk-very-secret");
    auto made =
        make_http_model(std::move(config), capable(std::move(name)), provider->http_client());
    EXPECT_TRUE(made) << to_string(made.error());
    model = *std::move(made);
  }
  // Every request so far was one that the API takes, and went on from the one before it.
  void expect_legal_requests() const {
    for (const MockRequest& request : provider->requests()) {
      EXPECT_EQ(request.faults, std::vector<std::string>()) << request.body;
      EXPECT_TRUE(request.extends_previous) << request.body;
    }
  }

  std::shared_ptr<MockProvider> provider = make_mock_provider();
  ModelPtr model;
};

inline MockReply says(std::string text) {
  MockReply reply;
  reply.text = std::move(text);
  return reply;
}
inline MockReply calls(std::string tool, std::string arguments) {
  MockReply reply;
  reply.calls.push_back({std::move(tool), std::move(arguments), ""});
  return reply;
}
inline MockReply refuses(int status, std::string body = "{}") {
  MockReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

inline std::vector<const Event*> all_of(const SeenEvents& seen, Kind kind) {
  std::vector<const Event*> found;
  for (const Event& event : seen.events) {
    if (event.kind == kind) found.push_back(&event);
  }
  return found;
}

}  // namespace tug
