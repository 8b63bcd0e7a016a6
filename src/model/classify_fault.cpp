#include "tug/model/faults.h"

namespace tug {

std::optional<std::int64_t> stated_wait_ms(const FaultReply&) { return std::nullopt; }

Error classify_fault(const FaultSource& who, const FaultReply& reply) {
  return fault_error(who, Fault::unknown, "answered " + std::to_string(reply.status));
}

}  // namespace tug
