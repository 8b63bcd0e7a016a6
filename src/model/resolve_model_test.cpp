#include <gtest/gtest.h>

#include <map>

#include "tug/model/models.h"
#include "tug/model/script.h"

namespace tug {
namespace {

// What can be had: "see" sees, "old" is deprecated, "gone" is retired, "big" has a large window.
Result<ModelPtr> find(std::string_view id) {
  ModelProfile profile{.provider = "p", .name = std::string(id)};
  if (id == "missing") return fail(ErrorKind::invalid, "there is none");
  if (id == "see") profile.vision = true;
  if (id == "old") profile.status = ModelStatus::deprecated;
  if (id == "gone") profile.status = ModelStatus::retired;
  if (id == "big") profile.context_tokens = 1'000'000;
  return make_script_model({}, profile);
}

const CapabilitySet kSees{.vision = true};
const CapabilitySet kLarge{.context_tokens = 100'000};
const std::string kBlind = "it cannot see pictures";

TEST(ResolveModel, TakesTheFirstThatCanBeHadInTheOrderOfThePriorities) {
  using enum ModelSource;
  const struct {
    const char* what;
    ModelChoice choice;
    std::string registry;
    std::string name;
    ModelSource source;
    std::vector<SkippedModel> skipped = {};
  } cases[] = {
      {"the request's own", {"r", "p", true, {{"h"}}, "a", {}}, "d", "r", request},
      {"the one before, when told to stay", {"", "p", true, {{"h"}}, "a", {}}, "d", "p", previous},
      {"not when not", {"", "p", false, {{"h"}}, "a", {}}, "d", "h", hint},
      {"no one before", {"", "", true, {}, "a", {}}, "d", "a", agent_default},
      {"the highest hint",
       {"", "", false, {{"h1", 1}, {"h3", 3}, {"h2", 2}}, "a", {}},
       "d",
       "h3",
       hint},
      {"of equal hints the first", {"", "", false, {{"h1", 5}, {"h2", 5}}, "", {}}, "", "h1", hint},
      {"the agent's", {"", "", false, {}, "a", {}}, "d", "a", agent_default},
      {"the registry's", {}, "d", "d", registry_default},
      {"one that is not there is passed over",
       {"missing", "", false, {}, "a", {}},
       "",
       "a",
       agent_default,
       {{"missing", request, "there is none"}}},
      {"a retired one is never chosen",
       {"gone", "gone", true, {{"gone"}}, "gone", {}},
       "d",
       "d",
       registry_default,
       {{"gone", request, "it is retired"}}},
      {"all rungs are held to what is required",
       {"r", "p", true, {{"h"}}, "a", kSees},
       "see",
       "see",
       registry_default,
       {{"r", request, kBlind},
        {"p", previous, kBlind},
        {"h", hint, kBlind},
        {"a", agent_default, kBlind}}},
      {"an unknown window is too small",
       {"r", "", false, {{"big"}}, "", kLarge},
       "",
       "big",
       hint,
       {{"r", request, "its window is not known"}}},
  };
  for (const auto& [what, choice, registry, name, source, skipped] : cases) {
    auto resolved = resolve_model(choice, registry, find);
    ASSERT_TRUE(resolved) << what;
    EXPECT_EQ(resolved->name, name) << what;
    EXPECT_EQ(resolved->model->profile().name, name) << what;
    EXPECT_EQ(resolved->source, source) << what;
    EXPECT_EQ(resolved->skipped, skipped) << what;
    EXPECT_FALSE(resolved->deprecated) << what;
  }
}

TEST(ResolveModel, ADeprecatedModelAnswersWithAMark) {
  auto resolved = resolve_model({.request = "old"}, "d", find);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->name, "old");
  EXPECT_TRUE(resolved->deprecated);
}

TEST(ResolveModel, SaysWhatEachOfThemLacksWhenNobodyIsLeft) {
  auto nobody = resolve_model({.request = "r", .required = kSees}, "gone", find);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind(), ErrorKind::invalid);
  EXPECT_EQ(nobody.error().message(),
            "none of the models can answer: r: it cannot see pictures; gone: it is retired");
  auto unnamed = resolve_model({}, "", find);
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().message(), "no model is named");
}

}  // namespace
}  // namespace tug
