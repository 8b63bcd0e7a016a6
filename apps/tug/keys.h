// Keys that do not come from the environment. What is wrong is said without saying the key.
#pragma once

#include <functional>
#include <string>

#include "tug/core/error.h"
#include "tug/core/secret.h"

namespace tug::cli {

using LoadKey = std::function<Result<Secret>()>;

// The first line that a shell command says. `denied` when it fails, says nothing, or takes longer
// than half a minute; what it says on stderr is not told on, since a key may stand in it.
LoadKey key_from_command(std::string provider, std::string command);

// The first line of a file. `denied` unless it is a plain file of this user that nobody else may
// read.
LoadKey key_from_file(std::string provider, std::string path);

}  // namespace tug::cli
