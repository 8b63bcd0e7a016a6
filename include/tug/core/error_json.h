// An error as events, results and `--output-format json` carry it.
#pragma once

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug {

// Waiting or reconnecting and then repeating may help.
bool is_retryable(const Error& error) noexcept;
// {kind, message, detail, fix, retryable}; detail and fix are null when there is none. The detail's
// own kind is its member `type`.
Json to_json(const Error& error);

}  // namespace tug
