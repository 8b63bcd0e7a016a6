// What is said about calls that wait for approval.
//
//   for (const PendingApproval& pending : result.pending) ..
//   Run run = harness.approve(result.root, {Decision::approve(pending.call)});
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tug/context/run_result.h"
#include "tug/core/error.h"
#include "tug/core/ids.h"
#include "tug/core/json.h"

namespace tug {

// For how long an approval holds.
enum class GrantScope : std::uint8_t {
  once,  // this call
  run,   // later calls, too, in the run that asked and below it
  tree,  // in the whole tree
};
std::string_view name_of(GrantScope scope) noexcept;

struct Decision {
  CallId call;
  bool approved = false;
  std::string reason;             // told to the model when it is denied
  std::optional<Json> arguments;  // instead of the model's; checked like those
  GrantScope scope = GrantScope::once;
  std::string pattern;  // what a grant covers: `tool(glob)`; every call of the tool when empty
  RunId run;            // that asked; needed only where two runs wait with the same call id
  // Of what was shown (PendingApproval::digest). Where it is given, anything else that waits under
  // that id is not decided by it.
  std::string digest;

  static Decision approve(CallId call) {
    Decision decision;
    decision.call = std::move(call);
    decision.approved = true;
    return decision;
  }
  static Decision deny(CallId call, std::string reason = {}) {
    Decision decision;
    decision.call = std::move(call);
    decision.reason = std::move(reason);
    return decision;
  }
  friend bool operator==(const Decision&, const Decision&) = default;
};
Json to_json(const Decision& decision);
// `invalid`, naming the field.
Result<Decision> decision_from(const Json& json);

// One decision for every pending call.
std::vector<Decision> decide_all(const std::vector<PendingApproval>& pending, bool approved,
                                 const std::string& reason = {});

}  // namespace tug
