// The door for programs that stop things with std::stop_token. In a header of its own: <stop_token>
// is heavy, and few need it.
#pragma once

#include <stop_token>

#include "tug/core/cancel.h"

namespace tug {

// From now on `stop` requests `token` too (`caller`), from any thread. `loop` is the loop the
// token's tree lives on; call it there.
void link(const CancelToken& token, const std::stop_token& stop, Loop& loop);

}  // namespace tug
