#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/codec_faults.h"
#include "core/codec_walk.h"
#include "tug/core/codec.h"

namespace tug::detail {
namespace {

class Reader {
 public:
  Reader(const ReadOptions& options, ReadReport* report) : options_(options), report_(report) {}

  void read(const Shape& shape, const Json& json, void* value, const Place& place) {
    switch (shape.kind) {
      case ShapeKind::boolean:
        if (!json.is_bool()) return mismatch(shape, json, place);
        *static_cast<bool*>(value) = json.as_bool();
        return;
      case ShapeKind::integer:
        return read_integer(as<IntegerShape>(shape), json, value, place);
      case ShapeKind::real:
        return read_real(as<RealShape>(shape), json, value, place);
      case ShapeKind::text:
        if (!json.is_string()) return mismatch(shape, json, place);
        *static_cast<std::string*>(value) = json.as_string();
        return;
      case ShapeKind::any:
        *static_cast<Json*>(value) = json;
        return;
      case ShapeKind::nothing:
        if (!json.is_null()) mismatch(shape, json, place);
        return;
      case ShapeKind::enumeration:
        return read_enum(as<EnumShape>(shape), json, value, place);
      case ShapeKind::literal:
        if (!json.is_string() || json.as_string() != as<LiteralShape>(shape).text) {
          mismatch(shape, json, place);
        }
        return;
      case ShapeKind::maybe: {
        const auto& maybe = as<MaybeShape>(shape);
        if (json.is_null()) return maybe.clear(value);
        return read(*maybe.inner, json, maybe.fill(value), place);
      }
      case ShapeKind::list: {
        const auto& list = as<ListShape>(shape);
        if (!json.is_array()) return mismatch(shape, json, place);
        if (too_deep(place)) return;
        return read_items(*list.item, json, list.renew(value, json.size()), list.stride, place);
      }
      case ShapeKind::row: {
        const auto& row = as<RowShape>(shape);
        if (!json.is_array() || json.size() != row.count) return mismatch(shape, json, place);
        if (too_deep(place)) return;
        return read_items(*row.item, json, value, row.stride, place);
      }
      case ShapeKind::dictionary:
        return read_dictionary(as<DictionaryShape>(shape), json, value, place);
      case ShapeKind::choice:
        return read_choice(as<ChoiceShape>(shape), json, value, place);
      case ShapeKind::object:
        return read_object(as<ObjectShape>(shape), json, value, place);
      case ShapeKind::custom: {
        const Result<void> read = as<CustomShape>(shape).read(json, value);
        if (!read) faults_.add_nested(place, read.error());
        return;
      }
    }
  }

  Result<void> finish() && { return std::move(faults_).result(); }

 private:
  void mismatch(const Shape& shape, const Json& json, const Place& place) {
    faults_.add(place, "expected " + expectation(shape) + ", got " + with_type(json));
  }

  bool too_deep(const Place& place) {
    if (place.depth < kMaxJsonDepth) return false;
    faults_.add(place, "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    return true;
  }

  void read_integer(const IntegerShape& shape, const Json& json, void* value, const Place& place) {
    const int bits = 8 * shape.bytes;
    if (shape.is_signed) {
      const std::int64_t highest = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
      const std::optional<std::int64_t> number = json.as_int();
      if (number && *number <= highest && *number >= -highest - 1) {
        return store_bits(value, shape.bytes, static_cast<std::uint64_t>(*number));
      }
      if (number || is_integral(json)) {
        return out_of_range(json, std::to_string(-highest - 1), std::to_string(highest), place);
      }
    } else {
      const std::uint64_t highest = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
      const std::optional<std::uint64_t> number = json.as_uint();
      if (number && *number <= highest) return store_bits(value, shape.bytes, *number);
      if (number || json.as_int() || is_integral(json)) {
        return out_of_range(json, "0", std::to_string(highest), place);
      }
    }
    mismatch(shape, json, place);
  }

  // Also what is too large for 64 bits.
  static bool is_integral(const Json& json) {
    if (!json.is_number()) return false;
    if (json.is_integer()) return true;
    const double number = json.as_double().value_or(0.5);
    return std::isfinite(number) && number == std::trunc(number);
  }

  void out_of_range(const Json& json, const std::string& lowest, const std::string& highest,
                    const Place& place) {
    faults_.add(place, print_json(json) + " is out of range, " + lowest + " to " + highest);
  }

  void read_real(const RealShape& shape, const Json& json, void* value, const Place& place) {
    const std::optional<double> number = json.as_double();
    if (!number) return mismatch(shape, json, place);
    const bool is_double = shape.bytes == sizeof(double);
    // Half a step above the largest float: from there on it would round to infinity.
    const double limit = is_double ? std::numeric_limits<double>::infinity() : 0x1.ffffffp127;
    if (std::fabs(*number) >= limit) {
      return faults_.add(place, with_type(json) + " is out of range for a " +
                                    (is_double ? "64" : "32") + "-bit number");
    }
    if (is_double) {
      *static_cast<double*>(value) = *number;
    } else {
      *static_cast<float*>(value) = static_cast<float>(*number);
    }
  }

  void read_enum(const EnumShape& shape, const Json& json, void* value, const Place& place) {
    if (!json.is_string()) return mismatch(shape, json, place);
    const std::string_view name = json.as_string();
    for (const EnumEntry& entry : shape.entries) {
      if (entry.name == name) {
        return store_bits(value, shape.bytes, static_cast<std::uint64_t>(entry.value));
      }
    }
    faults_.add(place, "expected " + expectation(shape) + ", got " + with_type(json) +
                           did_you_mean(name, names_of(shape.entries)));
  }

  void read_items(const Shape& item, const Json& json, void* data, std::size_t stride,
                  const Place& place) {
    std::size_t index = 0;
    for (const Json& each : json.items()) {
      read(item, each, step(data, stride, index), place.item(index));
      ++index;
    }
  }

  void read_dictionary(const DictionaryShape& shape, const Json& json, void* map,
                       const Place& place) {
    if (!json.is_object()) return mismatch(shape, json, place);
    if (too_deep(place)) return;
    shape.clear(map);
    for (const Json::Member& member : json.members()) {
      void* value = shape.insert(map, member.key());
      if (value) {
        read(*shape.value, member.value, value, place.member(member.key()));
      } else {
        unknown(member.key(), names_of(shape.keys), "key", place);
      }
    }
  }

  void read_choice(const ChoiceShape& shape, const Json& json, void* value, const Place& place) {
    std::vector<std::string_view> tags;
    std::string_view tag_field;
    for (std::size_t i = 0; i < shape.alternatives.size(); ++i) {
      const Shape& alternative = *shape.alternatives[i];
      if (!takes(alternative, json)) continue;
      if (const LiteralShape* tag = tag_of(alternative)) {
        tag_field = as<ObjectShape>(alternative).fields[0].name;
        const Json& given = json[tag_field];
        if (!given.is_string() || given.as_string() != tag->text) {
          tags.push_back(tag->text);
          continue;
        }
      }
      return read(alternative, json, shape.emplace(value, i), place);
    }
    if (tags.empty()) return mismatch(shape, json, place);
    const Json* given = json.find(tag_field);
    const std::string expected = "expected " + one_of(tags);
    if (!given) return faults_.add(place.member(tag_field), expected + ", got nothing");
    faults_.add(place.member(tag_field),
                expected + ", got " + with_type(*given) + did_you_mean(given->as_string(), tags));
  }

  static const LiteralShape* tag_of(const Shape& shape) {
    if (shape.kind != ShapeKind::object) return nullptr;
    const auto& fields = as<ObjectShape>(shape).fields;
    if (fields.empty() || !fields[0].shape || fields[0].shape->kind != ShapeKind::literal) {
      return nullptr;
    }
    return &as<LiteralShape>(*fields[0].shape);
  }

  static bool takes(const Shape& shape, const Json& json) {
    switch (shape.kind) {
      case ShapeKind::boolean:
        return json.is_bool();
      case ShapeKind::integer:
      case ShapeKind::real:
        return json.is_number();
      case ShapeKind::text:
      case ShapeKind::enumeration:
      case ShapeKind::literal:
        return json.is_string();
      case ShapeKind::nothing:
        return json.is_null();
      case ShapeKind::maybe:
        return json.is_null() || takes(*as<MaybeShape>(shape).inner, json);
      case ShapeKind::list:
      case ShapeKind::row:
        return json.is_array();
      case ShapeKind::dictionary:
      case ShapeKind::object:
        return json.is_object();
      case ShapeKind::choice:
        for (const Shape* alternative : as<ChoiceShape>(shape).alternatives) {
          if (takes(*alternative, json)) return true;
        }
        return false;
      case ShapeKind::any:
      case ShapeKind::custom:
        return true;
    }
    return false;
  }

  void read_object(const ObjectShape& shape, const Json& json, void* object, const Place& place) {
    if (!json.is_object()) return mismatch(shape, json, place);
    if (too_deep(place)) return;
    const FieldAddresses addresses = fields_at(shape, object);
    std::bitset<kMaxFields> seen;
    std::size_t next = 0;  // members mostly come in the order of the fields
    for (const Json::Member& member : json.members()) {
      const std::size_t index = find_field(shape, member.key(), next);
      if (index == shape.fields.size()) {
        if (options_.unknown == UnknownFields::error) {
          unknown(member.key(), names_of(shape), "field", place);
        } else if (report_) {
          report_->ignored.push_back(place.member(member.key()).path());
        }
        continue;
      }
      next = index + 1;
      const FieldShape& field = shape.fields[index];
      if (field.shape) {
        seen.set(index);
        read(*field.shape, member.value, addresses[index], place.member(field.name));
      } else if (report_) {
        report_->forged.push_back(place.member(field.name).path());
      }
    }
    if (options_.missing == MissingFields::keep_default) return;
    const std::vector<FieldFacts>& facts = shape.facts();
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
      if (!facts[i].required || seen.test(i)) continue;
      const FieldShape& field = shape.fields[i];
      faults_.add(place, "missing required field " + quoted(field.name) + " (" +
                             expectation(*field.shape) + ")");
    }
  }

  static std::size_t find_field(const ObjectShape& shape, std::string_view name, std::size_t next) {
    const std::size_t count = shape.fields.size();
    if (next < count && shape.fields[next].name == name) return next;
    std::size_t index = 0;
    while (index < count && shape.fields[index].name != name) ++index;
    return index;
  }

  void unknown(std::string_view name, const std::vector<std::string_view>& known,
               std::string_view what, const Place& place) {
    std::string text = "unknown " + std::string(what) + " " + quoted(name);
    const std::string hint = did_you_mean(name, known);
    if (!hint.empty()) {
      text += hint;
    } else if (known.empty()) {
      text += "; there are none";
    } else {
      text += "; known are " + listed(known);
    }
    faults_.add(place, std::move(text));
  }

  // What may be given, so never an injected field.
  static std::vector<std::string_view> names_of(const ObjectShape& shape) {
    std::vector<std::string_view> names;
    for (const FieldShape& field : shape.fields) {
      if (field.shape) names.push_back(field.name);
    }
    return names;
  }
  static std::vector<std::string_view> names_of(std::span<const EnumEntry> entries) {
    std::vector<std::string_view> names;
    for (const EnumEntry& entry : entries) names.push_back(entry.name);
    return names;
  }

  const ReadOptions& options_;
  ReadReport* report_;
  Faults faults_;
};

}  // namespace

Result<void> read_value(const Shape& shape, const Json& json, void* value,
                        const ReadOptions& options, ReadReport* report) {
  Reader reader(options, report);
  reader.read(shape, json, value, Place{});
  return std::move(reader).finish();
}

}  // namespace tug::detail
