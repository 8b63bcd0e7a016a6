#pragma once

namespace tug {

// What debuggers and `top -H` show; at most 15 characters.
void name_this_thread(const char* name) noexcept;

}  // namespace tug
