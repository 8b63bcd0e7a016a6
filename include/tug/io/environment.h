// The environment of this process: the one place that reads it.
#pragma once

#include <optional>
#include <string>

namespace tug {

// Nothing when it is not set, or empty. Any thread, as long as nobody changes the environment.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace tug
