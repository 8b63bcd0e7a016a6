// Sums, exactly: + - * / % ^, parentheses, decimals.
//
// Numbers are fractions of 128-bit integers, so 0.1 + 0.2 is 0.3 and 2^64 has all its digits. What
// does not fit is an error, never a rounded answer.
#pragma once

#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug {

struct Sum {
  std::string value;  // "42", "0.125", "0.333333333333"
  bool exact = true;  // false: the decimals go on
};

// `invalid` for what is not an expression (naming the place), a division by zero, a power that is
// not whole; `exhausted` for a number that is too large.
Result<Sum> evaluate(std::string_view expression);

// Made of digits, operators and parentheses only, with a digit and an operator in it.
bool looks_like_sum(std::string_view text) noexcept;

}  // namespace tug
