#include "tug/core/extract_json.h"

#include <algorithm>
#include <array>

#include "core/loose_json.h"

namespace tug {
namespace {

using detail::Grammar;
using detail::LooseReader;
using End = LooseReader::End;

constexpr std::string_view kFence = "```";
constexpr std::string_view kSpace = " \n\r\t";

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) + 1 - from);
}

// From behind an opening fence and its language to the closing one, which stands at the start of a
// line where there is one such, or to the end of the text.
struct Fenced {
  std::string_view inside;
  std::size_t end = 0;
};
std::optional<Fenced> fence_from(std::string_view text, std::size_t from) {
  std::size_t open = text.find(kFence, from);
  if (open == text.npos) return std::nullopt;
  open = text.find_first_not_of('`', open);
  if (open == text.npos) return std::nullopt;
  while (open < text.size() && ((text[open] | 0x20) >= 'a' && (text[open] | 0x20) <= 'z')) ++open;
  std::size_t close = text.find("\n```", open);
  if (close == text.npos) close = text.rfind(kFence);
  if (close == text.npos || close < open) close = text.size();
  return Fenced{text.substr(open, close - open), std::min(text.size(), close + 4)};
}

std::optional<Json> strictly(std::string_view text) {
  Result<Json> value = parse_json(text);
  if (!value) return std::nullopt;
  return *std::move(value);
}

// More than a footnote or a pair of brackets.
bool says_something(const Json& value) {
  if (value.is_object()) return !value.empty();
  return !std::ranges::all_of(value.items(), &Json::is_number);
}

// What stands in one text besides prose: the first value of each rung.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(trimmed(text)) {
    // Brackets that open nothing cost up to kMaxJsonDepth bytes each to be sure of.
    std::size_t budget = 4 * text_.size() + (1u << 16);
    for (std::size_t at = text_.find_first_of("{["); at != text_.npos;
         at = text_.find_first_of("{[", at)) {
      if (first_ == text_.npos) first_ = at;
      const std::size_t next = try_at(at);
      if (next == text_.npos || cost_ > budget) return;
      at = next;
    }
  }

  std::optional<ExtractedJson> found() && {
    for (std::optional<ExtractedJson>* one : {&prose_, &relaxed_, &closed_, &little_}) {
      if (*one) return *std::move(*one);
    }
    return std::nullopt;
  }
  // Where the likeliest value begins.
  std::string_view likeliest() const { return text_.substr(first_ == text_.npos ? 0 : first_); }

 private:
  // Where to go on; npos when there is nothing more to find.
  std::size_t try_at(std::size_t at) {
    End end = read(strict_, at);
    if (end == End::whole) {
      std::optional<Json> value = strictly(strict_.written());
      if (value && says_something(*value)) {
        prose_ = ExtractedJson{*std::move(value), JsonRung::prose};
        return text_.npos;
      }
      if (value && !little_) little_ = ExtractedJson{*std::move(value), JsonRung::prose};
      return strict_.at();
    }
    const LooseReader* reader = &strict_;
    if (end == End::wrong) {
      end = read(loose_, at);
      reader = &loose_;
    }
    if (end == End::whole) {
      const bool all = at == 0 && loose_.at() == text_.size();
      std::optional<Json> value = strictly(loose_.written());
      const bool counts = value && (all || (value->is_object() && says_something(*value)));
      if (counts && !relaxed_) relaxed_ = ExtractedJson{*std::move(value), JsonRung::relaxed};
      return loose_.at();
    }
    if (end == End::cut) return take_closed(*reader) ? text_.npos : at + 1;
    if (reader->too_deep()) return text_.npos;
    return reader->began() ? behind(at) : at + 1;
  }

  // Behind the bracket that closes this one, so that parts of what is malformed are not taken for a
  // value of their own; where none does, it opened nothing.
  std::size_t behind(std::size_t at) {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = at; i < text_.size(); ++i, ++cost_) {
      const char c = text_[i];
      if (quoted) {
        if (c == '\\') ++i;
        quoted = c != '"' && c != '\n';
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth == 0) return i + 1;
      } else {
        quoted = c == '"';
      }
    }
    return at + 1;
  }

  // All that follows is inside the value that is cut, if it is one.
  bool take_closed(const LooseReader& reader) {
    const std::optional<std::string> text = reader.closed();
    std::optional<Json> value = text ? strictly(*text) : std::nullopt;
    if (!value || value->empty()) return false;
    closed_ = ExtractedJson{*std::move(value), JsonRung::closed};
    return true;
  }

  End read(LooseReader& reader, std::size_t at) {
    const End end = reader.read(at);
    cost_ += reader.at() - at;
    return end;
  }

  std::string_view text_;
  LooseReader strict_{text_, Grammar::strict};
  LooseReader loose_{text_, Grammar::relaxed};
  std::size_t first_ = std::string_view::npos;
  std::size_t cost_ = 0;
  std::optional<ExtractedJson> prose_;
  std::optional<ExtractedJson> relaxed_;
  std::optional<ExtractedJson> closed_;
  std::optional<ExtractedJson> little_;
};

Failure nothing_in(std::string_view text, std::string_view likeliest) {
  if (trimmed(text).empty()) return fail(ErrorKind::invalid, "the text is empty, not JSON");
  if (likeliest.empty() || (likeliest[0] != '{' && likeliest[0] != '[')) {
    return fail(ErrorKind::invalid, "there is no JSON object or list in the text");
  }
  const auto begins = static_cast<std::size_t>(likeliest.data() - text.data());
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begins), '\n');
  Result<Json> strict = parse_json(likeliest);
  return fail(ErrorKind::invalid,
              "there is no whole JSON value in the text; read from the first bracket, on line " +
                  std::to_string(line + 1) + ": " +
                  (strict ? std::string("it holds nothing") : strict.error().message()));
}

// Where a value may begin that is still coming.
std::size_t start_of_value(std::string_view text) {
  std::size_t at = text.find_first_not_of(kSpace);
  if (at == text.npos || std::string_view("{[\"-tfn0123456789").find(text[at]) != text.npos) {
    return at;
  }
  if (const std::size_t fence = text.find(kFence); fence != text.npos) {
    at = text.find('\n', fence);
    return at == text.npos ? at : text.find_first_not_of(kSpace, at);
  }
  for (at = text.find('{', at); at != text.npos; at = text.find('{', at + 1)) {
    const std::size_t key = text.find_first_not_of(kSpace, at + 1);
    if (key == text.npos || text[key] == '"') return key == text.npos ? key : at;
  }
  return at;
}

}  // namespace

std::string_view name_of(JsonRung rung) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"strict", "fence", "prose", "relaxed",
                                                      "closed"};
  return kNames[static_cast<std::size_t>(rung)];
}

Result<ExtractedJson> extract_json(std::string_view text) {
  if (auto value = strictly(text)) return ExtractedJson{*std::move(value), JsonRung::strict};
  std::optional<std::string_view> inside;
  for (auto fence = fence_from(text, 0); fence; fence = fence_from(text, fence->end)) {
    if (auto value = strictly(fence->inside)) {
      return ExtractedJson{*std::move(value), JsonRung::fence};
    }
    if (!inside) inside = fence->inside;
  }
  if (inside) {
    if (auto found = Walk(*inside).found()) return *std::move(found);
  }
  Walk walk(text);
  const std::string_view likeliest = walk.likeliest();
  if (auto found = std::move(walk).found()) return *std::move(found);
  return nothing_in(text, likeliest);
}

std::optional<Json> partial_json(std::string_view text) {
  const std::size_t start = start_of_value(text);
  if (start == text.npos) return std::nullopt;
  LooseReader reader(text, Grammar::strict);
  if (reader.read(start) == End::whole) return strictly(reader.written());
  const std::optional<std::string> closed = reader.closed();
  return closed ? strictly(*closed) : std::nullopt;
}

}  // namespace tug
