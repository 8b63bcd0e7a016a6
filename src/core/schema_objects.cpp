// What a schema says about objects, and how schemas combine.
#include "core/schema_compile.h"
#include "core/schema_validate.h"

namespace tug::detail {

bool SchemaValidator::check_object(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const ObjectRules& rules = *node.object;
  bool ok = true;
  const auto off = [&](std::string_view keyword, std::string_view words, std::uint64_t bound) {
    ok = wrong(node, keyword, [&] {
      return "expected " + std::string(words) + " " + std::to_string(bound) +
             (bound == 1 ? " key, got " : " keys, got ") + std::to_string(value.size());
    });
    return !goes_on();
  };
  if (value.size() < rules.min_properties &&
      off("minProperties", "at least", rules.min_properties)) {
    return false;
  }
  if (value.size() > rules.max_properties &&
      off("maxProperties", "at most", rules.max_properties)) {
    return false;
  }
  ok &= check_members(node, value, seen);
  if (!ok && !goes_on()) return false;
  if (!rules.needed_with.empty() || !rules.schema_with.empty()) {
    ok &= check_dependents(node, value, seen);
  }
  return ok;
}

bool SchemaValidator::check_members(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const ObjectRules& rules = *node.object;
  const auto members = value.members();
  const std::uint64_t looks = members.size() / kValuesPerStep;
  if (!spend(node, looks + members.size() * rules.patterns.size())) return false;
  bool ok = true;
  std::size_t required = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Json::Member& member = members[i];
    bool covered = false;
    if (const Json* place = rules.properties.empty() ? nullptr : rules.names.find(member.key())) {
      const ObjectRules::Property& property = rules.properties[*place->as_uint()];
      required += property.required;
      if (property.node != nullptr) {
        covered = true;
        ok &= accepts_below(*property.node, member.value, &member.name, 0);
        if (!ok && !goes_on()) return false;
      }
    }
    for (const auto& [pattern, schema] : rules.patterns) {
      if (!spend(node, pattern.steps(member.key().size()))) return false;
      if (!pattern.matches(member.key())) continue;
      covered = true;
      ok &= accepts_below(*schema, member.value, &member.name, 0);
      if (!ok && !goes_on()) return false;
    }
    if (!covered && rules.additional != nullptr) {
      covered = true;
      if (rules.additional->kind == SchemaNode::Kind::nothing) {
        if (!goes_on()) return false;
        refuse_below(
            node, "additionalProperties", &member.name, 0,
            "unknown key " + shown_text(member.key()) + known_keys_hint(member.key(), rules));
        ok = false;
      } else {
        ok &= accepts_below(*rules.additional, member.value, &member.name, 0);
      }
      if (!ok && !goes_on()) return false;
    }
    if (covered && seen != nullptr) seen->mark(i);
    if (rules.names_schema != nullptr) {
      ok &= accepts_below(*rules.names_schema, member.name, &member.name, 0);
      if (!ok && !goes_on()) return false;
    }
  }
  if (required == rules.required) return ok;
  if (!spend(node, rules.names.size() / kValuesPerStep)) return false;
  for (const Json::Member& known : rules.names.members()) {
    if (!rules.properties[*known.value.as_uint()].required || value.contains(known.key())) continue;
    ok = wrong(node, "required", [&] { return "missing required key " + shown_text(known.key()); });
    if (!goes_on()) return false;
  }
  return ok;
}

bool SchemaValidator::check_dependents(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const ObjectRules& rules = *node.object;
  const std::uint64_t looks = rules.needed_with.size() + rules.schema_with.size();
  if (!spend(node, looks / kValuesPerStep)) return false;
  bool ok = true;
  for (const ObjectRules::NeededWith& needed : rules.needed_with) {
    if (!value.contains(needed.key)) continue;
    if (!spend(node, needed.others.size() / kValuesPerStep)) return false;
    for (const std::string& other : needed.others) {
      if (value.contains(other)) continue;
      ok = wrong(node, "dependentRequired", [&] {
        return "missing key " + shown_text(other) + ", which is required beside " +
               shown_text(needed.key);
      });
      if (!goes_on()) return false;
    }
  }
  for (const auto& [key, schema] : rules.schema_with) {
    if (!value.contains(key)) continue;
    ok &= accepts(*schema, value, seen);
    if (!ok && !goes_on()) return false;
  }
  return ok;
}

bool SchemaValidator::check_logic(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const LogicRules& rules = *node.logic;
  // `true` and `false` take no step of their own.
  const std::uint64_t parts = rules.all_of.size() + rules.any_of.size() + rules.one_of.size();
  if (!spend(node, parts / kValuesPerStep)) return false;
  bool ok = true;
  if (rules.ref != nullptr) {
    ok &= accepts(*rules.ref, value, seen);
    if (!ok && !goes_on()) return false;
  }
  if (rules.dynamic_ref.target != nullptr) {
    ok &= accepts(dynamic_target(rules.dynamic_ref), value, seen);
    if (!ok && !goes_on()) return false;
  }
  for (const SchemaNode* part : rules.all_of) {
    ok &= accepts(*part, value, seen);
    if (!ok && !goes_on()) return false;
  }
  if (!rules.any_of.empty()) ok &= check_any_of(node, value, seen);
  if (!ok && !goes_on()) return false;
  if (!rules.one_of.empty()) ok &= check_one_of(node, value, seen);
  if (!ok && !goes_on()) return false;
  if (rules.none_of != nullptr && accepts_quietly(*rules.none_of, value, nullptr)) {
    ok = wrong(node, "not", [&] {
      return "expected a value that does not match \"not\", got " + typed_value(value);
    });
    if (!goes_on()) return false;
  }
  if (rules.condition != nullptr) ok &= check_condition(node, value, seen);
  return ok;
}

// The outermost schema on the way here that has the anchor.
const SchemaNode& SchemaValidator::dynamic_target(const Reference& ref) const noexcept {
  const SchemaNode* target = ref.target;
  if (!ref.anchor) return *target;
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer) {
    const auto& anchors = program_.resources[scope->resource].dynamic_anchors;
    if (const auto found = anchors.find(*ref.anchor); found != anchors.end()) {
      target = found->second;
    }
  }
  return *target;
}

namespace {

constexpr std::size_t kShownAlternatives = 4;
constexpr std::size_t kAlternativeBytes = 200;

// "1: expected string, got ...; 2: at /a: ..."
void add_alternative(std::string& words, std::size_t number, const std::vector<Violation>& found) {
  if (found.empty()) return;
  words += words.empty() ? "" : "; ";
  words += std::to_string(number) + ": ";
  if (!found[0].instance_path.empty()) words += "at " + found[0].instance_path + ": ";
  words += clipped(found[0].message, kAlternativeBytes);
}

}  // namespace

bool SchemaValidator::check_any_of(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const auto& parts = node.logic->any_of;
  bool found = false;
  std::string words;
  Report* report = report_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<Violation> first;
    Report brief{first, 1, path_, true};
    if (report != nullptr) report_ = i < kShownAlternatives ? &brief : nullptr;
    Evaluated part_seen;
    const bool ok = accepts(*parts[i], value, seen != nullptr ? &part_seen : nullptr);
    report_ = report;
    add_alternative(words, i + 1, first);
    if (!ok) continue;
    found = true;
    if (seen == nullptr) return true;
    seen->merge(part_seen);
  }
  if (found) return true;
  return wrong(node, "anyOf", [&] {
    return "matches none of the " + std::to_string(parts.size()) + " alternatives (" + words + ")";
  });
}

bool SchemaValidator::check_one_of(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const auto& parts = node.logic->one_of;
  std::size_t first_match = parts.size();
  std::string words;
  Report* report = report_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<Violation> first;
    Report brief{first, 1, path_, true};
    if (report != nullptr) report_ = i < kShownAlternatives ? &brief : nullptr;
    Evaluated part_seen;
    const bool ok = accepts(*parts[i], value, seen != nullptr ? &part_seen : nullptr);
    report_ = report;
    add_alternative(words, i + 1, first);
    if (!ok) continue;
    if (first_match != parts.size()) {
      return wrong(node, "oneOf", [&] {
        return "matches alternatives " + std::to_string(first_match + 1) + " and " +
               std::to_string(i + 1) + ", expected exactly one of " + std::to_string(parts.size());
      });
    }
    first_match = i;
    if (seen != nullptr) seen->merge(part_seen);
  }
  if (first_match != parts.size()) return true;
  return wrong(node, "oneOf", [&] {
    return "matches none of the " + std::to_string(parts.size()) + " alternatives (" + words + ")";
  });
}

bool SchemaValidator::check_condition(const SchemaNode& node, const Json& value, Evaluated* seen) {
  const LogicRules& rules = *node.logic;
  Evaluated part_seen;
  const bool holds =
      accepts_quietly(*rules.condition, value, seen != nullptr ? &part_seen : nullptr);
  if (holds && seen != nullptr) seen->merge(part_seen);
  const SchemaNode* next = holds ? rules.then : rules.otherwise;
  return next == nullptr || accepts(*next, value, seen);
}

}  // namespace tug::detail
