// What every kind of event carries: the schema of its `data` and what it means.
#pragma once

#include <string>
#include <string_view>

#include "tug/core/json.h"
#include "tug/journal/event.h"

namespace tug {

struct KindInfo {
  Kind kind;
  std::string_view meaning;
  Json data;  // JSON Schema of `data`, from its payload struct
};

// Null for `other`. Made once, then shared; any thread.
const KindInfo* kind_info(Kind kind);

// docs/events.md.
std::string events_markdown();

}  // namespace tug
