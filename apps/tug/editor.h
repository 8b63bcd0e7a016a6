// A text in the user's own editor.
#pragma once

#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug::cli {

// Runs $VISUAL, else $EDITOR, else vi on a file that only the user can read, and gives what it
// holds afterwards. `invalid` when the editor cannot be run or ends with an error, or when the text
// has become too large. Blocks; the terminal is the editor's meanwhile.
Result<std::string> edit_text(std::string_view text, const char* suffix);

}  // namespace tug::cli
