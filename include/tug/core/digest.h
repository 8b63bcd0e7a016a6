// The two digests. A fingerprint (XXH3, 128 bits) tells values of one run apart and is cheap; a
// digest (SHA-256) is made wherever identity is trusted: blobs, response cache, approvals, the hash
// chain.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tug {

struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};
Fingerprint fingerprint_of(std::string_view bytes, std::uint64_t seed = 0) noexcept;

struct Digest {
  std::array<unsigned char, 32> bytes{};
  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string hex() const;
  static std::optional<Digest> from_hex(std::string_view text) noexcept;
  static std::optional<Digest> from_bytes(std::string_view raw) noexcept;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};
Digest sha256(std::string_view bytes);

// A SHA-256 fed in pieces and used again after `finish`. One thread at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes) noexcept;
  void update_u64(std::uint64_t value) noexcept;  // 8 bytes, big endian
  // Length first, so that "ab","c" and "a","bc" differ.
  void update_field(std::string_view bytes) noexcept;
  Digest finish() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tug
