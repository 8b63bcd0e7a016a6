// A plain struct as JSON: its schema, a reader, a writer. No macro, no registration:
//
//   struct Where { std::string city; std::optional<int> days; int limit = 10; };
//   Json schema = schema_of<Where>();                  // required: ["city"]; limit: default 10
//   Result<Where> where = read_json<Where>(json);      // "$.days: expected integer, got string
//   \"x\"" Json back = write_json(*where);
//
// This header is heavy: include it in the .cpp that registers a tool or codes a record, not in
// headers; what a header needs to declare such structs is in reflect.h.
//
// Types: bool, integers, float, double, std::string, enums (by name, enum_names.h), std::optional,
// std::unique_ptr and std::shared_ptr (a value or nothing; recursion goes through them or through
// a vector), std::vector, std::array, std::map with string or enum keys, std::variant whose
// alternatives differ in JSON type or carry a Literal tag, Json (anything), plain structs of up to
// 24 fields, and what specialises JsonForm. Anything else does not compile, and says why.
//
// A field is named as it is spelled, less one trailing underscore (`default_`).
//
// Which fields are required? Those for which the struct gives no value. It gives one by
//   - a type that can be empty: optional, unique_ptr, shared_ptr;
//   - an initialiser of a number, flag or enum, whatever its value (`bool deep = false;`);
//   - an initialiser of another type that differs from the type's own default (`unit = "C"`).
// An optional list or string that is empty by default is a std::optional. Struct defaults are shown
// as `default` and are what an absent field gets.
//
// All functions are pure and may be called from any thread. The facts about a struct's defaults
// are found on first use and then kept; a struct's initialisers should be constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tug/core/detail/shape_of_struct.h"
#include "tug/core/detail/shape_of_variant.h"
#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/core/reflect.h"

namespace tug {

enum class UnknownFields : std::uint8_t { error, ignore };
enum class MissingFields : std::uint8_t { error, keep_default };

struct ReadOptions {
  UnknownFields unknown = UnknownFields::error;
  MissingFields missing = MissingFields::error;  // keep_default: configuration, older records
};

// What was dropped on the way, as paths ("$.account").
struct ReadReport {
  std::vector<std::string> forged;   // values for injected fields
  std::vector<std::string> ignored;  // unknown fields, where they are ignored
};

// JSON Schema 2020-12; the same bytes in every run and build. Objects are closed
// (additionalProperties: false). The one thing the reader takes and the schema does not ask for is
// null for an optional field. Structs that contain themselves are in $defs, the root is "#".
template <class T>
Json schema_of() {
  return detail::build_schema(detail::ShapeOf<T>::value);
}

// Fails with `invalid`; the message names place, expectation and what was found, for up to eight
// faults, the first one first. Integers are checked against their range; 1.0 is an integer, "1" is
// not. Nesting beyond kMaxJsonDepth is refused.
template <class T>
Result<T> read_json(const Json& json, ReadOptions options = {}, ReadReport* report = nullptr) {
  T value{};
  Result<void> read =
      detail::read_value(detail::ShapeOf<T>::value, json, std::addressof(value), options, report);
  if (!read) return Failure(std::move(read).error());
  return value;
}

// Fields in their order, without injected ones and without empty optionals. Two things have no
// form and become null: NaN and infinities, and whatever lies deeper than kMaxJsonDepth (a cycle of
// shared_ptr). An enum value without a name is written as its number.
template <class T>
Json write_json(const T& value) {
  return detail::write_value(detail::ShapeOf<T>::value, std::addressof(value));
}

// Calls f(std::string_view name, Injected<U>& field) for every Injected field of the struct and of
// the structs it holds by value.
template <class T, class F>
void for_each_injected(T& object, F&& f) {
  const auto visit = [&f]<class Field>([[maybe_unused]] std::string_view name, Field& field) {
    if constexpr (detail::is_injected<Field>) {
      f(name, field);
    } else if constexpr (detail::holds_injected<typename detail::FieldTraits<Field>::type>()) {
      for_each_injected(static_cast<typename detail::FieldTraits<Field>::type&>(field), f);
    }
  };
  detail::with_fields(object, [&visit](auto&... field) {
    [[maybe_unused]] std::size_t index = 0;
    (visit(detail::field_names<T>[index++], field), ...);
  });
}

}  // namespace tug
