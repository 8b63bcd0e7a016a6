#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/codec_walk.h"
#include "tug/core/codec.h"

namespace tug::detail {
namespace {

// "... [with T = {anonymous}::Tree<int>]" is called "Tree".
std::string short_name(std::string_view printed) {
  if (printed.ends_with("]")) printed.remove_suffix(1);
  if (printed.ends_with(">")) {
    int depth = 0;
    do {
      if (printed.back() == '>') ++depth;
      if (printed.back() == '<') --depth;
      printed.remove_suffix(1);
    } while (depth > 0 && !printed.empty());
  }
  const std::string_view name = trailing_name(printed);
  return name.empty() ? "Struct" : std::string(name);
}

class SchemaBuilder {
 public:
  explicit SchemaBuilder(const Shape& root) : root_(root) { find_cycles(root); }

  Json build() {
    Json schema =
        root_.kind == ShapeKind::object ? object(as<ObjectShape>(root_)) : any_place(root_);
    Json definitions = Json::object();
    // Writing a definition may name further ones.
    for (std::size_t i = 0; i < defined_.size(); ++i) {
      definitions.set(defined_[i].second, object(*defined_[i].first));
    }
    if (!defined_.empty()) schema.set("$defs", std::move(definitions));
    return schema;
  }

 private:
  enum class Visit { open, closed };

  void find_cycles(const Shape& shape) {
    switch (shape.kind) {
      case ShapeKind::maybe:
        return find_cycles(*as<MaybeShape>(shape).inner);
      case ShapeKind::list:
        return find_cycles(*as<ListShape>(shape).item);
      case ShapeKind::row:
        return find_cycles(*as<RowShape>(shape).item);
      case ShapeKind::dictionary:
        return find_cycles(*as<DictionaryShape>(shape).value);
      case ShapeKind::choice:
        for (const Shape* alternative : as<ChoiceShape>(shape).alternatives) {
          find_cycles(*alternative);
        }
        return;
      case ShapeKind::object:
        return find_cycles_from(as<ObjectShape>(shape));
      default:
        return;
    }
  }

  void find_cycles_from(const ObjectShape& shape) {
    for (const auto& [seen, visit] : visits_) {
      if (seen != &shape) continue;
      if (visit == Visit::open && !is_recursive(shape)) recursive_.push_back(&shape);
      return;
    }
    const std::size_t place = visits_.size();
    visits_.emplace_back(&shape, Visit::open);
    for (const FieldShape& field : shape.fields) {
      if (field.shape) find_cycles(*field.shape);
    }
    visits_[place].second = Visit::closed;
  }

  bool is_recursive(const ObjectShape& shape) const {
    return std::find(recursive_.begin(), recursive_.end(), &shape) != recursive_.end();
  }

  Json reference(const ObjectShape& shape) {
    if (&shape == &root_) return Json::object({{"$ref", "#"}});
    for (const auto& [seen, name] : defined_) {
      if (seen == &shape) return Json::object({{"$ref", "#/$defs/" + name}});
    }
    const std::string name = short_name(shape.printed_type);
    std::string unique = name;
    const auto taken = [&] {
      return std::any_of(defined_.begin(), defined_.end(),
                         [&](const auto& defined) { return defined.second == unique; });
    };
    for (int next = 2; taken(); ++next) unique = name + std::to_string(next);
    defined_.emplace_back(&shape, unique);
    return Json::object({{"$ref", "#/$defs/" + unique}});
  }

  Json object(const ObjectShape& shape) {
    const std::vector<FieldFacts>& facts = shape.facts();
    Json properties = Json::object();
    Json required = Json::array();
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
      const FieldShape& field = shape.fields[i];
      if (!field.shape) continue;
      Json property = field_place(*field.shape);
      if (!field.description.empty()) property.set("description", field.description);
      if (facts[i].fallback && !facts[i].fallback->is_null()) {
        property.set("default", *facts[i].fallback);
      }
      properties.set(field.name, std::move(property));
      if (facts[i].required) required.push_back(field.name);
    }
    Json schema = Json::object({{"type", "object"}});
    if (!shape.description.empty()) schema.set("description", shape.description);
    schema.set("properties", std::move(properties));
    if (!required.empty()) schema.set("required", std::move(required));
    schema.set("additionalProperties", false);
    return schema;
  }

  // An empty optional field is absent; anywhere else it is null.
  Json field_place(const Shape& shape) {
    return shape.kind == ShapeKind::maybe ? any_place(*as<MaybeShape>(shape).inner)
                                          : any_place(shape);
  }

  Json any_place(const Shape& shape) {
    switch (shape.kind) {
      case ShapeKind::boolean:
        return Json::object({{"type", "boolean"}});
      case ShapeKind::integer:
        return integer(as<IntegerShape>(shape));
      case ShapeKind::real:
        return Json::object({{"type", "number"}});
      case ShapeKind::text:
        return Json::object({{"type", "string"}});
      case ShapeKind::any:
        return Json::object();
      case ShapeKind::nothing:
        return Json::object({{"type", "null"}});
      case ShapeKind::enumeration:
        return Json::object({{"type", "string"}, {"enum", names(as<EnumShape>(shape).entries)}});
      case ShapeKind::literal:
        return Json::object({{"type", "string"}, {"const", as<LiteralShape>(shape).text}});
      case ShapeKind::maybe:
        return Json::object({{"anyOf", Json::array({any_place(*as<MaybeShape>(shape).inner),
                                                    Json::object({{"type", "null"}})})}});
      case ShapeKind::list:
        return Json::object({{"type", "array"}, {"items", any_place(*as<ListShape>(shape).item)}});
      case ShapeKind::row: {
        const auto& row = as<RowShape>(shape);
        return Json::object({{"type", "array"},
                             {"items", any_place(*row.item)},
                             {"minItems", row.count},
                             {"maxItems", row.count}});
      }
      case ShapeKind::dictionary:
        return dictionary(as<DictionaryShape>(shape));
      case ShapeKind::choice: {
        Json alternatives = Json::array();
        for (const Shape* alternative : as<ChoiceShape>(shape).alternatives) {
          alternatives.push_back(any_place(*alternative));
        }
        return Json::object({{"anyOf", std::move(alternatives)}});
      }
      case ShapeKind::object: {
        const auto& nested = as<ObjectShape>(shape);
        return is_recursive(nested) ? reference(nested) : object(nested);
      }
      case ShapeKind::custom:
        return as<CustomShape>(shape).schema();
    }
    return Json::object();
  }

  // A range is spelled out where a model could plausibly miss it; the reader checks all of them.
  static Json integer(const IntegerShape& shape) {
    Json schema = Json::object({{"type", "integer"}});
    const int bits = 8 * shape.bytes;
    if (!shape.is_signed) schema.set("minimum", 0);
    if (bits > 16) return schema;
    const std::int64_t highest = (std::int64_t{1} << (shape.is_signed ? bits - 1 : bits)) - 1;
    if (shape.is_signed) schema.set("minimum", -highest - 1);
    schema.set("maximum", highest);
    return schema;
  }

  Json dictionary(const DictionaryShape& shape) {
    Json schema = Json::object({{"type", "object"}});
    if (!shape.keys.empty()) {
      schema.set("propertyNames", Json::object({{"enum", names(shape.keys)}}));
    }
    schema.set("additionalProperties", any_place(*shape.value));
    return schema;
  }

  static Json names(std::span<const EnumEntry> entries) {
    Json list = Json::array();
    for (const EnumEntry& entry : entries) list.push_back(entry.name);
    return list;
  }

  const Shape& root_;
  std::vector<std::pair<const ObjectShape*, Visit>> visits_;
  std::vector<const ObjectShape*> recursive_;
  std::vector<std::pair<const ObjectShape*, std::string>> defined_;
};

}  // namespace

Json build_schema(const Shape& shape) { return SchemaBuilder(shape).build(); }

}  // namespace tug::detail
