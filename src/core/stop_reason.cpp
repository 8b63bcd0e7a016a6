#include "tug/core/stop_reason.h"

#include "tug/core/enum_names.h"

namespace tug {

std::string_view name_of(StopReason reason) noexcept { return enum_name(reason); }
std::optional<StopReason> stop_reason_from(std::string_view name) noexcept {
  return enum_value<StopReason>(name);
}

}  // namespace tug
