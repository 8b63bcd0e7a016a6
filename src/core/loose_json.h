// One JSON value read out of a text that may go on after it, end inside it, or be written loosely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tug::detail {

enum class Grammar : std::uint8_t { strict, relaxed };

// Reads from one place of a text and writes what it reads as strict JSON. No recursion.
class LooseReader {
 public:
  enum class End : std::uint8_t { whole, cut, wrong };

  LooseReader(std::string_view text, Grammar grammar) : text_(text), grammar_(grammar) {}

  // One value that begins at `from`, white space before it included.
  End read(std::size_t from);
  // Where reading stopped: behind a whole value.
  std::size_t at() const noexcept { return at_; }
  // What was written; JSON only after a whole value.
  const std::string& written() const noexcept { return out_; }
  // What is complete of a value that is cut or wrong, closed. Nothing when nothing is.
  std::optional<std::string> closed() const;
  // More than brackets was read.
  bool began() const noexcept { return out_.find_first_not_of("{[") != out_.npos; }
  bool too_deep() const noexcept { return too_deep_; }

 private:
  enum class State : std::uint8_t { value, item, key, after };
  enum class Step : std::uint8_t { on, cut, wrong };
  enum Level : unsigned char { kObject = 1, kFilled = 2, kDoubled = 4 };

  bool relaxed() const noexcept { return grammar_ == Grammar::relaxed; }
  bool ends() const noexcept { return at_ == text_.size(); }
  bool next_is(char c) const noexcept { return !ends() && text_[at_] == c; }
  void skip_space() noexcept;
  bool in_object() const noexcept { return !levels_.empty() && (levels_.back() & kObject) != 0; }

  Step step();
  Step key();
  Step value();
  Step after_value();
  Step open(unsigned char level);
  Step close(char bracket);
  Step string(char quote);
  Step escape(char quote);
  Step unicode_escape();
  Step number();
  Step word(bool is_key);
  void separate();
  void complete() noexcept;

  std::string_view text_;
  Grammar grammar_;
  std::size_t at_ = 0;
  State state_ = State::value;
  std::string levels_;  // of the lists and objects that are open
  std::string out_;
  std::size_t safe_ = 0;  // how much of `out_` makes a value once the levels are closed
  bool any_ = false;      // something is complete
  bool in_key_ = false;
  bool too_deep_ = false;
};

}  // namespace tug::detail
