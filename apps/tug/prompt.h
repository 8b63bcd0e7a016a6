// What a run is asked: the words of the command line and what is piped in.
#pragma once

#include <string>

#include "tug/core/error.h"

namespace tug::cli {

inline constexpr std::size_t kMaxPiped = 1u << 20;

enum class Piped : bool { leave, append };  // what is on stdin beside a prompt

// The prompt `word`; "-" is stdin. With `append`, what is piped in follows after a blank line (a
// pipe, a file or a socket is read to its end; a terminal or a device never), and is the prompt
// when there is no word. `invalid` when more than kMaxPiped bytes are piped in. May be empty.
Result<std::string> read_prompt(const std::string& word, Piped piped);

}  // namespace tug::cli
