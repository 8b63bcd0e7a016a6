// How the reader says what is wrong and where.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/words.h"
#include "tug/core/detail/shape.h"
#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug::detail {

// A way into a value, as a chain of stack frames: text is made only when something is wrong.
struct Place {
  const Place* up = nullptr;
  std::string_view key;
  std::size_t index = 0;
  bool is_item = false;
  std::size_t depth = 0;

  Place member(std::string_view name) const { return {this, name, 0, false, depth + 1}; }
  Place item(std::size_t at) const { return {this, {}, at, true, depth + 1}; }
  std::string path() const;  // "$.days[2]"
};

// The first eight as text, the rest as a number.
class Faults {
 public:
  void add(const Place& place, std::string text);
  // What a JsonForm said. If it has used the codec itself, its places ("$.usd") continue ours.
  void add_nested(const Place& place, const Error& error);
  Result<void> result() &&;

 private:
  std::vector<std::string> texts_;
  std::size_t count_ = 0;
};

std::string with_type(const Json& json);                      // string "x", number 1.5, null
std::string listed(std::span<const std::string_view> names);  // "a", "b" and 3 more
std::string one_of(std::span<const std::string_view> names);  // one of "a", "b"
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);
// "integer", "one of \"a\", \"b\"", "array of 3 items", "string or object".
std::string expectation(const Shape& shape);

}  // namespace tug::detail
