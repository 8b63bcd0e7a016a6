#include "tug/core/model_turn.h"

#include "tug/core/enum_names.h"

namespace tug {

std::string_view name_of(Finish finish) noexcept { return enum_name(finish); }
std::optional<Finish> finish_from(std::string_view name) noexcept {
  return enum_value<Finish>(name);
}

}  // namespace tug
