// Amounts in few characters, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tug/core/ids.h"

namespace tug::cli {

std::string thousands(std::int64_t tokens);                 // 999, 1.2k, 32k
std::string counted(std::int64_t count, const char* what);  // "1 turn", "2 turns"
std::string duration(std::int64_t milliseconds);            // 35 ms, 1.2 s, 2 min 5 s
std::string clip_columns(std::string text, std::size_t columns);
// The last six letters of an id: what `runs` shows.
std::string short_id(const RunId& id);

}  // namespace tug::cli
