#include "core/loose_json.h"

#include "core/json_text.h"
#include "tug/core/json.h"

namespace tug::detail {
namespace {

bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool begins_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

// How many bytes at the end of `text` begin a character that is not all there.
std::size_t unfinished_bytes(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

void put_control(char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

}  // namespace

LooseReader::End LooseReader::read(std::size_t from) {
  at_ = from;
  state_ = State::value;
  levels_.clear();
  out_.clear();
  safe_ = 0;
  any_ = false;
  in_key_ = false;
  too_deep_ = false;
  for (;;) {
    if (state_ == State::after && levels_.empty()) return End::whole;
    skip_space();
    if (ends()) return End::cut;
    switch (step()) {
      case Step::on:
        break;
      case Step::cut:
        return End::cut;
      case Step::wrong:
        return End::wrong;
    }
  }
}

std::optional<std::string> LooseReader::closed() const {
  if (!any_) return std::nullopt;
  std::string text = out_.substr(0, safe_);
  for (std::size_t i = levels_.size(); i-- > 0;) text += (levels_[i] & kObject) != 0 ? '}' : ']';
  return text;
}

void LooseReader::skip_space() noexcept {
  while (!ends() && is_space(text_[at_])) ++at_;
}

// A point from which closing what is open makes a value.
void LooseReader::complete() noexcept {
  safe_ = out_.size();
  any_ = true;
}

LooseReader::Step LooseReader::step() {
  const char c = text_[at_];
  switch (state_) {
    case State::key:
      if (c == '}' && (relaxed() || (levels_.back() & kFilled) == 0)) return close('}');
      if (c == '{' && relaxed() && levels_.back() == kObject && text_[at_ - 1] == '{') {
        levels_.back() |= kDoubled;
        ++at_;
        return Step::on;
      }
      return key();
    case State::item:
      if (c == ']' && (relaxed() || (levels_.back() & kFilled) == 0)) return close(']');
      return value();
    case State::value:
      return value();
    case State::after:
      return after_value();
  }
  return Step::wrong;
}

LooseReader::Step LooseReader::after_value() {
  if (next_is(',')) {
    ++at_;
    state_ = in_object() ? State::key : State::item;
    return Step::on;
  }
  return close(in_object() ? '}' : ']');
}

LooseReader::Step LooseReader::close(char bracket) {
  if (!next_is(bracket)) return Step::wrong;
  ++at_;
  if ((levels_.back() & kDoubled) != 0 && next_is('}')) ++at_;
  levels_.pop_back();
  out_ += bracket;
  state_ = State::after;
  complete();
  return Step::on;
}

void LooseReader::separate() {
  if (levels_.empty()) return;
  if ((levels_.back() & kFilled) != 0) out_ += ',';
  levels_.back() |= kFilled;
}

LooseReader::Step LooseReader::key() {
  separate();
  const char c = text_[at_];
  in_key_ = true;
  Step read = Step::wrong;
  if (c == '"' || (c == '\'' && relaxed())) {
    read = string(c);
  } else if (relaxed() && (begins_word(c) || is_digit(c))) {
    read = word(true);
  }
  in_key_ = false;
  if (read != Step::on) return read;
  skip_space();
  if (ends()) return Step::cut;
  if (!next_is(':')) return Step::wrong;
  ++at_;
  out_ += ':';
  state_ = State::value;
  return Step::on;
}

LooseReader::Step LooseReader::value() {
  if (!in_object()) separate();
  const char c = text_[at_];
  if (c == '{') return open(kObject);
  if (c == '[') return open(0);
  if (c == '"' || (c == '\'' && relaxed())) return string(c);
  if (c == '-' || is_digit(c)) return number();
  return begins_word(c) ? word(false) : Step::wrong;
}

LooseReader::Step LooseReader::open(unsigned char level) {
  too_deep_ = levels_.size() == kMaxJsonDepth;
  if (too_deep_) return Step::wrong;
  ++at_;
  out_ += level == kObject ? '{' : '[';
  levels_ += static_cast<char>(level);
  state_ = level == kObject ? State::key : State::item;
  complete();
  return Step::on;
}

LooseReader::Step LooseReader::string(char quote) {
  ++at_;
  out_ += '"';
  Step done = Step::cut;
  while (!ends()) {
    const char c = text_[at_];
    if (c == quote) {
      ++at_;
      done = Step::on;
      break;
    }
    if (c == '\\') {
      const Step escaped = escape(quote);
      if (escaped == Step::wrong) return escaped;
      if (escaped == Step::cut) break;
      continue;
    }
    ++at_;
    if (static_cast<unsigned char>(c) < 0x20) {
      if (!relaxed()) return Step::wrong;
      put_control(c, out_);
    } else if (c == '"') {
      out_ += "\\\"";
    } else {
      out_ += c;
    }
  }
  if (in_key_ && done == Step::cut) return done;
  if (done == Step::cut) out_.resize(out_.size() - unfinished_bytes(out_));
  out_ += '"';
  if (in_key_) return done;
  state_ = State::after;
  complete();
  return done;
}

LooseReader::Step LooseReader::escape(char quote) {
  if (at_ + 1 == text_.size()) {
    at_ = text_.size();
    return Step::cut;
  }
  const char c = text_[at_ + 1];
  if (c == 'u') return unicode_escape();
  if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) {
    out_.append(text_.substr(at_, 2));
  } else if (relaxed() && c == quote) {
    out_ += quote;
  } else {
    return Step::wrong;
  }
  at_ += 2;
  return Step::on;
}

// Half of a surrogate pair at the end of the text waits for the other half.
LooseReader::Step LooseReader::unicode_escape() {
  const auto unit_at = [this](std::size_t at) {
    int unit = 0;
    for (std::size_t i = at + 2; i < at + 6; ++i) {
      if (i >= text_.size()) return -1;  // cut
      const int digit = hex_digit(text_[i]);
      if (digit < 0) return -2;
      unit = unit * 16 + digit;
    }
    return unit;
  };
  const int unit = unit_at(at_);
  if (unit == -2) return Step::wrong;
  bool cut = unit == -1;
  if (unit >= 0xd800 && unit <= 0xdbff) {
    const std::string_view rest = text_.substr(at_ + 6);
    cut = rest.empty() || rest == "\\" || (rest.starts_with("\\u") && unit_at(at_ + 6) == -1);
  }
  if (cut) {
    at_ = text_.size();
    return Step::cut;
  }
  out_.append(text_.substr(at_, 6));
  at_ += 6;
  return Step::on;
}

LooseReader::Step LooseReader::number() {
  const std::size_t from = at_;
  while (!ends() && (is_digit(text_[at_]) ||
                     std::string_view("+-.eE").find(text_[at_]) != std::string_view::npos)) {
    ++at_;
  }
  if (ends()) return Step::cut;
  const std::string_view digits = text_.substr(from, at_ - from);
  if (!Json::number(digits)) return Step::wrong;
  out_ += digits;
  state_ = State::after;
  complete();
  return Step::on;
}

LooseReader::Step LooseReader::word(bool is_key) {
  const std::size_t from = at_;
  while (!ends() && (begins_word(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '-' ||
                     text_[at_] == '.')) {
    ++at_;
  }
  std::string_view said = text_.substr(from, at_ - from);
  if (is_key) {
    print_json_string(said, out_);
    return Step::on;
  }
  const bool known = said == "true" || said == "false" || said == "null";
  if (!known) {
    if (ends()) return Step::cut;
    if (!relaxed() || said == "NaN" || said == "Infinity") return Step::wrong;
  }
  if (said == "True") said = "true";
  if (said == "False") said = "false";
  if (said == "None" || said == "undefined") said = "null";
  if (said == "true" || said == "false" || said == "null") {
    out_ += said;
  } else {
    print_json_string(said, out_);
  }
  state_ = State::after;
  complete();
  return Step::on;
}

}  // namespace tug::detail
