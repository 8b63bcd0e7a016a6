#include "tug/core/rng.h"

#include <bit>

namespace tug {
namespace {

std::uint64_t splitmix(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) noexcept {
  for (std::uint64_t& word : state_) word = splitmix(seed);
}

std::uint64_t Rng::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t n) noexcept {
  if (n == 0) return 0;
  // Multiply and keep the high half; the few low halves that would favour some numbers are redrawn.
  using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t unfair = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < unfair) product = static_cast<Wide>(next()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace tug
