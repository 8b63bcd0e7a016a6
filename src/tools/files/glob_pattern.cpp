#include "tools/files/glob_pattern.h"

#include <algorithm>
#include <utility>

#include "core/scan.h"
#include "core/try.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr int kMaxNesting = 8;

// Takes one code point off the front; a byte that is none stands for itself, outside Unicode.
char32_t take_letter(std::string_view& text) {
  const auto at = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto sequence = detail::utf8_sequence(text.data(), text.data() + text.size());
  char32_t letter = 0x110000u + at(0);
  std::size_t length = 1;
  if (sequence.well_formed) {
    length = sequence.length;
    letter = length == 1 ? at(0) : at(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) letter = letter << 6 | (at(i) & 0x3fu);
  }
  text.remove_prefix(length);
  return letter;
}

Failure bad(std::string_view pattern, std::string_view why, std::string fix) {
  const std::string shown = terminal_text(clip_utf8(pattern, 200));
  return fail(ErrorKind::invalid, "the pattern '" + shown + "' " + std::string(why),
              std::move(fix));
}

}  // namespace

// Emits the steps of one pattern, front to back.
class GlobCompiler {
 public:
  GlobCompiler(std::string_view pattern, GlobPattern& out)
      : pattern_(pattern), rest_(pattern), out_(out) {}

  Result<void> run() {
    TUG_TRY(done, sequence(0));
    emit({.op = Op::match});
    return {};
  }

 private:
  using Op = GlobPattern::Op;
  using Step = GlobPattern::Step;

  std::uint32_t here() const { return static_cast<std::uint32_t>(out_.steps_.size()); }
  std::uint32_t emit(Step step) {
    out_.steps_.push_back(step);
    return here() - 1;
  }

  // Ends before the `,` or `}` that closes it when it is inside braces.
  Result<void> sequence(int nesting) {
    while (!rest_.empty()) {
      if (nesting > 0 && (rest_.front() == ',' || rest_.front() == '}')) return {};
      const bool segment_start = std::exchange(segment_start_, false);
      const char32_t letter = take_letter(rest_);
      if (letter == '*') {
        stars(segment_start, nesting);
      } else if (letter == '?') {
        emit({.op = Op::any});
      } else if (letter == '[') {
        TUG_TRY(done, set());
      } else if (letter == '{') {
        segment_start_ = segment_start;
        TUG_TRY(done, alternatives(nesting + 1));
      } else if (letter == '\\') {
        if (rest_.empty()) return bad(pattern_, "ends in a backslash", "write \\\\ for one");
        emit({.op = Op::letter, .letter = take_letter(rest_)});
      } else {
        emit({.op = Op::letter, .letter = letter});
        segment_start_ = letter == '/';
      }
    }
    return {};
  }

  // At least one letter of a name.
  void some() {
    const std::uint32_t again = emit({.op = Op::any});
    emit({.op = Op::split, .to = again, .other = here() + 1});
  }

  void stars(bool segment_start, int nesting) {
    const bool two = rest_.starts_with('*');
    rest_.remove_prefix(std::min(rest_.find_first_not_of('*'), rest_.size()));
    const bool ends = rest_.empty() || (nesting > 0 && (rest_[0] == ',' || rest_[0] == '}'));
    if (!two || !segment_start || !(ends || rest_[0] == '/')) {
      const std::uint32_t loop = emit({.op = Op::split, .to = here() + 1, .other = here() + 3});
      emit({.op = Op::any});
      emit({.op = Op::jump, .to = loop});
      return;
    }
    const std::uint32_t loop = emit({.op = Op::split, .to = here() + 1});
    some();
    emit({.op = Op::letter, .letter = '/'});
    emit({.op = Op::jump, .to = loop});
    out_.steps_[loop].other = here();
    if (ends) {
      some();
    } else {
      rest_.remove_prefix(1);
      segment_start_ = true;
    }
  }

  Result<void> set() {
    GlobPattern::Set set;
    if (rest_.starts_with('!') || rest_.starts_with('^')) {
      set.negated = true;
      rest_.remove_prefix(1);
    }
    for (bool first = true;; first = false) {
      if (rest_.empty()) return bad(pattern_, "has a [ without ]", "close it, or write \\[");
      char32_t low = take_letter(rest_);
      if (low == ']' && !first) break;
      if (low == '\\' && !rest_.empty()) low = take_letter(rest_);
      char32_t high = low;
      if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        high = take_letter(rest_);
        if (high == '\\' && !rest_.empty()) high = take_letter(rest_);
      }
      if (high < low) return bad(pattern_, "has a range that runs backwards", "turn it round");
      set.ranges.push_back({low, high});
    }
    emit({.op = Op::set, .to = static_cast<std::uint32_t>(out_.sets_.size())});
    out_.sets_.push_back(std::move(set));
    return {};
  }

  Result<void> alternatives(int nesting) {
    if (nesting > kMaxNesting) return bad(pattern_, "nests braces too deep", "use fewer");
    const bool segment_start = segment_start_;
    std::vector<std::uint32_t> ends;
    for (;;) {
      const std::uint32_t split = emit({.op = Op::split, .to = here() + 1, .other = here() + 1});
      segment_start_ = segment_start;
      TUG_TRY(done, sequence(nesting));
      if (rest_.empty()) return bad(pattern_, "has a { without }", "close it, or write \\{");
      const bool last = rest_.front() == '}';
      rest_.remove_prefix(1);
      if (last) break;
      ends.push_back(emit({.op = Op::jump}));
      out_.steps_[split].other = here();
    }
    for (const std::uint32_t end : ends) out_.steps_[end].to = here();
    segment_start_ = false;
    return {};
  }

  std::string_view pattern_;
  std::string_view rest_;
  GlobPattern& out_;
  bool segment_start_ = true;
};

// The steps that the text so far leads to. `seen` keeps the round in which a step was entered.
struct GlobPattern::States {
  explicit States(std::size_t steps) : seen(steps, 0) {}
  std::vector<std::uint32_t> active;
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> pending;
  std::vector<std::uint32_t> seen;
  std::uint32_t round = 1;
  bool matched = false;
};

void GlobPattern::enter(std::uint32_t step, States& states) const {
  states.pending.push_back(step);
  while (!states.pending.empty()) {
    const std::uint32_t at = states.pending.back();
    states.pending.pop_back();
    if (std::exchange(states.seen[at], states.round) == states.round) continue;
    switch (steps_[at].op) {
      case Op::split:
        states.pending.push_back(steps_[at].other);
        states.pending.push_back(steps_[at].to);
        break;
      case Op::jump:
        states.pending.push_back(steps_[at].to);
        break;
      case Op::match:
        states.matched = true;
        break;
      default:
        states.next.push_back(at);
    }
  }
}

bool GlobPattern::takes(const Step& step, char32_t letter, bool hidden) const {
  if (step.op == Op::letter) return step.letter == letter;
  if (letter == '/' || hidden) return false;
  if (step.op == Op::any) return true;
  const Set& set = sets_[step.to];
  const bool found = std::ranges::any_of(set.ranges, [letter](const Range& range) {
    return range.low <= letter && letter <= range.high;
  });
  return found != set.negated;
}

void GlobPattern::feed(std::string_view text, States& states) const {
  enter(0, states);
  bool segment_start = true;
  while (!text.empty() && !states.next.empty()) {
    std::swap(states.active, states.next);
    states.next.clear();
    states.matched = false;
    ++states.round;
    const char32_t letter = take_letter(text);
    const bool hidden = segment_start && letter == '.';
    for (const std::uint32_t at : states.active) {
      if (takes(steps_[at], letter, hidden)) enter(at + 1, states);
    }
    segment_start = letter == '/';
  }
  if (!text.empty()) states.matched = false;
}

bool GlobPattern::matches(std::string_view path) const {
  States states(steps_.size());
  feed(path, states);
  return states.matched;
}

bool GlobPattern::may_match_below(std::string_view folder) const {
  if ((folder == ".git" || folder.ends_with("/.git")) && !names_git_) return false;
  States states(steps_.size());
  feed(std::string(folder) + "/", states);
  return !states.next.empty();
}

Result<GlobPattern> GlobPattern::compile(std::string_view pattern) {
  std::string_view text = pattern;
  while (text.starts_with("./")) text.remove_prefix(2);
  if (text.empty()) return bad(pattern, "is empty", "\"**\" is for every file");
  if (text.size() > kMaxGlobBytes) {
    return bad(pattern, "is too long", "at most " + std::to_string(kMaxGlobBytes) + " bytes");
  }
  if (text.find('\0') != text.npos) return bad(pattern, "holds a NUL byte", "remove it");
  if (text.starts_with('/')) {
    return bad(pattern, "is absolute", "patterns are relative; name the folder in `path`");
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, end) == "..") {
      return bad(pattern, "has \"..\" in it", "name the folder to start from in `path`");
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  GlobPattern out;
  out.names_git_ = text.find(".git") != text.npos;
  if (text.ends_with('/')) {
    out.folders_only_ = true;
    text.remove_suffix(1);
  }
  TUG_TRY(done, GlobCompiler(text, out).run());
  return out;
}

Result<GlobPattern> GlobPattern::compile_filter(std::string_view pattern) {
  const std::string_view name =
      pattern.ends_with('/') ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (name.empty() || name.find('/') != name.npos) return compile(pattern);
  return compile("**/" + std::string(pattern));
}

}  // namespace tug
