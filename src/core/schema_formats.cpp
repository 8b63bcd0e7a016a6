#include "core/schema_formats.h"

#include <cstddef>

#include "core/ecma_regex.h"
#include "core/json_text.h"
#include "core/net_formats.h"
#include "core/time_formats.h"

namespace tug::detail {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_digit(text[i]) < 0) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

bool is_relative_json_pointer(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  text.remove_prefix(digits);
  return text == "#" || is_json_pointer(text);
}

// What we cannot run may still be a pattern: only what is certainly none is refused.
bool is_regex(std::string_view text) {
  constexpr std::int64_t kLittleMemory = 16 << 10;  // reading it is the test, not running it
  const auto pattern = compile_ecma(text, kLittleMemory);
  return pattern || pattern.error().kind() == ErrorKind::unsupported;
}

constexpr Format kFormats[] = {
    {"date-time", is_date_time},
    {"date", is_date},
    {"time", is_time},
    {"duration", is_duration},
    {"email", is_email},
    {"idn-email", is_idn_email},
    {"hostname", is_hostname},
    {"idn-hostname", is_idn_hostname},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"uri", is_uri},
    {"uri-reference", is_uri_reference},
    {"iri", is_iri},
    {"iri-reference", is_iri_reference},
    {"uri-template", is_uri_template},
    {"uuid", is_uuid},
    {"json-pointer", is_json_pointer},
    {"relative-json-pointer", is_relative_json_pointer},
    {"regex", is_regex, 1},
};

}  // namespace

const Format* find_format(std::string_view name) noexcept {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace tug::detail
