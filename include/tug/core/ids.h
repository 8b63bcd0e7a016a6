// Names of things, as distinct types so that a thread id cannot be passed for a run id.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tug/core/time.h"

namespace tug {

template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) noexcept : text_(std::move(text)) {}
  explicit Id(std::string_view text) : text_(text) {}
  explicit Id(const char* text) : text_(text) {}

  const std::string& text() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  explicit operator bool() const noexcept { return !text_.empty(); }
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  std::string text_;
};

using RunId = Id<struct RunIdTag>;
using ThreadId = Id<struct ThreadIdTag>;
using CallId = Id<struct CallIdTag>;  // ours, `<seq>.<index>`; the provider's is kept beside it

using Seq = std::uint64_t;  // place in a root's log, gap-free from 1

CallId make_call_id(Seq seq, std::uint32_t index);

// Where new ids come from. Injected, never global; may be called from any thread.
class Ids {
 public:
  virtual ~Ids() = default;
  // Unique within this source; ids made later sort later.
  virtual std::string next(Time now) = 0;
};

// 26 characters, the first 10 of them the time in milliseconds, so that ids of one machine sort by
// time as text; the rest from `seed`, counted up within a millisecond and when the clock steps
// back.
std::unique_ptr<Ids> make_time_ordered_ids(std::uint64_t seed);
// "prefix-1", "prefix-2", ...: for tests that compare whole logs.
std::unique_ptr<Ids> make_counting_ids(std::string prefix);

}  // namespace tug
