// Dates, times and durations as RFC 3339 writes them.
#pragma once

#include <string_view>

namespace tug::detail {

bool is_date(std::string_view text);
bool is_time(std::string_view text);
bool is_date_time(std::string_view text);
bool is_duration(std::string_view text);

}  // namespace tug::detail
