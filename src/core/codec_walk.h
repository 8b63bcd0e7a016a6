// What the parts of the codec share: the way into a value, and casts by kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tug/core/detail/fields.h"
#include "tug/core/detail/shape.h"

namespace tug::detail {

template <class T>
const T& as(const Shape& shape) noexcept {
  return static_cast<const T&>(shape);
}

using FieldAddresses = std::array<void*, kMaxFields>;

// The writer only reads through them.
inline FieldAddresses fields_at(const ObjectShape& shape, const void* object) {
  FieldAddresses addresses{};
  shape.locate(const_cast<void*>(object), addresses.data());
  return addresses;
}

inline const void* step(const void* base, std::size_t stride, std::size_t index) noexcept {
  return static_cast<const char*>(base) + stride * index;
}
inline void* step(void* base, std::size_t stride, std::size_t index) noexcept {
  return static_cast<char*>(base) + stride * index;
}

// Two's complement in `bytes` bytes, little-endian hosts only (checked in codec_write.cpp).
inline std::uint64_t load_bits(const void* from, std::uint8_t bytes, bool sign_extend) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  const unsigned unused = 64u - 8u * bytes;
  if (sign_extend && unused != 0) {
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return bits;
}
inline void store_bits(void* to, std::uint8_t bytes, std::uint64_t bits) noexcept {
  std::memcpy(to, &bits, bytes);
}

// What a default-constructed value is written as.
Json blank_value(const Shape& shape);

}  // namespace tug::detail
