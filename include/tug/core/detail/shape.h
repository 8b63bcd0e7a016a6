// What the codec knows of a type: constant tables with a few function pointers, one per type, and
// the functions of codec_*.cpp that walk them. Templates only fill the tables, so what a struct
// costs to compile is its table. Not for use outside codec.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tug/core/enum_names.h"
#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug {
struct ReadOptions;
struct ReadReport;
}  // namespace tug

namespace tug::detail {

enum class ShapeKind : std::uint8_t {
  boolean,
  integer,
  real,
  text,
  any,      // Json
  nothing,  // monostate
  enumeration,
  literal,
  maybe,       // optional, unique_ptr, shared_ptr
  list,        // vector
  row,         // array
  dictionary,  // map
  choice,      // variant
  object,      // a plain struct
  custom,      // JsonForm
};

// Each kind derives; `kind` says which. Values are passed as pointers to the C++ object.
struct Shape {
  ShapeKind kind;
};

struct IntegerShape : Shape {
  std::uint8_t bytes;
  bool is_signed;
};

struct RealShape : Shape {
  std::uint8_t bytes;
};

struct EnumShape : IntegerShape {
  std::span<const EnumEntry> entries;
};

struct LiteralShape : Shape {
  std::string_view text;
};

struct MaybeShape : Shape {
  const Shape* inner;
  const void* (*get)(const void*);  // null when empty
  void* (*fill)(void*);             // with a fresh value
  void (*clear)(void*);
};

struct ListShape : Shape {
  const Shape* item;
  std::size_t stride;
  std::size_t (*size)(const void*);
  const void* (*data)(const void*);
  void* (*renew)(void*, std::size_t);  // to so many fresh items; their address
};

struct RowShape : Shape {
  const Shape* item;
  std::size_t stride;
  std::size_t count;
};

struct DictionaryShape : Shape {
  using Visit = void (*)(void* state, std::string_view key, const void* value);
  const Shape* value;
  std::span<const EnumEntry> keys;  // empty: any string
  void (*clear)(void*);
  void* (*insert)(void*, std::string_view key);  // null: not one of the keys
  void (*each)(const void*, Visit visit, void* state);
};

struct ChoiceShape : Shape {
  std::span<const Shape* const> alternatives;
  std::size_t (*index)(const void*);
  const void* (*get)(const void*);
  void* (*emplace)(void*, std::size_t index);
};

struct FieldShape {
  std::string_view name;
  const Shape* shape;  // null: injected
  std::string_view description;
};

// What only a running program can know of a field: its default value, and its name as a kept value.
struct FieldFacts {
  Json name;
  bool required = false;
  std::optional<Json> fallback;
};

struct ObjectShape : Shape {
  std::string_view printed_type;  // a compiler's signature that names the struct
  std::string_view description;
  std::span<const FieldShape> fields;
  std::size_t size;
  std::size_t align;
  void (*locate)(void* object, void** fields);
  void (*start)(void* storage);  // T x;
  void (*make)(void* storage);   // T x{};
  void (*destroy)(void* object);
  const std::vector<FieldFacts>& (*facts)();  // made once
};

struct CustomShape : Shape {
  Json (*schema)();
  Json (*write)(const void*);
  Result<void> (*read)(const Json&, void*);
  Json (*blank)();  // what a default-constructed value is written as
};

std::vector<FieldFacts> find_facts(const ObjectShape& shape);
Json build_schema(const Shape& shape);
Json write_value(const Shape& shape, const void* value);
// Fills `value`, which is default-constructed; on failure it is half filled.
Result<void> read_value(const Shape& shape, const Json& json, void* value,
                        const ReadOptions& options, ReadReport* report);

}  // namespace tug::detail
