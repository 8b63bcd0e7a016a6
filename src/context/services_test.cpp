#include "tug/context/services.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace tug {
namespace {

struct Cache {
  int size = 0;
};
struct Other {};

TEST(Services, AreFoundByType) {
  auto cache = std::make_shared<Cache>();
  const ServicesPtr services = Services::Builder(1).put(cache).build();
  EXPECT_EQ(services->get<Cache>(), cache.get());
  EXPECT_EQ(services->share<Cache>(), cache);
  EXPECT_EQ(services->get<Other>(), nullptr);
  services->get<Cache>()->size = 3;
  EXPECT_EQ(cache->size, 3);
}

TEST(Services, PuttingATypeAgainReplacesIt) {
  auto second = std::make_shared<Cache>();
  const ServicesPtr services =
      Services::Builder(1).put(std::make_shared<Cache>()).put(second).build();
  EXPECT_EQ(services->get<Cache>(), second.get());
}

TEST(Services, HaveADefaultForEverything) {
  const ServicesPtr services = Services::Builder(1).build();
  EXPECT_NE(services->stores().standard(), nullptr);
  EXPECT_NE(services->ids().next(Time{}), services->ids().next(Time{}));
  EXPECT_EQ(services->config()["cwd"], Json(""));
  EXPECT_EQ(services->reporter_names(), std::vector<std::string>{"console"});
  EXPECT_EQ(services->reporter("jsonl"), nullptr);
}

TEST(Shared, KeepsJsonByKey) {
  Shared shared;
  EXPECT_EQ(shared.get("a"), Json());
  shared.set("b", 2);
  shared.set("a", 1);
  EXPECT_EQ(shared.update("a", [](Json& value) { value = *value.as_int() + 1; }), Json(2));
  EXPECT_EQ(shared.update("c", [](Json& value) { value.push_back("x"); }), Json::array({"x"}));
  EXPECT_EQ(shared.keys(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(shared.erase("c"));
  EXPECT_FALSE(shared.erase("c"));
  EXPECT_EQ(print_json(shared.all()), R"({"a":2,"b":2})");
}

TEST(Shared, KeepsOneValuePerType) {
  Shared shared;
  EXPECT_EQ(shared.get<Cache>(), nullptr);
  const auto first =
      shared.update<Cache>([](const Cache* old) { return Cache{old ? old->size + 1 : 1}; });
  const auto second =
      shared.update<Cache>([](const Cache* old) { return Cache{old ? old->size + 1 : 1}; });
  EXPECT_EQ(first->size, 1) << "what you hold does not change";
  EXPECT_EQ(second->size, 2);
  EXPECT_EQ(shared.get<Cache>(), second);
  shared.put(Cache{9});
  EXPECT_EQ(shared.get<Cache>()->size, 9);
}

TEST(Shared, AnUpdateThatThrowsChangesNothing) {
  Shared shared;
  shared.set("a", 1);
  EXPECT_THROW(shared.update("a",
                             [](Json& value) {
                               value = 2;
                               throw std::runtime_error("no");
                             }),
               std::runtime_error);
  EXPECT_EQ(shared.get("a"), Json(1));
}

TEST(Shared, LosesNoUpdateOfAnyThread) {
  Shared shared;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 1000; ++i) {
        shared.update("n", [](Json& n) { n = n.as_int().value_or(0) + 1; });
        shared.update<Cache>([](const Cache* c) { return Cache{c ? c->size + 1 : 1}; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.get("n"), Json(4000));
  EXPECT_EQ(shared.get<Cache>()->size, 4000);
}

}  // namespace
}  // namespace tug
