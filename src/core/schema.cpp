#include "tug/core/schema.h"

#include "core/schema_compile.h"
#include "core/schema_validate.h"
#include "core/try.h"

namespace tug {

Schema::Schema(std::shared_ptr<const detail::SchemaProgram> program) noexcept
    : program_(std::move(program)) {}

Result<Schema> Schema::compile(const Json& schema, SchemaOptions options) {
  TUG_TRY(program, detail::SchemaCompiler::compile(schema, options));
  return Schema(std::move(program));
}

const Json& Schema::source() const noexcept { return program_->documents.front(); }

bool Schema::valid(const Json& instance) const {
  detail::SchemaValidator validator(*program_);
  return validator.run(instance) && !validator.stopped();
}

Result<std::vector<Violation>> Schema::check(const Json& instance) const {
  std::vector<Violation> violations;
  detail::SchemaValidator quick(*program_);
  const bool ok = quick.run(instance);
  if (auto why = quick.stopped()) return Failure(*std::move(why));
  if (ok) return violations;
  detail::SchemaValidator thorough(*program_);
  thorough.run(instance, violations);
  // Saying everything takes more steps than finding the first: what was found still counts.
  if (auto why = thorough.stopped(); why && violations.empty()) return Failure(*std::move(why));
  return violations;
}

std::string to_string(const Violation& violation) {
  return (violation.instance_path.empty() ? "(root)" : violation.instance_path) + ": " +
         violation.message;
}

std::string verdict_line(std::span<const Violation> violations) {
  if (violations.empty()) return "valid";
  std::string out = "invalid ";
  for (const Violation& violation : violations) {
    if (&violation != violations.data()) out += "; ";
    out += to_string(violation);
  }
  return out;
}

}  // namespace tug
