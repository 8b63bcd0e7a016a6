// The compiled form of a schema: a tree of nodes with edges for references. Built by the compiler,
// then only read.
#pragma once

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/schema_formats.h"
#include "tug/core/json.h"
#include "tug/core/schema.h"

namespace tug::detail {

struct SchemaNode;

// What `type` names, as bits. An integer is a number too.
struct Types {
  static constexpr std::uint8_t null = 1;
  static constexpr std::uint8_t boolean = 2;
  static constexpr std::uint8_t integer = 4;
  static constexpr std::uint8_t number = 8;
  static constexpr std::uint8_t string = 16;
  static constexpr std::uint8_t array = 32;
  static constexpr std::uint8_t object = 64;
};

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

struct Pattern {
  std::string text;  // as written
  std::unique_ptr<re2::RE2> regex;
  std::uint64_t program = 0;  // its size in RE2's instructions

  // What matching a text of this size may take. A program of n instructions can have 2^n states:
  // a small one stays within RE2's cache of states and costs by the byte, a large one may fall out
  // of it, and then every byte costs by the instruction.
  std::uint64_t steps(std::uint64_t size) const noexcept {
    constexpr std::uint64_t kLongText = 4096;
    const std::uint64_t rate = std::min(program * program, program * (size < kLongText ? 64 : 256));
    return std::max(size / 256, size * rate / 16384);
  }

  bool matches(std::string_view value) const {
    return re2::RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), *regex);
  }
};

struct ValueRules {
  std::optional<Json> constant;
  bool has_choices = false;
  std::vector<Json> choices;
  std::unordered_multimap<std::uint64_t, std::size_t> choice_index;  // by hash, of long lists only
  std::uint64_t seed = 0;                                            // of these hashes
  std::uint64_t steps = 0;  // what comparing with all of it costs, but for an indexed list
};

struct NumberRules {
  std::optional<Json> minimum;
  std::optional<Json> maximum;
  std::optional<Json> exclusive_minimum;
  std::optional<Json> exclusive_maximum;
  std::optional<Json> multiple_of;
};

struct StringRules {
  std::uint64_t min_length = 0;
  std::uint64_t max_length = kNoLimit;
  std::optional<Pattern> pattern;
  const Format* format = nullptr;  // only when asserted
};

struct ArrayRules {
  std::uint64_t min_items = 0;
  std::uint64_t max_items = kNoLimit;
  bool unique = false;
  std::vector<const SchemaNode*> prefix;
  const SchemaNode* items = nullptr;
  const SchemaNode* contains = nullptr;
  std::uint64_t min_contains = 1;
  std::uint64_t max_contains = kNoLimit;
  const SchemaNode* unevaluated = nullptr;
};

struct ObjectRules {
  struct Property {
    const SchemaNode* node = nullptr;  // null when only required
    bool required = false;
  };
  struct NeededWith {
    std::string key;
    std::vector<std::string> others;
  };

  std::uint64_t min_properties = 0;
  std::uint64_t max_properties = kNoLimit;
  Json names = Json::object();  // key to its place in `properties`
  std::vector<Property> properties;
  std::size_t required = 0;
  std::vector<std::pair<Pattern, const SchemaNode*>> patterns;
  const SchemaNode* additional = nullptr;
  const SchemaNode* names_schema = nullptr;
  std::vector<NeededWith> needed_with;
  std::vector<std::pair<std::string, const SchemaNode*>> schema_with;
  const SchemaNode* unevaluated = nullptr;
};

struct Reference {
  const SchemaNode* target = nullptr;
  std::optional<std::uint32_t> anchor;  // resolved anew in the dynamic scope, by this name
};

struct LogicRules {
  std::vector<const SchemaNode*> all_of;
  std::vector<const SchemaNode*> any_of;
  std::vector<const SchemaNode*> one_of;
  const SchemaNode* none_of = nullptr;  // `not`
  const SchemaNode* condition = nullptr;
  const SchemaNode* then = nullptr;
  const SchemaNode* otherwise = nullptr;
  const SchemaNode* ref = nullptr;
  Reference dynamic_ref;
};

struct SchemaNode {
  const SchemaNode* parent = nullptr;
  std::string path;  // from the parent ("/properties/a"), or from nowhere
  std::uint32_t index = 0;
  std::uint32_t resource = 0;
  std::uint8_t types = 0;  // 0: any
  enum class Kind : std::uint8_t { anything, nothing, rules } kind = Kind::anything;
  std::unique_ptr<ValueRules> value;
  std::unique_ptr<NumberRules> number;
  std::unique_ptr<StringRules> string;
  std::unique_ptr<ArrayRules> array;
  std::unique_ptr<ObjectRules> object;
  std::unique_ptr<LogicRules> logic;
};

// What `$id` makes: a URI, and the names inside it.
struct SchemaResource {
  std::string uri;
  const Json* root = nullptr;
  SchemaNode* node = nullptr;
  std::unordered_map<std::string, SchemaNode*> anchors;
  std::unordered_map<std::uint32_t, SchemaNode*> dynamic_anchors;  // by number of the name
};

struct SchemaProgram {
  SchemaOptions options;
  std::deque<Json> documents;  // the first is what the user gave; nodes are keyed by places in them
  std::deque<SchemaNode> nodes;
  std::vector<SchemaResource> resources;
  const SchemaNode* root = nullptr;
};

// Reading this much text or this many values counts as one step of a check.
inline constexpr std::uint64_t kBytesPerStep = 256;
inline constexpr std::uint64_t kValuesPerStep = 8;

// "/properties/a", "" at the root; behind "URI#" in a metaschema.
std::string location_of(const SchemaNode& node);

}  // namespace tug::detail
