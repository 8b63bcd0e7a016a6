#include "tools/command_words.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

namespace tug {
namespace {

bool among(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }
bool ends_word(char c) {
  return is_blank(c) || c == '\n' || std::string_view(";&|<>()").contains(c);
}

// Reserved words: in front of a command, and those that begin something else.
constexpr std::string_view kDropped[] = {"if",    "then", "else", "elif", "fi",    "while",
                                         "until", "do",   "done", "esac", "coproc"};
constexpr std::string_view kKept[] = {"for", "case", "select", "function", "[["};

struct Word {
  std::string text;
  bool quoted = false;      // some of it was
  std::size_t plain_until;  // how much of its front was not
};

// A simple command that is being read.
struct Part {
  SimpleCommand command;
  bool fresh = true;         // nothing of it was read yet
  bool after_group = false;  // only redirections may follow
};

struct HereDocument {
  std::string delimiter;
  bool strips_tabs = false;
  bool literal = false;
};

// What a list ends with.
enum class Close : char { end, parenthesis, brace };

class Reader {
 public:
  Reader(std::string_view text, CommandWords& out, int depth)
      : text_(text), out_(out), depth_(depth) {}

  void list(Close close) {
    Part part;
    while (skip_blanks(), !at_end()) {
      const char c = peek();
      if (c == '\n') {
        end(part);
        ++at_;
        here_documents();
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ';' || c == '|' || c == '&') {
        end(part);
        separator(c);
      } else if (c == '(') {
        if (!part.fresh || part.after_group) {
          unclear("defines a function or a list");
          end(part);
        }
        if (peek(1) == '(') unclear("calculates");
        ++at_;
        nested(Close::parenthesis);
        part.after_group = true;
      } else if (c == ')') {
        ++at_;
        end(part);
        if (close == Close::parenthesis) return;
        unclear("has a ) too many");
      } else if (c == '<' || c == '>') {
        redirection(part);
      } else if (word(part, close)) {
        return;
      }
    }
    end(part);
    if (close != Close::end) unclear("has a group that is not closed");
    if (!here_.empty()) unclear("has a here-document without its text");
    here_.clear();
  }

  // The text of a here-document whose delimiter is not quoted.
  void expansions() {
    std::string ignored;
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '\\') {
        at_ += 2;
      } else if (c == '$') {
        dollar(ignored, Quotes::doubled);
      } else if (c == '`') {
        backquotes(ignored);
      } else {
        ++at_;
      }
    }
  }

 private:
  enum class Quotes : bool { none, doubled };

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void unclear(std::string_view why) {
    if (out_.unclear.empty()) out_.unclear = why;
  }

  void skip_blanks() {
    for (;;) {
      if (is_blank(peek())) {
        ++at_;
      } else if (peek() == '\\' && peek(1) == '\n') {
        at_ += 2;
      } else {
        return;
      }
    }
  }

  // Takes a word; whether it closes the list.
  bool word(Part& part, Close close) {
    Word word = read_word();
    if (!word.quoted && (peek() == '<' || peek() == '>') &&
        std::ranges::all_of(word.text, is_digit)) {
      redirection(part);
      return false;
    }
    // Reserved words are read as such only where nothing stands before them.
    if (part.fresh && !word.quoted) {
      if (word.text == "}") {
        end(part);
        if (close != Close::brace) unclear("has a } too many");
        return close == Close::brace;
      }
      if (part.after_group) unclear("has a word after a group");
      if (word.text == "{") {
        nested(Close::brace);
        part.after_group = true;
        return false;
      }
      if (keyword(word.text)) return false;
    }
    if (part.after_group) unclear("has a word after a group");
    part.fresh = false;
    SimpleCommand& command = part.command;
    if (command.words.empty() && is_assignment(word)) {
      command.assignments.push_back(std::move(word.text));
    } else {
      command.words.push_back(std::move(word.text));
    }
    return false;
  }

  void end(Part& part) {
    SimpleCommand command = std::exchange(part, Part{}).command;
    if (command == SimpleCommand{}) return;
    if (out_.commands.size() == kMaxSimpleCommands) {
      unclear("has too many commands");
    } else {
      out_.commands.push_back(std::move(command));
    }
  }

  void separator(char c) {
    const char second = peek(1);
    at_ += c == second ? 2 : 1;
    if (c == ';' && second == ';') unclear("has a case");
    // One shell reads `&>` and `|&` as one operator, another as two.
    if (c == '&' && second == '>') unclear("has &>, which shells read differently");
    if (c == '|' && second == '&') {
      unclear("has |&, which shells read differently");
      ++at_;
    }
  }

  void nested(Close close) {
    if (depth_ == kMaxCommandNesting) {
      unclear("is nested too deep");
      at_ = text_.size();
      return;
    }
    ++depth_;
    list(close);
    --depth_;
  }

  // Whether the word only shapes what follows.
  bool keyword(std::string_view word) {
    if (word == "!") return true;
    const bool dropped = among(kDropped, word);
    if (dropped || among(kKept, word)) unclear("has a control structure");
    return dropped;
  }

  bool is_assignment(const Word& word) {
    const std::string_view text = word.text;
    std::size_t end = 0;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == 0 || end == text.size() || end >= word.plain_until || !is_name_start(text[0]))
      return false;
    if (text[end] == '[' && text.contains('=')) unclear("assigns to a list");
    return text[end] == '=' || text.substr(end).starts_with("+=");
  }

  Word read_word() {
    Word word{.text = {}, .quoted = false, .plain_until = std::string::npos};
    const auto quote = [&word] {
      if (!std::exchange(word.quoted, true)) word.plain_until = word.text.size();
    };
    bool brace = false;
    bool bracket = false;
    while (!at_end() && !ends_word(peek())) {
      const char c = peek();
      const char before = word.text.empty() ? '\0' : word.text.back();
      if (c == '\\') {
        if (peek(1) == '\n') {
          at_ += 2;
          continue;
        }
        quote();
        if (at_ + 1 == text_.size()) unclear("ends in a backslash");
        word.text += text_.substr(at_ + 1, 1);
        at_ += 2;
      } else if (c == '\'') {
        quote();
        const std::size_t end = text_.find('\'', at_ + 1);
        if (end == text_.npos) unclear("has a quote that is not closed");
        const std::string_view inside =
            text_.substr(at_ + 1, std::min(end, text_.size()) - at_ - 1);
        newline_in_word(inside);
        word.text += inside;
        at_ += inside.size() + 2;
      } else if (c == '"') {
        quote();
        double_quoted(word.text);
      } else if (c == '$') {
        dollar(word.text, Quotes::none);
      } else if (c == '`') {
        backquotes(word.text);
      } else {
        if (c == '*' || c == '?') unclear("has a pattern for file names");
        if (c == '~' && (before == '\0' || before == '=' || before == ':'))
          unclear("has a ~ that stands for a folder");
        if (c == '=' && before == '\0') unclear("begins a word with =");
        if (static_cast<unsigned char>(c) >= 0x80) unclear("has letters beyond ASCII unquoted");
        brace |= c == '{' || c == '}';
        bracket |= c == '[';
        word.text += c;
        ++at_;
      }
    }
    if (brace && word.text != "{" && word.text != "}" && word.text != "{}")
      unclear("has braces that may stand for several words");
    if (bracket && word.text != "[" && word.text != "[[") unclear("has a pattern for file names");
    return word;
  }

  void newline_in_word(std::string_view inside) {
    if (!here_.empty() && inside.contains('\n')) unclear("has a here-document inside a word");
  }

  void double_quoted(std::string& text) {
    ++at_;
    while (!at_end()) {
      const char c = peek();
      if (c == '"') {
        ++at_;
        return;
      }
      if (c == '\\') {
        const char next = peek(1);
        if (next == '$' || next == '`' || next == '"' || next == '\\') {
          text += next;
        } else if (next != '\n') {
          text += text_.substr(at_, 2);
        }
        at_ += 2;
      } else if (c == '$') {
        dollar(text, Quotes::doubled);
      } else if (c == '`') {
        backquotes(text);
      } else {
        newline_in_word(text_.substr(at_, 1));
        text += c;
        ++at_;
      }
    }
    unclear("has a quote that is not closed");
  }

  void dollar(std::string& text, Quotes quotes) {
    const std::size_t start = at_++;
    const char c = peek();
    if (c == '(') {
      substitution("has a command substitution");
    } else if (c == '{') {
      unclear("has a parameter");
      braced_parameter();
    } else if (quotes == Quotes::none && c == '\'') {
      unclear("has $'..', which shells read differently");
      for (++at_; !at_end() && peek() != '\''; ++at_) {
        if (peek() == '\\') ++at_;
      }
      ++at_;
    } else if (quotes == Quotes::none && c == '"') {
      unclear("has $\"..\", which shells read differently");
    } else if (is_name_start(c)) {
      unclear("has a parameter");
      while (is_name(peek())) ++at_;
    } else if (is_digit(c) || (c != '\0' && std::string_view("@*#?$!-[").contains(c))) {
      unclear("has a parameter");
      ++at_;
    }
    at_ = std::min(at_, text_.size());
    text += text_.substr(start, at_ - start);
  }

  // At its parenthesis.
  void substitution(std::string_view what) {
    unclear(what);
    if (!here_.empty()) unclear("has a here-document around a substitution");
    std::vector<HereDocument> outer;
    outer.swap(here_);
    ++at_;
    nested(Close::parenthesis);
    here_.swap(outer);
  }

  void braced_parameter() {
    if (++depth_ > kMaxCommandNesting) at_ = text_.size();
    std::string ignored;
    for (++at_; !at_end() && peek() != '}';) {
      const char c = peek();
      if (c == '\\') {
        at_ += 2;
      } else if (c == '\'') {
        at_ = std::min(text_.find('\'', at_ + 1), text_.size() - 1) + 1;
      } else if (c == '"') {
        double_quoted(ignored);
      } else if (c == '$') {
        dollar(ignored, Quotes::none);
      } else if (c == '`') {
        backquotes(ignored);
      } else {
        ++at_;
      }
    }
    ++at_;
    --depth_;
  }

  void backquotes(std::string& text) {
    unclear("has a command substitution");
    const std::size_t start = at_++;
    std::string inside;
    while (!at_end() && peek() != '`') {
      if (peek() == '\\' && (peek(1) == '`' || peek(1) == '\\' || peek(1) == '$')) ++at_;
      inside += peek();
      ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
    text += text_.substr(start, at_ - start);
    if (depth_ == kMaxCommandNesting) return;
    Reader(inside, out_, depth_ + 1).list(Close::end);
  }

  void redirection(Part& part) {
    part.fresh = false;
    const bool writes = peek() == '>';
    const char second = peek(1);
    ++at_;
    if (second == '(') {
      substitution("has a process substitution");
      return;
    }
    if (!writes && second == '<') {
      here_document();
      return;
    }
    const bool joins = second == '&';
    const bool opens_both = !writes && second == '>';
    if (joins || opens_both || (writes && (second == '>' || second == '|'))) ++at_;
    skip_blanks();
    if (at_end() || ends_word(peek())) {
      unclear("has a redirection to nothing");
      return;
    }
    Word word = read_word();
    if (joins) {
      const std::size_t digits = word.text.find_first_not_of("0123456789");
      if (digits == word.text.npos || word.text.substr(digits) == "-") return;
      unclear("joins a descriptor to a file");
    }
    if (word.text == "/dev/null") return;
    part.command.redirections.push_back({writes || opens_both, std::move(word.text)});
  }

  // At the second `<`.
  void here_document() {
    ++at_;
    HereDocument here;
    if (peek() == '<') {
      unclear("has <<<, which shells read differently");
      ++at_;
      skip_blanks();
      read_word();
      return;
    }
    if (peek() == '-') {
      here.strips_tabs = true;
      ++at_;
    }
    skip_blanks();
    Word word = read_word();
    if (word.text.empty()) unclear("has a here-document without a name");
    if (word.text.contains('\n')) unclear("has a here-document with a strange name");
    here.delimiter = std::move(word.text);
    here.literal = word.quoted;
    here_.push_back(std::move(here));
  }

  void here_documents() {
    for (const HereDocument& here : std::exchange(here_, {})) {
      std::string body;
      bool ended = false;
      while (!at_end() && !ended) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        while (here.strips_tabs && line.starts_with('\t')) line.remove_prefix(1);
        ended = line == here.delimiter;
        if (ended) break;
        if (!here.literal && line.ends_with('\\')) unclear("has a joined line in a here-document");
        body += line;
        body += '\n';
      }
      if (!ended) unclear("has a here-document that does not end");
      if (!here.literal && depth_ < kMaxCommandNesting) Reader(body, out_, depth_ + 1).expansions();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  CommandWords& out_;
  int depth_;
  std::vector<HereDocument> here_;
};

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

bool is_plain(char c) { return is_name(c) || std::string_view("@%+=:,./^-]").contains(c); }

enum class Place : bool { first, later };

// Whether a word that stands bare is read as itself.
bool reads_bare(std::string_view word, Place place) {
  if (word == "[") return true;
  if (word.empty() || word.starts_with('=') || !std::ranges::all_of(word, is_plain)) return false;
  return place == Place::later ||
         !(word.contains('=') || among(kDropped, word) || among(kKept, word));
}

void append_quoted(std::string& out, std::string_view word) {
  out += '\'';
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  out += '\'';
}

void append_word(std::string& out, std::string_view word, Place place) {
  if (reads_bare(word, place)) {
    out += word;
  } else {
    append_quoted(out, word);
  }
}

}  // namespace

CommandWords read_command(std::string_view text) {
  CommandWords out;
  if (text.size() > kMaxCommandBytes) {
    out.unclear = "is longer than " + std::to_string(kMaxCommandBytes) + " bytes";
    return out;
  }
  if (std::ranges::any_of(text, is_control)) out.unclear = "has control characters";
  for (std::size_t at = text.find("\\\n"); at != text.npos; at = text.find("\\\n", at + 1)) {
    if (at > 0 && std::string_view("$(&|;<>`{").contains(text[at - 1]))
      out.unclear = "breaks a line inside an operator";
  }
  Reader(text, out, 0).list(Close::end);
  if (out.commands.empty() && out.unclear.empty()) out.unclear = "is empty";
  return out;
}

std::string command_text(const SimpleCommand& command, Assignments assignments) {
  std::string out;
  if (assignments == Assignments::show) {
    for (const std::string& assignment : command.assignments) {
      const std::size_t value = assignment.find('=') + 1;
      out += std::string_view(assignment).substr(0, value);
      if (value < assignment.size())
        append_word(out, std::string_view(assignment).substr(value), Place::later);
      out += ' ';
    }
  }
  Place place = Place::first;
  for (const std::string& word : command.words) {
    append_word(out, word, place);
    out += ' ';
    place = Place::later;
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::string redirection_text(const Redirection& redirection) {
  std::string out = redirection.writes ? "> " : "< ";
  append_word(out, std::filesystem::path(redirection.target).lexically_normal().string(),
              Place::later);
  return out;
}

}  // namespace tug
