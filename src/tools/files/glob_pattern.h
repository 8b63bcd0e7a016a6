// Patterns for paths below a folder: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` (nested too), `\x`, and
// `**` as a whole segment for any number of folders.
//
// Matching takes time in proportion to pattern times path, whatever the pattern. A name that begins
// with a dot is matched only where the pattern has that dot; `.git` is entered only by a pattern
// that has it. A value; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"

namespace tug {

class GlobPattern {
 public:
  // `invalid` for a pattern that is empty, too long, absolute, has `..`, or is not closed.
  static Result<GlobPattern> compile(std::string_view pattern);
  // The same for a filter: one without `/` is for names at any depth.
  static Result<GlobPattern> compile_filter(std::string_view pattern);

  // `path` is relative to where the pattern starts.
  bool matches(std::string_view path) const;
  // Whether anything in that folder or below can match.
  bool may_match_below(std::string_view folder) const;
  // The pattern ends in `/`.
  bool folders_only() const noexcept { return folders_only_; }

 private:
  friend class GlobCompiler;
  enum class Op : std::uint8_t { letter, any, set, split, jump, match };
  struct Range {
    char32_t low;
    char32_t high;
  };
  struct Set {
    bool negated = false;
    std::vector<Range> ranges;
  };
  struct Step {
    Op op = Op::match;
    char32_t letter = 0;
    std::uint32_t to = 0;     // split, jump: where to; set: its index
    std::uint32_t other = 0;  // split: where else
  };
  struct States;

  void enter(std::uint32_t step, States& states) const;
  void feed(std::string_view text, States& states) const;
  bool takes(const Step& step, char32_t letter, bool hidden) const;

  std::vector<Step> steps_;
  std::vector<Set> sets_;
  bool folders_only_ = false;
  bool names_git_ = false;
};

inline constexpr std::size_t kMaxGlobBytes = 512;

}  // namespace tug
