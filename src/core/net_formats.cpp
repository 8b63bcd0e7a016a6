#include "core/net_formats.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/json_text.h"
#include "core/uri.h"

namespace tug::detail {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_alpha(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_high(char c) noexcept { return static_cast<unsigned char>(c) >= 0x80; }
bool is_one_of(char c, std::string_view set) noexcept {
  return set.find(c) != std::string_view::npos;
}

// Calls `each` with every part between separators; false as soon as it says so.
template <class Each>
bool every_part(std::string_view text, char separator, Each each) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (!each(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

constexpr std::size_t kMaxHost = 253;

enum class Letters { ascii, any };

// RFC 3492, only far enough to know that it decodes to something that needed encoding.
bool is_punycode(std::string_view text) noexcept {
  const std::size_t dash = text.rfind('-');
  std::uint32_t length = dash == std::string_view::npos ? 0 : static_cast<std::uint32_t>(dash);
  if (dash != std::string_view::npos) text.remove_prefix(dash + 1);
  std::uint64_t code = 128;
  std::uint64_t place = 0;
  std::uint64_t bias = 72;
  bool first = true;
  if (text.empty()) return false;
  while (!text.empty()) {
    const std::uint64_t before = place;
    std::uint64_t weight = 1;
    for (std::uint64_t k = 36;; k += 36) {
      if (text.empty()) return false;
      const char c = text[0];
      text.remove_prefix(1);
      const int digit = is_digit(c) ? c - '0' + 26 : is_alpha(c) ? (c | 0x20) - 'a' : -1;
      if (digit < 0) return false;
      place += static_cast<std::uint64_t>(digit) * weight;
      const std::uint64_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
      if (static_cast<std::uint64_t>(digit) < threshold) break;
      weight *= 36 - threshold;
      if (weight > 0x7fffffff || place > 0x7fffffff) return false;
    }
    ++length;
    std::uint64_t delta = (place - before) / (first ? 700 : 2);
    first = false;
    delta += delta / length;
    std::uint64_t k = 0;
    for (; delta > 455; k += 36) delta /= 35;
    bias = k + 36 * delta / (delta + 38);
    code += place / length;
    place = place % length + 1;
    if (code > 0x10ffff) return false;
  }
  return true;
}

bool is_label(std::string_view label, Letters letters) noexcept {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
    return false;
  }
  for (const char c : label) {
    if (!is_alpha(c) && !is_digit(c) && c != '-' && !(letters == Letters::any && is_high(c))) {
      return false;
    }
  }
  if (label.size() < 4 || label[2] != '-' || label[3] != '-') return true;
  // Two dashes here are kept for encodings, and there is one.
  return (label[0] | 0x20) == 'x' && (label[1] | 0x20) == 'n' && is_punycode(label.substr(4));
}

bool is_host(std::string_view text, Letters letters) {
  return !text.empty() && text.size() <= kMaxHost &&
         every_part(text, '.', [&](std::string_view label) { return is_label(label, letters); });
}

bool is_atext(char c, Letters letters) noexcept {
  return is_alpha(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-/=?^_`{|}~") ||
         (letters == Letters::any && is_high(c));
}

bool is_quoted_local(std::string_view text, Letters letters) noexcept {
  bool escaped = false;
  for (const char c : text) {
    if (is_high(c) ? letters == Letters::ascii : c < 0x20 || c == 0x7f) return false;
    if (c == '"' && !escaped) return false;
    escaped = c == '\\' && !escaped;
  }
  return !escaped;
}

bool is_mailbox(std::string_view text, Letters letters) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  if (local.empty() || local.size() > 64) return false;
  if (local.size() >= 2 && local.front() == '"' && local.back() == '"') {
    if (!is_quoted_local(local.substr(1, local.size() - 2), letters)) return false;
  } else {
    const bool plain = every_part(local, '.', [&](std::string_view atom) {
      for (const char c : atom) {
        if (!is_atext(c, letters)) return false;
      }
      return !atom.empty();
    });
    if (!plain) return false;
  }
  if (domain.starts_with('[') && domain.ends_with(']')) {
    const std::string_view address = domain.substr(1, domain.size() - 2);
    return address.starts_with("IPv6:") ? is_ipv6(address.substr(5)) : is_ipv4(address);
  }
  return is_host(domain, letters);
}

bool is_unreserved(char c) noexcept { return is_alpha(c) || is_digit(c) || is_one_of(c, "-._~"); }

// Percent escapes whole, and only letters of the part.
bool is_uri_part(std::string_view text, std::string_view extra, Letters letters) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) {
        return false;
      }
      i += 2;
    } else if (!is_unreserved(c) && !is_one_of(c, "!$&'()*+,;=") && !is_one_of(c, extra) &&
               !(letters == Letters::any && is_high(c))) {
      return false;
    }
  }
  return true;
}

bool is_ip_literal(std::string_view text) noexcept {
  if (!text.starts_with('v') && !text.starts_with('V')) return is_ipv6(text);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
  for (std::size_t i = 1; i < dot; ++i) {
    if (hex_digit(text[i]) < 0) return false;
  }
  return text.find('%') == std::string_view::npos &&
         is_uri_part(text.substr(dot + 1), ":", Letters::ascii);
}

bool is_authority(std::string_view text, Letters letters) {
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    if (!is_uri_part(text.substr(0, at), ":", letters)) return false;
    text.remove_prefix(at + 1);
  }
  std::size_t host_end = text.find(':');
  if (text.starts_with('[')) {
    host_end = text.find(']');
    if (host_end == std::string_view::npos) return false;
    if (!is_ip_literal(text.substr(1, host_end - 1))) return false;
    ++host_end;
  } else if (!is_uri_part(text.substr(0, host_end), "", letters)) {
    return false;
  }
  if (host_end >= text.size()) return true;
  return text[host_end] == ':' &&
         text.find_first_not_of("0123456789", host_end + 1) == std::string_view::npos;
}

enum class Scheme { required, optional };

bool is_reference(std::string_view text, Scheme scheme, Letters letters) {
  const UriParts parts = split_uri(text);
  if (!parts.scheme && scheme == Scheme::required) return false;
  if (parts.authority && !is_authority(*parts.authority, letters)) return false;
  // Without a scheme, a colon in the first segment would look like one.
  if (!parts.scheme && !parts.authority) {
    if (parts.path.substr(0, parts.path.find('/')).find(':') != std::string_view::npos) {
      return false;
    }
  }
  return is_uri_part(parts.path, ":@/", letters) &&
         (!parts.query || is_uri_part(*parts.query, ":@/?", letters)) &&
         (!parts.fragment || is_uri_part(*parts.fragment, ":@/?", letters));
}

bool is_variable_name(std::string_view name) noexcept {
  if (name.empty() || name.front() == '.' || name.back() == '.') return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '%') {
      if (i + 2 >= name.size() || hex_digit(name[i + 1]) < 0 || hex_digit(name[i + 2]) < 0) {
        return false;
      }
      i += 2;
    } else if (!is_alpha(c) && !is_digit(c) && c != '_' && !(c == '.' && name[i - 1] != '.')) {
      return false;
    }
  }
  return true;
}

bool is_variable(std::string_view text) noexcept {
  if (text.ends_with('*')) return is_variable_name(text.substr(0, text.size() - 1));
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view length = text.substr(colon + 1);
    if (length.empty() || length.size() > 4 || length[0] == '0') return false;
    if (length.find_first_not_of("0123456789") != std::string_view::npos) return false;
  }
  return is_variable_name(text.substr(0, colon));
}

}  // namespace

bool is_email(std::string_view text) { return is_mailbox(text, Letters::ascii); }
bool is_idn_email(std::string_view text) { return is_mailbox(text, Letters::any); }
bool is_hostname(std::string_view text) { return is_host(text, Letters::ascii); }

bool is_idn_hostname(std::string_view text) {
  // The dots of East Asian keyboards separate labels too; each takes three bytes.
  constexpr std::size_t kDot = 3;
  if (text.size() > kMaxHost * kDot) return false;
  std::string plain;
  while (!text.empty()) {
    const std::string_view next = text.substr(0, kDot);
    const bool dot = next == "\xe3\x80\x82" || next == "\xef\xbc\x8e" || next == "\xef\xbd\xa1";
    plain += dot ? '.' : text[0];
    text.remove_prefix(dot ? kDot : 1);
  }
  return is_host(plain, Letters::any);
}

bool is_ipv4(std::string_view text) {
  int parts = 0;
  return every_part(text, '.',
                    [&](std::string_view part) {
                      ++parts;
                      if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) {
                        return false;
                      }
                      int value = 0;
                      for (const char c : part) {
                        if (!is_digit(c)) return false;
                        value = value * 10 + (c - '0');
                      }
                      return value <= 255;
                    }) &&
         parts == 4;
}

bool is_ipv6(std::string_view text) {
  int groups = 0;
  bool gap = false;
  if (text.starts_with("::")) {
    gap = true;
    text.remove_prefix(2);
    if (text.empty()) return true;
  }
  for (;;) {
    const std::size_t end = text.find(':');
    const std::string_view group = text.substr(0, end);
    if (end == std::string_view::npos && group.find('.') != std::string_view::npos) {
      return is_ipv4(group) && (gap ? groups + 2 < 8 : groups + 2 == 8);
    }
    if (group.empty() || group.size() > 4) return false;
    for (const char c : group) {
      if (hex_digit(c) < 0) return false;
    }
    ++groups;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (text.starts_with(':')) {
      if (gap) return false;
      gap = true;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  return gap ? groups < 8 : groups == 8;
}

bool is_uri(std::string_view text) { return is_reference(text, Scheme::required, Letters::ascii); }
bool is_iri(std::string_view text) { return is_reference(text, Scheme::required, Letters::any); }
bool is_uri_reference(std::string_view text) {
  return is_reference(text, Scheme::optional, Letters::ascii);
}
bool is_iri_reference(std::string_view text) {
  return is_reference(text, Scheme::optional, Letters::any);
}

bool is_uri_template(std::string_view text) {
  while (!text.empty()) {
    const char c = text[0];
    if (c == '{') {
      const std::size_t end = text.find('}');
      if (end == std::string_view::npos) return false;
      std::string_view inside = text.substr(1, end - 1);
      if (!inside.empty() && is_one_of(inside[0], "+#./;?&")) inside.remove_prefix(1);
      if (!every_part(inside, ',', is_variable)) return false;
      text.remove_prefix(end + 1);
    } else if (c == '%') {
      if (text.size() < 3 || hex_digit(text[1]) < 0 || hex_digit(text[2]) < 0) return false;
      text.remove_prefix(3);
    } else if (!is_high(c) && (c <= ' ' || c == 0x7f || is_one_of(c, "\"<>\\^`|}"))) {
      return false;
    } else {
      text.remove_prefix(1);
    }
  }
  return true;
}

}  // namespace tug::detail
