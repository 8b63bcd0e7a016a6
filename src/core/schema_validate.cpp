#include "core/schema_validate.h"

#include "core/decimal.h"
#include "core/schema_compile.h"
#include "tug/core/utf8.h"

namespace tug::detail {

namespace {

// Of `accepts` within `accepts`. A value of the greatest parsable depth under the metaschema takes
// 640; a level takes well under 1 KiB of stack.
constexpr std::size_t kMaxNesting = 2000;

}  // namespace

bool SchemaValidator::run(const Json& value, std::vector<Violation>& violations) {
  Report report{violations, program_.options.max_violations};
  report_ = &report;
  const bool ok = accepts(*program_.root, value, nullptr);
  report_ = nullptr;
  return ok;
}

std::optional<Error> SchemaValidator::stopped() const {
  switch (stop_) {
    case Stop::none:
      return std::nullopt;
    case Stop::steps:
      return Error(ErrorKind::exhausted,
                   "checking took more than " + std::to_string(program_.options.max_steps) +
                       " steps, the last of them in schema " + shown_location(*stop_at_),
                   "simplify the schema or raise max_steps");
    case Stop::nesting:
      return Error(ErrorKind::exhausted,
                   "value and schema are nested deeper than " + std::to_string(kMaxNesting) +
                       " steps, at schema " + shown_location(*stop_at_),
                   "flatten the value, or look for a \"$dynamicRef\" that leads back to itself");
    case Stop::digits:
      return Error(ErrorKind::exhausted,
                   "\"multipleOf\" needs a division of more than " + std::to_string(kMaxDivision) +
                       " digits, at schema " + shown_location(*stop_at_),
                   "use numbers with fewer digits");
  }
  return std::nullopt;
}

bool SchemaValidator::accepts(const SchemaNode& node, const Json& value, Evaluated* seen) {
  if (node.kind == SchemaNode::Kind::anything) return true;
  if (stop_ != Stop::none) return false;
  if (node.kind == SchemaNode::Kind::nothing) {
    return wrong(node, "", [] { return std::string("no value is allowed here"); });
  }
  if (steps_left_ == 0 || nesting_ == kMaxNesting) {
    stop_ = steps_left_ == 0 ? Stop::steps : Stop::nesting;
    stop_at_ = &node;
    return false;
  }
  --steps_left_;
  ++nesting_;
  const Scope here{scope_, node.resource};
  const Scope* outer = scope_;
  if (outer == nullptr || outer->resource != node.resource) scope_ = &here;
  const bool rest = (node.object && node.object->unevaluated != nullptr && value.is_object()) ||
                    (node.array && node.array->unevaluated != nullptr && value.is_array());
  const bool ok = rest ? accepts_and_the_rest(node, value, seen) : accepts_rules(node, value, seen);
  scope_ = outer;
  --nesting_;
  return ok;
}

bool SchemaValidator::accepts_quietly(const SchemaNode& node, const Json& value, Evaluated* seen) {
  Report* report = report_;
  report_ = nullptr;
  const bool ok = accepts(node, value, seen);
  report_ = report;
  return ok;
}

bool SchemaValidator::accepts_below(const SchemaNode& node, const Json& value, const Json* key,
                                    std::size_t index) {
  if (node.kind == SchemaNode::Kind::anything) return true;
  const Path here{path_, key, index};
  path_ = &here;
  const bool ok = accepts(node, value, nullptr);
  path_ = here.up;
  return ok;
}

bool SchemaValidator::accepts_rules(const SchemaNode& node, const Json& value, Evaluated* seen) {
  if (node.types != 0 && !check_type(node, value)) return false;
  bool ok = true;
  if (node.value) ok &= check_value(node, value);
  if (!ok && !goes_on()) return false;
  switch (value.type()) {
    case Json::Type::number:
      if (node.number) ok &= check_number(node, value);
      break;
    case Json::Type::string:
      if (node.string) ok &= check_string(node, value);
      break;
    case Json::Type::array:
      if (node.array) ok &= check_array(node, value, seen);
      break;
    case Json::Type::object:
      if (node.object) ok &= check_object(node, value, seen);
      break;
    default:
      break;
  }
  if (!ok && !goes_on()) return false;
  if (node.logic) ok &= check_logic(node, value, seen);
  return ok;
}

// With a list of its own: what a neighbour of this schema has seen is not this schema's business.
bool SchemaValidator::accepts_and_the_rest(const SchemaNode& node, const Json& value,
                                           Evaluated* seen) {
  Evaluated own;
  if (!accepts_rules(node, value, &own)) return false;
  if (!check_unevaluated(node, value, own)) return false;
  if (seen != nullptr) seen->merge(own);
  return true;
}

bool SchemaValidator::check_unevaluated(const SchemaNode& node, const Json& value,
                                        Evaluated& seen) {
  bool ok = true;
  if (value.is_object()) {
    const SchemaNode& rest = *node.object->unevaluated;
    const auto members = value.members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (seen.has(i)) continue;
      if (rest.kind == SchemaNode::Kind::nothing) {
        if (!goes_on()) return false;
        refuse_below(node, "unevaluatedProperties", &members[i].name, 0,
                     "unknown key " + shown_text(members[i].key()) +
                         known_keys_hint(members[i].key(), *node.object));
        ok = false;
      } else {
        ok &= accepts_below(rest, members[i].value, &members[i].name, 0);
      }
      if (!ok && !goes_on()) return false;
    }
  } else {
    const SchemaNode& rest = *node.array->unevaluated;
    const auto items = value.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (seen.has(i)) continue;
      if (rest.kind == SchemaNode::Kind::nothing) {
        if (!goes_on()) return false;
        refuse_below(node, "unevaluatedItems", nullptr, i, "no further item is allowed");
        ok = false;
      } else {
        ok &= accepts_below(rest, items[i], nullptr, i);
      }
      if (!ok && !goes_on()) return false;
    }
  }
  seen.mark_all();
  return ok;
}

namespace {

std::uint8_t type_of(const Json& value, std::uint8_t wanted) {
  switch (value.type()) {
    case Json::Type::null:
      return Types::null;
    case Json::Type::boolean:
      return Types::boolean;
    case Json::Type::number:
      if ((wanted & Types::number) != 0) return Types::number;
      return (wanted & Types::integer) != 0 && is_integral(value) ? Types::integer : Types::number;
    case Json::Type::string:
      return Types::string;
    case Json::Type::array:
      return Types::array;
    case Json::Type::object:
      return Types::object;
  }
  return 0;
}

}  // namespace

bool SchemaValidator::check_type(const SchemaNode& node, const Json& value) {
  if ((node.types & type_of(value, node.types)) != 0) return true;
  return wrong(node, "type", [&] {
    return "expected " + type_words(node.types) + ", got " + typed_value(value);
  });
}

bool SchemaValidator::check_value(const SchemaNode& node, const Json& value) {
  const ValueRules& rules = *node.value;
  if (!spend(node, rules.steps)) return false;
  if (rules.constant && !(*rules.constant == value)) {
    return wrong(node, "const", [&] {
      return "expected " + shown_value(*rules.constant) + ", got " + typed_value(value);
    });
  }
  if (!rules.has_choices) return true;
  if (rules.choice_index.empty()) {
    for (const Json& choice : rules.choices) {
      if (choice == value) return true;
    }
  } else {
    std::uint64_t work = 0;
    const std::uint64_t hash = hash_value(value, rules.seed, work);
    const auto [begin, end] = rules.choice_index.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (!spend(node, work)) return false;
      if (rules.choices[found->second] == value) return true;
    }
    if (!spend(node, work)) return false;
  }
  return wrong(node, "enum", [&] {
    return "expected " + choice_words(rules.choices) + ", got " + typed_value(value);
  });
}

bool SchemaValidator::check_number(const SchemaNode& node, const Json& value) {
  const NumberRules& rules = *node.number;
  if (!spend(node, value.big_number().size() / kBytesPerStep)) return false;
  bool ok = true;
  const auto off = [&](std::string_view keyword, std::string_view words, const Json& bound) {
    ok = wrong(node, keyword, [&] {
      return "expected " + std::string(words) + " " + shown_value(bound) + ", got " +
             shown_value(value);
    });
    return !goes_on();
  };
  if (rules.minimum && compare_numbers(value, *rules.minimum) < 0 &&
      off("minimum", "at least", *rules.minimum)) {
    return false;
  }
  if (rules.maximum && compare_numbers(value, *rules.maximum) > 0 &&
      off("maximum", "at most", *rules.maximum)) {
    return false;
  }
  if (rules.exclusive_minimum && compare_numbers(value, *rules.exclusive_minimum) <= 0 &&
      off("exclusiveMinimum", "more than", *rules.exclusive_minimum)) {
    return false;
  }
  if (rules.exclusive_maximum && compare_numbers(value, *rules.exclusive_maximum) >= 0 &&
      off("exclusiveMaximum", "less than", *rules.exclusive_maximum)) {
    return false;
  }
  if (rules.multiple_of) {
    const std::uint64_t digits = rules.multiple_of->big_number().size();
    // Long division; beyond its limit there is no verdict.
    if (!spend(node, std::min<std::uint64_t>(digits, kMaxDivision))) return false;
    const auto multiple = is_multiple_of(value, *rules.multiple_of);
    if (!multiple) {
      stop_ = Stop::digits;
      stop_at_ = &node;
      return false;
    }
    if (!*multiple) off("multipleOf", "a multiple of", *rules.multiple_of);
  }
  return ok;
}

namespace {

std::string counted(std::uint64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace

bool SchemaValidator::check_string(const SchemaNode& node, const Json& value) {
  const StringRules& rules = *node.string;
  const std::string_view text = value.as_string();
  if (!spend(node, text.size() / kBytesPerStep)) return false;
  bool ok = true;
  if (rules.min_length != 0 || rules.max_length < text.size()) {
    const std::size_t length = count_code_points(text);
    const auto off = [&](std::string_view keyword, std::string_view words, std::uint64_t bound) {
      ok = wrong(node, keyword, [&] {
        return "expected " + std::string(words) + " " + counted(bound, "character") + ", got " +
               std::to_string(length) + " in " + shown_value(value);
      });
    };
    if (length < rules.min_length) off("minLength", "at least", rules.min_length);
    if (!ok && !goes_on()) return false;
    if (length > rules.max_length) off("maxLength", "at most", rules.max_length);
    if (!ok && !goes_on()) return false;
  }
  if (rules.pattern && !spend(node, rules.pattern->steps(text.size()))) return false;
  if (rules.pattern && !rules.pattern->matches(text)) {
    ok = wrong(node, "pattern", [&] {
      return "expected text that matches " + shown_text(rules.pattern->text) + ", got " +
             shown_value(value);
    });
    if (!goes_on()) return false;
  }
  if (rules.format != nullptr && !spend(node, text.size() / rules.format->bytes_per_step)) {
    return false;
  }
  if (rules.format != nullptr && !rules.format->matches(text)) {
    ok = wrong(node, "format", [&] {
      return "expected the format " + shown_text(rules.format->name) + ", got " +
             shown_value(value);
    });
  }
  return ok;
}

bool SchemaValidator::check_array(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const ArrayRules& rules = *node.array;
  const auto items = value.items();
  if (!spend(node, items.size() / kValuesPerStep)) return false;
  bool ok = true;
  const auto off = [&](std::string_view keyword, std::string_view words, std::uint64_t bound) {
    ok = wrong(node, keyword, [&] {
      return "expected " + std::string(words) + " " + counted(bound, "item") + ", got " +
             std::to_string(items.size());
    });
    return !goes_on();
  };
  if (items.size() < rules.min_items && off("minItems", "at least", rules.min_items)) return false;
  if (items.size() > rules.max_items && off("maxItems", "at most", rules.max_items)) return false;
  if (rules.unique) {
    std::uint64_t work = 0;
    const auto pair = equal_items(items, work);
    if (!spend(node, work)) return false;
    if (pair) {
      ok = wrong(node, "uniqueItems", [&] {
        return "expected items that differ, but items " + std::to_string(pair->first) + " and " +
               std::to_string(pair->second) + " are both " + shown_value(items[pair->first]);
      });
      if (!goes_on()) return false;
    }
  }
  const std::size_t prefix = std::min(rules.prefix.size(), items.size());
  for (std::size_t i = 0; i < prefix; ++i) {
    ok &= accepts_below(*rules.prefix[i], items[i], nullptr, i);
    if (!ok && !goes_on()) return false;
  }
  if (rules.items != nullptr && rules.items->kind != SchemaNode::Kind::anything) {
    for (std::size_t i = prefix; i < items.size(); ++i) {
      ok &= accepts_below(*rules.items, items[i], nullptr, i);
      if (!ok && !goes_on()) return false;
    }
  }
  if (seen != nullptr) {
    seen->mark_up_to(prefix);
    if (rules.items != nullptr) seen->mark_all();
  }
  if (rules.contains != nullptr) ok &= check_contains(node, value, seen);
  return ok;
}

bool SchemaValidator::check_contains(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const ArrayRules& rules = *node.array;
  const auto items = value.items();
  std::uint64_t found = 0;
  Report* report = report_;
  report_ = nullptr;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!accepts_below(*rules.contains, items[i], nullptr, i)) continue;
    ++found;
    if (seen != nullptr) {
      seen->mark(i);
    } else if (found > rules.max_contains ||
               (found >= rules.min_contains && rules.max_contains == kNoLimit)) {
      break;
    }
  }
  report_ = report;
  if (found < rules.min_contains) {
    return wrong(node, rules.min_contains == 1 ? "contains" : "minContains", [&] {
      return "expected at least " + counted(rules.min_contains, "item") +
             " to match \"contains\", got " + std::to_string(found);
    });
  }
  if (found > rules.max_contains) {
    return wrong(node, "maxContains", [&] {
      return "expected at most " + counted(rules.max_contains, "item") +
             " to match \"contains\", got " + std::to_string(found) + " or more";
    });
  }
  return true;
}

}  // namespace tug::detail
