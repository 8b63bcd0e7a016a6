// Random numbers as a value: same seed, same numbers, on every platform and at every optimisation
// level (std distributions are not). xoshiro256**, seeded by splitmix64. Not for secrets.
#pragma once

#include <cstdint>

namespace tug {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept;

  std::uint64_t next() noexcept;
  // Uniform in [0, n); 0 for n = 0.
  std::uint64_t below(std::uint64_t n) noexcept;
  // Uniform in [0, 1), 53 bits.
  double unit() noexcept;
  // An independent stream; the parent moves on by one number.
  Rng split() noexcept { return Rng(next()); }

  friend bool operator==(const Rng&, const Rng&) = default;

 private:
  std::uint64_t state_[4];
};

}  // namespace tug
