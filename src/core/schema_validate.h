// One check of one value against a compiled schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema_evaluated.h"
#include "core/schema_node.h"
#include "tug/core/error.h"
#include "tug/core/schema.h"

namespace tug::detail {

// Lives for one check. Without a report it stops at the first thing that is wrong; with one it goes
// on and collects. `accepts` recurses, within kMaxNesting.
class SchemaValidator {
 public:
  explicit SchemaValidator(const SchemaProgram& program)
      : program_(program), steps_left_(program.options.max_steps) {}

  bool run(const Json& value) { return accepts(*program_.root, value, nullptr); }
  bool run(const Json& value, std::vector<Violation>& violations);
  // Why no verdict was reached; the result of `run` means nothing then.
  std::optional<Error> stopped() const;

 private:
  struct Path {
    const Path* up;
    const Json* key;  // null for an item
    std::size_t index;
  };
  struct Scope {
    const Scope* outer;
    std::uint32_t resource;
  };
  struct Report {
    std::vector<Violation>& list;
    std::size_t limit;
    // Of an alternative, for the words of the violation around it: where it starts. Such a report
    // has paths from there on, cut short, and no schema paths.
    const Path* start = nullptr;
    bool brief = false;
    bool full() const noexcept { return list.size() >= limit; }
  };
  enum class Stop : std::uint8_t { none, steps, nesting, digits };

  // Applies a node to the value at `path_`. `seen` may be null; it means nothing after a refusal.
  bool accepts(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool accepts_rules(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool accepts_and_the_rest(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool accepts_below(const SchemaNode& node, const Json& value, const Json* key, std::size_t index);
  // Without touching the report.
  bool accepts_quietly(const SchemaNode& node, const Json& value, Evaluated* seen);

  bool check_type(const SchemaNode& node, const Json& value);
  bool check_value(const SchemaNode& node, const Json& value);
  bool check_number(const SchemaNode& node, const Json& value);
  bool check_string(const SchemaNode& node, const Json& value);
  bool check_array(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_contains(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_object(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_members(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_dependents(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_logic(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_any_of(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_one_of(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_condition(const SchemaNode& node, const Json& value, Evaluated* seen);
  bool check_unevaluated(const SchemaNode& node, const Json& value, Evaluated& seen);
  const SchemaNode& dynamic_target(const Reference& ref) const noexcept;

  // Takes what a keyword costs beyond the step of its schema; false when the budget is spent.
  bool spend(const SchemaNode& node, std::uint64_t steps) noexcept {
    if (steps <= steps_left_) {
      steps_left_ -= steps;
      return true;
    }
    steps_left_ = 0;
    stop_ = Stop::steps;
    stop_at_ = &node;
    return false;
  }
  // True when collecting should go on after something wrong.
  bool goes_on() const noexcept { return report_ != nullptr && !report_->full(); }
  // Notes a violation, when anybody asked; always false. `message` is called only then.
  template <class Message>
  bool wrong(const SchemaNode& node, std::string_view keyword, Message&& message) {
    if (report_ != nullptr && !report_->full()) note(node, keyword, message());
    return false;
  }
  void note(const SchemaNode& node, std::string_view keyword, std::string message);
  // From `start` down, and not much more than `room` bytes of it.
  static std::string pointer_of(const Path* path, const Path* start = nullptr,
                                std::size_t room = std::string::npos);
  // A subschema that allows nothing, said in the words of the keyword that holds it.
  void refuse_below(const SchemaNode& node, std::string_view keyword, const Json* key,
                    std::size_t index, std::string message);

  const SchemaProgram& program_;
  std::uint64_t steps_left_;
  std::size_t nesting_ = 0;
  Stop stop_ = Stop::none;
  const SchemaNode* stop_at_ = nullptr;
  const Path* path_ = nullptr;
  const Scope* scope_ = nullptr;
  Report* report_ = nullptr;
};

// The places of two equal items, the first such pair. Adds to `work` what it looked at, in steps.
std::optional<std::pair<std::size_t, std::size_t>> equal_items(std::span<const Json> items,
                                                               std::uint64_t& work);

// The same for values that are equal; `work` as above.
std::uint64_t hash_value(const Json& value, std::uint64_t seed, std::uint64_t& work);

// --- words for violations, schema_words.cpp
std::string type_words(std::uint8_t types);
// "string \"abc\"".
std::string typed_value(const Json& value);
std::string choice_words(const std::vector<Json>& choices);
std::string shown_text(std::string_view text);
std::string clipped(std::string text, std::size_t size);
// ", did you mean \"color\"?", or ", known keys: ..." for short lists, or nothing.
std::string known_keys_hint(std::string_view key, const ObjectRules& rules);

}  // namespace tug::detail
