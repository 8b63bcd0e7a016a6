// Models over HTTP as a user meets them: the command against the mock provider on real sockets.
#include <gmock/gmock.h>

#include "journey.h"
#include "tug/testkit/mock_provider.h"

namespace tug::journey {
namespace {

using ::testing::IsEmpty;

struct Named {
  Api api;
  std::string model;
  std::string key;  // the variable
  std::string key_header;
  std::string schema_word;  // where a request says what the answer must look like
};
const Named kNamed[] = {
    {Api::openai_chat, "openai-chat/gpt-test", "OPENAI_API_KEY", "authorization",
     "response_format"},
    {Api::openai_responses, "openai/gpt-test", "OPENAI_API_KEY", "authorization", "\"format\":"},
    {Api::anthropic, "anthropic/claude-test", "ANTHROPIC_API_KEY", "x-api-key", "output_config"},
    {Api::gemini, "gemini/gemini-test", "GEMINI_API_KEY", "x-goog-api-key", "responseJsonSchema"},
};
constexpr std::string_view kKey = "sk-secret-0123456789";

class ModelsOverHttp : public Journey {
 protected:
  void SetUp() override {
    auto url = mock_->serve();
    ASSERT_TRUE(url) << to_string(url.error());
  }
  Ran ask(const Named& named, std::vector<std::string> more, std::string prompt = "hello") {
    environment_ = {named.key + "=" + std::string(kKey)};
    std::vector<std::string> words = {"run", "-m", named.model, "--base-url",
                                      mock_->base_url(named.api)};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(std::move(prompt));
    return tug(words);
  }
  void expect_no_faults() const {
    for (const MockRequest& request : mock_->requests()) {
      EXPECT_THAT(request.faults, IsEmpty()) << name_of(request.api) << " " << request.body;
    }
  }
  // The whole state folder, for what must not be in it.
  bool state_holds(std::string_view text) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(stream), {});
      if (bytes.find(text) != std::string::npos) return true;
    }
    return false;
  }

  const std::shared_ptr<MockProvider> mock_ = make_mock_provider();
};

TEST_F(ModelsOverHttp, EveryApiAnswersAPromptAndTheKeyStaysSecret) {
  mock_->reply({.text = "Good day.", .reasoning = "A greeting.", .chunks = 3});
  for (const Named& named : kNamed) {
    const Ran ran = ask(named, {"-o", "json"});
    ASSERT_EQ(ran.exit, 0) << named.model << ": " << ran.err;
    const Json result = parse_json(ran.out).value();
    EXPECT_EQ(result["text"], "Good day.") << named.model;
    EXPECT_EQ(result["model"], named.model);
    EXPECT_EQ(result["usage"]["input_tokens"], 10) << named.model;
    EXPECT_EQ(result["usage"]["output_tokens"], 5) << named.model;
    EXPECT_EQ(result["counts"]["attempts"], 1);
    const MockRequest request = mock_->requests().back();
    EXPECT_EQ(request.api, named.api);
    const std::string_view key = find_header(request.headers, named.key_header);
    EXPECT_TRUE(key.ends_with(kKey)) << named.model;
    EXPECT_EQ(ran.out.find(kKey), std::string::npos);
    EXPECT_EQ(ran.err.find(kKey), std::string::npos);
  }
  expect_no_faults();
  EXPECT_FALSE(state_holds(kKey));
}

TEST_F(ModelsOverHttp, ToolsAreCalledAndEveryRequestExtendsTheOneBefore) {
  file("one.txt", "first\n");
  file("two.txt", "second\n");
  for (const Named& named : kNamed) {
    const std::size_t before = mock_->requests().size();
    mock_->reply_with([before, this](const MockRequest&) -> MockReply {
      switch (mock_->requests().size() - before) {
        case 1:
          return {.text = "Reading.",
                  .reasoning = "Two files.",
                  .calls = {{.name = "read", .arguments = R"({"path":"one.txt"})"},
                            {.name = "read", .arguments = R"({"path":"two.txt"})"}},
                  .chunks = 2};
        case 2:
          return {.calls = {{.name = "list", .arguments = R"({"path":"."})"}}};
        default:
          return {.text = "Both read."};
      }
    });
    const Ran ran = ask(named, {"--tools", "read,list", "-o", "json"}, "read both");
    ASSERT_EQ(ran.exit, 0) << named.model << ": " << ran.err;
    const Json result = parse_json(ran.out).value();
    EXPECT_EQ(result["text"], "Both read.") << named.model;
    EXPECT_EQ(result["counts"]["tool_calls"], 3) << named.model;
    const auto requests = mock_->requests();
    ASSERT_EQ(requests.size(), before + 3) << named.model;
    EXPECT_NE(requests.back().body.find("second"), std::string::npos) << named.model;
    for (std::size_t i = before + 1; i < requests.size(); ++i) {
      EXPECT_EQ(requests[i].extends, i) << named.model << "\n"
                                        << requests[i - 1].body << "\n"
                                        << requests[i].body;
    }
  }
  expect_no_faults();
}

TEST_F(ModelsOverHttp, DeltasAreStreamedAsTheyCome) {
  mock_->reply({.text = "one two three", .chunks = 3});
  for (const Named& named : kNamed) {
    const Told told = told_by(ask(named, {"-o", "stream-json"}));
    ASSERT_EQ(told.exit, 0) << named.model << ": " << told.err;
    std::string text;
    for (const Json& delta : told.of("model.delta")) text += delta["text"].as_string();
    EXPECT_EQ(text, "one two three") << named.model;
    EXPECT_GE(told.of("model.delta").size(), 1u);
  }
}

TEST_F(ModelsOverHttp, ABusyProviderIsAskedAgainAndTheWaitIsTold) {
  mock_->reply({.status = 503, .headers = {{"retry-after-ms", "20"}}});
  mock_->reply({.text = "at last"});
  const Told told = told_by(ask(kNamed[2], {"-o", "stream-json"}));
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], "at last");
  EXPECT_EQ(told.of("retry.scheduled").size(), 1u);
  EXPECT_EQ(told.of("model.failed").size(), 1u);
  EXPECT_EQ(told.result["counts"]["attempts"], 2);
}

TEST_F(ModelsOverHttp, ARefusedKeyIsExit4AndNamesTheVariable) {
  mock_->reply({.status = 401});
  for (const Named& named : kNamed) {
    const Ran ran = ask(named, {});
    EXPECT_EQ(ran.exit, 4) << named.model << ": " << ran.err;
    EXPECT_TRUE(has(ran.err, named.key)) << named.model;
    EXPECT_EQ(ran.err.find(kKey), std::string::npos);
  }
  EXPECT_EQ(mock_->requests().size(), 4u);
}

TEST_F(ModelsOverHttp, AWaitThatIsTooLongIsExit3) {
  mock_->reply({.status = 429, .headers = {{"retry-after", "3600"}}});
  const Ran ran = ask(kNamed[0], {});
  EXPECT_EQ(ran.exit, 3) << ran.err;
  EXPECT_EQ(mock_->requests().size(), 1u);
}

TEST_F(ModelsOverHttp, AWebPageIsNoAnswer) {
  mock_->reply({.fault = MockFault::html});
  const Ran ran = ask(kNamed[0], {"--retries", "0"});
  EXPECT_NE(ran.exit, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "web page"));
}

TEST_F(ModelsOverHttp, ACutAnswerIsNeverTakenForAWholeOne) {
  mock_->reply(
      {.text = "never shown as an answer", .fault = MockFault::cut_stream, .cut_after = 600});
  const Told told = told_by(ask(kNamed[2], {"--retries", "0", "-o", "stream-json"}));
  EXPECT_EQ(told.exit, 3) << told.err;
  EXPECT_EQ(told.result["text"], "");
  EXPECT_EQ(told.result["status"], "failed");
}

TEST_F(ModelsOverHttp, AnAnswerToASchemaIsAskedForNatively) {
  mock_->reply({.text = R"({"city":"Oslo"})"});
  std::string rows;
  for (const Named& named : kNamed) {
    const std::size_t slash = named.model.find('/');
    rows += "[[models]]\nprovider = \"" + named.model.substr(0, slash) + "\"\nid = \"" +
            named.model.substr(slash + 1) + "\"\ncaps = [\"tools\", \"structured\"]\n";
  }
  file("../config/tug/config.toml", rows);
  const std::string schema = file(
      "schema.json",
      R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false})");
  for (const Named& named : kNamed) {
    const Ran ran = ask(named, {"--json-schema", schema, "-o", "json"});
    EXPECT_EQ(ran.exit, 0) << named.model << ": " << ran.err;
    if (ran.exit != 0) continue;
    EXPECT_EQ(parse_json(ran.out).value()["output"]["city"], "Oslo") << named.model;
    EXPECT_TRUE(has(mock_->requests().back().body, named.schema_word));
  }
  expect_no_faults();
}

TEST_F(ModelsOverHttp, CtrlCClosesTheStreamAtOnce) {
  mock_->reply({.text = "a long story", .chunks = 2, .fault = MockFault::stall, .cut_after = 900});
  environment_ = {kNamed[2].key + "=" + std::string(kKey)};
  Running running(place(), {"run", "-m", kNamed[2].model, "--base-url",
                            mock_->base_url(Api::anthropic), "-o", "stream-json", "hello"});
  ASSERT_TRUE(running.wait_for("model.started"));
  running.send(SIGINT);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 130) << ran.err;
}

TEST_F(ModelsOverHttp, AnotherModelTakesOverAndReadsWhatWasSaid) {
  file("../config/tug/config.toml",
       "[providers.anthropic]\nbase_url = \"" + mock_->base_url(Api::anthropic) +
           "\"\n[providers.gemini]\nbase_url = \"" + mock_->base_url(Api::gemini) + "\"\n");
  file("one.txt", "first\n");
  mock_->reply_with([](const MockRequest& request) -> MockReply {
    if (request.api == Api::gemini) return {.text = "I take it from here."};
    if (request.body.find("tool_result") != std::string::npos) return {.status = 529};
    return {.text = "Let me read.",
            .reasoning = "One file.",
            .calls = {{.name = "read", .arguments = R"({"path":"one.txt"})"}}};
  });
  environment_ = {"ANTHROPIC_API_KEY=a-key-000", "GEMINI_API_KEY=g-key-000"};
  const Told told =
      told_by(tug({"run", "-m", "anthropic/claude-test", "--fallback-model", "gemini/gemini-test",
                   "--retries", "0", "--tools", "read", "-o", "stream-json", "read it"}));
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], "I take it from here.");
  EXPECT_EQ(told.of("model.fallback_selected").size(), 1u);
  expect_no_faults();
}

}  // namespace
}  // namespace tug::journey
