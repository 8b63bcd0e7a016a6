// What a run may do without being asked about, as the command line and the configuration say.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config.h"
#include "run_flags.h"
#include "tug/core/tool.h"
#include "tug/journal/record_store.h"
#include "tug/tools/permissions.h"

namespace tug::cli {

// Who could answer a question.
enum class Asked : std::uint8_t { person, later, nobody };

// `recorded` are those of a run that goes on: they stay, and only flags are added to them. What
// becomes of a call that is asked about never stays: it depends on who is there now.
Result<Permissions> configured_permissions(const Config& config, const ConfigFlags& flags,
                                           Asked asked, const std::optional<Permissions>& recorded);

// A pattern on the command line that names no tool is a typing error; `invalid`, with the nearest.
Result<void> check_pattern_flags(const ConfigFlags& flags,
                                 const std::vector<std::shared_ptr<const ToolSpec>>& tools);

// Those that a root was told last; nothing for one that was told none.
Result<std::optional<Permissions>> recorded_permissions(RecordStore& store, const RunId& root);

}  // namespace tug::cli
