#include "tug/core/secret.h"

#include "tug/core/digest.h"
#include "tug/core/json.h"

namespace tug {
namespace {

constexpr std::size_t kShortest = 6;
constexpr std::string_view kRedacted = "[redacted]";

void replace_all(std::string& text, std::string_view what) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + kRedacted.size())) {
    text.replace(at, what.size(), kRedacted);
  }
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

}  // namespace

std::string Secret::fingerprint() const {
  if (text_.empty()) return "";
  return sha256("tug-secret\n" + text_).hex().substr(0, 16);
}

std::string Secret::redact(std::string text) const {
  if (text_.size() < kShortest) return text;
  replace_all(text, text_);
  std::string quoted;
  print_json_string(text_, quoted);
  const std::string in_json = quoted.substr(1, quoted.size() - 2);
  if (in_json != text_) replace_all(text, in_json);
  const std::string in_url = percent_encoded(text_);
  if (in_url != text_) replace_all(text, in_url);
  return text;
}

}  // namespace tug
