#include <gtest/gtest.h>

#include "agent/answer_cache.h"
#include "agent/provider_testing.h"
#include "tug/store/response_cache.h"

namespace tug {
namespace {

struct City {
  std::string city;
};

struct Cached {
  explicit Cached(Mocked& mocked, std::optional<bool> responses = true) {
    HarnessOptions options;
    options.response_cache = cache;
    options.settings.cache_policy.responses = responses;
    rig = std::make_unique<Rig>(mocked.model, 1, options);
    rig->harness->tool("weather", "Weather",
                       [](const City& where) { return where.city + ": sun"; });
  }
  std::shared_ptr<ResponseCache> cache = make_memory_response_cache();
  std::unique_ptr<Rig> rig;
};

TEST(KeptAnswers, AreServedAgainWithoutAskingTurnByTurn) {
  Mocked mocked(Api::openai_chat);
  mocked.provider->reply(calls("weather", R"({"city":"Oslo"})"));
  mocked.provider->reply(says("sun"));
  Cached cached(mocked);
  const RunResult first = cached.rig->run("go");
  EXPECT_EQ(cached.rig->seen->count(Kind::cache_miss), 2u);
  const RunResult second = cached.rig->run("go");
  EXPECT_EQ(second.text, "sun");
  EXPECT_EQ(second.tool_calls.size(), 1u) << "tools run again";
  EXPECT_EQ(second.counts.model_calls, 2) << "it counts against the limits";
  EXPECT_EQ(second.usage, Usage()) << "but was not used again";
  EXPECT_EQ(mocked.provider->requests().size(), 2u);
  EXPECT_EQ(cached.rig->seen->count(Kind::cache_hit), 2u);
  EXPECT_TRUE(cached.rig->seen->events.back().who);
  std::string streamed;
  for (const Event* delta : all_of(*cached.rig->seen, Kind::model_delta)) {
    streamed += delta->data["text"].as_string();
  }
  EXPECT_EQ(streamed, "sunsun") << "what is kept is streamed, too";
}

TEST(KeptAnswers, AreNotUsedForWhatIsAMatterOfLuck) {
  Mocked mocked(Api::openai_chat);
  mocked.provider->reply(says("a"));
  Cached cached(mocked, std::nullopt);
  cached.rig->run("go");
  cached.rig->run("go");
  EXPECT_EQ(mocked.provider->requests().size(), 2u);
  RunOptions fixed;
  fixed.settings.temperature = 0;
  cached.rig->run("go", fixed);
  cached.rig->run("go", fixed);
  EXPECT_EQ(mocked.provider->requests().size(), 3u);
  fixed.settings.cache_policy.responses = false;
  cached.rig->run("go", fixed);
  EXPECT_EQ(mocked.provider->requests().size(), 4u) << "the nearest policy counts";
}

TEST(KeptAnswers, OfAFallbackAreNotThoseOfTheFirst) {
  Mocked first(Api::openai_chat, "first");
  Mocked second(Api::openai_chat, "second");
  first.provider->reply(refuses(500));
  first.provider->reply(refuses(500));
  first.provider->reply(refuses(500));
  first.provider->reply(refuses(500));
  first.provider->reply(says("from the first"));
  second.provider->reply(says("from the second"));
  HarnessOptions options;
  options.response_cache = make_memory_response_cache();
  options.settings.cache_policy.responses = true;
  options.fallback_models = {"second/model"};
  Rig rig(first.model, 1, options);
  rig.models->add(second.model);
  EXPECT_EQ(rig.run("go").text, "from the second");
  EXPECT_EQ(rig.run("go").text, "from the first");
}

TEST(KeptAnswers, RequestsThatAreAlikeAtOnceAreMadeOnce) {
  Mocked mocked(Api::openai_chat);
  MockReply slow = says("once");
  slow.delay = std::chrono::seconds(1);
  mocked.provider->reply(slow);
  Cached cached(mocked);
  std::vector<tug::Run> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(cached.rig->harness->start("go"));
  for (tug::Run& run : runs) EXPECT_EQ(run.wait().text, "once");
  EXPECT_EQ(mocked.provider->requests().size(), 1u);
}

TEST(KeptAnswers, ALeaderThatFailsLetsTheOthersTry) {
  Mocked mocked(Api::openai_chat);
  MockReply slow = refuses(400, R"({"error":{"message":"no"}})");
  slow.delay = std::chrono::seconds(1);
  mocked.provider->reply(slow);
  mocked.provider->reply(says("second try"));
  Cached cached(mocked);
  std::vector<tug::Run> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(cached.rig->harness->start("go"));
  int good = 0;
  for (tug::Run& run : runs) good += run.wait().text == "second try";
  EXPECT_EQ(good, 2);
  EXPECT_EQ(mocked.provider->requests().size(), 2u);
}

ModelRequest request_with(const std::function<void(ModelRequest&)>& change = {}) {
  ModelRequest request;
  request.model = "mock/model";
  EXPECT_TRUE(request.transcript.append_user(Message::user("hello")));
  if (change) change(request);
  return request;
}

// Every setting that changes the answer changes the key; what does not, does not.
TEST(KeptAnswers, KeysTellApartWhatChangesTheAnswer) {
  const Digest usual = request_digest(request_with(), "who");
  const auto key = [](const std::function<void(ModelRequest&)>& change) {
    return request_digest(request_with(change), "who");
  };
  EXPECT_EQ(key({}), usual);
  EXPECT_NE(request_digest(request_with(), "another"), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.temperature = 0.5; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.top_p = 0.5; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.stop = {"x"}; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.seed = 1; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.reasoning = "high"; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.stream = false; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.provider_options = Json::object({{"k", 1}}); }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.hints = {{"a/b", 1}}; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.required.vision = true; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.reuse_previous = true; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.max_output_tokens = 10; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.tool_choice = ToolChoice::none; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.tool = "t"; }), usual);
  EXPECT_NE(key([](ModelRequest& r) { r.system = std::make_shared<const std::string>("s"); }),
            usual);
  EXPECT_NE(
      key([](ModelRequest& r) { EXPECT_TRUE(r.transcript.append_user(Message::user("more"))); }),
      usual);
  EXPECT_EQ(key([](ModelRequest& r) { r.timeout = std::chrono::seconds(1); }), usual);
  EXPECT_EQ(key([](ModelRequest& r) { r.metadata = Json::object({{"k", "v"}}); }), usual);
  EXPECT_EQ(key([](ModelRequest& r) { r.cache_policy.responses = true; }), usual);
  EXPECT_EQ(key([](ModelRequest& r) { r.thread = "t"; }), usual);
}

}  // namespace
}  // namespace tug
