// Providers, keys and the catalogue, before anything leaves the machine.
#include <sys/stat.h>

#include "journey.h"

namespace tug::journey {
namespace {

class Providers : public Journey {
 protected:
  std::string user(const std::string& text) { return file("../config/tug/config.toml", text); }
  Json explained(const std::string& key) {
    const Json list = parse_json(tug({"config", "explain", "--json"}).out).value();
    for (const Json& row : list.items()) {
      if (row["key"].as_string() == key) return row;
    }
    return {};
  }
  // A field of a model: its value and where it comes from.
  std::string field(const std::string& model, const std::string& name) {
    const Ran ran = tug({"models", "show", model, "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const Json shown = parse_json(ran.out).value();
    for (const Json& each : shown["fields"].items()) {
      if (each["field"].as_string() == name)
        return std::string(each["value"].as_string("nothing")) + " from " +
               std::string(each["layer"].as_string("nobody"));
    }
    return "no such field";
  }
};

constexpr const char* kSonnet = "anthropic/claude-sonnet-5-5";

TEST_F(Providers, AMissingKeyIsExit4AndNamesTheVariable) {
  const std::tuple<const char*, std::vector<std::string>, const char*> cases[] = {
      {kSonnet, {}, "ANTHROPIC_API_KEY"},
      {"anthropic:claude-sonnet-5-5:high", {}, "ANTHROPIC_API_KEY"},
      {"openai/gpt-6-sol", {}, "OPENAI_API_KEY"},
      {"openai-chat/x", {"--base-url", "https://example.invalid/v1"}, "OPENAI_API_KEY"},
      {"gemini/gemini-3.8-flash", {}, "GEMINI_API_KEY"},
      {"groq/x", {"--api-key-env", "MY_KEY"}, "MY_KEY"},
  };
  for (const auto& [model, flags, variable] : cases) {
    std::vector<std::string> words = {"run", "-m", model, "hello"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 4) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(has(ran.err, variable));
  }
  const Ran json = tug({"run", "-m", kSonnet, "-o", "json", "hello"});
  EXPECT_EQ(json.exit, 4);
  const Json error = parse_json(json.out).value()["error"];
  EXPECT_EQ(error["kind"].as_string(), "denied");
  EXPECT_TRUE(has(std::string(error["fix"].as_string()), "ANTHROPIC_API_KEY"));
  EXPECT_EQ(tug({"runs", "--json"}).out, "[]\n") << "nothing has run";
}

TEST_F(Providers, AFallbackAndAnAgentNeedTheirKeysToo) {
  const std::string model = script("t.jsonl", {R"({"text":"hi"})"});
  EXPECT_EQ(tug({"run", "-m", model, "--fallback-model", kSonnet, "hello"}).exit, 4);
  user("[[agents]]\nname = \"scout\"\ndescription = \"d\"\nmodel = \"xai/grok-4\"\n");
  const Ran ran = tug({"run", "-m", model, "hello"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(has(ran.err, "XAI_API_KEY"));
  EXPECT_EQ(tug({"tools"}).exit, 0) << "to list the tools needs no key";
}

TEST_F(Providers, WithoutAModelTheFirstProviderWhoseKeyIsSetAnswers) {
  EXPECT_EQ(explained("model")["value"].as_string(), "offline/demo");
  const Ran demo = tug({"run", "what is 2 + 3?"});
  EXPECT_EQ(demo.exit, 0);
  EXPECT_TRUE(has(demo.err, "no model is named: offline/demo answers"));
  environment_ = {"XAI_API_KEY=sk-x", "ANTHROPIC_API_KEY=sk-a", "OPENAI_API_KEY="};
  EXPECT_EQ(explained("model")["value"].as_string(), kSonnet);
  EXPECT_EQ(explained("model")["source"].as_string(), "ANTHROPIC_API_KEY");
  environment_ = {"MY_OWN=sk-m"};
  user("[providers.mistral]\nkey_env = \"MY_OWN\"\n");
  EXPECT_EQ(explained("model")["value"].as_string(), "mistral/devstral-2512");
  environment_ = {"MY_OWN=sk-m", "TUG_MODEL=offline/demo"};
  EXPECT_EQ(explained("model")["source"].as_string(), "TUG_MODEL");
}

TEST_F(Providers, AKeyIsNeverPrinted) {
  const std::string secret = "sk-secret-0123456789";
  environment_ = {"OPENAI_API_KEY=" + secret};
  user("[http]\nproxy = \"http://me:" + secret + "@proxy:1\"\n[providers.mine]\n" +
       "base_url = \"https://example.invalid/v1\"\nkey_cmd = \"echo " + secret +
       " >&2; exit 3\"\nheaders = { authorization = \"Bearer " + secret + "\" }\nthread_salt = \"" +
       secret + "\"\n");
  const std::vector<std::vector<std::string>> commands = {
      {"config", "explain"},
      {"config", "explain", "--json"},
      {"models"},
      {"models", "--json"},
      {"models", "show", "mine/m"},
      {"run", "-m", "mine/m", "hello"},
      {"run", "-m", "mine/m", "-o", "json", "hello"},
      {"run", "-m", "openai/x", "--api-key-env", secret, "hello"},
      {"run", "-m", "openai/x", "--base-url", "https://me:" + secret + "@host/v1", "hello"},
  };
  for (const auto& words : commands) {
    const Ran ran = tug(words);
    EXPECT_EQ((ran.out + ran.err).find(secret), std::string::npos)
        << words[0] << ran.out << ran.err;
  }
  EXPECT_EQ(explained("providers.mine.headers")["value"].as_string(), "(hidden)");
  for (const char* wrong : {"key_env = \"%\"", "key_cmd = [\"%\"]", "headers = { a = [\"%\"] }",
                            "headers = { a = \"%\\n\" }", "headers = [\"%\"]",
                            "thread_salt = [\"%\"]", "base_url = \"https://%@host/v1\""}) {
    std::string text = wrong;
    text.replace(text.find('%'), 1, secret);
    user("[providers.mine]\n" + text + "\n");
    const Ran ran = tug({"run", "-m", "offline/demo", "hello"});
    EXPECT_EQ(ran.exit, 2) << wrong << ran.err;
    EXPECT_EQ((ran.out + ran.err).find(secret), std::string::npos) << ran.err;
  }
}

TEST_F(Providers, ACommandOrAFileThatGivesNoKeyIsExit4) {
  const auto mine = [&](const std::string& key) {
    user("[providers.mine]\nbase_url = \"https://example.invalid/v1\"\n" + key + "\n");
    return tug({"run", "-m", "mine/m", "hello"});
  };
  Ran ran = mine("key_cmd = \"exit 3\"");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(has(ran.err, "key_cmd ended with 3"));
  ran = mine("key_cmd = \"true\"");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(has(ran.err, "nothing in its first line"));
  const std::string key = file("key", "sk-secret-0123456789\n");
  chmod(key.c_str(), 0644);
  ran = mine("key_file = \"" + key + "\"");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(has(ran.err, "chmod 600 " + key));
  ran = mine("key_file = \"" + key + ".gone\"");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(has(ran.err, key + ".gone"));
  ran = mine("key_file = \"" + work_ + "\"");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(has(ran.err, "is not a file"));
  ran = mine("key_file = \"x\"\nkey_env = \"Y\"");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "more than one key"));
}

// Nobody listens there.
constexpr const char* kNobody = "http://127.0.0.1:1/v1";

TEST_F(Providers, AnAddressOnThisMachineNeedsNoKey) {
  const std::vector<std::string> said = {"run", "--retries", "0", "hello", "-m", "openai-chat/x"};
  std::vector<std::string> flag = said;
  flag.insert(flag.end(), {"--base-url", kNobody});
  Ran ran = tug(flag);
  EXPECT_EQ(ran.exit, 3) << ran.err;
  environment_ = {std::string("OPENAI_BASE_URL=") + kNobody};
  ran = tug(said);
  EXPECT_EQ(ran.exit, 3) << ran.err;
  environment_ = {std::string("TUG_BASE_URL=") + kNobody};
  ran = tug(said);
  EXPECT_EQ(ran.exit, 3) << ran.err;
}

TEST_F(Providers, KeysOfCommandsAndFilesAreTakenAndNotShown) {
  const std::string secret = "sk-secret-0123456789";
  const std::string kept = file("key", secret + "\n");
  chmod(kept.c_str(), 0600);
  for (const std::string& key : {"key_file = \"" + kept + "\"", "key_cmd = \"cat " + kept + "\"",
                                 std::string("key_env = \"MY_KEY\"")}) {
    environment_ = {"MY_KEY=" + secret};
    user(std::string("[providers.mine]\nbase_url = \"") + kNobody + "\"\n" + key + "\n");
    const Ran ran = tug({"run", "-m", "mine/m", "--retries", "0", "-o", "stream-json", "hello"});
    EXPECT_EQ(ran.exit, 3) << key << ran.err;
    EXPECT_EQ((ran.out + ran.err).find(secret), std::string::npos) << ran.out;
  }
}

TEST_F(Providers, WhatIsWrongWithATableIsNamedWithItsPlace) {
  const std::tuple<const char*, const char*, const char*> table[] = {
      {"[providers.mine]\napi = \"smoke\"\n", "config.toml:2: providers.mine.api", "openai-chat"},
      {"[providers.mine]\nbase_ur = \"x\"\n", "config.toml:2: \"providers.mine.base_ur\"",
       "\"providers.*.base_url\""},
      {"[providers.mine]\nbase_url = \"host\"\n", "config.toml:2", "http://"},
      {"[providers.mine]\napi = \"gemini\"\n", "config.toml:2", "has no address"},
      {"[providers.script]\napi = \"gemini\"\n", "config.toml:2", "built in"},
      {"[providers.'a.b']\nbase_url = \"http://x\"\n", "config.toml:2", "no name for a provider"},
      {"[providers.mine]\nconnect_ms = -1\n", "config.toml:2", "milliseconds"},
      {"[http]\nfirst_event = 1\n", "config.toml:2", "http.first_event_ms"},
      {"[cache]\nresponses = \"disk\"\n", "config.toml:2", "sqlite"},
      {"[[models]]\nprovider = \"x\"\ncaps = [\"visoin\"]\n", "config.toml:3", "\"vision\""},
      {"[[models]]\nprovider = \"x\"\nstatus = \"dead\"\n", "config.toml:3", "retired"},
      {"[[models]]\nid = \"x\"\n", "config.toml:2", "names no provider"},
      {"[[models]]\nprovider = \"x\"\nprice = { in = 1, tiers = [{ in = 2 }] }\n", "config.toml:3",
       "above"},
      {"base_url = \"host\"\n", "config.toml:1: base_url", "http://"},
  };
  for (const auto& [text, place, said] : table) {
    user(text);
    const Ran ran = tug({"run", "-m", "offline/demo", "hello"});
    EXPECT_EQ(ran.exit, 2) << text << ran.err;
    EXPECT_TRUE(has(ran.err, place)) << text;
    EXPECT_TRUE(has(ran.err, said)) << text;
  }
  user("[providers.ollama]\n[providers]\n");
  EXPECT_EQ(tug({"run", "-m", "offline/demo", "hello"}).exit, 0);
  const Ran flag = tug({"run", "-m", "offline/demo", "--base-url", "http://x", "hello"});
  EXPECT_EQ(flag.exit, 2);
  EXPECT_TRUE(has(flag.err, "--base-url says nothing about offline/demo"));
}

TEST_F(Providers, ModelsListsWhatIsKnownAndWhoseKeyIsThere) {
  environment_ = {"OPENAI_API_KEY=k"};
  const Ran table = tug({"models"});
  EXPECT_EQ(table.exit, 0);
  EXPECT_TRUE(has(table.out, "MODEL"));
  EXPECT_TRUE(has(table.out, "needs ANTHROPIC_API_KEY"));
  EXPECT_TRUE(has(table.err, "a run would ask openai/gpt-6-sol"));
  const Json list = parse_json(tug({"models", "--json"}).out).value();
  EXPECT_GE(list.size(), 38u);
  bool seen = false;
  for (const Json& model : list.items()) {
    if (model["model"].as_string() == kSonnet) {
      seen = true;
      EXPECT_EQ(model["context"], Json(1'000'000));
      EXPECT_EQ(model["price"]["cache_write_1h"], Json(4));
      EXPECT_EQ(model["ready"], Json(false));
      EXPECT_EQ(model["needs"].as_string(), "ANTHROPIC_API_KEY");
    }
    if (model["provider"].as_string() == "openai") EXPECT_EQ(model["ready"], Json(true));
  }
  EXPECT_TRUE(seen);
  EXPECT_TRUE(has(tug({"models", "--help"}).out, "tug models update"));
  EXPECT_EQ(tug({"models", "shwo"}).exit, 2);
}

TEST_F(Providers, ShowNamesTheSourceOfEveryField) {
  const std::string path = user(
      "[[models]]\nprovider = \"anthropic\"\nid = \"claude-sonnet-5-5\"\ncontext = 5000\n"
      "price = { out = 11, tiers = [{ above = 200000, in = 6 }] }\ncaps = [\"tools\"]\n");
  const std::string config = home_ + "/config/tug/config.toml:";
  EXPECT_EQ(field(kSonnet, "context"), "5000 from " + field(kSonnet, "context").substr(10));
  EXPECT_TRUE(has(field(kSonnet, "context"), config));
  EXPECT_TRUE(has(field(kSonnet, "price.out"), "11 from " + config));
  EXPECT_EQ(field(kSonnet, "price.in"), "2 from built in");
  EXPECT_TRUE(has(field(kSonnet, "caps"), "tools from " + config));
  EXPECT_TRUE(has(field("anthropic:claude-sonnet-5-5:high", "price.tiers"), "200000"));
  EXPECT_EQ(field("vllm/qwen", "context"), "nothing from nobody");
  EXPECT_EQ(field("vllm/qwen", "api"), "openai-chat from the provider");
  const Ran unknown = tug({"models", "show", "vllm/qwen"});
  EXPECT_TRUE(has(unknown.out, "unknown"));
  EXPECT_TRUE(has(unknown.err, "32768 tokens are assumed"));
  const Ran bare = tug({"models", "show", "claude-opus-5"});
  EXPECT_EQ(bare.exit, 2);
  EXPECT_TRUE(has(bare.err, "did you mean anthropic/claude-opus-5?"));
  EXPECT_EQ(tug({"models", "show", "antropic/claude-opus-5"}).exit, 2);
  EXPECT_EQ(tug({"models", "show"}).exit, 2);
  EXPECT_EQ(field("moonshotai/kimi-k3", "price.in"), "3 from built in") << "it needs a table";
}

TEST_F(Providers, UpdateWritesAListAboveWhatIsBuiltIn) {
  const std::string list = file("api.json", R"({"anthropic": {"models": {
    "claude-sonnet-5-5": {"limit": {"context": 2000000}, "cost": {"input": 1.5}}}}})");
  const Ran ran = tug({"models", "update", "--from", list});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const std::string path = home_ + "/state/tug/models.json";
  EXPECT_EQ(ran.out, "1 models written to " + path + "\n");
  EXPECT_EQ(field(kSonnet, "context"), "2000000 from " + path);
  EXPECT_EQ(field(kSonnet, "price.in"), "1.5 from " + path);
  EXPECT_EQ(field(kSonnet, "price.out"), "10 from built in");
  user("[[models]]\nprovider = \"anthropic\"\nid = \"claude-*\"\ncontext = 7\n");
  EXPECT_TRUE(has(field(kSonnet, "context"), "7 from " + home_ + "/config"));

  // What cannot be read leaves what is there.
  const Ran broken = tug({"models", "update", "--from", file("bad.json", R"({"x": 1})")});
  EXPECT_EQ(broken.exit, 2);
  EXPECT_TRUE(has(broken.err, "bad.json"));
  EXPECT_TRUE(has(broken.err, "$.x"));
  EXPECT_EQ(tug({"models", "update", "--from", "nowhere.json"}).exit, 2);
  EXPECT_TRUE(has(tug({"models", "update", "--from", "https://models.dev/api.json"}).err, "curl"));
  EXPECT_EQ(tug({"models", "update"}).exit, 2);
  EXPECT_EQ(field(kSonnet, "price.in"), "1.5 from " + path);

  const Ran piped = tug({"models", "update", "--from", "-", "--json"},
                        R"({"data": [{"id": "a/b", "context_length": 100}]})");
  EXPECT_EQ(parse_json(piped.out).value()["models"], Json(1));
  EXPECT_EQ(field("openrouter/a/b", "context"), "100 from " + path);
  EXPECT_EQ(field(kSonnet, "price.in"), "2 from built in");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(home_ + "/state/tug"))
    files += entry.path().filename().string().starts_with("models.json");
  EXPECT_EQ(files, 1);

  file("../state/tug/models.json", "{");
  const Ran damaged = tug({"run", "-m", "offline/demo", "hello"});
  EXPECT_EQ(damaged.exit, 2);
  EXPECT_TRUE(has(damaged.err, path));
  EXPECT_TRUE(has(damaged.err, "tug models update"));
  EXPECT_EQ(tug({"models", "update", "--from", list}).exit, 0);
}

TEST_F(Providers, RowsAboutAScriptCountForIt) {
  user("[[models]]\nprovider = \"script\"\nprice = { in = 1000000, out = 0 }\ncontext = 9000\n");
  const std::string model =
      script("t.jsonl", {R"({"text":"hi","usage":{"input_tokens":2,"output_tokens":1}})"});
  const Ran ran = tug({"run", "-m", model, "-o", "json", "hello"});
  const Json result = parse_json(ran.out).value();
  EXPECT_EQ(result["cost"]["usd"], Json(2));
  EXPECT_EQ(result["context"]["max_tokens"], Json(9000));
}

}  // namespace
}  // namespace tug::journey
