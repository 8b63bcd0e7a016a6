#include "tug/model/embedder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "tug/core/base64.h"
#include "tug/core/json.h"
#include "tug/io/sim_engine.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

struct Answer {
  int status = 200;
  std::string body;
};

// Answers with what it was given, in order, some bytes at a time, and remembers what it was asked.
class CannedHttp final : public HttpClient {
 public:
  std::deque<Answer> answers;
  std::vector<HttpRequest> asked;

  Task<Result<std::unique_ptr<HttpResponse>>> send(HttpRequest request, Until) override {
    asked.push_back(std::move(request));
    if (answers.empty())
      co_return fail(ErrorKind::disconnected, "nobody is there", "",
                     Provider{.fault = "transport_unsent"});
    auto response = std::make_unique<CannedResponse>(std::move(answers.front()));
    answers.pop_front();
    co_return std::unique_ptr<HttpResponse>(std::move(response));
  }

 private:
  class CannedResponse final : public HttpResponse {
   public:
    explicit CannedResponse(Answer answer) : answer_(std::move(answer)) {}
    int status() const noexcept override { return answer_.status; }
    const std::vector<HttpHeader>& headers() const noexcept override { return headers_; }
    Task<Result<std::optional<std::string>>> read(Until) override {
      if (at_ == answer_.body.size()) co_return std::optional<std::string>();
      std::string some = answer_.body.substr(at_, 7);
      at_ += some.size();
      co_return std::optional(std::move(some));
    }

   private:
    Answer answer_;
    std::vector<HttpHeader> headers_;
    std::size_t at_ = 0;
  };
};

class EmbedderTest : public ::testing::Test {
 protected:
  EmbedderPtr openai(EmbedderOptions options = {.model = "text-embedding-3-small"}) {
    Result<EmbedderPtr> made = make_openai_embedder(provider, std::move(options), http);
    EXPECT_TRUE(made);
    return *made;
  }
  EmbedderPtr ollama(EmbedderOptions options = {.model = "nomic-embed-text"}) {
    ProviderConfig local{.name = "ollama", .base_url = "http://127.0.0.1:11434/v1"};
    Result<EmbedderPtr> made = make_ollama_embedder(local, std::move(options), http);
    EXPECT_TRUE(made);
    return *made;
  }
  Result<Embeddings> embed(const EmbedderPtr& embedder, std::vector<std::string> texts) {
    return engine->run(engine->loop(0), embedder->embed(std::move(texts), {}));
  }
  void answer(std::string body, int status = 200) {
    http->answers.push_back({status, std::move(body)});
  }
  std::string sent(std::size_t request) const { return http->asked.at(request).body.joined(); }

  ProviderConfig provider{
      .name = "openai", .base_url = "https://api.openai.com/v1/", .key = Secret("sk-test-123456")};
  std::shared_ptr<CannedHttp> http = std::make_shared<CannedHttp>();
  std::unique_ptr<SimEngine> engine = make_sim_engine();
};

using Vectors = std::vector<std::vector<float>>;

std::string fault_in(const Result<Embeddings>& result) {
  if (result) return "none";
  const std::optional<Fault> fault = fault_of(result.error());
  return std::string(fault ? name_of(*fault) : name_of(result.error().kind()));
}

TEST_F(EmbedderTest, VectorsComeBackInTheOrderOfTheirTexts) {
  answer(R"({"object":"list","data":[{"object":"embedding","index":1,"embedding":[3,4]},)"
         R"({"object":"embedding","index":0,"embedding":[1,2.5]}],"model":"m",)"
         R"("usage":{"prompt_tokens":8,"total_tokens":8}})");
  const Result<Embeddings> made = embed(openai(), {"one \"1\"", "two"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->vectors, (Vectors{{1, 2.5}, {3, 4}}));
  EXPECT_EQ(made->usage.input_tokens, 8);
  EXPECT_EQ(http->asked[0].url, "https://api.openai.com/v1/embeddings");
  EXPECT_EQ(sent(0), R"({"model":"text-embedding-3-small","input":["one \"1\"","two"]})");
  EXPECT_EQ(find_header(http->asked[0].headers, "authorization"), "Bearer sk-test-123456");
}

TEST_F(EmbedderTest, MoreTextsThanABatchGoInSeveralRequestsAndNoneInNone) {
  const EmbedderPtr embedder = openai({.model = "m", .batch = 2});
  EXPECT_TRUE(embed(embedder, {})->vectors.empty());
  EXPECT_TRUE(http->asked.empty());
  answer(R"({"data":[{"embedding":[1]},{"embedding":[2]}],"usage":{"prompt_tokens":3}})");
  answer(R"({"data":[{"embedding":[3]}],"usage":{"prompt_tokens":4}})");
  const Result<Embeddings> made = embed(embedder, {"a", "", "c"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->vectors, (Vectors{{1}, {2}, {3}}));
  EXPECT_EQ(made->usage.input_tokens, 7);
  EXPECT_EQ(sent(0), R"({"model":"m","input":["a"," "]})");
  EXPECT_EQ(sent(1), R"({"model":"m","input":["c"]})");
}

TEST_F(EmbedderTest, QuestionsAndDocumentsHaveTheirOwnPrefixes) {
  const EmbedderPtr embedder =
      openai({.model = "m", .document_prefix = "doc: ", .query_prefix = "ask: "});
  answer(R"({"data":[{"embedding":[1]}]})");
  answer(R"({"data":[{"embedding":[2]}]})");
  ASSERT_TRUE(embed(embedder, {"x"}));
  ASSERT_TRUE(engine->run(engine->loop(0), embedder->embed_query("x", {})));
  EXPECT_EQ(sent(0), R"({"model":"m","input":["doc: x"]})");
  EXPECT_EQ(sent(1), R"({"model":"m","input":["ask: x"]})");
}

TEST_F(EmbedderTest, TheSignatureLearnsTheLengthOfVectors) {
  const EmbedderPtr embedder = openai();
  EXPECT_EQ(embedder->signature(), "provider=openai;model=text-embedding-3-small;dims=0");
  answer(R"({"data":[{"embedding":[1,2,3]}]})");
  ASSERT_TRUE(embed(embedder, {"x"}));
  EXPECT_EQ(embedder->signature(), "provider=openai;model=text-embedding-3-small;dims=3");
  answer(R"({"data":[{"embedding":[1,2]}]})");
  EXPECT_EQ(fault_in(embed(embedder, {"x"})), "not_an_answer");
  const EmbedderPtr short_one = openai({.model = "m", .dims = 256});
  EXPECT_EQ(short_one->signature(), "provider=openai;model=m;dims=256");
  answer(R"({"data":[{"embedding":[1]}]})");
  EXPECT_EQ(fault_in(embed(short_one, {"x"})), "not_an_answer");
  EXPECT_EQ(sent(2), R"({"model":"m","dimensions":256,"input":["x"]})");
}

TEST_F(EmbedderTest, VectorsMayComeAsBase64AndOptionsWin) {
  const float numbers[] = {0.5F, -1.0F};
  std::string bytes(sizeof numbers, '\0');
  std::memcpy(bytes.data(), numbers, sizeof numbers);
  provider.options = Json::object({{"encoding_format", "base64"}, {"model", "other"}});
  answer(R"({"data":[{"index":0,"embedding":")" + to_base64(bytes) + R"("}]})");
  const Result<Embeddings> made = embed(openai(), {"x"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->vectors, (Vectors{{0.5F, -1.0F}}));
  EXPECT_EQ(sent(0), R"({"encoding_format":"base64","model":"other","input":["x"]})");
}

TEST_F(EmbedderTest, RepliesThatAreNoVectorsAreRefused) {
  for (const char* body :
       {"<html>", "", "{}", R"({"data":[]})", R"({"data":[{"embedding":[]}]})",
        R"({"data":[{"embedding":["x"]}]})", R"({"data":[{"embedding":[1e999]}]})",
        R"({"data":[{"embedding":"AAA="}]})", R"({"data":[{"index":1,"embedding":[1]}]})",
        R"({"data":[{"index":-1,"embedding":7}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})"}) {
    answer(body);
    EXPECT_EQ(fault_in(embed(openai(), {"x"})), "not_an_answer") << body;
  }
}

TEST_F(EmbedderTest, FailuresAreClassifiedAndNameNoKey) {
  answer(R"({"error":{"message":"Incorrect API key provided: sk-test-123456"}})", 401);
  const Result<Embeddings> refused = embed(openai(), {"x"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(fault_of(refused.error()));
  EXPECT_EQ(to_string(refused.error()).find("sk-test"), std::string::npos);
  answer(R"({"error":"model not found"})");
  EXPECT_FALSE(embed(openai(), {"x"}));
  EXPECT_EQ(fault_in(embed(openai(), {"x"})), "transport_unsent");
}

TEST_F(EmbedderTest, OllamaIsAskedAtItsOwnAddressWithoutAKey) {
  answer(R"({"model":"nomic-embed-text","embeddings":[[1,2],[3,4]],"prompt_eval_count":9})");
  const Result<Embeddings> made = embed(ollama(), {"a", "b"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->vectors, (Vectors{{1, 2}, {3, 4}}));
  EXPECT_EQ(made->usage.input_tokens, 9);
  EXPECT_EQ(http->asked[0].url, "http://127.0.0.1:11434/api/embed");
  EXPECT_EQ(sent(0), R"({"model":"nomic-embed-text","truncate":false,"input":["a","b"]})");
  EXPECT_EQ(find_header(http->asked[0].headers, "authorization"), "");
  answer(R"({"embeddings":[[1,2]]})");
  EXPECT_EQ(fault_in(embed(ollama(), {"a", "b"})), "not_an_answer");
}

TEST_F(EmbedderTest, AzureHasAPathPerDeployment) {
  provider.base_url = "https://r.openai.azure.com";
  provider.quirks = {"azure"};
  provider.key_header = "api-key";
  answer(R"({"data":[{"embedding":[1]}]})");
  ASSERT_TRUE(embed(openai({.model = "emb"}), {"x"}));
  EXPECT_EQ(http->asked[0].url,
            "https://r.openai.azure.com/openai/deployments/emb/embeddings?api-version=2024-10-21");
  EXPECT_EQ(find_header(http->asked[0].headers, "api-key"), "sk-test-123456");
}

TEST_F(EmbedderTest, WhatIsMissingIsToldBeforeAnythingIsSent) {
  const auto kind = [&](const ProviderConfig& config, const std::string& model) {
    const Result<EmbedderPtr> made = make_openai_embedder(config, {.model = model}, http);
    return made ? "none" : std::string(name_of(made.error().kind()));
  };
  EXPECT_EQ(kind({.name = "p", .base_url = "https://x/v1"}, "m"), "denied");
  EXPECT_EQ(kind({.name = "p", .base_url = "http://localhost:1/v1"}, "m"), "none");
  EXPECT_EQ(kind({.name = "p", .base_url = "x/v1"}, "m"), "invalid");
  EXPECT_EQ(kind({.name = "p", .base_url = "http://localhost/v1"}, ""), "invalid");
  EXPECT_FALSE(make_ollama_embedder({.base_url = "http://localhost"}, {.model = "m"}, nullptr));
}

}  // namespace
}  // namespace tug
