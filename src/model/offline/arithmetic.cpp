#include "model/offline/arithmetic.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/try.h"

namespace tug {
namespace {

__extension__ typedef __int128 Wide;

__extension__ typedef unsigned __int128 UnsignedWide;

// Has no positive counterpart, so it counts as too large.
constexpr Wide kLowest = static_cast<Wide>(UnsignedWide{1} << 127);
constexpr std::size_t kLongest = 2000;
constexpr int kDeepest = 200;
constexpr int kMostDecimals = 20;

Failure too_large() {
  return fail(ErrorKind::exhausted, "a number on the way has more than 38 digits",
              "use smaller numbers");
}
Failure by_zero() { return fail(ErrorKind::invalid, "that divides by zero"); }

Wide magnitude(Wide value) noexcept { return value < 0 ? -value : value; }

Wide common_divisor(Wide a, Wide b) noexcept {
  a = magnitude(a);
  b = magnitude(b);
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// In lowest terms, the denominator above zero. The most negative integer never occurs.
struct Fraction {
  Wide above = 0;
  Wide below = 1;
};

Result<Wide> product(Wide a, Wide b) {
  Wide out = 0;
  if (__builtin_mul_overflow(a, b, &out) || out == kLowest) return too_large();
  return out;
}
Result<Wide> total(Wide a, Wide b) {
  Wide out = 0;
  if (__builtin_add_overflow(a, b, &out) || out == kLowest) return too_large();
  return out;
}

Fraction lowest(Wide above, Wide below) {
  const Wide divisor = common_divisor(above, below);
  if (divisor > 1) {
    above /= divisor;
    below /= divisor;
  }
  return below < 0 ? Fraction{-above, -below} : Fraction{above, below};
}

Result<Fraction> add(Fraction a, Fraction b) {
  // Over the least common denominator, so that sums of like fractions stay small.
  const Wide shared = common_divisor(a.below, b.below);
  TUG_TRY(left, product(a.above, b.below / shared));
  TUG_TRY(right, product(b.above, a.below / shared));
  TUG_TRY(above, total(left, right));
  TUG_TRY(below, product(a.below, b.below / shared));
  return lowest(above, below);
}

Result<Fraction> multiply(Fraction a, Fraction b) {
  const Fraction first = lowest(a.above, b.below);
  const Fraction second = lowest(b.above, a.below);
  TUG_TRY(above, product(first.above, second.above));
  TUG_TRY(below, product(first.below, second.below));
  return lowest(above, below);
}

Result<Fraction> divide(Fraction a, Fraction b) {
  if (b.above == 0) return by_zero();
  return multiply(a, lowest(b.below, b.above));
}

// The sign is that of `a`, as in C.
Result<Fraction> remainder(Fraction a, Fraction b) {
  if (b.above == 0) return by_zero();
  TUG_TRY(quotient, divide(a, b));
  TUG_TRY(whole, multiply(b, Fraction{quotient.above / quotient.below, 1}));
  return add(a, Fraction{-whole.above, whole.below});
}

Result<Fraction> power(Fraction base, Fraction exponent) {
  if (exponent.below != 1)
    return fail(ErrorKind::invalid, "powers have to be whole numbers",
                "2^10 works, 2^0.5 does not");
  if (exponent.above < 0) {
    if (base.above == 0) return by_zero();
    base = lowest(base.below, base.above);
  }
  Wide left = magnitude(exponent.above);
  if (base.below == 1 && magnitude(base.above) <= 1)
    left = left % 2 == 0 && left > 0 ? 2 : left % 2;
  if (left > 1000) return too_large();
  Fraction out{1, 1};
  for (; left > 0; --left) {
    TUG_TRY(next, multiply(out, base));
    out = next;
  }
  return out;
}

// expression := term (("+" | "-") term)*      term := factor (("*" | "/" | "%") factor)*
// factor := ("-" | "+") factor | power        power := atom ("^" factor)?
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Fraction> all() {
    TUG_TRY(value, expression());
    if (at_ < text_.size()) return expected("an operator");
    return value;
  }

 private:
  Result<Fraction> expression() {
    TUG_TRY(first, term());
    Fraction value = first;
    while (true) {
      const char sign = peek();
      if (sign != '+' && sign != '-') return value;
      ++at_;
      TUG_TRY(next, term());
      TUG_TRY(sum, add(value, Fraction{sign == '-' ? -next.above : next.above, next.below}));
      value = sum;
    }
  }

  Result<Fraction> term() {
    TUG_TRY(first, factor());
    Fraction value = first;
    while (true) {
      const char sign = peek();
      if (sign != '*' && sign != '/' && sign != '%') return value;
      ++at_;
      TUG_TRY(next, factor());
      TUG_TRY(out, sign == '*'   ? multiply(value, next)
                   : sign == '/' ? divide(value, next)
                                 : remainder(value, next));
      value = out;
    }
  }

  Result<Fraction> factor() {
    if (++depth_ > kDeepest)
      return fail(ErrorKind::invalid, "the expression is nested too deeply", "use fewer levels");
    Result<Fraction> value = signed_power();
    --depth_;
    return value;
  }

  Result<Fraction> signed_power() {
    const char sign = peek();
    if (sign == '-' || sign == '+') {
      ++at_;
      TUG_TRY(value, factor());
      return Fraction{sign == '-' ? -value.above : value.above, value.below};
    }
    TUG_TRY(base, atom());
    if (peek() != '^') return base;
    ++at_;
    TUG_TRY(exponent, factor());
    return power(base, exponent);
  }

  Result<Fraction> atom() {
    if (peek() != '(') return number();
    ++at_;
    TUG_TRY(value, expression());
    if (peek() != ')') return expected("\")\"");
    ++at_;
    return value;
  }

  bool digit(std::size_t at) const noexcept {
    return at < text_.size() && text_[at] >= '0' && text_[at] <= '9';
  }

  // 1,000 but not 1,00.
  bool thousands(std::size_t comma) const noexcept {
    return text_[comma] == ',' && digit(comma + 1) && digit(comma + 2) && digit(comma + 3) &&
           !digit(comma + 4);
  }

  Result<Fraction> number() {
    peek();
    Fraction value;
    bool any = false;
    bool decimals = false;
    for (; at_ < text_.size(); ++at_) {
      if (digit(at_)) {
        any = true;
        TUG_TRY(shifted, product(value.above, 10));
        TUG_TRY(more, total(shifted, text_[at_] - '0'));
        value.above = more;
        if (!decimals) continue;
        TUG_TRY(below, product(value.below, 10));
        value.below = below;
      } else if (text_[at_] == '.' && !decimals) {
        decimals = true;
      } else if (any && !decimals && thousands(at_)) {
        continue;
      } else {
        break;
      }
    }
    if (!any) return expected("a number");
    return lowest(value.above, value.below);
  }

  char peek() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Failure expected(std::string_view what) {
    peek();
    const std::string found =
        at_ < text_.size() ? fmt::format("\"{}\"", text_[at_]) : std::string("the end");
    return fail(ErrorKind::invalid,
                fmt::format("at place {} I expected {}, not {}", at_ + 1, what, found));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::string digits(Wide value) {
  std::string out;
  for (Wide left = magnitude(value); left > 0 || out.empty(); left /= 10)
    out += static_cast<char>('0' + static_cast<int>(left % 10));
  if (value < 0) out += '-';
  std::ranges::reverse(out);
  return out;
}

// The decimals, if they end soon enough.
std::optional<std::string> decimals(Wide rest, Wide below) {
  std::string out;
  for (rest = magnitude(rest); rest != 0; rest %= below) {
    if (out.size() == kMostDecimals || __builtin_mul_overflow(rest, Wide{10}, &rest))
      return std::nullopt;
    out += static_cast<char>('0' + static_cast<int>(rest / below));
  }
  return out;
}

Sum shown(Fraction value) {
  if (value.below == 1) return {digits(value.above)};
  const Wide whole = value.above / value.below;
  const std::string sign = value.above < 0 && whole == 0 ? "-" : "";
  if (auto fraction = decimals(value.above % value.below, value.below))
    return {sign + digits(whole) + "." + *fraction};
  const auto near = static_cast<long double>(value.above) / static_cast<long double>(value.below);
  return {fmt::format("{:.12g}", static_cast<double>(near)), false};
}

}  // namespace

Result<Sum> evaluate(std::string_view expression) {
  if (expression.size() > kLongest)
    return fail(ErrorKind::invalid,
                fmt::format("the expression is longer than {} bytes", kLongest));
  TUG_TRY(value, Reader(expression).all());
  return shown(value);
}

bool looks_like_sum(std::string_view text) noexcept {
  constexpr std::string_view kOperators = "+-*/%^";
  bool number = false;
  bool sign = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = true;
    } else if (kOperators.contains(c)) {
      sign = true;
    } else if (c != ' ' && c != '\t' && c != '.' && c != ',' && c != '(' && c != ')') {
      return false;
    }
  }
  return number && sign;
}

}  // namespace tug
