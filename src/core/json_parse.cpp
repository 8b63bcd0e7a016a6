// One pass, no recursion. Finished values wait on a stack of their own kind; when a list closes,
// its values move in one block into a node of the exact size.
#include <charconv>
#include <new>

#include "core/json_node.h"
#include "core/json_text.h"
#include "core/scan.h"
#include "tug/core/json.h"
#include "tug/core/utf8.h"

namespace tug {

using detail::ListNode;
using detail::Tag;

namespace {

// Values by memcpy: a value is moved out by forgetting it here.
class ValueStack {
 public:
  ValueStack() = default;
  ValueStack(const ValueStack&) = delete;
  ValueStack& operator=(const ValueStack&) = delete;
  ~ValueStack() {
    for (std::size_t i = 0; i < size_; ++i) data_[i].~Json();
    if (data_ != first()) detail::deallocate(data_);
  }

  Json& push() {
    if (size_ == capacity_) grow();
    return *new (data_ + size_++) Json;
  }
  Json* at(std::size_t index) noexcept { return data_ + index; }
  std::size_t size() const noexcept { return size_; }
  void forget_from(std::size_t size) noexcept { size_ = size; }

 private:
  static constexpr std::size_t kFirst = 64;
  Json* first() noexcept { return reinterpret_cast<Json*>(first_); }
  void grow() {
    const std::size_t capacity = capacity_ * 2;
    auto* data = static_cast<Json*>(detail::allocate(capacity * sizeof(Json)));
    std::memcpy(static_cast<void*>(data), data_, size_ * sizeof(Json));
    if (data_ != first()) detail::deallocate(data_);
    data_ = data;
    capacity_ = capacity;
  }

  alignas(Json) unsigned char first_[kFirst * sizeof(Json)];
  Json* data_ = first();
  std::size_t size_ = 0;
  std::size_t capacity_ = kFirst;
};

class Parser {
 public:
  Parser(std::string_view text, ParseOptions options)
      : begin_(text.data()),
        p_(text.data()),
        end_(text.data() + text.size()),
        max_depth_(options.max_depth),
        lists_left_(options.max_lists) {}

  Result<Json> run() {
    if (text_starts_with("\xef\xbb\xbf")) p_ += 3;
    if (!document()) return fail(ErrorKind::invalid, place_of(wrong_at_) + ": " + wrong_);
    return std::move(*stack_.at(0));
  }

 private:
  static constexpr std::size_t kNoList = SIZE_MAX;

  bool text_starts_with(std::string_view prefix) const noexcept {
    return static_cast<std::size_t>(end_ - p_) >= prefix.size() &&
           std::memcmp(p_, prefix.data(), prefix.size()) == 0;
  }

  // The next byte that is not white space, or 0 at the end.
  char peek() noexcept {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
    return p_ != end_ ? *p_ : '\0';
  }

  bool document() {
    for (;;) {
      bool complete = true;
      switch (peek()) {
        case '{':
          if (!open(Tag::object)) return false;
          complete = peek() == '}';
          if (complete) {
            close();
          } else if (!key("a key in double quotes or '}'")) {
            return false;
          }
          break;
        case '[':
          if (!open(Tag::array)) return false;
          complete = peek() == ']';
          if (complete) close();
          break;
        case '"':
          if (!string()) return false;
          break;
        case 't':
          if (!literal("true", Tag::yes)) return false;
          break;
        case 'f':
          if (!literal("false", Tag::no)) return false;
          break;
        case 'n':
          if (!literal("null", Tag::null)) return false;
          break;
        default:
          if (!number()) return false;
      }
      if (!complete) continue;
      bool more = false;
      if (!after_value(more)) return false;
      if (!more) return true;
    }
  }

  // Closes what ends here; `more` when another value must follow.
  bool after_value(bool& more) {
    for (;;) {
      const char next = peek();
      if (list_ == kNoList) return p_ == end_ || expected("the end of the text");
      if (next == ',') {
        ++p_;
        more = true;
        return !in_object_ || (peek(), key("a key in double quotes"));
      }
      if (next != (in_object_ ? '}' : ']'))
        return expected(in_object_ ? "',' or '}'" : "',' or ']'");
      close();
    }
  }

  // A list's frame is an integer below its values, so that dropping the stack drops frames too:
  // the frame around it, and whether that is an object.
  bool open(Tag tag) {
    if (depth_ == max_depth_) {
      return wrong(p_, "nested deeper than " + std::to_string(max_depth_) + " levels");
    }
    if (lists_left_-- == 0) return wrong(p_, "more arrays and objects than are allowed");
    ++depth_;
    ++p_;
    const std::uint64_t around = list_ == kNoList ? 0 : (list_ + 1) * 2 + in_object_;
    JsonAccess::put(stack_.push(), Tag::integer, around);
    list_ = stack_.size() - 1;
    in_object_ = tag == Tag::object;
    return true;
  }

  void close() {
    ++p_;
    --depth_;
    Json& frame = *stack_.at(list_);
    const auto around = JsonAccess::payload<std::uint64_t>(frame);
    const std::size_t first = list_ + 1;
    const std::size_t count = stack_.size() - first;
    if (count == 0) {
      JsonAccess::put(frame, in_object_ ? Tag::empty_object : Tag::empty_array);
    } else if (in_object_) {
      close_object(frame, count / 2);
    } else {
      ListNode* list = ListNode::make_array(count);
      take(list, &frame + 1, count);
      list->size = count;
      JsonAccess::put_node(frame, Tag::array, list);
    }
    stack_.forget_from(first);
    list_ = around == 0 ? kNoList : around / 2 - 1;
    in_object_ = (around & 1) != 0;
  }

  static void take(ListNode* list, const Json* from, std::size_t count) noexcept {
    std::memcpy(static_cast<void*>(list->values()), from, count * sizeof(Json));
  }

  void close_object(Json& frame, std::size_t count) {
    const Json* values = &frame + 1;
    auto* members = reinterpret_cast<Json::Member*>(&frame + 1);
    ListNode* list = ListNode::make_object(count);
    if (list->slot_bits == 0 && !repeats_key(members, count)) {
      take(list, values, 2 * count);
      list->size = count;
    } else {
      for (std::size_t i = 0; i < count; ++i) add(list, members[i]);
    }
    JsonAccess::put_node(frame, Tag::object, list);
  }

  static bool repeats_key(const Json::Member* members, std::size_t count) noexcept {
    for (std::size_t i = 1; i < count; ++i) {
      const std::uint64_t word = JsonAccess::word(members[i].name, 0);
      for (std::size_t j = 0; j < i; ++j) {
        if (JsonAccess::word(members[j].name, 0) == word &&
            JsonAccess::same_text(members[j].name, members[i].name)) {
          return true;
        }
      }
    }
    return false;
  }

  // Moves a member in; a repeated key keeps its place and takes the new value.
  static void add(ListNode* list, Json::Member& member) noexcept {
    const std::string_view key = member.key();
    std::size_t slot = 0;
    std::uint32_t hash = 0;
    std::size_t place = 0;
    if (list->slot_bits != 0) {
      hash = list->hash_of(key);
      place = list->look_up(key, hash, slot);
    } else {
      place = find_member(list->members(), list->size, key);
    }
    if (place < list->size) {
      list->members()[place].value = std::move(member.value);
      member.name.~Json();
      return;
    }
    std::memcpy(static_cast<void*>(list->members() + place), &member, sizeof member);
    if (list->slot_bits != 0) list->index_entry(hash, slot, place);
    ++list->size;
  }

  bool key(const char* what) {
    if (p_ == end_ || *p_ != '"') return expected(what);
    if (!string()) return false;
    if (peek() != ':') return expected("':' after the key");
    ++p_;
    return true;
  }

  bool string() {
    const char* first = ++p_;
    const detail::StringEnd found = detail::find_string_end(first, end_);
    p_ = found.at;
    if (p_ == end_) return wrong(first - 1, "this string has no closing quote");
    if (*p_ != '"') return expected("an escape such as \\n in place of a control byte");
    const std::string_view raw(first, static_cast<std::size_t>(p_ - first));
    Json& value = stack_.push();
    if (found.non_ascii && !is_utf8(raw)) {
      if (found.escapes && !check_escapes(raw)) return false;
      const std::string repaired = repair_utf8(raw);
      if (found.escapes) {
        (void)detail::put_escaped_text(value, repaired);
      } else {
        JsonAccess::put_text(value, repaired);
      }
    } else if (found.escapes) {
      const char* bad = detail::put_escaped_text(value, raw);
      if (bad != nullptr) return wrong_escape(bad);
    } else if (raw.size() <= detail::kShortText && end_ - first >= 16) {
      JsonAccess::put_short_text(value, first, raw.size());
    } else {
      JsonAccess::put_text(value, raw);
    }
    ++p_;
    return true;
  }

  bool check_escapes(std::string_view raw) {
    Json unused;
    const char* bad = detail::put_escaped_text(unused, raw);
    return bad == nullptr || wrong_escape(bad);
  }

  bool wrong_escape(const char* backslash) {
    p_ = backslash + 1;
    if (*p_ != 'u') return expected("one of \" \\ / b f n r t u after '\\'");
    for (++p_; detail::hex_digit(*p_) >= 0;) ++p_;
    return expected("four hexadecimal digits after '\\u'");
  }

  bool number() {
    if (p_ == end_ || !(*p_ == '-' || (*p_ >= '0' && *p_ <= '9'))) return expected("a value");
    const char* begin = p_;
    if (JsonAccess::put_number(stack_.push(), begin, end_, p_)) return true;
    const bool after_zero = p_ != end_ && *p_ >= '0' && *p_ <= '9';
    return expected(after_zero ? "no digit after a leading 0" : "a digit");
  }

  bool literal(std::string_view word, Tag tag) {
    if (!text_starts_with(word)) {
      for (std::size_t i = 0; p_ != end_ && *p_ == word[i]; ++i) ++p_;
      return expected(std::string("'").append(word) + "'");
    }
    p_ += word.size();
    JsonAccess::put(stack_.push(), tag);
    return true;
  }

  bool expected(std::string_view what) {
    return wrong(p_, std::string("expected ").append(what) + ", found " + found_at(p_));
  }

  bool wrong(const char* at, std::string message) {
    wrong_at_ = at;
    wrong_ = std::move(message);
    return false;
  }

  std::string found_at(const char* at) const {
    if (at >= end_) return "the end of the text";
    const auto byte = static_cast<unsigned char>(*at);
    const auto sequence = detail::utf8_sequence(at, end_);
    if (byte >= 0x20 && byte != 0x7f && sequence.well_formed) {
      return "'" + std::string(at, sequence.length) + "'";
    }
    constexpr char kHex[] = "0123456789abcdef";
    return std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
  }

  // Columns count code points, as editors do.
  std::string place_of(const char* at) const {
    if (at > end_) at = end_;
    std::size_t line = 1;
    const char* start = begin_;
    for (const char* p = begin_; p < at; ++p) {
      if (*p == '\n') {
        ++line;
        start = p + 1;
      }
    }
    const std::string_view before(start, static_cast<std::size_t>(at - start));
    return "line " + std::to_string(line) + ", column " +
           std::to_string(count_code_points(before) + 1);
  }

  const char* begin_;
  const char* p_;
  const char* end_;
  std::size_t max_depth_;
  std::size_t lists_left_;
  std::size_t depth_ = 0;
  std::size_t list_ = kNoList;
  bool in_object_ = false;
  ValueStack stack_;
  const char* wrong_at_ = nullptr;
  std::string wrong_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, ParseOptions options) {
  return Parser(text, options).run();
}

}  // namespace tug
