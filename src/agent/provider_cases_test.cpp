// Runs whose models are asked over HTTP: what is sent, what is recorded, what is done about faults.
#include <gtest/gtest.h>

#include "agent/provider_testing.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

struct City {
  std::string city;
};

void add_weather(Rig& rig) {
  rig.harness->tool("weather", "Weather of a city",
                    [](const City& where) { return where.city + ": sun"; });
}

std::string with_secret(const SeenEvents& seen) {
  for (const Event& event : seen.events) {
    const std::string text = print_json(event.data);
    if (text.find("sk-very-secret") != std::string::npos) return text;
  }
  return "";
}

class EveryApi : public ::testing::TestWithParam<Api> {};
INSTANTIATE_TEST_SUITE_P(Dialects, EveryApi, ::testing::ValuesIn(kApis));

TEST_P(EveryApi, RunsALoopOfToolsStreamedAndWhole) {
  for (const bool stream : {true, false}) {
    Mocked mocked(GetParam());
    mocked.provider->reply(calls("weather", R"({"city":"Oslo"})"));
    MockReply two = calls("weather", R"({"city":"Rome"})");
    two.calls.push_back({"weather", R"({"city":"Bern"})", ""});
    two.text = "Two more.";
    mocked.provider->reply(two);
    mocked.provider->reply(says("Sun everywhere."));
    Rig rig(mocked.model);
    add_weather(rig);
    RunOptions options;
    options.settings.stream = stream;
    const RunResult result = rig.run("How is the weather?", options);
    ASSERT_FALSE(result.error) << to_string(*result.error);
    EXPECT_EQ(result.text, "Sun everywhere.");
    EXPECT_EQ(result.tool_calls.size(), 3u);
    EXPECT_EQ(result.usage.input_tokens, 30);
    EXPECT_EQ(result.usage.output_tokens, 15);
    EXPECT_EQ(mocked.provider->requests().size(), 3u);
    mocked.expect_legal_requests();
    EXPECT_EQ(with_secret(*rig.seen), "");
    EXPECT_EQ(rig.seen->find(Kind::model_completed)->data["source"].as_string(), "agent_default");
  }
}

TEST_P(EveryApi, WaitsAsLongAsTheProviderSaysAndNotLonger) {
  Mocked mocked(GetParam());
  MockReply busy = refuses(429, R"({"error":{"message":"slow down","type":"rate_limit_error"}})");
  busy.headers.emplace_back("retry-after", "7");
  mocked.provider->reply(busy);
  mocked.provider->reply(says("here"));
  Rig rig(mocked.model);
  EXPECT_EQ(rig.run("go").text, "here");
  const auto requests = mocked.provider->requests();
  ASSERT_EQ(requests.size(), 2u);
  const Duration waited = requests[1].at - requests[0].at;
  EXPECT_GE(waited, std::chrono::seconds(7));
  EXPECT_LE(waited, std::chrono::milliseconds(7700));
  EXPECT_EQ(rig.seen->find(Kind::retry_scheduled)->data["delay_ms"].as_int(), 7000);
}

TEST_P(EveryApi, DoesNotRetryASpentAccount) {
  Mocked mocked(GetParam());
  mocked.provider->reply(refuses(429,
                                 R"({"error":{"message":"You exceeded your current quota","type":)"
                                 R"("insufficient_quota","code":"insufficient_quota"}})"));
  Rig rig(mocked.model);
  const RunResult result = rig.run("go");
  EXPECT_EQ(mocked.provider->requests().size(), 1u);
  EXPECT_EQ(fault_of(*result.error), Fault::quota_terminal);
}

TEST_P(EveryApi, NeverTakesACutStreamForAnAnswer) {
  Mocked mocked(GetParam());
  MockReply cut = says("half an answer that is cut somewhere in the middle of its words");
  cut.chunks = 8;
  cut.fault = MockFault::cut_stream;
  cut.cut_after = 600;
  mocked.provider->reply(cut);
  mocked.provider->reply(says("whole"));
  Rig rig(mocked.model);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "whole");
  const Event* failed = rig.seen->find(Kind::model_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->data["error"]["detail"]["fault"].as_string(), "stream_cut");
  EXPECT_TRUE(failed->data["estimated"].as_bool()) << "what was received stands on the bill";
  EXPECT_GT(failed->data["usage"]["input_tokens"].as_int().value_or(0), 0);
  EXPECT_EQ(result.messages.size(), 2u) << "nothing of it is in the transcript";
}

TEST_P(EveryApi, RunsNoToolOfACutStream) {
  Mocked mocked(GetParam());
  MockReply cut = calls("weather", R"({"city":"Oslo"})");
  mocked.provider->reply(cut);
  mocked.provider->reply(says("done"));
  Rig probe(mocked.model);
  int ran = 0;
  probe.harness->inline_tool("weather", "", [&](const City&) {
    ++ran;
    return std::string("sun");
  });
  ASSERT_EQ(probe.run("go").text, "done");
  EXPECT_EQ(ran, 1);
  ran = 0;
  for (std::size_t at = 1; at < 260; at += 7) {
    Mocked again(GetParam());
    cut.fault = MockFault::cut_stream;
    cut.cut_after = at;
    again.provider->reply(cut);
    again.provider->reply(says("done"));
    Rig rig(again.model);
    rig.harness->inline_tool("weather", "", [&](const City&) {
      ++ran;
      return std::string("sun");
    });
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.text, "done") << at;
    EXPECT_EQ(ran, 0) << "cut after " << at << " bytes";
  }
}

TEST_P(EveryApi, CutsAStreamOfPingsAtTheEventLimit) {
  Mocked mocked(GetParam());
  MockReply silent = says("never");
  silent.fault = MockFault::pings_only;
  silent.between = std::chrono::seconds(10);
  mocked.provider->reply(silent);
  mocked.provider->reply(says("late"));
  Rig rig(mocked.model);
  EXPECT_EQ(rig.run("go").text, "late");
  const Event* failed = rig.seen->find(Kind::model_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->data["error"]["detail"]["fault"].as_string(), "stream_stalled");
}

TEST_P(EveryApi, TakesAnotherKeyWhenTheFirstIsRefused) {
  ProviderConfig config;
  config.key = Secret("sk-old-and-gone");
  config.reload_key = [] { return Result<Secret>(Secret("sk-new-and-good")); };
  Mocked mocked(GetParam(), "mock", config);
  mocked.provider->reply_with([](const MockRequest& request) {
    for (const HttpHeader& header : request.headers) {
      if (header.value.find("sk-new-and-good") != std::string::npos) return says("in");
    }
    return refuses(401, R"({"error":{"message":"invalid key sk-old-and-gone"}})");
  });
  Rig rig(mocked.model);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "in");
  for (const Event& event : rig.seen->events) {
    EXPECT_EQ(print_json(event.data).find("sk-old"), std::string::npos) << print_json(event.data);
  }
}

TEST(Provider, ARefusedSignatureIsLeftOutOnce) {
  Mocked mocked(Api::anthropic);
  MockReply first = calls("weather", R"({"city":"Oslo"})");
  first.reasoning = "I look it up.";
  mocked.provider->reply(first);
  mocked.provider->reply(
      refuses(400, R"({"type":"error","error":{"type":"invalid_request_error","message":)"
                   R"("messages.1.content.0: Invalid `signature` in `thinking` block"}})"));
  mocked.provider->reply(says("sun"));
  Rig rig(mocked.model);
  add_weather(rig);
  RunOptions options;
  options.settings.reasoning = "high";
  const RunResult result = rig.run("go", options);
  ASSERT_FALSE(result.error) << to_string(*result.error);
  EXPECT_EQ(result.text, "sun");
  const auto requests = mocked.provider->requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_NE(requests[1].body.find("\"signature\""), std::string::npos);
  EXPECT_EQ(requests[2].body.find("\"signature\""), std::string::npos);
  EXPECT_EQ(rig.seen->find(Kind::context_diagnostic)->data["code"].as_string(),
            "reasoning_dropped");
}

TEST(Provider, AnAnswerThatDoesNotFitGetsTheRoomThatIsLeft) {
  Mocked mocked(Api::anthropic);
  mocked.provider->reply(
      refuses(400, R"({"type":"error","error":{"type":"invalid_request_error","message":"input )"
                   R"(length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, )"
                   R"(decrease input length or `max_tokens` and try again"}})"));
  mocked.provider->reply(says("short"));
  Rig rig(mocked.model);
  const RunResult result = rig.run("go");
  ASSERT_FALSE(result.error) << to_string(*result.error);
  const auto requests = mocked.provider->requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[1].json["max_tokens"].as_int(), 10'000);
}

TEST(Provider, AConversationThatTheProviderLostIsSentWhole) {
  ProviderConfig config;
  config.chain_responses = true;
  Mocked mocked(Api::openai_responses, "mock", config);
  mocked.provider->reply(calls("weather", R"({"city":"Oslo"})"));
  mocked.provider->reply(refuses(404, R"({"error":{"message":"Previous response with id 'resp_1' )"
                                      R"(not found.","type":"invalid_request_error",)"
                                      R"("code":"previous_response_not_found"}})"));
  mocked.provider->reply(says("sun"));
  Rig rig(mocked.model);
  add_weather(rig);
  const RunResult result = rig.run("go");
  ASSERT_FALSE(result.error) << to_string(*result.error);
  EXPECT_EQ(result.text, "sun");
  const auto requests = mocked.provider->requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_TRUE(requests[1].json["previous_response_id"].is_string());
  EXPECT_LT(requests[1].json["input"].size(), requests[2].json["input"].size());
  EXPECT_FALSE(requests[2].json.contains("previous_response_id"));
}

// Whoever was asked first, whoever takes over: the history is one that the second provider takes.
TEST(Provider, AnyProviderTakesOverFromAnyOther) {
  for (const Api from : kApis) {
    for (const Api to : kApis) {
      Mocked first(from, "first");
      Mocked second(to, "second");
      MockReply thinking = calls("weather", R"({"city":"Oslo"})");
      thinking.calls.push_back({"weather", R"({"city":"Rome"})", ""});
      thinking.reasoning = "Both, then.";
      first.provider->reply(thinking);
      first.provider->reply(refuses(500));
      second.provider->reply(calls("weather", R"({"city":"Bern"})"));
      second.provider->reply(says("sun"));
      HarnessOptions options;
      options.fallback_models = {"second/model"};
      options.settings.reasoning = "medium";
      Rig rig(first.model, 1, options);
      rig.models->add(second.model);
      add_weather(rig);
      const RunResult result = rig.run("go");
      ASSERT_FALSE(result.error) << to_string(*result.error);
      EXPECT_EQ(result.text, "sun");
      first.expect_legal_requests();
      second.expect_legal_requests();
      const auto asked = all_of(*rig.seen, Kind::model_completed);
      EXPECT_EQ(asked.back()->data["source"].as_string(), "fallback");
    }
  }
}

TEST(Provider, AMalformedRequestNeverReachesAFallback) {
  Mocked first(Api::openai_chat, "first");
  Mocked second(Api::openai_chat, "second");
  first.provider->reply(refuses(400, R"({"error":{"message":"bad field"}})"));
  HarnessOptions options;
  options.fallback_models = {"second/model"};
  Rig rig(first.model, 1, options);
  rig.models->add(second.model);
  EXPECT_TRUE(rig.run("go").error);
  EXPECT_TRUE(second.provider->requests().empty());
}

TEST(Provider, TheThreadGoesWhereTheProviderWantsItForAllRunsOfATree) {
  ProviderConfig config;
  config.thread_header = "x-session-affinity";
  config.thread_field = "user";
  config.thread_salt = "pepper";
  Mocked mocked(Api::openai_chat, "mock", config);
  mocked.provider->reply_with([](const MockRequest& request) {
    if (request.json["messages"].size() > 2) return says("done");
    const bool child = request.body.find("look") != std::string::npos;
    return child ? says("seen") : calls("helper", R"({"input":"look"})");
  });
  Rig rig(mocked.model);
  rig.harness->agent("helper", "Helps");
  EXPECT_EQ(rig.run("go").text, "done");
  const auto requests = mocked.provider->requests();
  ASSERT_EQ(requests.size(), 3u);
  for (const MockRequest& request : requests) {
    EXPECT_EQ(request.json["user"], requests[0].json["user"]);
    EXPECT_EQ(find_header(request.headers, "x-session-affinity"), request.json["user"].as_string());
  }
  EXPECT_FALSE(requests[0].json["user"].as_string().empty());
}

}  // namespace
}  // namespace tug
