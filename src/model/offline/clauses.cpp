#include "model/offline/clauses.h"

#include <algorithm>
#include <utility>

namespace tug {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// "." and ".." are paths; the dot of "README.md." is not.
bool is_dots(std::string_view text) noexcept {
  return text == "." || text == ".." || text == "./" || text == "../";
}

class Cutter {
 public:
  void add(Word word) {
    if (!word.quoted && is_one_of(word.lower, "and then also afterwards finally &")) {
      const bool ties = word.lower == "and" || word.lower == "also" || word.lower == "&";
      close(ties || (out_joined_ && clause_.empty()));
      return;
    }
    clause_.push_back(std::move(word));
  }
  void close(bool joined) {
    if (!clause_.empty()) {
      out_.items.push_back(std::exchange(clause_, {}));
      out_.joined.push_back(begun_joined_);
    }
    begun_joined_ = joined;
    out_joined_ = joined;
  }
  Clauses finish() {
    close(false);
    return std::move(out_);
  }

 private:
  Clauses out_;
  Clause clause_;
  bool begun_joined_ = false;  // of the clause under way
  bool out_joined_ = false;
};

}  // namespace

bool is_one_of(std::string_view word, std::string_view list) noexcept {
  if (word.empty() || word.contains(' ')) return false;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::string words_between(const Clause& clause, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < std::min(to, clause.size()); ++i) {
    if (!out.empty()) out += ' ';
    out += clause[i].text;
  }
  return out;
}

Clauses read_clauses(std::string_view text) {
  Cutter cutter;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(kBlank, at)) != std::string_view::npos) {
    const char quote = text[at];
    if (quote == '"' || quote == '`' || quote == '\'') {
      const std::size_t end = text.find(quote, at + 1);
      if (end != std::string_view::npos && end > at + 1) {
        cutter.add(Word{std::string(text.substr(at + 1, end - at - 1)), "", true});
        at = end + 1;
        const std::size_t rest = std::min(text.find_first_of(kBlank, at), text.size());
        if (text.substr(at, rest - at).find_first_of(",;.!?") != std::string_view::npos)
          cutter.close(text[at] == ',');
        at = rest;
        continue;
      }
    }
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = end;
    std::size_t kept = word.size();
    if (!is_dots(word)) {
      while (kept > 0 && std::string_view(",;:.!?").contains(word[kept - 1])) --kept;
    }
    const std::string_view closing = word.substr(kept);
    word = word.substr(0, kept);
    // Patterns keep what looks like punctuation: "file?" is a question, "*.?" is not.
    if (!word.empty()) cutter.add(Word{std::string(word), lowered(word), false});
    if (!closing.empty() && closing != ":") cutter.close(closing == ",");
  }
  return cutter.finish();
}

}  // namespace tug
