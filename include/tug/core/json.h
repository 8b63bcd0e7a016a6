// One JSON value.
//
// 16 bytes; scalars and strings of up to 14 bytes are inside, everything else is a shared immutable
// node, so a copy is O(1) and may go to another thread. Changing a value (`set`, `push_back`)
// copies the node first when somebody else holds it: what you hold never changes under you.
//
// Objects keep the order in which keys came; a repeated key replaces the value and keeps the place.
// 64-bit integers and doubles are exact; integers beyond 64 bits and numbers beyond the range of a
// double are kept as their text; any other decimal becomes the nearest double. Strings are
// well-formed UTF-8: invalid bytes and lone surrogates become U+FFFD on entry. Nesting is capped at
// kMaxJsonDepth when parsing; building by hand is not, and destruction does not recurse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tug/core/error.h"

namespace tug {

inline constexpr std::size_t kMaxJsonDepth = 128;

class Json {
 public:
  enum class Type : std::uint8_t { null, boolean, number, string, array, object };
  struct Member;  // key and value, below

  Json() noexcept = default;
  Json(std::nullptr_t) noexcept {}
  template <class T>
    requires std::is_same_v<T, bool>
  Json(T value) noexcept : Json(Boolean{value}) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>)
  Json(T value) noexcept {
    if constexpr (std::is_signed_v<T>) {
      set_int(static_cast<std::int64_t>(value));
    } else {
      set_uint(static_cast<std::uint64_t>(value));
    }
  }
  // A NaN or an infinity has no JSON form and becomes null.
  Json(double value) noexcept;
  Json(char) = delete;  // neither a number nor a string; say which
  Json(std::string_view text);
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(const std::string& text) : Json(std::string_view(text)) {}

  static Json array(std::initializer_list<Json> items = {});
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});
  // A number from its text, stored as the parser would store it; `invalid` when it is not a JSON
  // number.
  static Result<Json> number(std::string_view text);

  Json(const Json& other) noexcept;
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other) noexcept;
  Json& operator=(Json&& other) noexcept;
  ~Json();

  Type type() const noexcept;
  bool is_null() const noexcept { return type() == Type::null; }
  bool is_bool() const noexcept { return type() == Type::boolean; }
  bool is_number() const noexcept { return type() == Type::number; }
  bool is_string() const noexcept { return type() == Type::string; }
  bool is_array() const noexcept { return type() == Type::array; }
  bool is_object() const noexcept { return type() == Type::object; }

  // Reading never fails: another type gives the fallback, nothing, or an empty view. Views live as
  // long as this value does and is not assigned to.
  bool as_bool(bool fallback = false) const noexcept;
  std::string_view as_string(std::string_view fallback = {}) const noexcept;
  // Integers as written, and doubles with an integral value (1.0) that fit exactly.
  std::optional<std::int64_t> as_int() const noexcept;
  std::optional<std::uint64_t> as_uint() const noexcept;
  // Any number as the nearest double.
  std::optional<double> as_double() const noexcept;
  // Written without fraction and exponent, of any size. 1.0 is not; see as_int.
  bool is_integer() const noexcept;
  // The digits of a number that fits neither 64 bits nor a double, else empty.
  std::string_view big_number() const noexcept;

  std::size_t size() const noexcept;  // items or members; 0 for scalars
  bool empty() const noexcept { return size() == 0; }
  std::span<const Json> items() const noexcept;      // of an array
  std::span<const Member> members() const noexcept;  // of an object, in order
  const Json* find(std::string_view key) const noexcept;
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  // A null value when there is no such item or member.
  template <class T>
    requires std::is_integral_v<T>  // a plain std::size_t would make value[0] ambiguous
  const Json& operator[](T index) const noexcept {
    return item(static_cast<std::size_t>(index));
  }
  const Json& operator[](std::string_view key) const noexcept;
  const Json& operator[](const char* key) const noexcept { return (*this)[std::string_view(key)]; }

  // A null becomes an object (an array) on the first write; any other type is replaced. `set` and
  // `push_back` return this value, for chaining.
  Json& set(std::string_view key, Json value);
  bool erase(std::string_view key);
  Json& push_back(Json value);
  void reserve(std::size_t count);
  // The member as something to write into, made null when it was missing. It moves on the next
  // write.
  Json& edit(std::string_view key);

  // Same value: objects regardless of order, numbers by value (1 == 1.0).
  friend bool operator==(const Json& a, const Json& b) noexcept;

 private:
  friend struct JsonAccess;  // the parser, the printer and the other sources of this type
  struct Boolean {
    bool value;
  };
  explicit Json(Boolean value) noexcept;
  const Json& item(std::size_t index) const noexcept;
  void set_int(std::int64_t value) noexcept;
  void set_uint(std::uint64_t value) noexcept;
  bool owns_node() const noexcept { return (bytes_[0] & kOwnsNode) != 0; }
  void share() const noexcept;  // one more holder of our node
  void release() noexcept;      // one less
  static constexpr unsigned char kTypeBits = 0x07;
  static constexpr unsigned char kOwnsNode = 0x80;

  // Byte 0 is the tag: the type, how it is stored, whether bytes 8-15 point to a node. A short
  // string has its length in byte 1 and its bytes from 2 on, zero-filled, so that equal short
  // strings are equal words.
  alignas(8) unsigned char bytes_[16] = {};
};

inline Json::Json(const Json& other) noexcept {
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  if (owns_node()) share();
}
inline Json::Json(Json&& other) noexcept {
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  std::memset(other.bytes_, 0, sizeof bytes_);
}
inline Json& Json::operator=(const Json& other) noexcept {
  Json copy(other);
  return *this = std::move(copy);
}
inline Json& Json::operator=(Json&& other) noexcept {
  unsigned char taken[sizeof bytes_];
  std::memcpy(taken, other.bytes_, sizeof bytes_);
  std::memset(other.bytes_, 0, sizeof bytes_);
  if (owns_node()) release();
  std::memcpy(bytes_, taken, sizeof bytes_);
  return *this;
}
inline Json::~Json() {
  if (owns_node()) release();
}
inline Json::Type Json::type() const noexcept { return static_cast<Type>(bytes_[0] & kTypeBits); }

struct Json::Member {
  Json name;  // always a string
  Json value;
  std::string_view key() const noexcept { return name.as_string(); }
};

struct ParseOptions {
  std::size_t max_depth = kMaxJsonDepth;
  std::size_t max_lists = SIZE_MAX;  // arrays and objects: each weighs many times its two brackets
};

// Reads one JSON document; white space may surround it. The error (`invalid`) names line and column
// and what was expected. Bad UTF-8 is repaired, not refused.
Result<Json> parse_json(std::string_view text, ParseOptions options = {});

// The shortest text that reads back to the same value; members in their order.
std::string print_json(const Json& value);
void print_json(const Json& value, std::string& out);
// For people: two spaces a level.
std::string pretty_json(const Json& value);

// Writes `text` as a JSON string with its quotes, repairing UTF-8 on the way.
void print_json_string(std::string_view text, std::string& out);

// RFC 6901: "/a/0/b". Nothing when there is no such value or the pointer is malformed.
const Json* find_pointer(const Json& root, std::string_view pointer) noexcept;
// One reference token, escaped ("~" as "~0", "/" as "~1").
std::string pointer_token(std::string_view token);

}  // namespace tug
