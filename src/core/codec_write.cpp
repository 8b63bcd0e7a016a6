#include <bit>
#include <charconv>
#include <new>
#include <string>
#include <vector>

#include "core/codec_walk.h"
#include "core/json_node.h"
#include "tug/core/codec.h"

namespace tug::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "load_bits and store_bits assume it");

Json write(const Shape& shape, const void* value, std::size_t depth);

// A float as the shortest decimal that reads back to it, not as the double it widens to.
Json write_float(float value) {
  char text[32];
  const auto printed = std::to_chars(text, text + sizeof text, value);
  double nearest = value;
  std::from_chars(text, printed.ptr, nearest);
  return nearest;
}

Json write_integer(const IntegerShape& shape, const void* value) {
  const std::uint64_t bits = load_bits(value, shape.bytes, shape.is_signed);
  return shape.is_signed ? Json(static_cast<std::int64_t>(bits)) : Json(bits);
}

Json write_enum(const EnumShape& shape, const void* value) {
  const auto number = static_cast<std::int64_t>(load_bits(value, shape.bytes, shape.is_signed));
  for (const EnumEntry& entry : shape.entries) {
    if (entry.value == number) return entry.name;
  }
  return write_integer(shape, value);
}

Json write_items(const Shape& item, const void* data, std::size_t stride, std::size_t count,
                 std::size_t depth) {
  Json items = Json::array();
  items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    items.push_back(write(item, step(data, stride, i), depth));
  }
  return items;
}

Json write_dictionary(const DictionaryShape& shape, const void* map, std::size_t depth) {
  struct State {
    const DictionaryShape& shape;
    std::size_t depth;
    Json members;
  };
  State state{shape, depth, Json::object()};
  shape.each(
      map,
      [](void* opaque, std::string_view key, const void* value) {
        State& into = *static_cast<State*>(opaque);
        into.members.set(key, write(*into.shape.value, value, into.depth));
      },
      &state);
  return state.members;
}

// Names are kept and known to differ, so members are placed without looking for one of that name.
Json write_object(const ObjectShape& shape, const void* object, std::size_t depth) {
  Json members = Json::object();
  if (shape.fields.empty()) return members;
  members.reserve(shape.fields.size());
  ListNode* list = JsonAccess::list_node(members);
  const std::vector<FieldFacts>& facts = shape.facts();
  const FieldAddresses addresses = fields_at(shape, object);
  for (std::size_t i = 0; i < shape.fields.size(); ++i) {
    const Shape* field = shape.fields[i].shape;
    if (!field) continue;
    if (field->kind == ShapeKind::maybe && !as<MaybeShape>(*field).get(addresses[i])) continue;
    new (list->members() + list->size)
        Json::Member{facts[i].name, write(*field, addresses[i], depth)};
    ++list->size;
  }
  if (list->slot_bits != 0) list->index_all();
  return members;
}

bool opens_a_level(ShapeKind kind) {
  return kind == ShapeKind::list || kind == ShapeKind::row || kind == ShapeKind::dictionary ||
         kind == ShapeKind::object;
}

Json write(const Shape& shape, const void* value, std::size_t depth) {
  if (depth == 0 && opens_a_level(shape.kind)) return nullptr;
  switch (shape.kind) {
    case ShapeKind::boolean:
      return *static_cast<const bool*>(value);
    case ShapeKind::integer:
      return write_integer(as<IntegerShape>(shape), value);
    case ShapeKind::real:
      if (as<RealShape>(shape).bytes == sizeof(double)) return *static_cast<const double*>(value);
      return write_float(*static_cast<const float*>(value));
    case ShapeKind::text:
      return *static_cast<const std::string*>(value);
    case ShapeKind::any:
      return *static_cast<const Json*>(value);
    case ShapeKind::nothing:
      return nullptr;
    case ShapeKind::enumeration:
      return write_enum(as<EnumShape>(shape), value);
    case ShapeKind::literal:
      return as<LiteralShape>(shape).text;
    case ShapeKind::maybe: {
      const auto& maybe = as<MaybeShape>(shape);
      const void* held = maybe.get(value);
      return held ? write(*maybe.inner, held, depth) : Json(nullptr);
    }
    case ShapeKind::list: {
      const auto& list = as<ListShape>(shape);
      return write_items(*list.item, list.data(value), list.stride, list.size(value), depth - 1);
    }
    case ShapeKind::row: {
      const auto& row = as<RowShape>(shape);
      return write_items(*row.item, value, row.stride, row.count, depth - 1);
    }
    case ShapeKind::dictionary:
      return write_dictionary(as<DictionaryShape>(shape), value, depth - 1);
    case ShapeKind::choice: {
      const auto& choice = as<ChoiceShape>(shape);
      return write(*choice.alternatives[choice.index(value)], choice.get(value), depth);
    }
    case ShapeKind::object:
      return write_object(as<ObjectShape>(shape), value, depth - 1);
    case ShapeKind::custom:
      return as<CustomShape>(shape).write(value);
  }
  return nullptr;
}

}  // namespace

Json write_value(const Shape& shape, const void* value) {
  return write(shape, value, kMaxJsonDepth);
}

}  // namespace tug::detail
