// Words of requests that have to fit what a provider takes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "model/dialect.h"

namespace tug {

// A tool's name as [A-Za-z_][A-Za-z0-9_-]{0,63}: itself where it is one, else something like it
// that no other name becomes.
std::string wire_tool_name(std::string_view name);
// The tool of the request that the provider means; the name as it came when there is none.
std::string tool_named(const ModelRequest& request, std::string_view name);

// The effort that the model takes instead of `wanted`: the next one below, else the lowest one that
// thinks. Empty for a word that is no effort.
std::string_view nearest_effort(const ModelProfile& profile, std::string_view wanted) noexcept;

// The thread of a run as this provider may know it; empty when there is none.
std::string wire_thread(const WireCall& call);

bool has_quirk(const WireCall& call, std::string_view quirk) noexcept;

// For messages about a failure of this call.
FaultSource fault_source(const WireCall& call) noexcept;

// What a model wrote as the arguments of a call, as the object that an API wants: also out of a
// string that holds one; what is no object stands in {"unparsed_arguments": ".."}.
std::string arguments_object(std::string_view arguments);

}  // namespace tug
