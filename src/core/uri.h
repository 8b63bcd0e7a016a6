// URI references as RFC 3986 has them: taken apart, and resolved against a base.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tug::detail {

// Views into the text it was split from. A part that is absent is not the same as an empty one.
struct UriParts {
  std::optional<std::string_view> scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

// Takes any text apart; what is no URI at all ends up in the path.
UriParts split_uri(std::string_view text) noexcept;

// RFC 3986 5.2, dot segments removed; an empty base leaves the reference as it is.
std::string resolve_uri(std::string_view base, std::string_view reference);

struct SplitFragment {
  std::string_view before;
  std::optional<std::string_view> fragment;
};
SplitFragment split_fragment(std::string_view uri) noexcept;

// %XX undone; nothing when a '%' has no two digits after it.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace tug::detail
