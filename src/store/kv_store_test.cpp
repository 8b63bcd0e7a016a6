#include <gtest/gtest.h>

#include <thread>

#include "tug/store/store.h"

namespace tug {
namespace {

TEST(KvStore, WhatIsPutIsGotUnderItsNamespaceAndKeyAlone) {
  auto store = make_memory_kv_store();
  ASSERT_TRUE(store->put("a", "k", 1));
  ASSERT_TRUE(store->put("b", "k", 2));
  EXPECT_EQ(**store->get("a", "k"), Json(1));
  EXPECT_EQ(**store->get("b", "k"), Json(2));
  EXPECT_EQ(store->get("a", "other").value(), std::nullopt);
  EXPECT_EQ(store->get("c", "k").value(), std::nullopt);
  ASSERT_TRUE(store->put("a", "k", "new"));
  EXPECT_EQ(**store->get("a", "k"), Json("new"));
}

TEST(KvStore, DeletingIsFineWhetherItIsThereOrNot) {
  auto store = make_memory_kv_store();
  ASSERT_TRUE(store->put("a", "k", 1));
  EXPECT_TRUE(store->remove("a", "k"));
  EXPECT_TRUE(store->remove("a", "k"));
  EXPECT_TRUE(store->remove("nowhere", "k"));
  EXPECT_EQ(store->get("a", "k").value(), std::nullopt);
  EXPECT_TRUE(store->list("a")->empty());
}

TEST(KvStore, ListIsSortedAndKeepsToThePrefix) {
  auto store = make_memory_kv_store();
  for (const char* key : {"b/2", "a", "b/1", "c", "b"}) ASSERT_TRUE(store->put("s", key, 0));
  EXPECT_EQ(store->list("s").value(), (std::vector<std::string>{"a", "b", "b/1", "b/2", "c"}));
  EXPECT_EQ(store->list("s", "b/").value(), (std::vector<std::string>{"b/1", "b/2"}));
  EXPECT_TRUE(store->list("s", "z")->empty());
}

TEST(KvStore, NamesThatAreEmptyOrTooLongAreRefusedByName) {
  auto store = make_memory_kv_store();
  const std::string longest(Store::kMaxStoreName, 'k');
  EXPECT_TRUE(store->put("s", longest, 1));
  for (auto [space, key, named] :
       {std::tuple<std::string, std::string, const char*>{"", "k", "namespace"},
        {"s", "", "key"},
        {"s", longest + "k", "key"},
        {longest + "k", "k", "namespace"}}) {
    for (const auto& refused : {store->put(space, key, 1), store->remove(space, key)}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind(), ErrorKind::invalid);
      EXPECT_NE(refused.error().message().find(named), std::string::npos)
          << refused.error().message();
    }
    EXPECT_FALSE(store->get(space, key));
  }
}

TEST(KvStore, ManyThreadsMayUseItAtOnce) {
  auto store = make_memory_kv_store();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(store->put("s", std::to_string(t) + "-" + std::to_string(i), i));
        ASSERT_TRUE(store->list("s", std::to_string(t)));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(store->list("s")->size(), 2000u);
}

TEST(Stores, ADefaultInMemoryIsAlwaysThereAndOthersHaveNames) {
  Stores stores;
  ASSERT_NE(stores.standard(), nullptr);
  EXPECT_EQ(stores.get("default"), stores.standard());
  EXPECT_EQ(stores.get("notes"), nullptr);
  std::shared_ptr<Store> notes = make_memory_kv_store();
  stores.put("notes", notes);
  EXPECT_EQ(stores.get("notes"), notes);
  EXPECT_EQ(stores.names(), (std::vector<std::string>{"default", "notes"}));
}

}  // namespace
}  // namespace tug
