#include "tug/io/http.h"

#include <algorithm>

namespace tug {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::string_view find_header(const std::vector<HttpHeader>& headers,
                             std::string_view name) noexcept {
  for (const HttpHeader& header : headers) {
    if (same_name(header.name, name)) return header.value;
  }
  return {};
}

void HttpBody::add(std::string piece) {
  if (piece.empty()) return;
  auto kept = std::make_shared<const std::string>(std::move(piece));
  add_view(*kept);
  keep(std::move(kept));
}

void HttpBody::add_view(std::string_view piece) {
  if (piece.empty()) return;
  pieces_.push_back(piece);
  size_ += piece.size();
}

std::string HttpBody::joined() const {
  std::string whole;
  whole.reserve(size_);
  for (const std::string_view piece : pieces_) whole += piece;
  return whole;
}

}  // namespace tug
