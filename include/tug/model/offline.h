// `offline/demo`: a small planner that answers a handful of requests by calling the built-in tools.
// Not a language model, deterministic, no network, no key.
#pragma once

#include "tug/model/model.h"

namespace tug {

// What it says next: a pure function of the request.
ModelTurn plan_offline(const ModelRequest& request);

ModelPtr make_offline_model();

}  // namespace tug
