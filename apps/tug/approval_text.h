// Calls that wait for approval, in words for a person. Everything here is harmless on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tug/context/run_result.h"

namespace tug::cli {

// The arguments, all of them: JSON with two spaces a level, where a string of several lines stands
// as one string a line. What acts on a terminal, or is not seen there, is written as an escape of
// JSON, so that what is read is what is run.
std::string shown_arguments(const Json& arguments);

// A larger call is not shown, and what is not shown cannot be approved.
inline constexpr std::size_t kMaxShownCall = 64u << 10;

// What a person should know before reading it: letters that look like others.
std::string warning_about(const Json& arguments);

// A line for each: call, tool, arguments (clipped) and why it asks.
std::string pending_list(const std::vector<PendingApproval>& pending);

}  // namespace tug::cli
