#include "core/ecma_regex.h"

#include <charconv>
#include <string>
#include <unordered_set>

#include "core/json_text.h"
#include "core/scan.h"
#include "core/try.h"

namespace tug::detail {
namespace {

// White space and line ends of ECMA-262; RE2's \s is a part of it.
constexpr std::string_view kSpaces =
    R"(\t\n\x{0B}\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF})";
constexpr std::string_view kNotSpaces =
    R"(\x{00}-\x{08}\x{0E}-\x{1F}\x{21}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF})";
constexpr std::string_view kAnything = R"(\x{00}-\x{10FFFF})";

struct Category {
  std::string_view longer;
  std::string_view shorter;
};
constexpr Category kCategories[] = {
    {"Letter", "L"},
    {"Cased_Letter", ""},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
};

constexpr std::size_t kMaxPatternBytes = 16 << 10;

class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  Result<std::string> run() {
    while (at_ < text_.size()) {
      TUG_TRY(done, term());
    }
    return std::move(out_);
  }

 private:
  char now() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool ahead(std::string_view what) const noexcept { return text_.substr(at_).starts_with(what); }

  static Failure wrong(std::string reason) { return fail(ErrorKind::invalid, std::move(reason)); }
  static Failure missing(std::string reason) {
    return fail(ErrorKind::unsupported, std::move(reason));
  }

  // Keeps `repeatable_`: ECMA-262 repeats neither an assertion nor a repetition, RE2 does.
  Result<void> term() {
    if (is_one_of(now(), "*+?") || is_repetition()) return repetition();
    const bool assertion = is_one_of(now(), "^$|(") || ahead("\\b") || ahead("\\B");
    TUG_TRY(done, atom());
    repeatable_ = !assertion;
    return {};
  }

  Result<void> repetition() {
    if (!repeatable_) {
      return wrong(std::string("there is nothing that '") + now() + "' could repeat");
    }
    repeatable_ = false;
    if (now() == '{') {
      TUG_TRY(done, brace());
    } else {
      out_ += text_[at_++];
    }
    if (now() == '?') out_ += text_[at_++];
    return {};
  }

  static bool is_one_of(char c, std::string_view set) noexcept {
    return c != '\0' && set.find(c) != std::string_view::npos;
  }

  Result<void> atom() {
    switch (now()) {
      case '\\':
        return escape(Place::outside);
      case '[':
        return bracket();
      case '(':
        return group();
      case '.':
        ++at_;
        out_ += R"([^\n\r\x{2028}\x{2029}])";
        return {};
      case '{':
      case '}':
      case ']':
        out_ += '\\';
        out_ += text_[at_++];
        return {};
      default:
        copy_code_point();
        return {};
    }
  }

  void copy_code_point() {
    const char* p = text_.data() + at_;
    const auto length = utf8_sequence(p, text_.data() + text_.size()).length;
    out_.append(p, length);
    at_ += length;
  }

  Result<void> group() {
    ++at_;
    if (!ahead("?")) {
      out_ += "(?:";
      return {};
    }
    for (const std::string_view look : {"?=", "?!", "?<=", "?<!"}) {
      if (ahead(look)) {
        return missing("look-around '(" + std::string(look) + "' is not supported");
      }
    }
    out_ += "(?:";
    if (ahead("?<")) return group_name();
    if (!ahead("?:")) return wrong("only '(?:' and '(?<name>' may follow '(?', no flags");
    at_ += 2;
    return {};
  }

  Result<void> group_name() {
    at_ += 2;
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) return wrong("a group name has no closing '>'");
    const std::string_view name = text_.substr(at_, end - at_);
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                          c == '$' || static_cast<unsigned char>(c) >= 0x80;
      if (!letter && (i == 0 || c < '0' || c > '9')) return wrong("a group name is no identifier");
    }
    if (name.empty()) return wrong("a group name is empty");
    if (!group_names_.insert(name).second) return wrong("a group name is used twice");
    at_ = end + 1;
    return {};
  }

  struct Counts {
    std::string_view low;
    std::string_view high;
    std::size_t end = 0;  // behind the closing brace; 0 when this is no repetition
  };
  // "{2,3}" repeats; any other brace is a character.
  Counts counts() const noexcept {
    if (now() != '{') return {};
    std::size_t end = at_ + 1;
    const auto digits = [&] {
      const std::size_t begin = end;
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
      return text_.substr(begin, end - begin);
    };
    Counts out;
    out.low = digits();
    out.high = out.low;
    if (!out.low.empty() && end < text_.size() && text_[end] == ',') {
      ++end;
      out.high = digits();
    }
    if (!out.low.empty() && end < text_.size() && text_[end] == '}') out.end = end + 1;
    return out;
  }
  bool is_repetition() const noexcept { return counts().end != 0; }

  Result<void> brace() {
    const auto [low, high, end] = counts();
    int least = 0;
    for (const std::string_view count : {low, high}) {
      int value = 0;
      const auto read = std::from_chars(count.data(), count.data() + count.size(), value);
      if (count.empty()) break;
      if (read.ec != std::errc() || value > 1000) {
        return missing("a repetition of more than 1000 is not supported");
      }
      if (value < least) return wrong("a repetition has its numbers in the wrong order");
      least = value;
    }
    out_ += text_.substr(at_, end - at_);
    at_ = end;
    return {};
  }

  Result<void> bracket() {
    ++at_;
    const bool negated = now() == '^';
    at_ += negated;
    if (now() == ']') {
      ++at_;
      out_ += negated ? "[" : "[^";
      out_.append(kAnything) += ']';
      return {};
    }
    out_ += negated ? "[^" : "[";
    while (at_ < text_.size() && text_[at_] != ']') {
      if (text_[at_] == '\\') {
        TUG_TRY(done, escape(Place::inside));
      } else if (text_[at_] == '[') {
        out_ += "\\[";
        ++at_;
      } else {
        copy_code_point();
      }
    }
    if (at_ == text_.size()) return wrong("a '[' has no closing ']'");
    ++at_;
    out_ += ']';
    return {};
  }

  enum class Place { inside, outside };  // of brackets

  void set(Place place, std::string_view ranges) {
    if (place == Place::outside) out_ += '[';
    out_ += ranges;
    if (place == Place::outside) out_ += ']';
  }

  void code_point(unsigned code) {
    constexpr char hex[] = "0123456789ABCDEF";
    out_ += "\\x{";
    for (int shift = 20; shift >= 0; shift -= 4) out_ += hex[code >> shift & 15];
    out_ += '}';
  }

  Result<void> escape(Place place) {
    ++at_;
    if (at_ == text_.size()) return wrong("it ends with a lone '\\'");
    const char letter = text_[at_++];
    switch (letter) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 't':
      case 'n':
      case 'r':
      case 'f':
        out_ += '\\';
        out_ += letter;
        return {};
      case 'v':
        code_point(0x0b);
        return {};
      case 's':
        set(place, kSpaces);
        return {};
      case 'S':
        set(place, kNotSpaces);
        return {};
      case 'b':
        if (place == Place::inside) {
          code_point(0x08);
        } else {
          out_ += "\\b";
        }
        return {};
      case 'B':
        if (place == Place::inside) return wrong("'\\B' cannot stand in brackets");
        out_ += "\\B";
        return {};
      case 'c':
        return control();
      case 'x':
        return hex_escape(2);
      case 'u':
        return unicode();
      case 'p':
      case 'P':
        return property(place, letter);
      case 'k':
        return missing("the back reference '\\k' is not supported");
      case '0':
        if (now() >= '0' && now() <= '9') return wrong("an octal escape is not ECMA-262");
        code_point(0);
        return {};
      default:
        break;
    }
    if (letter >= '1' && letter <= '9') {
      return missing(std::string("the back reference '\\") + letter + "' is not supported");
    }
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
      return wrong(std::string("'\\") + letter + "' is not an escape of ECMA-262");
    }
    if (static_cast<unsigned char>(letter) >= 0x80) {
      --at_;
      copy_code_point();
      return {};
    }
    code_point(static_cast<unsigned char>(letter));
    return {};
  }

  Result<void> control() {
    const char letter = static_cast<char>(now() & ~0x20);
    if (letter < 'A' || letter > 'Z') return wrong("'\\c' needs a letter");
    ++at_;
    code_point(static_cast<unsigned>(letter - 'A' + 1));
    return {};
  }

  // Up to `digits` hexadecimal digits at `at_`, all of them there; -1 otherwise.
  int hex_at(std::size_t at, std::size_t digits) const noexcept {
    if (at + digits > text_.size()) return -1;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = hex_digit(text_[at + i]);
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }

  Result<void> hex_escape(std::size_t digits) {
    const int value = hex_at(at_, digits);
    if (value < 0) return wrong("'\\x' needs two hexadecimal digits");
    at_ += digits;
    code_point(static_cast<unsigned>(value));
    return {};
  }

  Result<void> unicode() {
    if (now() == '{') {
      const std::size_t end = text_.find('}', at_);
      const std::size_t size = end == std::string_view::npos ? 0 : end - at_ - 1;
      const int value = size > 0 && size < 7 ? hex_at(at_ + 1, size) : -1;
      if (value < 0 || value > 0x10ffff) return wrong("'\\u{' needs a code point and '}'");
      at_ = end + 1;
      code_point(static_cast<unsigned>(value));
      return {};
    }
    int value = hex_at(at_, 4);
    if (value < 0) return wrong("'\\u' needs four hexadecimal digits");
    at_ += 4;
    if (value >= 0xd800 && value < 0xdc00 && ahead("\\u")) {
      const int low = hex_at(at_ + 2, 4);
      if (low >= 0xdc00 && low <= 0xdfff) {
        at_ += 6;
        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    if (value >= 0xd800 && value <= 0xdfff) return wrong("a lone surrogate matches no text");
    code_point(static_cast<unsigned>(value));
    return {};
  }

  Result<void> property(Place place, char letter) {
    const std::size_t end = text_.find('}', at_);
    if (now() != '{' || end == std::string_view::npos) {
      return wrong(std::string("'\\") + letter + "' needs a property in braces");
    }
    std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    const bool negated = letter == 'P';
    if (name == "Any" || name == "ASCII") {
      const std::string_view other = name == "Any" ? "^\\x{00}-\\x{10FFFF}" : "\\x{80}-\\x{10FFFF}";
      const std::string_view plain = name == "Any" ? kAnything : "\\x{00}-\\x{7F}";
      if (place == Place::inside && negated && name == "Any") {
        return missing("'\\P{Any}' in brackets is not supported");
      }
      set(place, negated ? other : plain);
      return {};
    }
    for (const std::string_view prefix :
         {"General_Category=", "gc=", "Script=", "sc=", "Script_Extensions=", "scx="}) {
      if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
        break;
      }
    }
    for (const Category& category : kCategories) {
      if (name == category.longer) name = category.shorter;
    }
    if (name.empty()) return missing("this Unicode property is not supported");
    out_ += '\\';
    out_ += letter;
    out_.append("{").append(name) += '}';
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool repeatable_ = false;
  std::unordered_set<std::string_view> group_names_;
};

}  // namespace

Result<std::unique_ptr<re2::RE2>> compile_ecma(std::string_view pattern, std::int64_t max_memory) {
  if (pattern.size() > kMaxPatternBytes) {
    return fail(ErrorKind::unsupported,
                "it is longer than " + std::to_string(kMaxPatternBytes) + " bytes");
  }
  TUG_TRY(translated, Translator(pattern).run());
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(max_memory);
  auto regex = std::make_unique<re2::RE2>(translated, options);
  if (regex->ok()) return regex;
  switch (regex->error_code()) {
    case re2::RE2::ErrorPatternTooLarge:
    case re2::RE2::ErrorRepeatSize:  // of one repetition within another
    case re2::RE2::ErrorInternal:    // nested too deep
      return fail(ErrorKind::unsupported, "it is too large (" + regex->error() + ")");
    case re2::RE2::ErrorBadCharRange:
      if (regex->error_arg().starts_with("\\p") || regex->error_arg().starts_with("\\P")) {
        return fail(ErrorKind::unsupported,
                    "the Unicode property '" + regex->error_arg() + "' is not supported");
      }
      [[fallthrough]];
    default:
      return fail(ErrorKind::invalid, regex->error());
  }
}

}  // namespace tug::detail
