// JSON Schema, draft 2020-12, compiled once and checked many times.
//
// A Schema is a value: copies share one immutable compiled form and may be used from many threads
// at once. Both sides may be hostile: a schema never makes a check hang, overflow the stack or
// fetch anything, and neither does a value. All vocabularies of the draft are there; `format` and
// `content*` are annotations as the draft has it, and formats are asserted on request.
//
// References: inside the document, to its embedded `$id`s, and to the published 2020-12
// metaschemas, which are built in. Any place of the document may be referred to, `definitions` and
// unknown keywords included. Patterns are ECMA-262 as far as RE2 goes: no look-around, no back
// references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug {

namespace detail {
struct SchemaProgram;
}

struct SchemaOptions {
  bool assert_format = false;      // else `format` says something and checks nothing
  std::size_t max_violations = 8;  // of one check
  // Of one check; a step is one subschema applied, one pattern tried on a key, or 256 bytes or 8
  // values looked at. A pattern of more than 50 or so instructions makes a long text cost more.
  std::uint64_t max_steps = 10'000'000;
};

// One thing that is wrong with a value.
struct Violation {
  std::string instance_path;  // JSON pointer, "" for the whole value
  std::string schema_path;    // JSON pointer to the keyword; behind "URI#" in a metaschema
  std::string message;        // what was expected, what was there

  friend bool operator==(const Violation&, const Violation&) = default;
};

class Schema {
 public:
  // `invalid` for a schema that is not one, naming the place, and for a reference that leads
  // nowhere or round in circles; `unsupported` for another draft and for patterns beyond RE2, be it
  // in kind or in size (16 KiB each, 1,000,000 instructions of RE2 for all of a schema).
  static Result<Schema> compile(const Json& schema, SchemaOptions options = {});

  // Yes or no, without allocating in the usual case. No when the budget was spent: ask `check` why.
  bool valid(const Json& instance) const;

  // What is wrong, the first few in document order; empty when the value is valid. Fails with
  // `exhausted` when `max_steps` are spent or value and schema are nested too deep, which is also
  // what a dynamic reference does that goes round in circles.
  Result<std::vector<Violation>> check(const Json& instance) const;

  // What was compiled.
  const Json& source() const noexcept;

 private:
  explicit Schema(std::shared_ptr<const detail::SchemaProgram> program) noexcept;
  std::shared_ptr<const detail::SchemaProgram> program_;
};

// "/a/b: expected integer, got string "x""; the whole value is called "(root)".
std::string to_string(const Violation& violation);
// One line: "valid", or "invalid " and the violations, separated by "; ".
std::string verdict_line(std::span<const Violation> violations);

}  // namespace tug
