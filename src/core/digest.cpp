#include "tug/core/digest.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <cstdlib>

namespace tug {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Fingerprint fingerprint_of(std::string_view bytes, std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.high64, hash.low64};
}

std::string Digest::hex() const {
  std::string text;
  text.reserve(64);
  for (unsigned char byte : bytes) {
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 15]);
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) noexcept {
  if (text.size() != 64) return std::nullopt;
  Digest digest;
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return digest;
}

std::optional<Digest> Digest::from_bytes(std::string_view raw) noexcept {
  if (raw.size() != 32) return std::nullopt;
  Digest digest;
  for (std::size_t i = 0; i < 32; ++i) digest.bytes[i] = static_cast<unsigned char>(raw[i]);
  return digest;
}

// The digest object is fetched once per hasher: looking it up costs more than hashing a record.
struct Sha256::State {
  EVP_MD* md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    if (!md || !context) std::abort();  // out of memory, or an OpenSSL without SHA-256
    EVP_DigestInit_ex2(context, md, nullptr);
  }
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(md);
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) noexcept {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

void Sha256::update_u64(std::uint64_t value) noexcept {
  unsigned char raw[8];
  for (int i = 0; i < 8; ++i) raw[i] = static_cast<unsigned char>(value >> (56 - 8 * i));
  EVP_DigestUpdate(state_->context, raw, sizeof raw);
}

void Sha256::update_field(std::string_view bytes) noexcept {
  update_u64(bytes.size());
  update(bytes);
}

Digest Sha256::finish() noexcept {
  Digest digest;
  EVP_DigestFinal_ex(state_->context, digest.bytes.data(), nullptr);
  EVP_DigestInit_ex2(state_->context, nullptr, nullptr);
  return digest;
}

Digest sha256(std::string_view bytes) {
  Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace tug
