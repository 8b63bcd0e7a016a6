#include "tug/middleware/control.h"

namespace tug {

void stop_with_final(const Context& ctx, std::string text) {
  const auto* slot = ctx.get<RunControlSlot>();
  if (slot) slot->control->stop_with_final(ctx.id().run_id, std::move(text));
}

void interrupt(const Context& ctx, std::string reason) {
  const auto* slot = ctx.get<RunControlSlot>();
  if (slot) slot->control->interrupt(ctx.id().run_id, std::move(reason));
}

}  // namespace tug
