// The rules that every backend keeps, and the errors they end in.
#pragma once

#include "tug/journal/record_store.h"

namespace tug {

// The info of a root as its first batch makes it.
RootInfo first_info(const Batch& batch);
// The batch comes from the owner's epoch and goes on where the root stands; else `denied` or
// `internal`.
Result<void> check_fence(const RootInfo& info, const Batch& batch);
// Nobody else alive owns the root; else `denied`.
Result<void> may_claim(const RootInfo& info, const Owner& claimant);

Failure no_such_root(const RunId& root, const std::string& where);
Failure no_such_blob(const Digest& digest, const std::string& where);
Failure no_such_base(const Base& base);
Failure already_exists(const RunId& root);

}  // namespace tug
