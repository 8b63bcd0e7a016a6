// Finding the bytes that need care, 16 at a time where the machine can. Everything here reads
// [p, end) only and allocates nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tug::detail {

inline std::uint64_t load_word(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

inline constexpr std::uint64_t kOnes = 0x0101010101010101;
inline constexpr std::uint64_t kHighs = 0x8080808080808080;

inline bool ends_run(unsigned char byte) noexcept {
  return byte < 0x20 || byte == '"' || byte == '\\';
}

// The first byte that cannot stand in a JSON string as it is (quote, backslash, control), or `end`.
// Sets `non_ascii` when a byte above 0x7f comes before it.
inline const char* scan_string(const char* p, const char* end, bool& non_ascii) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  while (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i found =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes));
    const unsigned stops = static_cast<unsigned>(_mm_movemask_epi8(found));
    const unsigned highs = static_cast<unsigned>(_mm_movemask_epi8(bytes));
    if (stops != 0) {
      const unsigned before = (stops - 1) & ~stops;
      non_ascii |= (highs & before) != 0;
      return p + std::countr_zero(stops);
    }
    non_ascii |= highs != 0;
    p += 16;
  }
#else
  while (end - p >= 8) {
    const std::uint64_t word = load_word(p);
    const std::uint64_t low = word & ~kHighs;
    const std::uint64_t quote = (low ^ (kOnes * '"')) + ~kHighs;
    const std::uint64_t backslash = (low ^ (kOnes * '\\')) + ~kHighs;
    const std::uint64_t control = low + kOnes * (0x80 - 0x20);
    if ((~(quote & backslash & control) & ~word & kHighs) != 0) break;
    non_ascii |= (word & kHighs) != 0;
    p += 8;
  }
#endif
  for (; p != end; ++p) {
    const auto byte = static_cast<unsigned char>(*p);
    if (ends_run(byte)) return p;
    non_ascii |= byte >= 0x80;
  }
  return end;
}

// The first byte above 0x7f, or `end`.
inline const char* skip_ascii(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
  while (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const unsigned highs = static_cast<unsigned>(_mm_movemask_epi8(bytes));
    if (highs != 0) return p + std::countr_zero(highs);
    p += 16;
  }
#endif
  while (end - p >= 8 && (load_word(p) & kHighs) == 0) p += 8;
  while (p != end && static_cast<unsigned char>(*p) < 0x80) ++p;
  return p;
}

struct Sequence {
  unsigned length;  // of the code point, or of the maximal ill-formed part
  bool well_formed;
};

// What stands at `p`, which is not `end`: table 3-7 of the Unicode standard.
inline Sequence utf8_sequence(const char* p, const char* end) noexcept {
  const auto at = [&](unsigned i) { return static_cast<unsigned char>(p[i]); };
  const auto size = static_cast<std::size_t>(end - p);
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const unsigned length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  for (unsigned i = 1; i < length; ++i) {
    if (i >= size || at(i) < low || at(i) > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {length, true};
}

}  // namespace tug::detail
