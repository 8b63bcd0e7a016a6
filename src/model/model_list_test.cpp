#include <gtest/gtest.h>

#include "tug/core/codec.h"
#include "tug/model/catalogue.h"

namespace tug {
namespace {

constexpr std::int64_t kDollar = 1'000'000;  // per million tokens

std::string refused(std::string_view json) {
  auto rows = read_model_list(json);
  if (rows) return "read";
  EXPECT_EQ(rows.error().kind(), ErrorKind::invalid);
  return to_string(rows.error());
}

TEST(ModelList, ReadsTheShapeOfModelsDev) {
  const auto rows = read_model_list(R"({
    "google": {"id": "google", "npm": "x", "models": {
      "gemini-9": {"id": "gemini-9", "reasoning": true, "tool_call": true, "temperature": false,
        "structured_output": true, "status": "beta",
        "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
        "cost": {"input": 1.25, "output": 10, "cache_read": 0.0375,
                 "context_over_200k": {"input": 2.5, "output": 15}},
        "limit": {"context": 1048576, "output": 65536}}}},
    "mine": {"models": {"plain": {"limit": {"context": 0}}}}})");
  ASSERT_TRUE(rows) << to_string(rows.error());
  ASSERT_EQ(rows->size(), 2u);
  const CatalogueRow& row = rows->front();
  EXPECT_EQ(row.provider, "gemini");
  EXPECT_EQ(row.id, "gemini-9");
  EXPECT_EQ(row.context, 1'048'576);
  EXPECT_EQ(row.max_output, 65'536);
  EXPECT_EQ(row.price,
            (Price{.input = 1'250'000,
                   .output = 10 * kDollar,
                   .cache_read = 37'500,
                   .tiers = {{.above = 200'000, .input = 2'500'000, .output = 15 * kDollar}}}));
  EXPECT_EQ(row.caps,
            (std::vector<std::string>{"streaming", "tools", "parallel_tools", "streaming_tools",
                                      "reasoning", "structured", "vision", "document"}));
  EXPECT_EQ(row.drop_params, (std::vector<std::string>{"temperature", "top_p"}));
  EXPECT_EQ(row.status, ModelStatus::preview);
  EXPECT_EQ(row.source, "models.dev");
  const CatalogueRow& plain = rows->back();
  EXPECT_EQ(plain.provider, "mine");
  EXPECT_FALSE(plain.context || plain.price || plain.status || plain.drop_params);
  EXPECT_EQ(plain.caps, std::vector<std::string>{"streaming"});
}

TEST(ModelList, ReadsTheShapeOfOpenRouter) {
  const auto rows = read_model_list(R"({"data": [
    {"id": "a/b", "context_length": 200000, "top_provider": {"max_completion_tokens": 64000},
     "architecture": {"input_modalities": ["text", "image"]},
     "pricing": {"prompt": "0.000003", "completion": "1.5e-5", "input_cache_read": "0.0000000375",
                 "image": "0.1"},
     "supported_parameters": ["tools", "structured_outputs", "include_reasoning", "temperature"]},
    {"id": "openrouter/auto", "context_length": 2000000, "pricing": {"prompt": "-1",
     "completion": "-1"}, "top_provider": {"max_completion_tokens": null}}]})");
  ASSERT_TRUE(rows) << to_string(rows.error());
  ASSERT_EQ(rows->size(), 2u);
  const CatalogueRow& row = rows->front();
  EXPECT_EQ(row.provider, "openrouter");
  EXPECT_EQ(row.id, "a/b");
  EXPECT_EQ(row.context, 200'000);
  EXPECT_EQ(row.max_output, 64'000);
  EXPECT_EQ(row.price, (Price{.input = 3 * kDollar, .output = 15 * kDollar, .cache_read = 37'500}));
  EXPECT_EQ(row.caps,
            (std::vector<std::string>{"streaming", "tools", "parallel_tools", "streaming_tools",
                                      "reasoning", "structured", "vision"}));
  EXPECT_EQ(row.drop_params, std::vector<std::string>{"top_p"});
  // A price that depends is not a price.
  EXPECT_FALSE(rows->back().price);
  EXPECT_FALSE(rows->back().caps);
}

TEST(ModelList, RefusesAnythingElseAndNamesThePlace) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "line 1"},
      {"[]", "$: expected an object"},
      {"{}", "$: there is nothing in it"},
      {R"({"openai": {"name": "x"}})", "$.openai: expected an object with \"models\""},
      {R"({"openai": 5})", "$.openai: expected an object with \"models\", got 5"},
      {R"({"openai": {"models": {"m": 5}}})", "$.openai.models.m: expected an object, got 5"},
      {R"({"openai": {"models": {"m": {"limit": {"context": "many"}}}}})",
       "$.openai.models.m.limit.context: \"many\" is not a number of tokens"},
      {R"({"openai": {"models": {"m": {"limit": {"output": -1}}}}})",
       "$.openai.models.m.limit.output: -1 is not a number of tokens"},
      {R"({"openai": {"models": {"m": {"cost": {"input": "cheap"}}}}})",
       "$.openai.models.m.cost.input: \"cheap\" is not a price"},
      {R"({"openai": {"models": {"m": {"cost": {"input": 1e300}}}}})", "is not a price"},
      {R"({"openai": {"models": {"": {}}}})", "that is no name of a model"},
      {R"({"openai": {"models": {"a\u001b[2J": {}}}})", "that is no name of a model"},
      {R"({"data": [{"id": "a"}, {"name": "b"}]})", "$.data[1].id: that is no name of a model"},
      {R"({"data": [7]})", "$.data[0]: expected an object, got 7"},
      {R"({"data": [{"id": "a", "pricing": {"prompt": "x"}}]})",
       "$.data[0].pricing.prompt: \"x\" is not a price"},
  };
  for (const auto& [json, said] : cases)
    EXPECT_TRUE(refused(json).contains(said)) << json << "\n" << refused(json);
  EXPECT_TRUE(refused(R"({"openai": 5})").contains("models.dev"));
  EXPECT_LT(refused("{\"" + std::string(1'000'000, 'a') + "\": 1}").size(), 1000u);
}

TEST(ModelList, HasABound) {
  std::string json = R"({"data":[)";
  for (int i = 0; i <= 100'000; ++i)
    json += std::string(i ? "," : "") + R"({"id":"m)" + std::to_string(i) + "\"}";
  EXPECT_TRUE(refused(json + "]}").contains("more than 100000 models"));
  EXPECT_TRUE(refused(std::string((64u << 20) + 1, ' ')).contains("more than 64 MB"));
}

TEST(ModelList, ManyModelsOfOneProviderAreLookedUpAndNotSearched) {
  std::vector<CatalogueRow> rows;
  for (int i = 0; i < 50'000; ++i)
    rows.push_back({.provider = "big", .id = "m" + std::to_string(i), .context = i + 1});
  const auto catalogue = make_catalogue();
  catalogue->add_layer("list", std::move(rows));
  EXPECT_GT(catalogue->all().size(), 50'000u);
  EXPECT_EQ(catalogue->profile("big", "m777").context_tokens, 778);
}

TEST(CatalogueRows, AreWrittenAndReadBack) {
  const std::vector<CatalogueRow> rows = built_in_rows();
  const std::string text = print_rows(rows);
  const auto back = read_rows(text);
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->size(), rows.size());
  EXPECT_EQ(print_rows(*back), text);
  const std::vector<CatalogueRow> one = {
      {.provider = "p", .id = "m", .api = Api::openai_responses, .efforts = {{"low"}}}};
  EXPECT_EQ(print_rows(one),
            R"({"models":[{"provider":"p","id":"m","api":"openai-responses","efforts":["low"]}]})"
            "\n");
  EXPECT_EQ(read_rows(print_rows(one))->front().api, Api::openai_responses);
  for (std::string_view bad : {"", "[]", "{}", R"({"models":[{"id":"m"}]})",
                               R"({"models":[{"provider":"p","id":"m","x":1}]})",
                               R"({"models":[{"provider":"p","id":"m","api":"smoke"}]})"}) {
    ASSERT_FALSE(read_rows(bad)) << bad;
    EXPECT_EQ(read_rows(bad).error().kind(), ErrorKind::invalid);
  }
}

}  // namespace
}  // namespace tug
