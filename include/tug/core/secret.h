// A key, a password: something that is used and never shown.
//
// It has no printed form, no JSON form and no comparison; whoever needs the text says `reveal`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tug {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) noexcept : text_(std::move(text)) {}

  bool empty() const noexcept { return text_.empty(); }
  const std::string& reveal() const noexcept { return text_; }
  // 16 hex digits that tell secrets apart and say nothing about them; empty for an empty one.
  std::string fingerprint() const;
  // `text` with the secret replaced by "[redacted]", also where it stands inside JSON or a URL.
  // A secret of under 6 bytes is left alone: it would match everywhere.
  std::string redact(std::string text) const;

 private:
  std::string text_;
};

}  // namespace tug
