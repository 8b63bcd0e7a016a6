// What a person asked the offline planner for, read from the words of one message.
//
// A small grammar of English, no understanding: a request is cut into clauses at "and", "then" and
// punctuation, each clause begins with a verb that is known or it is `unknown`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tug {

enum class WishKind : std::uint8_t {
  list,
  read,
  search,
  count_lines,
  count_words,
  count_files,
  count_folders,
  headings,
  sum,
  delegate,
  greeting,
  help,
  unknown,
};

struct Wish {
  WishKind kind = WishKind::unknown;
  std::vector<std::string> targets;  // paths and patterns; empty: nothing was named
  std::string text;                  // the query, the expression, the task, the words as they came
  std::string agent;                 // of `delegate`
  bool recursive = false;
  friend bool operator==(const Wish&, const Wish&) = default;
};

// In the order they were said; at most 16. Empty for a message without words.
std::vector<Wish> read_wishes(std::string_view request);

// Contains *, ? or [.
bool is_pattern(std::string_view target) noexcept;

}  // namespace tug
