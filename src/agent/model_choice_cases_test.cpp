// Which model a run asks: what it names, what it hints at, what it must be able to.
#include <gtest/gtest.h>

#include "agent/provider_testing.h"

namespace tug {
namespace {

struct Two {
  Two() {
    first.provider->reply(says("from the first"));
    second.provider->reply(says("from the second"));
  }
  std::unique_ptr<Rig> rig(HarnessOptions options = {}) {
    auto made = std::make_unique<Rig>(first.model, 1, std::move(options));
    made->models->add(second.model);
    return made;
  }
  Mocked first{Api::openai_chat, "first"};
  Mocked second{Api::openai_chat, "second"};
};

std::string source_of(const Rig& rig) {
  return std::string(all_of(*rig.seen, Kind::model_completed).back()->data["source"].as_string());
}

TEST(ModelChoice, WhatTheRunNamesComesFirst) {
  Two two;
  const auto rig = two.rig();
  RunOptions options;
  options.model = "second/model";
  options.settings.hints = {{"first/model", 9}};
  EXPECT_EQ(rig->run("go", options).text, "from the second");
  EXPECT_EQ(source_of(*rig), "request");
}

TEST(ModelChoice, AHintComesBeforeTheDefault) {
  Two two;
  const auto rig = two.rig();
  RunOptions options;
  options.settings.hints = {{"nobody/model", 9}, {"second/model", 1}};
  EXPECT_EQ(rig->run("go", options).text, "from the second");
  EXPECT_EQ(source_of(*rig), "hint");
  const Event* skipped = rig->seen->find(Kind::model_override_skipped);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->data["requested"].as_string(), "nobody/model");
  EXPECT_EQ(skipped->data["resolved"].as_string(), "second/model");
}

TEST(ModelChoice, WhatCannotDoWhatIsRequiredIsPassedOver) {
  Two two;
  const auto rig = two.rig();
  RunOptions options;
  options.model = "second/model";
  options.settings.required.context_tokens = 1'000'000;
  EXPECT_TRUE(rig->run("go", options).error) << "nobody is left";
  options.settings.required.context_tokens = 100'000;
  EXPECT_EQ(rig->run("go", options).text, "from the second");
}

TEST(ModelChoice, AMistypedModelIsAnErrorAndNotAnotherModel) {
  Two two;
  const auto rig = two.rig();
  RunOptions options;
  options.model = "secnd/model";
  const RunResult result = rig->run("go", options);
  ASSERT_TRUE(result.error);
  EXPECT_NE(to_string(*result.error).find("second"), std::string::npos);
}

TEST(ModelChoice, ThePreviousModelStaysWhereTheRunSaysSo) {
  Two two;
  const auto rig = two.rig();
  RunOptions options;
  options.settings.hints = {{"second/model", 1}};
  const RunResult first = rig->run("go", options);
  ASSERT_EQ(first.text, "from the second");
  RunOptions stay;
  stay.observers.push_back(rig->seen);
  stay.settings.reuse_previous = true;
  stay.settings.hints = {{"first/model", 1}};
  const RunResult next = rig->harness->resume(first.id, "and now?", stay).wait();
  EXPECT_EQ(next.text, "from the second");
  EXPECT_EQ(source_of(*rig), "previous");
}

TEST(ModelChoice, AnOverflowTeachesTheWindow) {
  Two two;
  ModelProfile unknown{.provider = "new", .name = "model"};
  auto provider = make_mock_provider();
  provider->reply(refuses(400,
                          R"({"error":{"message":"This model's maximum context length is 8192 )"
                          R"(tokens. However, your messages resulted in 9000 tokens.",)"
                          R"("type":"invalid_request_error",)"
                          R"("code":"context_length_exceeded"}})"));
  provider->reply(says("fits"));
  auto made = make_http_model({.name = "new",
                               .api = Api::openai_chat,
                               .base_url = provider->base_url(Api::openai_chat),
                               .key = Secret("sk-secret")},
                              unknown, provider->http_client());
  ASSERT_TRUE(made);
  Rig rig(*made);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::context_overflow);
  const Event* started = rig.seen->find(Kind::model_started);
  EXPECT_EQ(started->data["context"]["max_tokens"].as_int(), kAssumedContextTokens);
  const Event* window = rig.seen->find(Kind::context_window);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->data["max_tokens"].as_int(), 8192);
  EXPECT_EQ(window->data["source"].as_string(), "learned");
  EXPECT_EQ(rig.run("go").window.max_tokens, 8192);
}

TEST(ModelChoice, ADeprecatedModelAnswersAndSomebodyIsTold) {
  Two two;
  const auto rig = two.rig();
  ModelOverride old;
  old.provider = "third";
  old.status = ModelStatus::deprecated;
  rig->models->override_with(old);
  Mocked third(Api::openai_chat, "third");
  third.provider->reply(says("still here"));
  rig->models->add(third.model);
  RunOptions options;
  options.model = "third/model";
  EXPECT_EQ(rig->run("go", options).text, "still here");
  EXPECT_EQ(rig->seen->find(Kind::context_diagnostic)->data["code"].as_string(),
            "model_deprecated");
}

}  // namespace
}  // namespace tug
