// SipHash-1-3: a keyed hash for tables that hostile input fills.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tug::detail {

inline std::uint64_t siphash(std::string_view bytes, std::uint64_t key) noexcept {
  std::uint64_t a = 0x736f6d6570736575 ^ key;
  std::uint64_t b = 0x646f72616e646f6d ^ std::rotl(key, 32);
  std::uint64_t c = 0x6c7967656e657261 ^ key;
  std::uint64_t d = 0x7465646279746573 ^ std::rotl(key, 32);
  const auto round = [&] {
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  };
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    d ^= word;
    round();
    a ^= word;
  }
  std::uint64_t last = std::uint64_t{bytes.size()} << 56;
  if (left != 0) {
    std::uint64_t tail = 0;
    std::memcpy(&tail, p, left);
    last |= tail;
  }
  d ^= last;
  round();
  a ^= last;
  c ^= 0xff;
  round();
  round();
  round();
  return a ^ b ^ c ^ d;
}

}  // namespace tug::detail
