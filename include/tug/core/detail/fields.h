// The fields of a plain struct: how many, which, and what they are called. Three facts of the
// language carry it: an aggregate takes as many initialisers as it has fields, structured bindings
// name them, and a compiler prints the address of a member with the member's name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tug/core/enum_names.h"

namespace tug::detail {

inline constexpr std::size_t kMaxFields = 24;

// Becomes any field; only ever named in unevaluated braces. It has a body because compilers may
// instantiate the constructors of a field, std::optional's for one, and then miss it.
struct AnyField {
  template <class T>
  operator T() const {
    __builtin_unreachable();
  }
};
// Becomes a base class of T and nothing else.
template <class T>
struct AnyBase {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};

template <std::size_t>
using AnyFieldAt = AnyField;

template <class T, std::size_t... before, std::size_t... after>
constexpr bool takes_braces_between(std::index_sequence<before...>, std::index_sequence<after...>) {
  return requires { T{AnyFieldAt<before>{}..., {}, AnyFieldAt<after>{}...}; };
}
template <class T, std::size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { T{AnyFieldAt<I>{}...}; };
}
// The largest number of initialisers in [low, high] that T takes. T is default-constructible, so
// every smaller number is taken too.
template <class T, std::size_t low, std::size_t high>
consteval std::size_t most_initialisers() {
  if constexpr (low == high) {
    return low;
  } else {
    constexpr std::size_t middle = (low + high + 1) / 2;
    if constexpr (takes_fields<T>(std::make_index_sequence<middle>{})) {
      return most_initialisers<T, middle, high>();
    } else {
      return most_initialisers<T, low, middle - 1>();
    }
  }
}

// An array takes one initialiser per element, unless it gets braces of its own.
template <class T, std::size_t count, std::size_t... I>
constexpr bool has_c_array(std::index_sequence<I...>) {
  return !(true && ... &&
           takes_braces_between<T>(std::make_index_sequence<I>{},
                                   std::make_index_sequence<count - 1 - I>{}));
}

template <class T>
consteval std::size_t count_fields() {
  if constexpr (!std::is_aggregate_v<T>) {
    static_assert(std::is_aggregate_v<T>,
                  "tug: not a plain struct: it has private members, virtual functions or "
                  "constructors of its own; specialise tug::JsonForm for it");
    return 0;
  } else if constexpr (!std::is_default_constructible_v<T>) {
    static_assert(std::is_default_constructible_v<T>,
                  "tug: T{} must compile: a field is a reference, or has no default constructor");
    return 0;
  } else if constexpr (requires { T{AnyBase<T>{}}; }) {
    static_assert(!std::is_aggregate_v<T>,
                  "tug: a base class is not supported; make it a field, or repeat its fields");
    return 0;
  } else {
    constexpr std::size_t count = most_initialisers<T, 0, kMaxFields + 1>();
    constexpr bool array = has_c_array<T, count>(std::make_index_sequence<count>{});
    static_assert(!array, "tug: a C array is not supported as a field; use std::array");
    static_assert(array || count <= kMaxFields, "tug: more than 24 fields; group them in structs");
    return array || count > kMaxFields ? 0 : count;
  }
}
template <class T>
inline constexpr std::size_t field_count = count_fields<T>();

// Calls it with a reference to every field.
template <class T, class Call>
constexpr auto with_fields(T& object, Call call) {
  constexpr std::size_t count = field_count<std::remove_const_t<T>>;
  if constexpr (count == 0) {
    return call();
  } else if constexpr (count == 1) {
    auto& [a] = object;
    return call(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = object;
    return call(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = object;
    return call(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = object;
    return call(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = object;
    return call(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = object;
    return call(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = object;
    return call(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = object;
    return call(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = object;
    return call(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = object;
    return call(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (count == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (count == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (count == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (count == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (count == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (count == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (count == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (count == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  }
}

// The types of the fields, in order. (A lambda here is more than g++ 12 can take.)
template <class... Fields>
struct FieldTypes {};
struct ListTypes {
  template <class... Fields>
  constexpr FieldTypes<Fields...> operator()(Fields&...) const {
    return {};
  }
};
template <class T>
using fields_of = decltype(with_fields(std::declval<T&>(), ListTypes{}));

template <class T>
struct Ghost {
  T value;
};
template <std::size_t count>
struct Addresses {
  const void* at[count ? count : 1];
};
struct TakeAddresses {
  template <class... Fields>
  constexpr Addresses<sizeof...(Fields)> operator()(Fields&... fields) const {
    return {{&fields...}};
  }
};

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
// Never defined: only the addresses of its parts are named, and only while compiling.
template <class T>
extern const Ghost<T> ghost;

template <class T>
consteval auto ghost_addresses() {
  return with_fields(ghost<T>.value, TakeAddresses{});
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

template <const void* member>
constexpr Printed print_member() {
  return {__PRETTY_FUNCTION__};
}
// "... (& ghost<Where>.Ghost<Where>::value.Where::city)]" or "... &ghost.value.city]".
constexpr std::string_view member_name(std::string_view printed) noexcept {
  while (!printed.empty() && !is_name_char(printed.back())) printed.remove_suffix(1);
  return trailing_name(printed);
}

template <class T, std::size_t... I>
consteval auto name_fields(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{
      member_name(print_member<ghost_addresses<T>().at[I]>().text)...};
}
template <class T>
inline constexpr auto field_names = name_fields<T>(std::make_index_sequence<field_count<T>>{});

}  // namespace tug::detail
