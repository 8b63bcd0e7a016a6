#include <array>
#include <cstdint>
#include <string>

#include "testkit/mock_plan.h"

namespace tug {
namespace {

// Bits as deflate has them: the lowest of a byte first.
class BitWriter {
 public:
  explicit BitWriter(std::string& out) : out_(out) {}
  void add(unsigned value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) {
      byte_ |= ((value >> i) & 1U) << used_;
      if (++used_ == 8) flush();
    }
  }
  void flush() {
    if (used_ == 0) return;
    out_ += static_cast<char>(byte_);
    byte_ = used_ = 0;
  }

 private:
  std::string& out_;
  unsigned byte_ = 0;
  unsigned used_ = 0;
};

std::uint32_t crc_of_zeros(std::size_t count) {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0xEDB88320U : 0U);
    table[i] = value;
  }
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::size_t i = 0; i < count; ++i) crc = table[crc & 0xFF] ^ (crc >> 8);
  return ~crc;
}

void add_little_endian(std::uint32_t value, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xFF);
}

// Codes of one block (RFC 1951, 3.2.7) for three symbols: "258 bytes as before" takes one bit, a
// zero byte and the end two. A code is written from its highest bit on: the numbers are reversed.
constexpr unsigned kRepeat = 0b0, kZero = 0b01, kEnd = 0b11;

void add_code_lengths(BitWriter& bits) {
  bits.add(1, 1);          // the last block
  bits.add(2, 2);          // with codes of its own
  bits.add(286 - 257, 5);  // literals and lengths
  bits.add(1 - 1, 5);      // one distance
  bits.add(18 - 4, 4);     // lengths of codes for lengths, in deflate's order of them
  constexpr unsigned kOrder[18] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1};
  for (const unsigned symbol : kOrder) {
    bits.add(symbol == 18 ? 1 : symbol == 1 || symbol == 2 ? 2 : 0, 3);
  }
  constexpr unsigned kOne = 0b01, kTwo = 0b11;
  const auto none = [&](unsigned count) {  // 11 to 138 symbols that have no code
    bits.add(0b0, 1);
    bits.add(count - 11, 7);
  };
  bits.add(kTwo, 2);  // 0: a zero byte
  none(138);
  none(117);
  bits.add(kTwo, 2);  // 256: the end
  none(28);
  bits.add(kOne, 2);  // 285: 258 bytes as before
  bits.add(kOne, 2);  // distance 1
}

}  // namespace

std::string gzip_of_zeros(std::size_t zeros) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  BitWriter bits(out);
  add_code_lengths(bits);
  std::size_t left = zeros;
  if (left > 0) {
    bits.add(kZero, 2);
    --left;
  }
  for (; left >= 258; left -= 258) {
    bits.add(kRepeat, 1);
    bits.add(0, 1);  // the distance
  }
  for (; left > 0; --left) bits.add(kZero, 2);
  bits.add(kEnd, 2);
  bits.flush();
  add_little_endian(crc_of_zeros(zeros), out);
  add_little_endian(static_cast<std::uint32_t>(zeros), out);
  return out;
}

}  // namespace tug
