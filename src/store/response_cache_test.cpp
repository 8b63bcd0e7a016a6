#include "tug/store/response_cache.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace tug {
namespace {

using namespace std::chrono_literals;
constexpr Time kNow = Time(1'000'000s);

class ResponseCaches : public ::testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<ResponseCache> make(CacheBounds bounds = {}) {
    if (!GetParam()) return make_memory_response_cache(bounds);
    auto opened = open_response_cache(folder_ / "responses.db", bounds);
    EXPECT_TRUE(opened) << to_string(opened.error());
    return *opened;
  }
  void SetUp() override {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(name, '/', '-');
    folder_ = std::filesystem::temp_directory_path() /
              ("tug-cache-" + std::to_string(::getpid()) + "-" + name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static Digest key(int n) { return sha256(std::to_string(n)); }

  std::filesystem::path folder_;
};

TEST_P(ResponseCaches, GiveBackWhatWasPut) {
  const auto cache = make();
  EXPECT_EQ(cache->get(key(1), kNow), std::nullopt);
  cache->put(key(1), std::string("a\0b", 3), {}, kNow);
  EXPECT_EQ(cache->get(key(1), kNow + 1000h), std::string("a\0b", 3));
  cache->put(key(1), "newer", {}, kNow);
  EXPECT_EQ(cache->get(key(1), kNow), "newer");
  EXPECT_EQ(cache->stats().hits, 2u);
  EXPECT_EQ(cache->stats().misses, 1u);
  EXPECT_EQ(cache->stats().entries, 1u);
  EXPECT_EQ(cache->stats().bytes, 5u);
}

TEST_P(ResponseCaches, ForgetWhatHasExpired) {
  const auto cache = make();
  cache->put(key(1), "a", 10s, kNow);
  EXPECT_EQ(cache->get(key(1), kNow + 9s), "a");
  EXPECT_EQ(cache->get(key(1), kNow + 10s), std::nullopt);
}

TEST_P(ResponseCaches, DropWhatWasUsedLeastRecently) {
  const auto cache = make({.entries = 2, .bytes = 1000});
  cache->put(key(1), "a", {}, kNow);
  cache->put(key(2), "b", {}, kNow + 1s);
  EXPECT_EQ(cache->get(key(1), kNow + 2s), "a");
  cache->put(key(3), "c", {}, kNow + 3s);
  EXPECT_EQ(cache->get(key(2), kNow + 4s), std::nullopt);
  EXPECT_EQ(cache->get(key(1), kNow + 4s), "a");
  EXPECT_EQ(cache->get(key(3), kNow + 4s), "c");
  EXPECT_EQ(cache->stats().evicted, 1u);
}

TEST_P(ResponseCaches, KeepOneEntryWhateverItsSize) {
  const auto cache = make({.entries = 10, .bytes = 100});
  cache->put(key(1), std::string(60, 'a'), {}, kNow);
  cache->put(key(2), std::string(500, 'b'), {}, kNow + 1s);
  EXPECT_EQ(cache->stats().entries, 1u);
  EXPECT_EQ(cache->get(key(2), kNow + 2s), std::string(500, 'b'));
}

TEST_P(ResponseCaches, CanBeCleared) {
  const auto cache = make();
  cache->put(key(1), "a", {}, kNow);
  cache->clear();
  EXPECT_EQ(cache->get(key(1), kNow), std::nullopt);
  EXPECT_EQ(cache->stats().bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Memory, ResponseCaches, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Sqlite, ResponseCaches, ::testing::Values(true));

TEST_P(ResponseCaches, OnDiskAreSharedByThoseWhoOpenThem) {
  if (!GetParam()) return;
  const auto one = make();
  const auto other = make();
  one->put(key(1), "a", {}, kNow);
  EXPECT_EQ(other->get(key(1), kNow), "a");
}

TEST_P(ResponseCaches, OnDiskRefuseAFileOfSomebodyElse) {
  if (!GetParam()) return;
  const std::filesystem::path file = folder_ / "other.db";
  std::ofstream(file) << "this is no database, whatever its name says, and never was one";
  EXPECT_FALSE(open_response_cache(file));
}

}  // namespace
}  // namespace tug
