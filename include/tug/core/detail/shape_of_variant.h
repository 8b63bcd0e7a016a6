// Variants: one alternative must be recognisable from the JSON alone.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "tug/core/detail/shape_of.h"

namespace tug::detail {

template <class F>
struct LiteralText {
  static constexpr std::string_view value = {};
};
template <Text text>
struct LiteralText<Literal<text>> {
  static constexpr std::string_view value = text.view();
};
consteval std::string_view first_literal(FieldTypes<>) { return {}; }
template <class F, class... Rest>
consteval std::string_view first_literal(FieldTypes<F, Rest...>) {
  return LiteralText<F>::value;
}

// The tag of a struct is its first field, when that is a Literal.
struct Alternative {
  unsigned mask = 0;
  std::string_view tag_field;
  std::string_view tag;
};
template <class T>
consteval Alternative alternative_of() {
  Alternative alternative{ShapeOf<T>::mask, {}, {}};
  if constexpr (requires { typename ShapeOf<T>::Table; }) {  // a struct
    alternative.tag = first_literal(fields_of<T>{});
    if (!alternative.tag.empty()) alternative.tag_field = field_names<T>[0];
  }
  return alternative;
}
template <class... T>
consteval bool distinguishable() {
  const Alternative all[] = {alternative_of<T>()...};
  for (std::size_t i = 0; i < sizeof...(T); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool tagged = !all[i].tag_field.empty() && all[i].tag_field == all[j].tag_field &&
                          all[i].tag != all[j].tag;
      if ((all[i].mask & all[j].mask) != 0 && !tagged) return false;
    }
  }
  return true;
}

template <class... T>
struct ShapeOf<std::variant<T...>> {
  static_assert((fits_inside<T>() && ...));
  static_assert(distinguishable<T...>(),
                "tug: the alternatives of a std::variant must differ in their JSON type, or be "
                "structs whose first field is a tug::Literal of the same name and another text");
  using Choice = std::variant<T...>;
  static constexpr unsigned mask = (0u | ... | ShapeOf<T>::mask);
  static constexpr const Shape* alternatives[] = {&ShapeOf<T>::value...};

  template <std::size_t... I>
  static void* emplace(Choice& choice, std::size_t index, std::index_sequence<I...>) {
    void* address = nullptr;
    ((index == I ? void(address = std::addressof(choice.template emplace<I>())) : void()), ...);
    return address;
  }
  static constexpr ChoiceShape value{
      {ShapeKind::choice},
      alternatives,
      [](const void* choice) -> std::size_t { return static_cast<const Choice*>(choice)->index(); },
      [](const void* choice) -> const void* {
        return std::visit([](const auto& held) -> const void* { return std::addressof(held); },
                          *static_cast<const Choice*>(choice));
      },
      [](void* choice, std::size_t index) -> void* {
        return emplace(*static_cast<Choice*>(choice), index, std::index_sequence_for<T...>{});
      }};
};

}  // namespace tug::detail
