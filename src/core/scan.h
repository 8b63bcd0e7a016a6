// Finding the bytes that need care, a block at a time: a bit for every byte instead of a branch.
// Everything here reads [p, end) only and allocates nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tug::detail {

inline constexpr std::ptrdiff_t kBlock = 64;

// One bit per byte of a block of 64, the first byte lowest.
struct StringBlock {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t controls = 0;
  std::uint64_t highs = 0;  // above 0x7f
};

inline StringBlock string_block(const char* p) noexcept {
  StringBlock out;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const auto bits = [](__m128i matches, int part) {
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(matches)))
           << (16 * part);
  };
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * part));
    out.quotes |= bits(_mm_cmpeq_epi8(bytes, quote), part);
    out.backslashes |= bits(_mm_cmpeq_epi8(bytes, backslash), part);
    out.controls |= bits(_mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes), part);
    out.highs |= bits(bytes, part);
  }
#else
  for (int i = 0; i < kBlock; ++i) {
    const auto byte = static_cast<unsigned char>(p[i]);
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (byte == '"') out.quotes |= bit;
    if (byte == '\\') out.backslashes |= bit;
    if (byte < 0x20) out.controls |= bit;
    if (byte >= 0x80) out.highs |= bit;
  }
#endif
  return out;
}

// The bits below the lowest set one; all of them for 0.
inline std::uint64_t bits_before(std::uint64_t mask) noexcept { return (mask - 1) & ~mask; }

// Of bytes that follow an escaping backslash. In a run of backslashes every second one escapes:
// subtracting the run from the odd places carries through it and ends where the run does.
// `carry` is 1 when the byte before the block escapes its first one, and is set for the next block.
inline std::uint64_t escaped_bytes(std::uint64_t backslashes, std::uint64_t& carry) noexcept {
  if (backslashes == 0) {
    const std::uint64_t escaped = carry;
    carry = 0;
    return escaped;
  }
  constexpr std::uint64_t odd = 0xaaaaaaaaaaaaaaaa;
  const std::uint64_t starts = backslashes & ~carry;
  const std::uint64_t codes = (((starts << 1) | odd) - starts) ^ odd;
  const std::uint64_t escaped = codes ^ (backslashes | carry);
  carry = (codes & backslashes) >> 63;
  return escaped;
}

struct StringEnd {
  const char* at = nullptr;  // the closing quote, a control byte, or the end of the text
  bool escapes = false;      // a backslash comes before it
  bool non_ascii = false;    // a byte above 0x7f comes before it
};

// Where the JSON string ends whose first byte is `p`.
inline StringEnd find_string_end(const char* p, const char* end) noexcept {
  StringEnd out;
#if defined(__SSE2__)
  // Most strings are keys and words: their quote is among the first 16 bytes.
  if (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i found =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes));
    const auto stops = static_cast<unsigned>(_mm_movemask_epi8(found));
    const auto highs = static_cast<unsigned>(_mm_movemask_epi8(bytes));
    if (stops != 0) {
      out.at = p + std::countr_zero(stops);
      out.non_ascii = (highs & (stops - 1) & ~stops) != 0;
      if (*out.at != '\\') return out;
      out.non_ascii = false;
    }
  }
#endif
  std::uint64_t carry = 0;
  while (end - p >= kBlock) {
    const StringBlock block = string_block(p);
    const std::uint64_t escaped = escaped_bytes(block.backslashes, carry);
    const std::uint64_t stops = (block.quotes & ~escaped) | block.controls;
    const std::uint64_t before = bits_before(stops);
    out.escapes |= (block.backslashes & before) != 0;
    out.non_ascii |= (block.highs & before) != 0;
    if (stops != 0) {
      out.at = p + std::countr_zero(stops);
      return out;
    }
    p += kBlock;
  }
  bool escaped = carry != 0;
  for (; p != end; ++p) {
    const auto byte = static_cast<unsigned char>(*p);
    if (byte < 0x20 || (byte == '"' && !escaped)) break;
    out.escapes |= byte == '\\';
    out.non_ascii |= byte >= 0x80;
    escaped = byte == '\\' && !escaped;
  }
  out.at = p;
  return out;
}

// Copies `size` bytes in steps of 16: reads and writes up to 15 bytes more than that.
inline void copy_loosely(char* to, const char* from, std::size_t size) noexcept {
  std::memcpy(to, from, 16);
  for (std::size_t done = 16; done < size; done += 16) std::memcpy(to + done, from + done, 16);
}
inline constexpr std::ptrdiff_t kLoose = 16;

// A place to finish a text whose last block is not a whole one.
struct Tail {
  char bytes[kBlock + kLoose] = {};
  Tail(const char* p, const char* end) noexcept {
    std::memcpy(bytes, p, static_cast<std::size_t>(end - p));
  }
};

// The first byte above 0x7f, or `end`.
inline const char* skip_ascii(const char* p, const char* end) noexcept {
  constexpr std::uint64_t highs = 0x8080808080808080;
#if defined(__SSE2__)
  while (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const unsigned found = static_cast<unsigned>(_mm_movemask_epi8(bytes));
    if (found != 0) return p + std::countr_zero(found);
    p += 16;
  }
#endif
  for (std::uint64_t word; end - p >= 8; p += 8) {
    std::memcpy(&word, p, sizeof word);
    if ((word & highs) != 0) break;
  }
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
