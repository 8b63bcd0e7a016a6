// From a C++ type to its table: scalars, what holds other values, types with a form of their own.
// Variants and structs have a file each.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tug/core/detail/fields.h"
#include "tug/core/detail/shape.h"
#include "tug/core/reflect.h"

namespace tug::detail {

// Which types of JSON value a type takes; alternatives of a variant are told apart by it.
enum JsonMask : unsigned {
  takes_boolean = 1,
  takes_number = 2,
  takes_string = 4,
  takes_array = 8,
  takes_object = 16,
  takes_null = 32,
  takes_all = 63,
};

template <class T>
concept has_json_form = requires { sizeof(JsonForm<T>); };

template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

template <class T>
concept plain_integer = std::integral<T> && !std::is_same_v<T, bool> && !is_character<T> &&
                        !std::is_const_v<T> && sizeof(T) <= 8;

template <class T>
concept map_like = requires {
  typename T::key_type;
  typename T::mapped_type;
  typename T::key_compare;
};

template <class T>
inline constexpr bool is_injected = false;
template <class T>
inline constexpr bool is_injected<Injected<T>> = true;

template <class T>
inline constexpr bool is_described = false;
template <class T, Text description>
inline constexpr bool is_described<Described<T, description>> = true;

// --- what a field says beside its type

template <class F>
struct FieldTraits {
  using type = F;
  static constexpr std::string_view description = {};
  static void* address(F& field) noexcept { return std::addressof(field); }
};
template <class T, Text text>
struct FieldTraits<Described<T, text>> {
  using type = T;
  static constexpr std::string_view description = text.view();
  static void* address(Described<T, text>& field) noexcept {
    return std::addressof(static_cast<T&>(field));
  }
};

template <class T>
consteval bool holds_injected();
template <class... F>
consteval bool any_injected(FieldTypes<F...>) {
  return (false || ... || holds_injected<typename FieldTraits<F>::type>());
}
// In itself or in a struct that it holds by value.
template <class T>
consteval bool holds_injected() {
  if constexpr (is_injected<T>) {
    return true;
  } else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T> && !has_json_form<T> &&
                       !requires { typename T::value_type; }) {
    return any_injected(fields_of<T>{});
  } else {
    return false;
  }
}

// --- one specialisation per kind: `mask` and `value`

template <class T>
struct ShapeOf;

template <class T>
consteval bool fits_inside() {
  static_assert(!is_described<T>, "tug: tug::Described describes a field; use it there only");
  static_assert(!holds_injected<T>(),
                "tug: an Injected field must be in the struct itself or in one that it holds by "
                "value, not inside a container or an optional");
  return true;
}

template <class T>
  requires std::is_same_v<T, bool>
struct ShapeOf<T> {
  static constexpr unsigned mask = takes_boolean;
  static constexpr Shape value{ShapeKind::boolean};
};

template <plain_integer T>
struct ShapeOf<T> {
  static constexpr unsigned mask = takes_number;
  static constexpr IntegerShape value{{ShapeKind::integer}, sizeof(T), std::is_signed_v<T>};
};

template <class T>
  requires(std::is_same_v<T, float> || std::is_same_v<T, double>)
struct ShapeOf<T> {
  static constexpr unsigned mask = takes_number;
  static constexpr RealShape value{{ShapeKind::real}, sizeof(T)};
};

template <>
struct ShapeOf<std::string> {
  static constexpr unsigned mask = takes_string;
  static constexpr Shape value{ShapeKind::text};
};

template <>
struct ShapeOf<Json> {
  static constexpr unsigned mask = takes_all;
  static constexpr Shape value{ShapeKind::any};
};

template <>
struct ShapeOf<std::monostate> {
  static constexpr unsigned mask = takes_null;
  static constexpr Shape value{ShapeKind::nothing};
};

template <Text text>
struct ShapeOf<Literal<text>> {
  static constexpr unsigned mask = takes_string;
  static constexpr LiteralShape value{{ShapeKind::literal}, text.view()};
};

template <class T>
  requires(std::is_enum_v<T> && !has_json_form<T> && !std::is_const_v<T>)
struct ShapeOf<T> {
  static constexpr unsigned mask = takes_string;
  static constexpr EnumShape value{
      {{ShapeKind::enumeration}, sizeof(T), std::is_signed_v<std::underlying_type_t<T>>},
      EnumTable<T>::entries};
};

template <class T>
struct ShapeOf<std::optional<T>> {
  static_assert(fits_inside<T>());
  using Maybe = std::optional<T>;
  static constexpr unsigned mask = ShapeOf<T>::mask | takes_null;
  static constexpr MaybeShape value{
      {ShapeKind::maybe},
      &ShapeOf<T>::value,
      [](const void* maybe) -> const void* {
        const Maybe& held = *static_cast<const Maybe*>(maybe);
        return held ? std::addressof(*held) : nullptr;
      },
      [](void* maybe) -> void* { return std::addressof(static_cast<Maybe*>(maybe)->emplace()); },
      [](void* maybe) { static_cast<Maybe*>(maybe)->reset(); }};
};

// Pointers own a value or nothing; unlike std::optional they may point to the type they are in.
template <class Pointer, class T>
struct PointerShape {
  using Fresh = std::remove_const_t<T>;
  static_assert(fits_inside<Fresh>());
  static constexpr MaybeShape value{
      {ShapeKind::maybe},
      &ShapeOf<Fresh>::value,
      [](const void* maybe) -> const void* { return static_cast<const Pointer*>(maybe)->get(); },
      [](void* maybe) -> void* {
        auto fresh = std::make_unique<Fresh>();
        Fresh* address = fresh.get();
        *static_cast<Pointer*>(maybe) = std::move(fresh);
        return address;
      },
      [](void* maybe) { static_cast<Pointer*>(maybe)->reset(); }};
};
template <class T>
struct ShapeOf<std::unique_ptr<T>> : PointerShape<std::unique_ptr<T>, T> {
  static_assert(!std::is_array_v<T>, "tug: std::unique_ptr<T[]> is not supported; use std::vector");
  static constexpr unsigned mask = ShapeOf<std::remove_const_t<T>>::mask | takes_null;
};
template <class T>
struct ShapeOf<std::shared_ptr<T>> : PointerShape<std::shared_ptr<T>, T> {
  static constexpr unsigned mask = ShapeOf<std::remove_const_t<T>>::mask | takes_null;
};

template <class T>
struct ShapeOf<std::vector<T>> {
  static_assert(fits_inside<T>());
  static_assert(!std::is_same_v<T, bool>,
                "tug: std::vector<bool> has no addressable items; use a vector of an enum or of "
                "std::uint8_t");
  using List = std::vector<T>;
  static constexpr unsigned mask = takes_array;
  static constexpr ListShape value{
      {ShapeKind::list},
      &ShapeOf<T>::value,
      sizeof(T),
      [](const void* list) -> std::size_t { return static_cast<const List*>(list)->size(); },
      [](const void* list) -> const void* { return static_cast<const List*>(list)->data(); },
      [](void* list, std::size_t count) -> void* {
        *static_cast<List*>(list) = List(count);
        return static_cast<List*>(list)->data();
      }};
};

template <class T, std::size_t N>
struct ShapeOf<std::array<T, N>> {
  static_assert(fits_inside<T>());
  static constexpr unsigned mask = takes_array;
  static constexpr RowShape value{{ShapeKind::row}, &ShapeOf<T>::value, sizeof(T), N};
};

template <map_like T>
struct ShapeOf<T> {
  using Key = typename T::key_type;
  using Value = typename T::mapped_type;
  static constexpr bool by_enum = std::is_enum_v<Key>;
  static_assert(by_enum || std::is_same_v<Key, std::string>,
                "tug: the keys of a map must be std::string or an enum: JSON has no others");
  static_assert(fits_inside<Value>());

  static consteval std::span<const EnumEntry> keys() {
    if constexpr (by_enum) {
      return EnumTable<Key>::entries;
    } else {
      return {};
    }
  }
  static void* insert(void* map, std::string_view key) {
    if constexpr (by_enum) {
      const std::optional<Key> known = enum_value<Key>(key);
      return known ? std::addressof((*static_cast<T*>(map))[*known]) : nullptr;
    } else {
      return std::addressof((*static_cast<T*>(map))[std::string(key)]);
    }
  }
  static void each(const void* map, DictionaryShape::Visit visit, void* state) {
    for (const auto& [key, held] : *static_cast<const T*>(map)) {
      if constexpr (by_enum) {
        visit(state, enum_name(key), std::addressof(held));
      } else {
        visit(state, key, std::addressof(held));
      }
    }
  }
  static constexpr unsigned mask = takes_object;
  static constexpr DictionaryShape value{{ShapeKind::dictionary},
                                         &ShapeOf<Value>::value,
                                         keys(),
                                         [](void* map) { static_cast<T*>(map)->clear(); },
                                         &insert,
                                         &each};
};

// --- types with a form of their own

template <has_json_form T>
struct ShapeOf<T> {
  static constexpr unsigned mask = takes_all;
  static constexpr CustomShape value{
      {ShapeKind::custom},
      [] { return JsonForm<T>::schema(); },
      [](const void* custom) { return JsonForm<T>::write(*static_cast<const T*>(custom)); },
      [](const Json& json, void* custom) -> Result<void> {
        Result<T> made = JsonForm<T>::read(json);
        if (!made) return Failure(std::move(made).error());
        *static_cast<T*>(custom) = *std::move(made);
        return {};
      },
      [] { return JsonForm<T>::write(T{}); }};
};

}  // namespace tug::detail
