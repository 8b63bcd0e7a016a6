#include "tug/model/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "model/name_match.h"
#include "tug/core/codec.h"

namespace tug {
namespace {

constexpr std::int64_t kDollar = 1'000'000;  // per million tokens

TEST(NameCut, ADateOrATagIsLeftOutAndAVersionIsNot) {
  const struct {
    std::string_view name;
    std::vector<std::string> shorter;
  } cases[] = {
      {"gpt-5.4", {}},
      {"gpt-5.4-2026-03-01", {"gpt-5.4-2026", "gpt-5.4"}},
      {"gpt-5-mini", {}},
      {"gpt-5.4-mini-20260301", {"gpt-5.4-mini"}},
      {"claude-opus-4-5", {}},
      {"claude-opus-5-10", {}},
      {"claude-haiku-4-5-20251001", {"claude-haiku-4-5"}},
      {"claude-haiku-4-5@20251001", {"claude-haiku-4-5"}},
      {"grok-4-latest", {"grok-4"}},
      {"gemini-3.1-flash-lite-preview-05-20",
       {"gemini-3.1-flash-lite-preview", "gemini-3.1-flash-lite"}},
      {"moonshotai/kimi-k3:free", {"moonshotai/kimi-k3"}},
      {"", {}},
      {":", {}},
      {"-2026-03-01", {}},
  };
  for (const auto& [name, shorter] : cases) {
    std::vector<std::string> cuts;
    for (const NameCut& cut : name_cuts(name)) cuts.emplace_back(cut.name);
    ASSERT_FALSE(cuts.empty());
    EXPECT_EQ(cuts.front(), name);
    cuts.erase(cuts.begin());
    if (name == "gpt-5.4-2026-03-01" || name.starts_with("gemini")) {
      EXPECT_EQ(cuts.back(), shorter.back()) << name;
    } else {
      EXPECT_EQ(cuts, shorter) << name;
    }
  }
  EXPECT_EQ(name_cuts(std::string(100'000, '-')).size(), 1u);
}

TEST(NameMatch, AStarStandsForAnyText) {
  EXPECT_TRUE(matches_pattern("gpt-5*", "gpt-5.4-mini"));
  EXPECT_TRUE(matches_pattern("*flash*", "gemini-3.8-flash"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*b*c", "axxbyybzc"));
  EXPECT_FALSE(matches_pattern("a*b*c", "axxbyy"));
  EXPECT_FALSE(matches_pattern("gpt-5", "gpt-5.4"));
  EXPECT_FALSE(matches_pattern("", "x"));
}

TEST(Catalogue, EveryBuiltInRowIsDatedAndNamesItsSource) {
  const std::vector<CatalogueRow> rows = built_in_rows();
  EXPECT_GE(rows.size(), 40u);
  std::set<std::string> seen;
  for (const CatalogueRow& row : rows) {
    const std::string who = row.provider + "/" + row.id;
    EXPECT_TRUE(seen.insert(who).second) << who;
    EXPECT_EQ(row.as_of.size(), 10u) << who;
    EXPECT_FALSE(row.source.empty()) << who;
    if (row.caps) {
      for (const std::string& cap : *row.caps) EXPECT_TRUE(is_capability(cap)) << who << cap;
    }
    if (row.id.contains('*')) continue;
    EXPECT_TRUE(row.context) << who;
    EXPECT_TRUE(row.caps) << who;
  }
}

TEST(Catalogue, KnowsAModelWithWindowPriceAndWhatItCanDo) {
  const ModelProfile profile = make_catalogue()->profile("openai", "gpt-6-sol");
  EXPECT_EQ(profile.id(), "openai/gpt-6-sol");
  EXPECT_EQ(profile.context_tokens, 1'050'000);
  EXPECT_EQ(profile.max_output_tokens, 128'000);
  EXPECT_EQ(profile.price,
            (Price{.input = 2 * kDollar,
                   .output = 10 * kDollar,
                   .cache_read = kDollar / 5,
                   .cache_write = 5 * kDollar / 2,
                   .tiers = {{.above = 272'000, .input = 4 * kDollar, .output = 15 * kDollar}}}));
  EXPECT_TRUE(profile.tools && profile.vision && profile.reasoning && profile.structured);
  EXPECT_EQ(profile.input, (std::vector{Modality::text, Modality::image}));
  EXPECT_TRUE(profile.drops("temperature"));
  EXPECT_EQ(profile.status, ModelStatus::active);
}

TEST(Catalogue, AModelThatNobodyKnowsHasNeitherWindowNorPrice) {
  const auto catalogue = make_catalogue();
  const ModelProfile profile = catalogue->profile("vllm", "qwen3-32b");
  EXPECT_EQ(profile.id(), "vllm/qwen3-32b");
  EXPECT_EQ(profile.context_tokens, 0);
  EXPECT_FALSE(profile.price);
  EXPECT_TRUE(profile.tools);
  for (const CatalogueField& field : catalogue->explain("vllm", "qwen3-32b"))
    EXPECT_EQ(field, (CatalogueField{field.field, "unknown", "", "", ""}));
}

TEST(Catalogue, ANameWithADateIsTheLongestRowItBeginsWith) {
  const auto catalogue = make_catalogue();
  const auto window = [&](std::string_view name) {
    return catalogue->profile("openai", name).context_tokens;
  };
  EXPECT_EQ(window("gpt-5.4-2026-03-01"), 1'050'000);
  EXPECT_EQ(window("gpt-5.4-mini-2026-03-01"), 400'000);
  EXPECT_EQ(window("gpt-5.4-nano"), 0);
  EXPECT_EQ(catalogue->profile("openai", "gpt-5.4-2026-03-01").name, "gpt-5.4-2026-03-01");
}

TEST(Catalogue, ATaggedNameHasTheWindowButNotThePrice) {
  const auto catalogue = make_catalogue();
  const ModelProfile free = catalogue->profile("moonshotai", "kimi-k3:free");
  EXPECT_EQ(free.context_tokens, 1'048'576);
  EXPECT_FALSE(free.price);
}

TEST(Catalogue, OpenAiOverChatAndAtAzureAreTheSameModels) {
  const auto catalogue = make_catalogue();
  const ModelProfile chat = catalogue->profile("openai-chat", "gpt-5.4");
  EXPECT_EQ(chat.price, catalogue->profile("openai", "gpt-5.4").price);
  EXPECT_TRUE(chat.drops("reasoning_effort"));
  EXPECT_FALSE(catalogue->profile("openai", "gpt-5.4").drops("reasoning_effort"));
  EXPECT_TRUE(chat.tools);
  EXPECT_FALSE(catalogue->profile("openai-chat", "gpt-6.1-terra").tools);
  EXPECT_EQ(catalogue->profile("azure", "gpt-4.1").context_tokens, 1'047'576);
}

TEST(Catalogue, LaterLayersWinFieldByFieldAndSayWhoTheyAre) {
  const auto catalogue = make_catalogue();
  catalogue->add_layer("models.json", {{.provider = "openai",
                                        .id = "gpt-4.1",
                                        .context = 900'000,
                                        .price = Price{.input = 3 * kDollar},
                                        .as_of = "2026-12-01",
                                        .source = "models.dev"}});
  catalogue->add_layer("config.toml:3",
                       {{.provider = "openai", .max_output = 1000},
                        {.provider = "openai",
                         .id = "gpt-4*",
                         .max_output = 2000,
                         .status = ModelStatus::deprecated},
                        {.provider = "openai", .id = "gpt-4.1", .caps = {{"tools"}}}});
  const ModelProfile profile = catalogue->profile("openai", "gpt-4.1-2025-04-14");
  EXPECT_EQ(profile.context_tokens, 900'000);
  EXPECT_EQ(profile.max_output_tokens, 2000);
  EXPECT_EQ(profile.price,
            (Price{.input = 3 * kDollar, .output = 8 * kDollar, .cache_read = kDollar / 2}));
  EXPECT_TRUE(profile.tools);
  EXPECT_FALSE(profile.vision || profile.streaming || profile.parallel_tools);
  EXPECT_EQ(profile.status, ModelStatus::deprecated);
  EXPECT_EQ(catalogue->profile("openai", "gpt-5-nano").max_output_tokens, 1000);

  const auto fields = catalogue->explain("openai", "gpt-4.1");
  const auto field = [&](std::string_view name) {
    for (const CatalogueField& each : fields) {
      if (each.field == name) return each.value + " | " + each.layer + " | " + each.as_of;
    }
    return std::string("no such field");
  };
  EXPECT_EQ(field("context"), "900000 | models.json | 2026-12-01");
  EXPECT_EQ(field("max_output"), "2000 | config.toml:3 | ");
  EXPECT_EQ(field("price.in"), "3 | models.json | 2026-12-01");
  EXPECT_EQ(field("price.out"), "8 | built in | 2026-11-15");
  EXPECT_EQ(field("price.cache_write"), "unknown |  | ");
  EXPECT_EQ(field("caps"), "tools | config.toml:3 | ");
  EXPECT_EQ(field("status"), "deprecated | config.toml:3 | ");
}

TEST(Catalogue, TellsHowAModelIsSpokenToWhereThatIsNotAsItsProvider) {
  const auto catalogue = make_catalogue();
  catalogue->add_layer("mine", {{.provider = "gate", .id = "claude*", .api = Api::anthropic}});
  EXPECT_EQ(catalogue->api("gate", "claude-x"), Api::anthropic);
  EXPECT_EQ(catalogue->api("gate", "gpt"), std::nullopt);
}

TEST(Catalogue, ListsEveryModelThatHasARowOfItsOwnOnce) {
  const auto catalogue = make_catalogue();
  const std::size_t before = catalogue->all().size();
  catalogue->add_layer("mine", {{.provider = "aaa", .id = "first"},
                                {.provider = "openai", .id = "gpt-4.1"},
                                {.provider = "openai", .id = "gpt-*"},
                                {.provider = "openai"}});
  const std::vector<ModelProfile> all = catalogue->all();
  EXPECT_EQ(all.size(), before + 1);
  EXPECT_EQ(all.front().id(), "aaa/first");
}

TEST(Caps, AreReadAndWrittenAsWords) {
  ModelProfile profile;
  set_caps(profile, {"tools", "vision", "document"});
  EXPECT_EQ(caps_of(profile), (std::vector<std::string>{"tools", "vision", "document"}));
  EXPECT_EQ(profile.input, (std::vector{Modality::text, Modality::image, Modality::document}));
  set_caps(profile, {});
  EXPECT_EQ(caps_of(profile), std::vector<std::string>{});
  EXPECT_TRUE(is_capability("streaming_tools"));
  EXPECT_FALSE(is_capability("flying"));
  EXPECT_FALSE(is_capability("text"));
}

}  // namespace
}  // namespace tug
