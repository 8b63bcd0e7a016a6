#include "tug/core/ids.h"

#include <mutex>

#include "tug/core/rng.h"

namespace tug {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";  // no i, l, o, u

void put_base32(std::string& out, std::uint64_t value, int digits) {
  for (int digit = digits - 1; digit >= 0; --digit) {
    out.push_back(kAlphabet[(value >> (5 * digit)) & 31]);
  }
}

class TimeOrderedIds final : public Ids {
 public:
  explicit TimeOrderedIds(std::uint64_t seed) : rng_(seed) {}

  std::string next(Time now) override {
    const auto ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
    std::scoped_lock lock(mutex_);
    if (ms > last_ms_) {
      last_ms_ = ms;
      high_ = rng_.next() >> 25;  // 39 bits: one spare, so that counting up cannot overflow
      low_ = rng_.next() >> 24;   // 40 bits
    } else if (++low_ >> 40) {
      low_ = 0;
      ++high_;
    }
    std::string id;
    id.reserve(26);
    put_base32(id, last_ms_, 10);
    put_base32(id, high_, 8);
    put_base32(id, low_, 8);
    return id;
  }

 private:
  std::mutex mutex_;
  Rng rng_;
  std::uint64_t last_ms_ = 0;
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

class CountingIds final : public Ids {
 public:
  explicit CountingIds(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string next(Time) override {
    std::scoped_lock lock(mutex_);
    return prefix_ + "-" + std::to_string(++count_);
  }

 private:
  std::mutex mutex_;
  std::string prefix_;
  std::uint64_t count_ = 0;
};

}  // namespace

CallId make_call_id(Seq seq, std::uint32_t index) {
  return CallId(std::to_string(seq) + "." + std::to_string(index));
}

std::unique_ptr<Ids> make_time_ordered_ids(std::uint64_t seed) {
  return std::make_unique<TimeOrderedIds>(seed);
}

std::unique_ptr<Ids> make_counting_ids(std::string prefix) {
  return std::make_unique<CountingIds>(std::move(prefix));
}

}  // namespace tug
