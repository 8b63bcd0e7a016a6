// An error as events, results and `--output-format json` carry it.
#pragma once

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug {

// Waiting or reconnecting and then repeating may help; what the provider says outright counts more.
bool is_retryable(const Error& error) noexcept;
// {kind, message, detail, fix, retryable}; detail and fix are null when there is none. The detail's
// own kind is its member `type`.
Json to_json(const Error& error);
// The error that was written so. What cannot be read (an unknown kind, a detail of another version)
// is `internal`, or left out: an old record's error is shown, never refused.
Error error_from_json(const Json& json);

}  // namespace tug
