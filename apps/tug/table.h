// Columns for people.
#pragma once

#include <string>
#include <vector>

#include "tug/core/time.h"

namespace tug::cli {

// Rows of harmless text, each column as wide as its widest cell, the last one as it is; lines are
// cut to the width of the terminal when stdout is one.
std::string table(const std::vector<std::vector<std::string>>& rows);

// "3 s", "12 min", "5 h", "9 d": how long ago.
std::string age(Time then, Time now);
Time now();

}  // namespace tug::cli
