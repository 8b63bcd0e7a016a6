// Names of enumerators, as they are spelled: `enum_name(Color::red)` is "red".
//
// Seen are enumerators from -8 to 127 of any enum, scoped or not; of two with one value the first.
// One trailing underscore is dropped, for names that C++ keeps to itself (`default_`). Everything
// here is a constant; nothing allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tug {

struct EnumEntry {
  std::string_view name;
  std::int64_t value = 0;
};

namespace detail {

constexpr bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The identifier that `text` ends with, as on the wire; empty when it ends with a number.
constexpr std::string_view trailing_name(std::string_view text) noexcept {
  std::size_t start = text.size();
  while (start > 0 && is_name_char(text[start - 1])) --start;
  text.remove_prefix(start);
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') return {};
  if (text.size() > 1 && text.back() == '_') text.remove_suffix(1);
  return text;
}

// A type of our own: g++ explains every typedef of a signature at the end of the printed one.
struct Printed {
  const char* text;
};

#ifdef __clang__
#pragma clang diagnostic push
#if __has_warning("-Wenum-constexpr-conversion")
// An enum without a fixed type has a range of its own; up to clang 19 asking beyond it is a warning
// that stands for an error, later it is a failed constraint.
#pragma clang diagnostic ignored "-Wenum-constexpr-conversion"
#endif
#endif
// All enumerators in one instantiation; probing one by one is a hundred times as many.
template <class E, E... enumerators>
constexpr Printed print_enumerators() {
  return {__PRETTY_FUNCTION__};
}

template <class E, E value>
struct EnumProbe;
template <class E, int value>
concept in_enum_range = requires { typename EnumProbe<E, static_cast<E>(value)>; };

template <class E, int lowest, int... offsets>
constexpr std::string_view printed_enumerators(std::integer_sequence<int, offsets...>) {
  return print_enumerators<E, static_cast<E>(lowest + offsets)...>().text;
}

template <class E>
consteval int lowest_enumerator() {
  if constexpr (!std::is_signed_v<std::underlying_type_t<E>>) {
    return 0;
  } else {
    return in_enum_range<E, -8> ? -8 : in_enum_range<E, -4> ? -4 : in_enum_range<E, -2> ? -2 : 0;
  }
}
template <class E>
consteval int highest_enumerator() {
  if constexpr (std::is_same_v<std::underlying_type_t<E>, bool>) {
    return 1;
  } else {
    int highest = 127;
    const bool fits[] = {in_enum_range<E, 127>, in_enum_range<E, 63>, in_enum_range<E, 31>,
                         in_enum_range<E, 15>,  in_enum_range<E, 7>,  in_enum_range<E, 3>};
    for (bool fit : fits) {
      if (fit) return highest;
      highest /= 2;
    }
    return highest;
  }
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

// Reads "... = {Color::red, (Color)1, Color::blue}]" (g++; <...> with clang) and calls
// found(name, position) for what has a name.
template <class Found>
constexpr void split_enumerators(std::string_view printed, Found found) {
  const std::size_t braces = printed.rfind(" = {");
  const std::size_t angles = printed.rfind(" = <");
  std::size_t at = braces == printed.npos   ? angles
                   : angles == printed.npos ? braces
                   : braces > angles        ? braces
                                            : angles;
  at += 4;
  std::size_t start = at;
  int depth = 0;
  int position = 0;
  for (; at < printed.size() && depth >= 0; ++at) {
    const char c = printed[at];
    if (c == '(' || c == '<' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == '}') --depth;
    if (depth < 0 || (depth == 0 && c == ',')) {
      const std::string_view name = trailing_name(printed.substr(start, at - start));
      if (!name.empty()) found(name, position);
      ++position;
      start = at + 1;
    }
  }
}

template <class E>
struct EnumTable {
  static constexpr int lowest = lowest_enumerator<E>();
  static constexpr std::string_view printed = printed_enumerators<E, lowest>(
      std::make_integer_sequence<int, highest_enumerator<E>() - lowest + 1>{});
  static constexpr std::size_t count = [] {
    std::size_t names = 0;
    split_enumerators(printed, [&](std::string_view, int) { ++names; });
    return names;
  }();
  static_assert(count > 0, "tug: this enum has no enumerator between -8 and 127");
  static constexpr std::array<EnumEntry, count> entries = [] {
    std::array<EnumEntry, count> filled{};
    std::size_t next = 0;
    split_enumerators(printed, [&](std::string_view name, int position) {
      filled[next++] = {name, lowest + position};
    });
    return filled;
  }();
};

}  // namespace detail

// In the order of their values.
template <class E>
  requires std::is_enum_v<E>
constexpr std::span<const EnumEntry> enum_entries() noexcept {
  return detail::EnumTable<E>::entries;
}

// Empty for a value without a name.
template <class E>
  requires std::is_enum_v<E>
constexpr std::string_view enum_name(E value) noexcept {
  for (const EnumEntry& entry : enum_entries<E>()) {
    if (entry.value == static_cast<std::int64_t>(value)) return entry.name;
  }
  return {};
}

template <class E>
  requires std::is_enum_v<E>
constexpr std::optional<E> enum_value(std::string_view name) noexcept {
  for (const EnumEntry& entry : enum_entries<E>()) {
    if (entry.name == name) return static_cast<E>(entry.value);
  }
  return std::nullopt;
}

}  // namespace tug
