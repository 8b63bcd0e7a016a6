// Which members or items of one value some schema has looked at: what `unevaluatedProperties` and
// `unevaluatedItems` go by. Places are counted in the value's own order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tug::detail {

class Evaluated {
 public:
  void mark(std::size_t place) {
    if (place < 64) {
      first_ |= std::uint64_t{1} << place;
      return;
    }
    const std::size_t word = place / 64 - 1;
    if (word >= rest_.size()) rest_.resize(word + 1);
    rest_[word] |= std::uint64_t{1} << (place % 64);
  }
  void mark_all() noexcept { all_ = true; }
  // Every place below `end`.
  void mark_up_to(std::size_t end) noexcept {
    if (end > up_to_) up_to_ = end;
  }
  bool has(std::size_t place) const noexcept {
    if (all_ || place < up_to_) return true;
    if (place < 64) return (first_ >> place & 1) != 0;
    const std::size_t word = place / 64 - 1;
    return word < rest_.size() && (rest_[word] >> (place % 64) & 1) != 0;
  }
  void merge(const Evaluated& other) {
    all_ |= other.all_;
    mark_up_to(other.up_to_);
    first_ |= other.first_;
    if (rest_.size() < other.rest_.size()) rest_.resize(other.rest_.size());
    for (std::size_t i = 0; i < other.rest_.size(); ++i) rest_[i] |= other.rest_[i];
  }

 private:
  bool all_ = false;
  std::size_t up_to_ = 0;
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> rest_;
};

}  // namespace tug::detail
