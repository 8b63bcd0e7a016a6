// Plain structs; and for every type that has no table, a sentence that says so.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tug/core/detail/shape_of.h"

namespace tug::detail {

template <class T>
constexpr Printed print_type() {
  return {__PRETTY_FUNCTION__};
}

template <class F>
constexpr FieldShape field_shape(std::string_view name) {
  if constexpr (is_injected<F>) {
    return {name, nullptr, {}};
  } else {
    return {name, &ShapeOf<typename FieldTraits<F>::type>::value, FieldTraits<F>::description};
  }
}

template <class T, class Fields>
struct ObjectTable;
template <class T, class... F>
struct ObjectTable<T, FieldTypes<F...>> {
  template <std::size_t... I>
  static constexpr std::array<FieldShape, sizeof...(F)> make_fields(std::index_sequence<I...>) {
    return {field_shape<F>(field_names<T>[I])...};
  }
  static constexpr auto fields = make_fields(std::index_sequence_for<F...>{});

  static void locate(void* object, void** addresses) {
    with_fields(*static_cast<T*>(object), [addresses](auto&... field) mutable {
      ((*addresses++ = FieldTraits<F>::address(field)), ...);
    });
  }
  static constexpr std::string_view description() {
    if constexpr (requires { std::string_view(T::description); }) {
      return T::description;
    } else {
      return {};
    }
  }
};

template <class T>
struct ObjectShapeOf {
  using Table = ObjectTable<T, fields_of<T>>;
  static const std::vector<FieldFacts>& facts();
  static constexpr ObjectShape value{{ShapeKind::object},
                                     print_type<T>().text,
                                     Table::description(),
                                     Table::fields,
                                     sizeof(T),
                                     alignof(T),
                                     &Table::locate,
                                     [](void* storage) { ::new (storage) T; },
                                     [](void* storage) { ::new (storage) T{}; },
                                     [](void* object) { static_cast<T*>(object)->~T(); },
                                     &facts};
};
template <class T>
const std::vector<FieldFacts>& ObjectShapeOf<T>::facts() {
  static const std::vector<FieldFacts> found = find_facts(value);
  return found;
}

template <class T>
concept unordered_container = requires { typename T::hasher; };
template <class T>
concept duration_like = requires {
  typename T::rep;
  typename T::period;
};
template <class T>
concept pair_like = requires {
  typename T::first_type;
  typename T::second_type;
};
template <class T>
concept container_like = requires {
  typename T::value_type;
  typename T::iterator;
};

template <class T>
consteval bool is_supported() {
  static_assert(!std::is_reference_v<T>, "tug: a reference is not supported as a field");
  static_assert(!std::is_const_v<T>, "tug: a const field cannot be read into; drop the const");
  static_assert(!std::is_array_v<T>, "tug: a C array is not supported; use std::array");
  static_assert(!std::is_pointer_v<T>,
                "tug: a raw pointer is not supported; use std::unique_ptr, or tug::Injected for "
                "what the program provides");
  static_assert(!std::is_same_v<T, std::string_view>,
                "tug: std::string_view does not own its text; use an owning type (std::string)");
  static_assert(!is_character<T>,
                "tug: a character is not supported; use std::string, or std::int8_t for a number");
  static_assert(!std::is_same_v<T, long double> && !(std::integral<T> && sizeof(T) > 8),
                "tug: long double and 128-bit integers have no exact JSON form; use double or "
                "std::int64_t");
  static_assert(!unordered_container<T>,
                "tug: an unordered container is not supported: its order would not be stable; use "
                "std::map or std::vector");
  static_assert(!duration_like<T>,
                "tug: a std::chrono duration is not supported; use an integer with its unit in the "
                "name (timeout_ms)");
  static_assert(!pair_like<T>, "tug: std::pair is not supported; use a struct with named fields");
  static_assert(!container_like<T> || unordered_container<T> || std::is_same_v<T, std::string_view>,
                "tug: this container is not supported; use std::vector, std::array or std::map");
  static_assert(!is_described<T>, "tug: tug::Described describes a field; use it there only");
  static_assert(!is_injected<T>, "tug: tug::Injected is for the fields of a struct");
  static_assert(!std::is_union_v<T>, "tug: a union is not supported; use std::variant");
  return std::is_class_v<T> && !std::is_const_v<T> && !unordered_container<T> &&
         !duration_like<T> && !pair_like<T> && !container_like<T> && !is_described<T> &&
         !is_injected<T>;
}

template <class T>
struct ShapeOf : std::conditional_t<is_supported<T>(), ObjectShapeOf<T>, ShapeOf<Json>> {
  static constexpr unsigned mask = takes_object;
};

}  // namespace tug::detail
