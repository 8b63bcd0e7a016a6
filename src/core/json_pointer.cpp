#include <charconv>
#include <string>

#include "tug/core/json.h"

namespace tug {
namespace {

// Gives the token its plain form; false for a '~' that is neither ~0 nor ~1.
bool unescape(std::string_view token, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return false;
    out += token[i] == '0' ? '~' : '/';
  }
  return true;
}

const Json* item_at(const Json& array, std::string_view token) noexcept {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return nullptr;
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, index);
  if (read.ec != std::errc() || read.ptr != end || index >= array.size()) return nullptr;
  return &array.items()[index];
}

}  // namespace

const Json* find_pointer(const Json& root, std::string_view pointer) noexcept {
  const Json* at = &root;
  std::string plain;
  while (!pointer.empty()) {
    if (pointer[0] != '/') return nullptr;
    const std::size_t end = pointer.find('/', 1);
    std::string_view token = pointer.substr(1, end == std::string_view::npos ? end : end - 1);
    pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
    if (token.find('~') != std::string_view::npos) {
      if (!unescape(token, plain)) return nullptr;
      token = plain;
    }
    at = at->is_array() ? item_at(*at, token) : at->find(token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string pointer_token(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace tug
