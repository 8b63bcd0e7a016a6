#include "tug/io/environment.h"

#include <cstdlib>

namespace tug {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (!value || !*value) return std::nullopt;
  return std::string(value);
}

}  // namespace tug
