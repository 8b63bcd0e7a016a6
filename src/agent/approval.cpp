#include "tug/agent/approval.h"

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"

namespace tug {
namespace {

struct Plain {
  std::string call;
  bool approved;
  std::optional<std::string> reason;
  std::optional<Json> arguments;
  std::optional<GrantScope> scope;
  std::optional<std::string> pattern;
  std::optional<std::string> run;
  std::optional<std::string> digest;
};

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

std::string_view name_of(GrantScope scope) noexcept { return enum_name(scope); }

Json to_json(const Decision& decision) {
  // Binding all of them: a field that is added must be decided about here.
  const auto& [call, approved, reason, arguments, scope, pattern, run, digest] = decision;
  return write_json(Plain{
      .call = call.text(),
      .approved = approved,
      .reason = given(reason),
      .arguments = arguments,
      .scope = scope == GrantScope::once ? std::nullopt : std::optional(scope),
      .pattern = given(pattern),
      .run = given(run.text()),
      .digest = given(digest),
  });
}

Result<Decision> decision_from(const Json& json) {
  TUG_TRY(plain, read_json<Plain>(json));
  if (plain.call.empty()) {
    return fail(ErrorKind::invalid, "$.call: expected the id of a call that waits, got \"\"");
  }
  if (plain.arguments && !plain.arguments->is_object()) {
    return fail(ErrorKind::invalid, "$.arguments: expected an object");
  }
  return Decision{.call = CallId(std::move(plain.call)),
                  .approved = plain.approved,
                  .reason = plain.reason.value_or(std::string()),
                  .arguments = std::move(plain.arguments),
                  .scope = plain.scope.value_or(GrantScope::once),
                  .pattern = plain.pattern.value_or(std::string()),
                  .run = RunId(plain.run.value_or(std::string())),
                  .digest = plain.digest.value_or(std::string())};
}

std::vector<Decision> decide_all(const std::vector<PendingApproval>& pending, bool approved,
                                 const std::string& reason) {
  std::vector<Decision> decisions;
  decisions.reserve(pending.size());
  for (const PendingApproval& each : pending) {
    decisions.push_back({.call = each.call,
                         .approved = approved,
                         .reason = reason,
                         .run = each.run,
                         .digest = each.digest});
  }
  return decisions;
}

}  // namespace tug
