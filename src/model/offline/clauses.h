// A request as words, and the words as clauses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tug {

struct Word {
  std::string text;   // as written, without quotes and closing punctuation
  std::string lower;  // empty for a quoted one: quoted words are never keywords
  bool quoted = false;
};

using Clause = std::vector<Word>;

// Cut at "and", "then" and closing punctuation, never inside quotes. `joined` of a clause says
// whether "and" or a comma ties it to the one before.
struct Clauses {
  std::vector<Clause> items;
  std::vector<bool> joined;
};
Clauses read_clauses(std::string_view request);

bool is_one_of(std::string_view word, std::string_view list) noexcept;  // "a b c"
// The words from `from` to `to`, as they were written.
std::string words_between(const Clause& clause, std::size_t from, std::size_t to);

}  // namespace tug
