#include "model/offline/wish.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/offline/arithmetic.h"
#include "model/offline/clauses.h"

namespace tug {
namespace {

constexpr std::size_t kMostWishes = 16;
constexpr std::string_view kFiller =
    "please can could would will you kindly now first next just me i i'd want need like to let's "
    "lets tell give so ok okay well go ahead";
constexpr std::string_view kArticles =
    "the a an me this that these those my our all each every any its of file files folder folders "
    "directory directories dir called named current working same project repository repo contents "
    "content text both entries";
constexpr std::string_view kPrepositions = "of in from inside under within at below";
constexpr std::string_view kHere = "here there it them everything";
constexpr std::string_view kFileNouns = "file files folder folders directory directories entries";

bool has(const Clause& clause, std::string_view list, std::size_t from = 0) {
  return std::any_of(clause.begin() + static_cast<std::ptrdiff_t>(std::min(from, clause.size())),
                     clause.end(), [&](const Word& word) { return is_one_of(word.lower, list); });
}

std::size_t place_of(const Clause& clause, std::string_view list, std::size_t from = 0) {
  for (std::size_t i = from; i < clause.size(); ++i) {
    if (is_one_of(clause[i].lower, list)) return i;
  }
  return clause.size();
}

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A name that nobody would write for anything but a file or a folder.
bool is_path(const Word& word) {
  const std::string& text = word.text;
  if (word.quoted || is_pattern(text) || text.contains('/')) return true;
  if (text == "." || text == "..") return true;
  const std::size_t dot = text.rfind('.');
  if (dot != std::string::npos && dot + 1 < text.size()) return is_letter(text[dot + 1]);
  return is_one_of(word.lower, "readme makefile license changelog dockerfile");
}

// "markdown files", ".md files".
std::optional<std::string> pattern_of(const Word& word) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"markdown", "*.md"}, {"python", "*.py"}, {"json", "*.json"},     {"toml", "*.toml"},
      {"yaml", "*.yaml"},   {"c++", "*.cpp"},   {"javascript", "*.js"}, {"header", "*.h"}};
  for (const auto& [name, pattern] : kKinds) {
    if (word.lower == name) return std::string(pattern);
  }
  if (word.text.size() > 1 && word.text[0] == '.' && is_letter(word.text[1]) &&
      !word.text.contains('/'))
    return "*" + word.text;
  return std::nullopt;
}

void add_target(Wish& wish, std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (std::ranges::find(wish.targets, path) == wish.targets.end())
    wish.targets.push_back(std::move(path));
}

// What is named from `from` on. A bare word counts right behind a preposition, and right at
// `from` when `bare` says so ("read Makefile", "list src").
enum class Bare : std::uint8_t { no, yes };
void read_targets(const Clause& clause, std::size_t from, Bare bare, Wish& wish) {
  bool expected = bare == Bare::yes;
  std::string pattern;
  for (std::size_t i = from; i < clause.size(); ++i) {
    const Word& word = clause[i];
    if (is_one_of(word.lower, "recursively recursive tree subfolders")) wish.recursive = true;
    const bool files_follow = i + 1 < clause.size() && is_one_of(clause[i + 1].lower, "files file");
    if (auto kind = files_follow ? pattern_of(word) : std::nullopt) {
      pattern = *std::move(kind);
    } else if (is_path(word)) {
      add_target(wish, word.text);
      expected = false;
    } else if (is_one_of(word.lower, kPrepositions)) {
      expected = true;
    } else if (is_one_of(word.lower, kHere)) {
      expected = false;
    } else if (expected && !is_one_of(word.lower, kArticles) &&
               !is_one_of(word.lower, "recursively recursive lines words headings")) {
      add_target(wish, word.text);
      expected = false;
    }
  }
  if (pattern.empty()) return;
  if (wish.targets.empty()) {
    wish.targets.push_back(std::move(pattern));
  } else {
    for (std::string& target : wish.targets) {
      if (!is_pattern(target) && !target.contains('.')) target += "/" + pattern;
    }
  }
}

std::optional<WishKind> countable(const Clause& clause, std::size_t from) {
  for (std::size_t i = from; i < clause.size(); ++i) {
    const std::string& word = clause[i].lower;
    if (is_one_of(word, "line lines")) return WishKind::count_lines;
    if (is_one_of(word, "word words")) return WishKind::count_words;
    if (is_one_of(word, "folder folders directories subfolders")) return WishKind::count_folders;
    if (is_one_of(word, "heading headings")) return WishKind::headings;
    if (is_one_of(word, "file files entries")) return WishKind::count_files;
    if (is_one_of(word, kPrepositions)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> sum_in(const Clause& clause, std::size_t from) {
  std::string expression;
  for (std::size_t i = from; i < clause.size(); ++i) {
    const std::string& word = clause[i].lower;
    std::string_view sign = word;
    if (word == "plus") sign = "+";
    if (word == "minus") sign = "-";
    if (is_one_of(word, "times x multiplied")) sign = "*";
    if (is_one_of(word, "divided over")) sign = "/";
    if (is_one_of(word, "mod modulo")) sign = "%";
    if (word == "squared") sign = "^2";
    if (word == "by" || (word == "=" && i + 1 == clause.size())) continue;
    if (!expression.empty()) expression += ' ';
    expression += sign;
  }
  while (expression.ends_with('=')) expression.pop_back();
  if (!looks_like_sum(expression)) return std::nullopt;
  return expression;
}

// "search for Q in P", "search P for Q", "find Q", "where is Q".
Wish search_in(const Clause& clause, std::size_t verb) {
  Wish wish{.kind = WishKind::search};
  std::size_t from = verb + 1;
  const std::size_t reversed = place_of(clause, "for", from);
  if (clause[verb].lower == "search" && reversed > from && reversed < clause.size() &&
      place_of(clause, "in", reversed) == clause.size()) {
    read_targets(clause, from, Bare::yes, wish);
    from = reversed;
  }
  constexpr std::string_view kLead =
      "for is are the a word text string phrase all every any occurrences occurrence mentions of "
      "lines containing with that contain mention each out";
  while (from < clause.size() && is_one_of(clause[from].lower, kLead)) ++from;
  std::size_t to = clause.size();
  for (std::size_t i = from; i < clause.size(); ++i) {
    if (i > from && is_one_of(clause[i].lower, "in inside under within")) to = i;
  }
  const auto quoted = std::find_if(clause.begin() + static_cast<std::ptrdiff_t>(from), clause.end(),
                                   [](const Word& word) { return word.quoted; });
  const bool is_quoted = quoted != clause.end() && quoted - clause.begin() < static_cast<long>(to);
  if (!is_quoted) {
    while (to > from && is_one_of(clause[to - 1].lower, "here defined used mentioned")) --to;
  }
  wish.text = is_quoted ? quoted->text : words_between(clause, from, to);
  read_targets(clause, to, Bare::no, wish);
  return wish;
}

// Words that say that an agent is meant, but not which.
constexpr std::string_view kAnyAgent = "the a an another agent sub-agent subagent helper";
constexpr std::string_view kSubagent = "subagent";

Wish delegate_in(const Clause& clause, std::size_t verb) {
  Wish wish{.kind = WishKind::delegate};
  if (clause[verb].lower == "delegate") {
    std::size_t to = clause.size();
    for (std::size_t i = verb; i < clause.size(); ++i) {
      if (clause[i].lower == "to") to = i;
    }
    wish.text = words_between(clause, verb + 1, to);
    std::size_t name = to + 1;
    while (name < clause.size() && is_one_of(clause[name].lower, kAnyAgent)) ++name;
    if (name < clause.size()) {
      wish.agent = clause[name].text;
    } else if (name > to + 1) {
      wish.agent = kSubagent;
    }
    return wish;
  }
  std::size_t name = verb + 1;
  while (name < clause.size() && is_one_of(clause[name].lower, kAnyAgent)) ++name;
  // "ask a sub-agent to ..": nobody by name.
  const bool unnamed = name > verb + 1 && name < clause.size() && clause[name].lower == "to";
  if (unnamed) {
    wish.agent = kSubagent;
  } else if (name < clause.size()) {
    wish.agent = clause[name].text;
  }
  std::size_t from = unnamed ? name : name + 1;
  while (from < clause.size() && is_one_of(clause[from].lower, "to about for")) ++from;
  wish.text = words_between(clause, from, clause.size());
  return wish;
}

Wish files_found(const Clause& clause, std::size_t verb) {
  Wish wish{.kind = WishKind::list, .recursive = true};
  std::size_t from = verb + 1;
  while (from < clause.size() &&
         is_one_of(clause[from].lower, "the all files named called matching"))
    ++from;
  read_targets(clause, from, Bare::yes, wish);
  return wish;
}

Wish unknown(const Clause& clause) {
  return Wish{.kind = WishKind::unknown, .text = words_between(clause, 0, clause.size())};
}

Wish with_targets(WishKind kind, const Clause& clause, std::size_t from, Bare bare = Bare::no) {
  Wish wish{.kind = kind};
  read_targets(clause, from, bare, wish);
  return wish;
}

// Phrases that do not begin with a verb of ours.
std::optional<Wish> read_question(const Clause& clause, std::size_t first) {
  const std::string& verb = clause[first].lower;
  if (is_one_of(verb, "hello hi hey greetings thanks thank") ||
      (verb == "good" && has(clause, "morning evening afternoon day")))
    return Wish{.kind = WishKind::greeting};
  const bool about_us = has(clause, "you your");
  if (verb == "help" || (about_us && is_one_of(verb, "what who how")))
    return Wish{.kind = WishKind::help};
  if (has(clause, "heading headings outline toc") && !has(clause, "many count"))
    return with_targets(WishKind::headings, clause, first + 1);
  // "how many X", "count the X", "the number of X".
  const std::size_t many = place_of(clause, "many");
  const std::size_t number = place_of(clause, "number");
  std::size_t from = clause.size();
  if (verb == "count") from = first + 1;
  if (number < clause.size()) from = number + 2;
  if (many > 0 && many < clause.size() && clause[many - 1].lower == "how") from = many + 1;
  if (auto kind = countable(clause, from)) return with_targets(*kind, clause, first + 1);
  return std::nullopt;
}

Wish read_clause(const Clause& clause) {
  std::size_t first = 0;
  while (first < clause.size() && is_one_of(clause[first].lower, kFiller)) ++first;
  if (first == clause.size()) {
    const bool polite = has(clause, "please ok okay well");
    return polite ? Wish{.kind = WishKind::greeting} : unknown(clause);
  }
  const std::string& verb = clause[first].lower;

  std::size_t lead = first;
  const bool calculates = is_one_of(verb, "calculate compute evaluate solve");
  if (calculates || is_one_of(verb, "what's whats")) {
    lead = first + 1;
  } else if (verb == "what" || verb == "how") {
    lead = first + 1;
    while (lead < clause.size() && is_one_of(clause[lead].lower, "is much does")) ++lead;
  }
  if (auto sum = sum_in(clause, lead)) return Wish{.kind = WishKind::sum, .text = *std::move(sum)};
  if (calculates)
    return Wish{.kind = WishKind::sum, .text = words_between(clause, lead, clause.size())};

  if (auto wish = read_question(clause, first)) return *std::move(wish);
  if (is_one_of(verb, "delegate ask")) return delegate_in(clause, first);
  if (is_one_of(verb, "summarise summarize outline summary"))
    return with_targets(WishKind::headings, clause, first + 1, Bare::yes);
  if (is_one_of(verb, "list ls dir"))
    return with_targets(WishKind::list, clause, first + 1, Bare::yes);
  if (is_one_of(verb, "search grep locate") || (verb == "look" && has(clause, "for")) ||
      (verb == "where" && has(clause, "is are")))
    return search_in(clause, first);
  if (verb == "find") {
    const bool names =
        has(clause, kFileNouns) || std::any_of(clause.begin(), clause.end(), [](const Word& word) {
          return !word.quoted && is_pattern(word.text);
        });
    return names ? files_found(clause, first) : search_in(clause, first);
  }
  const bool shows = is_one_of(verb, "show display view see");
  if ((shows || is_one_of(verb, "what which")) && has(clause, kFileNouns)) {
    Wish wish = with_targets(WishKind::list, clause, first + 1);
    const bool one_file = shows && has(clause, "file") && !wish.targets.empty();
    if (one_file) wish.kind = WishKind::read;
    return wish;
  }
  if (shows || is_one_of(verb, "read open cat print type")) {
    Wish wish = with_targets(WishKind::read, clause, first + 1, Bare::yes);
    if (!wish.targets.empty()) return wish;
  }
  if (is_one_of(verb, "what what's") && std::any_of(clause.begin(), clause.end(), is_path)) {
    return with_targets(WishKind::read, clause, first + 1);
  }
  return unknown(clause);
}

bool takes_files(WishKind kind) noexcept {
  return kind != WishKind::sum && kind != WishKind::greeting && kind != WishKind::help &&
         kind != WishKind::unknown && kind != WishKind::delegate;
}

bool is_count(WishKind kind) noexcept {
  return kind == WishKind::count_lines || kind == WishKind::count_words ||
         kind == WishKind::count_files || kind == WishKind::count_folders;
}

// A clause without a verb goes on with the one before: "and b.md", "and words of README.md".
bool continues(const Clause& clause, std::vector<Wish>& wishes) {
  if (wishes.empty()) return false;
  Wish& before = wishes.back();
  if (!takes_files(before.kind)) return false;
  if (before.kind == WishKind::search && !std::all_of(clause.begin(), clause.end(), is_path)) {
    if (!before.targets.empty()) return false;
    Wish more{.kind = WishKind::search};
    const std::size_t in = place_of(clause, "in inside under within");
    before.text += " and " + words_between(clause, 0, in);
    read_targets(clause, in, Bare::no, before);
    return true;
  }
  if (is_count(before.kind)) {
    if (auto kind = countable(clause, 0)) {
      Wish wish = with_targets(*kind, clause, 0);
      if (before.targets.empty()) before.targets = wish.targets;
      if (wish.targets.empty()) wish.targets = before.targets;
      wishes.push_back(std::move(wish));
      return true;
    }
  }
  const bool only_names = std::all_of(clause.begin(), clause.end(), [](const Word& word) {
    return is_path(word) || is_one_of(word.lower, kArticles) || is_one_of(word.lower, kHere) ||
           is_one_of(word.lower, kPrepositions);
  });
  if (!only_names) return false;
  read_targets(clause, 0, Bare::no, before);
  return true;
}

}  // namespace

bool is_pattern(std::string_view target) noexcept {
  return target.find_first_of("*?[") != std::string_view::npos;
}

std::vector<Wish> read_wishes(std::string_view request) {
  std::vector<Wish> wishes;
  const Clauses clauses = read_clauses(request);
  for (std::size_t i = 0; i < clauses.items.size() && wishes.size() < kMostWishes; ++i) {
    Wish wish = read_clause(clauses.items[i]);
    if (wish.kind == WishKind::unknown && clauses.joined[i] && continues(clauses.items[i], wishes))
      continue;
    wishes.push_back(std::move(wish));
  }
  const bool serious =
      std::ranges::any_of(wishes, [](const Wish& wish) { return wish.kind != WishKind::greeting; });
  if (serious) {
    std::erase_if(wishes, [](const Wish& wish) { return wish.kind == WishKind::greeting; });
  } else if (wishes.size() > 1) {
    wishes.resize(1);
  }
  return wishes;
}

}  // namespace tug
