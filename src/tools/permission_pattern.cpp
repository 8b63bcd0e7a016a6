#include "tools/permission_pattern.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/scan.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kMaxToolName = 64;

Failure bad(std::string_view text, std::string_view why, std::string fix) {
  const std::string_view clipped = clip_utf8(text, 200);
  return fail(ErrorKind::invalid,
              "the pattern \"" + terminal_text(clipped) +
                  (clipped.size() < text.size() ? "..\" " : "\" ") + std::string(why),
              std::move(fix));
}

bool is_tool_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

// One code point, or one byte that is none.
std::string_view take_letter(std::string_view& text) {
  const auto sequence = detail::utf8_sequence(text.data(), text.data() + text.size());
  const std::size_t length = sequence.well_formed ? sequence.length : 1;
  const std::string_view letter = text.substr(0, length);
  text.remove_prefix(length);
  return letter;
}

struct Step {
  // `enter` takes nothing and goes on with or without the `folders` behind it.
  enum class Op : std::uint8_t { letter, one, some, any, enter, folders };
  Op op = Op::letter;
  std::string_view letter;
};

std::vector<Step> steps_of(std::string_view glob, GlobText kind) {
  using Op = Step::Op;
  std::vector<Step> steps;
  bool name_start = true;
  while (!glob.empty()) {
    const bool at_start = std::exchange(name_start, false);
    if (kind == GlobText::path && at_start && glob.starts_with("**/")) {
      glob.remove_prefix(3);
      steps.push_back({.op = Op::enter, .letter = {}});
      steps.push_back({.op = Op::folders, .letter = {}});
      name_start = true;
    } else if (glob.starts_with("**")) {
      glob.remove_prefix(std::min(glob.find_first_not_of('*'), glob.size()));
      steps.push_back({.op = Op::any, .letter = {}});
    } else if (glob.front() == '*') {
      glob.remove_prefix(1);
      steps.push_back({.op = kind == GlobText::path ? Op::some : Op::any, .letter = {}});
    } else if (glob.front() == '?') {
      glob.remove_prefix(1);
      steps.push_back({.op = Op::one, .letter = {}});
    } else {
      if (glob.front() == '\\' && glob.size() > 1) glob.remove_prefix(1);
      const std::string_view letter = take_letter(glob);
      name_start = letter == "/";
      steps.push_back({.op = Op::letter, .letter = letter});
    }
  }
  return steps;
}

}  // namespace

Result<PermissionPattern> read_pattern(std::string_view text) {
  if (text.size() > kMaxPatternBytes) {
    return bad(text, "is too long", "at most " + std::to_string(kMaxPatternBytes) + " bytes");
  }
  const std::size_t open = text.find('(');
  PermissionPattern pattern{.tool = text.substr(0, open), .glob = std::nullopt};
  if (pattern.tool.empty() || pattern.tool.size() > kMaxToolName ||
      !std::ranges::all_of(pattern.tool, is_tool_char)) {
    return bad(text, "does not begin with the name of a tool",
               "write tool or tool(glob), such as read or read(docs/**)");
  }
  if (open == text.npos) return pattern;
  if (!text.ends_with(')')) return bad(text, "has a ( without ) at its end", "close it");
  const std::string_view glob = text.substr(open + 1, text.size() - open - 2);
  if (glob.empty()) {
    return bad(text, "has nothing between its parentheses",
               "leave them out for every call of the tool");
  }
  if (std::ranges::any_of(glob, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
      })) {
    return bad(text, "has a control character", "remove it");
  }
  std::size_t slashes = 0;
  while (slashes < glob.size() && glob[glob.size() - 1 - slashes] == '\\') ++slashes;
  if (slashes % 2 == 1) return bad(text, "ends in a backslash", "write \\\\ for one");
  pattern.glob = glob;
  return pattern;
}

bool glob_matches(std::string_view glob, std::string_view text, GlobText kind) {
  using Op = Step::Op;
  const std::vector<Step> steps = steps_of(glob, kind);
  if (steps.empty()) return text.empty();
  std::vector<bool> now(steps.size() + 1);
  std::vector<bool> next(steps.size() + 1);
  // What a state reaches without a letter.
  const auto settle = [&steps](std::vector<bool>& states) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Op op = steps[i].op;
      if (!states[i] || (op != Op::some && op != Op::any && op != Op::enter)) continue;
      states[i + 1] = true;
      if (op == Op::enter) states[i + 2] = true;
    }
  };
  now[0] = true;
  settle(now);
  while (!text.empty()) {
    const std::string_view letter = take_letter(text);
    const bool slash = kind == GlobText::path && letter == "/";
    next.assign(next.size(), false);
    bool alive = false;
    if (steps.back().op == Op::any && now[steps.size() - 1]) return true;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!now[i]) continue;
      alive = true;
      switch (steps[i].op) {
        case Op::letter:
          if (steps[i].letter == letter) next[i + 1] = true;
          break;
        case Op::one:
          if (!slash) next[i + 1] = true;
          break;
        case Op::some:
          if (!slash) next[i] = true;
          break;
        case Op::any:
          next[i] = true;
          break;
        case Op::folders:
          next[i] = true;
          if (slash) next[i + 1] = true;
          break;
        case Op::enter:
          break;
      }
    }
    if (!alive) return false;
    std::swap(now, next);
    settle(now);
  }
  return now[steps.size()];
}

}  // namespace tug
