#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tug/model/catalogue.h"
#include "tug/model/models.h"
#include "tug/model/provider.h"
#include "tug/model/script.h"

namespace tug {
namespace {

Environment having(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Providers, EverybodyKnowsThese) {
  std::set<std::string> names;
  for (const ProviderConfig& provider : known_providers()) {
    EXPECT_TRUE(names.insert(provider.name).second) << provider.name;
    EXPECT_TRUE(provider.key.empty());
    EXPECT_FALSE(provider.key_env.empty()) << provider.name;
    if (provider.name != "azure")
      EXPECT_TRUE(provider.base_url.starts_with("http")) << provider.name;
    EXPECT_FALSE(provider.base_url.ends_with('/')) << provider.name;
    const bool openai = provider.api == Api::openai_chat || provider.api == Api::openai_responses;
    if (provider.name != "azure")
      EXPECT_EQ(provider.base_url.ends_with("/v1"), openai) << provider.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"anthropic", "azure", "deepseek", "gemini", "groq",
                                          "llamacpp", "mistral", "ollama", "openai", "openai-chat",
                                          "openrouter", "together", "vllm", "xai"}));
  EXPECT_EQ(known_provider("openai")->api, Api::openai_responses);
  EXPECT_EQ(known_provider("openai-chat")->api, Api::openai_chat);
  EXPECT_TRUE(known_provider("deepseek")->has_quirk("reasoning_content"));
  EXPECT_FALSE(known_provider("deepseek")->has_quirk("azure"));
  EXPECT_FALSE(known_provider("smoke"));
}

TEST(Providers, AKeyIsEnoughToChooseAModelThatTheCatalogueKnows) {
  const auto catalogue = make_catalogue();
  for (const ProviderConfig& provider : known_providers()) {
    const std::string_view model = default_model_of(provider.name);
    if (model.empty() || provider.name == "openrouter") continue;
    EXPECT_GT(catalogue->profile(provider.name, model).context_tokens, 0) << model;
  }
  EXPECT_EQ(default_model_of("ollama"), "");
  EXPECT_EQ(default_model_of("smoke"), "");
}

TEST(FromEnv, TakesKeyAndAddressFromTheVariablesOfTheProvider) {
  const auto env = having({{"OPENAI_API_KEY", "sk-open"},
                           {"OPENAI_BASE_URL", "https://gate.example/v1"},
                           {"GOOGLE_API_KEY", "g-key"},
                           {"ANTHROPIC_API_KEY", ""},
                           {"MY_HOST_API_KEY", "mine"},
                           {"MY_HOST_BASE_URL", "http://10.0.0.5/v1"},
                           {"OTHER", "theirs"},
                           {"AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com"},
                           {"AZURE_OPENAI_API_VERSION", "2026-01-01"},
                           {"AZURE_OPENAI_API_KEY", "az"}});
  const auto read = [&](std::string_view name) { return from_env(*known_provider(name), env); };
  EXPECT_EQ(read("openai").key.reveal(), "sk-open");
  EXPECT_EQ(read("openai").base_url, "https://gate.example/v1");
  EXPECT_EQ(read("openai-chat").key.reveal(), "sk-open");
  EXPECT_EQ(read("openai-chat").base_url, "https://gate.example/v1");
  EXPECT_EQ(read("gemini").key.reveal(), "g-key");
  EXPECT_EQ(read("gemini").key_env, "GOOGLE_API_KEY");
  EXPECT_EQ(from_env(*known_provider("gemini"), having({})).key_env, "GEMINI_API_KEY");
  EXPECT_TRUE(read("anthropic").key.empty());
  EXPECT_EQ(read("anthropic").base_url, "https://api.anthropic.com");
  EXPECT_EQ(read("azure").base_url, "https://me.openai.azure.com");
  EXPECT_EQ(read("azure").api_version, "2026-01-01");
  EXPECT_EQ(read("azure").key.reveal(), "az");
  const ProviderConfig mine = from_env({.name = "my-host"}, env);
  EXPECT_EQ(mine.key.reveal(), "mine");
  EXPECT_EQ(mine.key_env, "MY_HOST_API_KEY");
  EXPECT_EQ(mine.base_url, "http://10.0.0.5/v1");
  EXPECT_EQ(from_env({.name = "my-host", .key_env = "OTHER"}, env).key.reveal(), "theirs");
  EXPECT_EQ(from_env({.name = "my-host", .key = Secret("own")}, env).key.reveal(), "own");
}

TEST(FromEnv, ALoopbackAddressNeedsNoKey) {
  const auto needs = [](std::string url) {
    return from_env(*known_provider("openai"), having({{"OPENAI_BASE_URL", std::move(url)}}))
        .needs_key;
  };
  EXPECT_FALSE(needs("http://localhost:8000/v1"));
  EXPECT_FALSE(needs("http://127.0.0.1/v1"));
  EXPECT_FALSE(needs("http://127.3.2.1:9"));
  EXPECT_FALSE(needs("http://[::1]:9/v1"));
  EXPECT_TRUE(needs("http://localhost.example.org/v1"));
  EXPECT_TRUE(needs("http://127.0.0.1.example.org/v1"));
  EXPECT_TRUE(needs("http://127.0.0.999/v1"));
  EXPECT_TRUE(needs("http://127.0.0/v1"));
  EXPECT_TRUE(needs("http://localhost@example.org/v1"));
  EXPECT_TRUE(needs("https://example.org/localhost"));
  EXPECT_TRUE(needs("http://10.0.0.1/v1"));
}

TEST(Providers, AServerThatIsNotOpenAisIsAskedInTheWordsThatAllOfThemKnow) {
  ProviderConfig chat = *known_provider("openai-chat");
  EXPECT_FALSE(chat.has_quirk("max_tokens"));
  set_base_url(chat, "https://api.openai.com/v1");
  EXPECT_FALSE(chat.has_quirk("max_tokens"));
  set_base_url(chat, "http://10.0.0.5:8000/v1");
  set_base_url(chat, "http://10.0.0.6:8000/v1");
  EXPECT_EQ(chat.quirks, std::vector<std::string>{"max_tokens"});
  EXPECT_TRUE(chat.needs_key);
}

TEST(SplitEffort, SplitsOnlyAtAnEffort) {
  const struct {
    std::string_view given, name, effort;
  } cases[] = {
      {"gpt-5:high", "gpt-5", "high"},
      {"gpt-5", "gpt-5", ""},
      {"qwen3:8b", "qwen3:8b", ""},
      {"qwen3:8b:low", "qwen3:8b", "low"},
      {"m:none", "m", "none"},
      {"m:xhigh", "m", "xhigh"},
      {"m:HIGH", "m:HIGH", ""},
      {":high", ":high", ""},
      {"m:", "m:", ""},
      {"", "", ""},
      {"m:high:max", "m:high", "max"},
      {"m:minimal", "m", "minimal"},
  };
  for (const auto& [given, name, effort] : cases) {
    EXPECT_EQ(split_effort(given).name, name) << given;
    EXPECT_EQ(split_effort(given).effort, effort) << given;
  }
}

TEST(AddProviders, AModelIsMadeWithItsProviderAndWhatTheCatalogueKnows) {
  auto models = make_models();
  const auto catalogue = make_catalogue();
  catalogue->add_layer("mine", {{.provider = "gate", .id = "claude*", .api = Api::anthropic}});
  std::vector<std::string> made;
  const MakeHttpModel make = [&](ProviderConfig provider, ModelProfile profile,
                                 HttpClientPtr) -> Result<ModelPtr> {
    if (provider.key.empty()) return fail(ErrorKind::denied, "no key");
    made.push_back(profile.id() + " " + std::string(name_of(provider.api)) + " " +
                   std::to_string(profile.price ? profile.price->cache_write.value_or(-1) : -1));
    return make_script_model({}, std::move(profile));
  };
  std::vector<ProviderConfig> providers = {
      *known_provider("anthropic"), {.name = "gate"}, {.name = "keyless"}};
  providers[0].key = providers[1].key = Secret("k");
  providers[0].cache_ttl = "1h";
  add_providers(*models, catalogue, nullptr, providers, make);
  const ModelPtr opus = models->find("anthropic/claude-opus-5-20260724:high").value();
  EXPECT_EQ(opus->profile().context_tokens, 1'000'000);
  EXPECT_EQ(opus->profile().name, "claude-opus-5-20260724");
  EXPECT_TRUE(models->find("gate:claude-x"));
  EXPECT_TRUE(models->find("gate/gpt-x"));
  EXPECT_EQ(models->find("keyless/x").error().kind(), ErrorKind::denied);
  EXPECT_EQ(made,
            (std::vector<std::string>{"anthropic/claude-opus-5-20260724 anthropic 10000000",
                                      "gate/claude-x anthropic -1", "gate/gpt-x openai-chat -1"}));
}

TEST(AddProviders, AKeyThatHasToBeAskedForIsAskedForOnceAndLate) {
  auto models = make_models();
  int asked = 0;
  std::vector<std::string> keys;
  const MakeHttpModel make = [&](ProviderConfig provider, ModelProfile profile,
                                 HttpClientPtr) -> Result<ModelPtr> {
    keys.push_back(provider.key.reveal());
    return make_script_model({}, std::move(profile));
  };
  ProviderConfig slow{.name = "slow"};
  slow.reload_key = [&]() -> Result<Secret> {
    if (++asked == 1) return fail(ErrorKind::denied, "not now");
    return Secret("from-afar");
  };
  add_providers(*models, make_catalogue(), nullptr, {slow}, make);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(models->find("slow/a").error().message(), "not now");
  EXPECT_TRUE(models->find("slow/a"));
  EXPECT_TRUE(models->find("slow/b"));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(keys, (std::vector<std::string>{"from-afar", "from-afar"}));
}

TEST(AddProviders, AKeyThatNoHeaderCanCarryIsRefusedAndNotShown) {
  auto models = make_models();
  const MakeHttpModel make = [](ProviderConfig, ModelProfile profile, HttpClientPtr) {
    return Result<ModelPtr>(make_script_model({}, std::move(profile)));
  };
  add_providers(*models, make_catalogue(), nullptr,
                {{.name = "p", .key = Secret("sk-1\r\nx-evil: 1"), .key_env = "P_KEY"}}, make);
  const Error error = models->find("p/m").error();
  EXPECT_EQ(error.kind(), ErrorKind::denied);
  EXPECT_FALSE(to_string(error).contains("sk-1"));
  EXPECT_TRUE(to_string(error).contains("P_KEY"));
}

}  // namespace
}  // namespace tug
