// Text from outside on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tug {

// Everything that could move the cursor, colour, clear, retitle or reorder what is shown becomes
// visible instead: control bytes (C0, DEL, C1) and the marks that turn the direction of text are
// written as \n, \t or \u001b. `keep` lets line feeds through. Invalid UTF-8 becomes U+FFFD.
enum class Newlines : bool { escape, keep };
std::string terminal_text(std::string_view text, Newlines newlines = Newlines::escape);

}  // namespace tug
