// Windows of models that an overflow has taught: remembered in the state folder.
#pragma once

#include <memory>
#include <string>

#include "tug/journal/sink.h"
#include "tug/model/models.h"

namespace tug::cli {

// What was learned before. A file that cannot be read teaches nothing.
void remember_windows(Models& models, const std::string& folder);
// Writes down what is learned from now on.
std::shared_ptr<Sink> make_window_keeper(std::string folder);

}  // namespace tug::cli
