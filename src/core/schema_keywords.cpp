#include "core/decimal.h"
#include "core/ecma_regex.h"
#include "core/schema_compile.h"
#include "core/schema_validate.h"
#include "core/try.h"
#include "core/uri.h"

namespace tug::detail {

// `$id`, `$schema` and the anchors are read before all others.
const SchemaCompiler::Keyword SchemaCompiler::kKeywords[] = {
    {"$ref", &SchemaCompiler::read_ref},
    {"$dynamicRef", &SchemaCompiler::read_ref},
    {"$defs", &SchemaCompiler::read_definitions},
    {"$comment", &SchemaCompiler::read_string},
    {"$vocabulary", &SchemaCompiler::read_vocabulary},

    {"allOf", &SchemaCompiler::read_subschema_list},
    {"anyOf", &SchemaCompiler::read_subschema_list},
    {"oneOf", &SchemaCompiler::read_subschema_list},
    {"prefixItems", &SchemaCompiler::read_subschema_list},
    {"not", &SchemaCompiler::read_subschema},
    {"if", &SchemaCompiler::read_subschema},
    {"then", &SchemaCompiler::read_subschema},
    {"else", &SchemaCompiler::read_subschema},
    {"items", &SchemaCompiler::read_subschema},
    {"contains", &SchemaCompiler::read_subschema},
    {"additionalProperties", &SchemaCompiler::read_subschema},
    {"propertyNames", &SchemaCompiler::read_subschema},
    {"unevaluatedItems", &SchemaCompiler::read_subschema},
    {"unevaluatedProperties", &SchemaCompiler::read_subschema},
    {"contentSchema", &SchemaCompiler::read_subschema},
    {"properties", &SchemaCompiler::read_properties},
    {"patternProperties", &SchemaCompiler::read_pattern_properties},
    {"dependentSchemas", &SchemaCompiler::read_dependent_schemas},
    {"dependentRequired", &SchemaCompiler::read_dependent_required},
    {"dependencies", &SchemaCompiler::read_dependencies},

    {"type", &SchemaCompiler::read_type},
    {"enum", &SchemaCompiler::read_enum},
    {"const", &SchemaCompiler::read_const},
    {"multipleOf", &SchemaCompiler::read_multiple_of},
    {"minimum", &SchemaCompiler::read_bound},
    {"maximum", &SchemaCompiler::read_bound},
    {"exclusiveMinimum", &SchemaCompiler::read_bound},
    {"exclusiveMaximum", &SchemaCompiler::read_bound},
    {"minLength", &SchemaCompiler::read_count},
    {"maxLength", &SchemaCompiler::read_count},
    {"minItems", &SchemaCompiler::read_count},
    {"maxItems", &SchemaCompiler::read_count},
    {"minContains", &SchemaCompiler::read_count},
    {"maxContains", &SchemaCompiler::read_count},
    {"minProperties", &SchemaCompiler::read_count},
    {"maxProperties", &SchemaCompiler::read_count},
    {"uniqueItems", &SchemaCompiler::read_unique},
    {"pattern", &SchemaCompiler::read_pattern},
    {"required", &SchemaCompiler::read_required},
    {"format", &SchemaCompiler::read_format},

    {"title", &SchemaCompiler::read_string},
    {"description", &SchemaCompiler::read_string},
    {"contentEncoding", &SchemaCompiler::read_string},
    {"contentMediaType", &SchemaCompiler::read_string},
    {"deprecated", &SchemaCompiler::read_boolean},
    {"readOnly", &SchemaCompiler::read_boolean},
    {"writeOnly", &SchemaCompiler::read_boolean},
    {"examples", &SchemaCompiler::read_list},
};

namespace {

// The rules of one kind, made when their first keyword comes.
template <class Rules>
Rules& open(std::unique_ptr<Rules>& rules) {
  if (!rules) rules = std::make_unique<Rules>();
  return *rules;
}

ObjectRules::Property& property(ObjectRules& rules, std::string_view name) {
  if (const Json* place = rules.names.find(name)) return rules.properties[*place->as_uint()];
  rules.names.set(name, rules.properties.size());
  return rules.properties.emplace_back();
}

// Steps for reading every part of a value; depth is bounded by whoever made it.
std::uint64_t weight_of(const Json& root) {
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;
  std::vector<const Json*> open = {&root};
  while (!open.empty()) {
    const Json& value = *open.back();
    open.pop_back();
    ++values;
    bytes += value.as_string().size() + value.big_number().size();
    for (const Json& item : value.items()) open.push_back(&item);
    for (const Json::Member& member : value.members()) {
      bytes += member.key().size();
      open.push_back(&member.value);
    }
  }
  return values / kValuesPerStep + bytes / kBytesPerStep;
}

std::string under(std::string_view key, std::string_view name) {
  return std::string(key) + "/" + pointer_token(name);
}

}  // namespace

Result<void> SchemaCompiler::read_keyword(SchemaNode& node, std::string_view key,
                                          const Json& value) {
  for (const Keyword& keyword : kKeywords) {
    if (keyword.name == key) return (this->*keyword.read)(node, key, value);
  }
  return {};
}

// --- keywords that only have to be well-formed

Result<void> SchemaCompiler::read_string(SchemaNode& node, std::string_view key,
                                         const Json& value) {
  if (!value.is_string()) return malformed(node, key, "a string", value);
  return {};
}

Result<void> SchemaCompiler::read_boolean(SchemaNode& node, std::string_view key,
                                          const Json& value) {
  if (!value.is_bool()) return malformed(node, key, "a boolean", value);
  return {};
}

Result<void> SchemaCompiler::read_list(SchemaNode& node, std::string_view key, const Json& value) {
  if (!value.is_array()) return malformed(node, key, "an array", value);
  return {};
}

Result<void> SchemaCompiler::read_vocabulary(SchemaNode& node, std::string_view key,
                                             const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object of booleans", value);
  for (const Json::Member& member : value.members()) {
    if (!member.value.is_bool()) return malformed(node, key, "an object of booleans", value);
  }
  return {};
}

// --- keywords that hold schemas

Result<void> SchemaCompiler::read_subschema(SchemaNode& node, std::string_view key,
                                            const Json& value) {
  if (key == "items" && value.is_array()) {
    return malformed(node, key, "one schema (\"prefixItems\" takes a list)", value);
  }
  TUG_TRY(schema, child(node, key, value));
  if (key == "not") {
    open(node.logic).none_of = schema;
  } else if (key == "if") {
    open(node.logic).condition = schema;
  } else if (key == "then") {
    open(node.logic).then = schema;
  } else if (key == "else") {
    open(node.logic).otherwise = schema;
  } else if (key == "items") {
    open(node.array).items = schema;
  } else if (key == "contains") {
    open(node.array).contains = schema;
  } else if (key == "unevaluatedItems") {
    open(node.array).unevaluated = schema;
  } else if (key == "additionalProperties") {
    open(node.object).additional = schema;
  } else if (key == "propertyNames") {
    open(node.object).names_schema = schema;
  } else if (key == "unevaluatedProperties") {
    open(node.object).unevaluated = schema;
  }
  return {};
}

Result<void> SchemaCompiler::read_subschema_list(SchemaNode& node, std::string_view key,
                                                 const Json& value) {
  if (!value.is_array() || value.empty()) {
    return malformed(node, key, "an array of at least one schema", value);
  }
  std::vector<const SchemaNode*> list;
  for (std::size_t i = 0; i < value.size(); ++i) {
    TUG_TRY(schema, child(node, under(key, std::to_string(i)), value[i]));
    list.push_back(schema);
  }
  if (key == "allOf") {
    open(node.logic).all_of = std::move(list);
  } else if (key == "anyOf") {
    open(node.logic).any_of = std::move(list);
  } else if (key == "oneOf") {
    open(node.logic).one_of = std::move(list);
  } else {
    open(node.array).prefix = std::move(list);
  }
  return {};
}

Result<void> SchemaCompiler::read_definitions(SchemaNode& node, std::string_view key,
                                              const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object of schemas", value);
  for (const Json::Member& member : value.members()) {
    TUG_TRY(schema, child(node, under(key, member.key()), member.value));
  }
  return {};
}

Result<void> SchemaCompiler::read_ref(SchemaNode& node, std::string_view key, const Json& value) {
  if (!value.is_string()) return malformed(node, key, "a URI reference", value);
  open(node.logic);
  pending_.push_back({&node, std::string(key), std::string(value.as_string()),
                      resolve_uri(program_.resources[node.resource].uri, value.as_string())});
  return {};
}

Result<void> SchemaCompiler::read_properties(SchemaNode& node, std::string_view key,
                                             const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object of schemas", value);
  open(node.object);
  for (const Json::Member& member : value.members()) {
    TUG_TRY(schema, child(node, under(key, member.key()), member.value));
    property(*node.object, member.key()).node = schema;
  }
  return {};
}

Result<void> SchemaCompiler::read_pattern_properties(SchemaNode& node, std::string_view key,
                                                     const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object of schemas", value);
  open(node.object);
  for (const Json::Member& member : value.members()) {
    TUG_TRY(pattern, make_pattern(node, key, member.key()));
    TUG_TRY(schema, child(node, under(key, member.key()), member.value));
    node.object->patterns.emplace_back(std::move(pattern), schema);
  }
  return {};
}

Result<void> SchemaCompiler::read_dependent_schemas(SchemaNode& node, std::string_view key,
                                                    const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object of schemas", value);
  open(node.object);
  for (const Json::Member& member : value.members()) {
    TUG_TRY(schema, child(node, under(key, member.key()), member.value));
    node.object->schema_with.emplace_back(member.key(), schema);
  }
  return {};
}

// --- keywords that check

namespace {

struct TypeName {
  std::string_view name;
  std::uint8_t bit;
};
constexpr TypeName kTypeNames[] = {
    {"null", Types::null},     {"boolean", Types::boolean}, {"integer", Types::integer},
    {"number", Types::number}, {"string", Types::string},   {"array", Types::array},
    {"object", Types::object},
};

std::uint8_t type_bit(const Json& name) noexcept {
  for (const TypeName& type : kTypeNames) {
    if (name.as_string() == type.name) return type.bit;
  }
  return 0;
}

constexpr std::string_view kTypeWords =
    "\"null\", \"boolean\", \"integer\", \"number\", \"string\", \"array\" or \"object\", or an "
    "array of these without repeats";

bool has_repeats(const Json& list) {
  Json seen = Json::object();
  for (const Json& item : list.items()) {
    if (seen.contains(item.as_string())) return true;
    seen.set(item.as_string(), true);
  }
  return false;
}

bool is_string_list(const Json& value) {
  if (!value.is_array()) return false;
  for (const Json& item : value.items()) {
    if (!item.is_string()) return false;
  }
  return !has_repeats(value);
}

}  // namespace

Result<void> SchemaCompiler::read_type(SchemaNode& node, std::string_view key, const Json& value) {
  std::uint8_t types = 0;
  if (value.is_string()) {
    types = type_bit(value);
  } else {
    for (const Json& item : value.items()) {
      const std::uint8_t bit = type_bit(item);
      if (bit == 0 || (types & bit) != 0) return malformed(node, key, kTypeWords, value);
      types |= bit;
    }
  }
  if (types == 0) return malformed(node, key, kTypeWords, value);
  node.types = types;
  return {};
}

Result<void> SchemaCompiler::read_enum(SchemaNode& node, std::string_view key, const Json& value) {
  if (!value.is_array()) return malformed(node, key, "an array", value);
  ValueRules& rules = open(node.value);
  rules.has_choices = true;
  rules.choices.assign(value.items().begin(), value.items().end());
  constexpr std::size_t kCompareEach = 8;
  if (value.size() <= kCompareEach) {
    rules.steps += weight_of(value);
    return {};
  }
  // Seeded by where we are in memory, so that nobody can prepare colliding choices.
  rules.seed = reinterpret_cast<std::uintptr_t>(rules.choices.data());
  std::uint64_t work = 0;
  rules.choice_index.reserve(value.size());
  for (std::size_t i = 0; i < rules.choices.size(); ++i) {
    rules.choice_index.emplace(hash_value(rules.choices[i], rules.seed, work), i);
  }
  return {};
}

Result<void> SchemaCompiler::read_const(SchemaNode& node, std::string_view, const Json& value) {
  ValueRules& rules = open(node.value);
  rules.constant = value;
  rules.steps += weight_of(value);
  return {};
}

Result<void> SchemaCompiler::read_bound(SchemaNode& node, std::string_view key, const Json& value) {
  if (!value.is_number()) return malformed(node, key, "a number", value);
  NumberRules& rules = open(node.number);
  auto& bound = key == "minimum"            ? rules.minimum
                : key == "maximum"          ? rules.maximum
                : key == "exclusiveMinimum" ? rules.exclusive_minimum
                                            : rules.exclusive_maximum;
  bound = value;
  return {};
}

Result<void> SchemaCompiler::read_multiple_of(SchemaNode& node, std::string_view key,
                                              const Json& value) {
  if (!value.is_number() || compare_numbers(value, 0) <= 0) {
    return malformed(node, key, "a number above 0", value);
  }
  open(node.number).multiple_of = value;
  return {};
}

Result<void> SchemaCompiler::read_count(SchemaNode& node, std::string_view key, const Json& value) {
  if (!value.is_number() || compare_numbers(value, 0) < 0 || !is_integral(value)) {
    return malformed(node, key, "an integer of 0 or more", value);
  }
  const std::uint64_t count = value.as_uint().value_or(kNoLimit);
  if (key == "minLength") {
    open(node.string).min_length = count;
  } else if (key == "maxLength") {
    open(node.string).max_length = count;
  } else if (key == "minItems") {
    open(node.array).min_items = count;
  } else if (key == "maxItems") {
    open(node.array).max_items = count;
  } else if (key == "minContains") {
    open(node.array).min_contains = count;
  } else if (key == "maxContains") {
    open(node.array).max_contains = count;
  } else if (key == "minProperties") {
    open(node.object).min_properties = count;
  } else {
    open(node.object).max_properties = count;
  }
  return {};
}

Result<void> SchemaCompiler::read_unique(SchemaNode& node, std::string_view key,
                                         const Json& value) {
  if (!value.is_bool()) return malformed(node, key, "a boolean", value);
  if (value.as_bool()) open(node.array).unique = true;
  return {};
}

namespace {

// Of one pattern, its states included: `[\p{L}\p{N}]{1,64}` must fit.
constexpr std::int64_t kPatternMemory = 8 << 20;
// Of all patterns of a schema, in instructions of RE2: about a second and 100 MB at the worst.
constexpr std::uint64_t kMaxPatternWork = 1'000'000;
constexpr std::uint64_t kLeastProgram = 50;

}  // namespace

Result<Pattern> SchemaCompiler::make_pattern(const SchemaNode& node, std::string_view key,
                                             std::string_view text) {
  const auto refuse = [&](ErrorKind kind, const std::string& why) {
    return fail(kind,
                "schema at " + shown_location(node) + ": \"" + std::string(key) + "\" " +
                    shown_value(Json(text)) + " cannot be used: " + why,
                kind == ErrorKind::unsupported ? "write the pattern without it" : "");
  };
  auto regex = compile_ecma(text, kPatternMemory);
  if (!regex) return refuse(regex.error().kind(), regex.error().message());
  const auto program = static_cast<std::uint64_t>((*regex)->ProgramSize());
  pattern_work_ += kLeastProgram + program;
  if (pattern_work_ > kMaxPatternWork) {
    return refuse(ErrorKind::unsupported,
                  "all patterns of the schema together compile to more than " +
                      std::to_string(kMaxPatternWork) + " instructions");
  }
  return Pattern{std::string(text), *std::move(regex), program};
}

Result<void> SchemaCompiler::read_pattern(SchemaNode& node, std::string_view key,
                                          const Json& value) {
  if (!value.is_string()) return malformed(node, key, "a pattern", value);
  TUG_TRY(pattern, make_pattern(node, key, value.as_string()));
  open(node.string).pattern = std::move(pattern);
  return {};
}

Result<void> SchemaCompiler::read_format(SchemaNode& node, std::string_view key,
                                         const Json& value) {
  if (!value.is_string()) return malformed(node, key, "a string", value);
  if (!program_.options.assert_format) return {};
  if (const Format* format = find_format(value.as_string())) open(node.string).format = format;
  return {};
}

Result<void> SchemaCompiler::read_required(SchemaNode& node, std::string_view key,
                                           const Json& value) {
  if (!is_string_list(value)) {
    return malformed(node, key, "an array of strings without repeats", value);
  }
  ObjectRules& rules = open(node.object);
  for (const Json& name : value.items()) property(rules, name.as_string()).required = true;
  rules.required = value.size();
  return {};
}

Result<void> SchemaCompiler::read_dependent_required(SchemaNode& node, std::string_view key,
                                                     const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object of arrays of strings", value);
  ObjectRules& rules = open(node.object);
  for (const Json::Member& member : value.members()) {
    if (!is_string_list(member.value)) {
      return malformed(node, under(key, member.key()), "an array of strings without repeats",
                       member.value);
    }
    ObjectRules::NeededWith needed;
    needed.key = member.key();
    for (const Json& other : member.value.items()) needed.others.emplace_back(other.as_string());
    rules.needed_with.push_back(std::move(needed));
  }
  return {};
}

// The keyword of older drafts that the two above replaced; schemas in the field still carry it.
Result<void> SchemaCompiler::read_dependencies(SchemaNode& node, std::string_view key,
                                               const Json& value) {
  if (!value.is_object()) return malformed(node, key, "an object", value);
  for (const Json::Member& member : value.members()) {
    const Json one = Json::object({{member.key(), member.value}});
    if (member.value.is_array()) {
      TUG_TRY(read, read_dependent_required(node, key, one));
    } else {
      TUG_TRY(schema, child(node, under(key, member.key()), member.value));
      open(node.object).schema_with.emplace_back(member.key(), schema);
    }
  }
  return {};
}

}  // namespace tug::detail
