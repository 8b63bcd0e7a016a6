#include "core/uri.h"

#include "core/json_text.h"

namespace tug::detail {
namespace {

bool is_alpha(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_scheme(std::string_view text) noexcept {
  if (text.empty() || !is_alpha(text[0])) return false;
  for (const char c : text) {
    if (!is_alpha(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

// RFC 3986 5.2.4.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? "/" : path.substr(3);
      const std::size_t slash = out.rfind('/');
      out.resize(slash == std::string::npos ? 0 : slash);
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::size_t next = path.find('/', 1);
      out += path.substr(0, next);
      path = next == std::string_view::npos ? std::string_view() : path.substr(next);
    }
  }
  return out;
}

std::string joined(const UriParts& parts, std::string_view path) {
  std::string out;
  if (parts.scheme) out.append(*parts.scheme) += ':';
  if (parts.authority) out.append("//").append(*parts.authority);
  out += path;
  if (parts.query) out.append("?").append(*parts.query);
  if (parts.fragment) out.append("#").append(*parts.fragment);
  return out;
}

}  // namespace

UriParts split_uri(std::string_view text) noexcept {
  UriParts out;
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    out.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    out.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    out.scheme = text.substr(0, colon);
    text = text.substr(colon + 1);
  }
  if (text.starts_with("//")) {
    const std::size_t slash = text.find('/', 2);
    out.authority = text.substr(2, slash == std::string_view::npos ? slash : slash - 2);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash);
  }
  out.path = text;
  return out;
}

std::string resolve_uri(std::string_view base_text, std::string_view reference) {
  UriParts ref = split_uri(reference);
  const UriParts base = split_uri(base_text);
  if (ref.scheme) {
    // An opaque path (urn:a:b) has no segments.
    const bool opaque = !ref.authority && !ref.path.starts_with('/');
    return joined(ref, opaque ? std::string(ref.path) : without_dot_segments(ref.path));
  }
  ref.scheme = base.scheme;
  if (ref.authority) return joined(ref, without_dot_segments(ref.path));
  ref.authority = base.authority;
  if (ref.path.empty()) {
    if (!ref.query) ref.query = base.query;
    return joined(ref, base.path);
  }
  if (ref.path.starts_with('/')) return joined(ref, without_dot_segments(ref.path));
  std::string merged;
  if (base.authority && base.path.empty()) {
    merged = "/";
  } else if (const std::size_t slash = base.path.rfind('/'); slash != std::string_view::npos) {
    merged = base.path.substr(0, slash + 1);
  }
  merged += ref.path;
  return joined(ref, without_dot_segments(merged));
}

SplitFragment split_fragment(std::string_view uri) noexcept {
  const std::size_t hash = uri.find('#');
  if (hash == std::string_view::npos) return {uri, std::nullopt};
  return {uri.substr(0, hash), uri.substr(hash + 1)};
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace tug::detail
