// The text of an event's data, the message included: the same bytes in the journal and on the
// stream.
#pragma once

#include <string>

#include "tug/journal/event.h"

namespace tug {

void append_data(const Event& event, std::string& out);

}  // namespace tug
