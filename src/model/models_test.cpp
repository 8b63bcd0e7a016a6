#include "tug/model/models.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "tug/model/script.h"

namespace tug {
namespace {

ModelPtr fixed(std::string provider, std::string name) {
  return make_script_model({}, {.provider = std::move(provider), .name = std::move(name)});
}

std::string refused(Models& models, std::string_view id) {
  auto model = models.find(id);
  if (model) return "found";
  EXPECT_EQ(model.error().kind(), ErrorKind::invalid);
  return to_string(model.error());
}

TEST(Models, HasTheBuiltInProviders) {
  auto models = make_models();
  EXPECT_EQ(models->providers(), (std::vector<std::string>{"offline", "script"}));
  auto demo = models->find("offline/demo");
  ASSERT_TRUE(demo);
  EXPECT_EQ((*demo)->profile().id(), "offline/demo");
  EXPECT_EQ((*demo)->profile().context_tokens, 32768);
  EXPECT_EQ(estimate_cost(*(*demo)->profile().price, {.input_tokens = 9, .output_tokens = 9}),
            Cost::known(0));
  EXPECT_TRUE(refused(*models, "offline/dmeo").contains("offline/demo"));
}

TEST(Models, TheSameNameGivesTheSameModelAndFailuresAreNotKept) {
  auto models = make_models();
  int made = 0;
  models->add("mine", [&](std::string_view name) -> Result<ModelPtr> {
    if (++made == 1) return fail(ErrorKind::invalid, "not yet");
    return fixed("mine", std::string(name));
  });
  EXPECT_EQ(refused(*models, "mine/a/b"), "not yet");
  ModelPtr first = models->find("mine/a/b").value();
  EXPECT_EQ(first->profile().name, "a/b");
  EXPECT_EQ(models->find("mine/a/b").value(), first);
  EXPECT_NE(models->find("mine/c").value(), first);
  EXPECT_EQ(made, 3);
}

TEST(Models, AddReplacesProvidersAndModels) {
  auto models = make_models();
  models->add("p", [](std::string_view) -> Result<ModelPtr> { return fixed("p", "old"); });
  EXPECT_EQ(models->find("p/x").value()->profile().name, "old");
  models->add("p", [](std::string_view) -> Result<ModelPtr> { return fixed("p", "new"); });
  EXPECT_EQ(models->find("p/x").value()->profile().name, "new");
  ModelPtr own = fixed("p", "x");
  models->add(own);
  EXPECT_EQ(models->find("p/x").value(), own);
  models->add(fixed("solo", "m"));
  EXPECT_EQ(models->providers(), (std::vector<std::string>{"offline", "p", "script", "solo"}));
}

TEST(Models, AWrongNameIsExplained) {
  auto models = make_models();
  EXPECT_EQ(refused(*models, "offline"),
            "the model \"offline\" is not PROVIDER/NAME (write offline/NAME)");
  EXPECT_TRUE(
      refused(*models, "").contains("write PROVIDER/NAME; the providers are offline, script"));
  EXPECT_TRUE(refused(*models, "/x").contains("is not PROVIDER/NAME"));
  EXPECT_TRUE(refused(*models, "script/").contains("write script/NAME"));
  EXPECT_TRUE(refused(*models, "ofline/demo").contains("did you mean offline/..?"));
  EXPECT_TRUE(refused(*models, "zzzzzzz/demo").contains("the providers are offline, script"));
  EXPECT_LT(refused(*models, std::string(10'000'000, 'a')).size(), 1000u);
}

TEST(Models, AThrowingAndANullFactoryAreInternalErrors) {
  auto models = make_models();
  models->add("bad", [](std::string_view) -> Result<ModelPtr> { throw std::runtime_error("x"); });
  models->add("null", [](std::string_view) -> Result<ModelPtr> { return ModelPtr(); });
  EXPECT_EQ(models->find("bad/a").error().kind(), ErrorKind::internal);
  EXPECT_EQ(models->find("null/a").error().kind(), ErrorKind::internal);
}

TEST(Models, OverridesChangeProfilesFieldByFieldAndLaterRowsWin) {
  auto models = make_models();
  models->add(
      "p", [](std::string_view name) -> Result<ModelPtr> { return fixed("p", std::string(name)); });
  ModelPtr before = models->find("p/early").value();
  models->override_with({.provider = "p", .context_tokens = 1000, .price = Price{.input = 5}});
  models->override_with(
      {.provider = "p", .name = "b", .context_tokens = 2000, .price = Price{.output = 7}});
  models->override_with({.provider = "q", .max_output_tokens = 9});
  const ModelProfile& a = models->find("p/a").value()->profile();
  EXPECT_EQ(a.context_tokens, 1000);
  EXPECT_EQ(a.price, Price{.input = 5});
  EXPECT_EQ(a.max_output_tokens, 0);
  const ModelProfile& b = models->find("p/b").value()->profile();
  EXPECT_EQ(b.context_tokens, 2000);
  EXPECT_EQ(b.price, (Price{.input = 5, .output = 7}));
  EXPECT_EQ(models->find("p/early").value(), before);
  EXPECT_EQ(before->profile().context_tokens, 0);
  models->add(fixed("q", "own"));
  EXPECT_EQ(models->find("q/own").value()->profile().max_output_tokens, 9);
  EXPECT_EQ(models->find("q/own").value(), models->find("q/own").value());
}

TEST(Models, ManyThreadsGetOneModel) {
  auto models = make_models();
  models->add(
      "p", [](std::string_view name) -> Result<ModelPtr> { return fixed("p", std::string(name)); });
  std::vector<ModelPtr> found(8);
  {
    std::vector<std::jthread> threads;
    for (ModelPtr& slot : found) threads.emplace_back([&] { slot = models->find("p/x").value(); });
  }
  for (const ModelPtr& model : found) EXPECT_EQ(model, found[0]);
}

TEST(Models, AColonBehindAKnownProviderIsASlash) {
  auto models = make_models();
  models->add(
      "p", [](std::string_view name) -> Result<ModelPtr> { return fixed("p", std::string(name)); });
  models->add(fixed("solo", "m"));
  EXPECT_EQ(models->find("p:x").value(), models->find("p/x").value());
  EXPECT_EQ(models->find("p:qwen3:8b").value()->profile().name, "qwen3:8b");
  EXPECT_EQ(models->find("p:a/b").value()->profile().name, "a/b");
  EXPECT_EQ(models->find("solo:m").value(), models->find("solo/m").value());
  EXPECT_TRUE(refused(*models, "zzz:x").contains("is not PROVIDER/NAME"));
  EXPECT_TRUE(refused(*models, "p:").contains("write p/NAME"));
}

// Remembers what it was asked.
class Listening final : public Model {
 public:
  explicit Listening(std::vector<std::string> efforts) { profile_.efforts = std::move(efforts); }
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::string identity() const override { return "somebody"; }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until) override {
    efforts.push_back(request.reasoning);
    return nullptr;
  }
  std::vector<std::string> efforts;

 private:
  ModelProfile profile_{.provider = "p", .name = "m"};
};

TEST(Models, AnEffortBehindTheNameIsAskedForWhereTheRequestLeavesItOpen) {
  auto models = make_models();
  auto listening = std::make_shared<Listening>(std::vector<std::string>{"low", "high"});
  models->add(listening);
  const ModelPtr high = models->find("p/m:high").value();
  EXPECT_EQ(models->find("p:m:high").value(), high);
  EXPECT_NE(models->find("p/m").value(), high);
  EXPECT_EQ(high->profile().id(), "p/m");
  EXPECT_EQ(high->identity(), "somebody:high");
  ModelRequest request;
  high->ask(request, {});
  request.reasoning = "low";
  high->ask(request, {});
  EXPECT_EQ(listening->efforts, (std::vector<std::string>{"high", "low"}));
  EXPECT_EQ(refused(*models, "p/m:max"),
            "the model \"p/m\" does not take the effort \"max\" (it takes low, high)");
  // What is no effort is part of the name.
  EXPECT_TRUE(refused(*models, "p/m:free").contains("nobody registered"));
}

TEST(Models, AModelOfThatVeryNameBeatsAnEffort) {
  auto models = make_models();
  const ModelPtr own = fixed("p", "m:high");
  models->add(own);
  EXPECT_EQ(models->find("p/m:high").value(), own);
}

TEST(Models, AReplacedModelIsReplacedWithItsEffortsToo) {
  auto models = make_models();
  auto first = std::make_shared<Listening>(std::vector<std::string>{});
  auto second = std::make_shared<Listening>(std::vector<std::string>{});
  models->add(first);
  models->find("p/m:low").value()->ask({}, {});
  models->add(second);
  models->find("p/m:low").value()->ask({}, {});
  EXPECT_EQ(first->efforts.size(), 1u);
  EXPECT_EQ(second->efforts.size(), 1u);
}

TEST(Models, TheFirstModelIsTheDefaultUnlessOneIsSet) {
  auto models = make_models();
  EXPECT_EQ(models->default_model(), "");
  EXPECT_FALSE(models->resolve({}));
  models->add(fixed("a", "one"));
  models->add(fixed("b", "two"));
  EXPECT_EQ(models->default_model(), "a/one");
  EXPECT_EQ(models->resolve({}).value().model->profile().id(), "a/one");
  models->set_default("b/two");
  const Resolved resolved = models->resolve({}).value();
  EXPECT_EQ(resolved.model->profile().id(), "b/two");
  EXPECT_EQ(resolved.source, ModelSource::registry_default);
}

TEST(Models, OverridesSayWhatAModelCanDo) {
  auto models = make_models();
  models->override_with({.provider = "p",
                         .name = "m",
                         .price = Price{.cache_write_1h = 3, .tiers = {{.above = 9}}},
                         .caps = {{"tools", "vision"}},
                         .efforts = {{"low"}},
                         .drop_params = {{"top_p"}},
                         .status = ModelStatus::deprecated});
  models->add(std::make_shared<Listening>(std::vector<std::string>{}));
  const ModelPtr model = models->find("p/m").value();
  const ModelProfile& profile = model->profile();
  EXPECT_TRUE(profile.tools && profile.vision && !profile.streaming);
  EXPECT_EQ(profile.efforts, std::vector<std::string>{"low"});
  EXPECT_TRUE(profile.drops("top_p"));
  EXPECT_EQ(profile.status, ModelStatus::deprecated);
  EXPECT_EQ(profile.price, (Price{.cache_write_1h = 3, .tiers = {{.above = 9}}}));
  EXPECT_EQ(model->identity(), "somebody");
  EXPECT_FALSE(models->find("p/m:max"));
}

}  // namespace
}  // namespace tug
