#include "tools/files/line_search.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::int64_t kMaxRegexMemory = 8 << 20;
// Between two looks at the stop token.
constexpr std::size_t kStretch = 1 << 20;

std::size_t line_end(std::string_view text, std::size_t from) {
  return std::min(text.find('\n', from), text.size());
}

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// At most `most` code points of the line, some of them before the match.
std::string cut_around(std::string_view line, std::size_t match, std::size_t most) {
  if (count_code_points(line) <= most) return std::string(line);
  std::size_t begin = 0;
  if (count_code_points(line.substr(0, match)) > most / 2) {
    begin = match;
    for (std::size_t back = most / 4; back > 0 && begin > 0; --back) {
      do --begin;
      while (begin > 0 && continues(line, begin));
    }
  }
  std::size_t end = begin;
  for (std::size_t taken = 0; taken < most && end < line.size(); ++taken) {
    do ++end;
    while (continues(line, end));
  }
  std::string out = begin > 0 ? ".." : "";
  out += line.substr(begin, end - begin);
  return end < line.size() ? out + ".." : out;
}

}  // namespace

Result<LineSearch> LineSearch::compile(std::string_view query, QueryOptions options) {
  if (query.empty()) return fail(ErrorKind::invalid, "the query is empty", "say what to find");
  const std::string shown = terminal_text(clip_utf8(query, 200));
  if (query.size() > kMaxQueryBytes) {
    return fail(ErrorKind::invalid, "the query '" + shown + "..' is too long",
                "at most " + std::to_string(kMaxQueryBytes) + " bytes");
  }
  if (query.find('\n') != query.npos) {
    return fail(ErrorKind::invalid, "the query '" + shown + "' has a line feed",
                "search for one of its lines: matches lie within a line");
  }
  re2::RE2::Options re2_options;
  re2_options.set_log_errors(false);
  re2_options.set_max_mem(kMaxRegexMemory);
  re2_options.set_case_sensitive(options.case_sensitive);
  re2_options.set_literal(!options.regex);
  re2_options.set_never_nl(true);
  const std::string text = options.regex ? "(?m)" + std::string(query) : std::string(query);
  auto regex = std::make_unique<re2::RE2>(text, re2_options);
  if (!regex->ok()) {
    return fail(ErrorKind::invalid,
                "'" + shown + "' is no regular expression: " + terminal_text(regex->error()),
                "correct it (RE2 syntax: no look-around, no back references), or leave out regex "
                "to find the text as it is");
  }
  return LineSearch(std::move(regex));
}

FoundLines LineSearch::find(std::string_view text, std::size_t most, std::size_t max_line_chars,
                            const std::stop_token& stop) const {
  FoundLines found;
  std::size_t number = 1;   // of the line at `counted`
  std::size_t counted = 0;  // line feeds before it are in `number`
  std::size_t at = 0;
  while (at < text.size() && !stop.stop_requested()) {
    const std::size_t stretch = line_end(text, std::min(at + kStretch, text.size()));
    while (at < stretch || (at == stretch && at < text.size())) {
      re2::StringPiece match;
      if (!regex_->Match(text, at, stretch, re2::RE2::UNANCHORED, &match, 1)) break;
      const auto where = static_cast<std::size_t>(match.data() - text.data());
      const std::size_t previous = where == 0 ? text.npos : text.rfind('\n', where - 1);
      const std::size_t begin = previous == text.npos ? 0 : previous + 1;
      const std::size_t end = line_end(text, where);
      ++found.total;
      if (found.shown.size() < most) {
        number += static_cast<std::size_t>(
            std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                       text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
        counted = begin;
        found.shown.push_back(
            {number, cut_around(text.substr(begin, end - begin), where - begin, max_line_chars)});
      }
      at = end + 1;
    }
    at = std::max(at, stretch + 1);
  }
  return found;
}

bool has_capital(std::string_view query) {
  return std::ranges::any_of(query, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace tug
