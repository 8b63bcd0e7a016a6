// A turn that is known as a whole before it is said: what scripts, the offline planner and the
// models of tests answer with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tug/core/time.h"
#include "tug/model/model.h"

namespace tug {

struct Speech {
  ModelTurn turn;
  // Where the pieces of the text end; empty: it comes in one.
  std::vector<std::uint32_t> cuts;
  Duration before{};           // the first event
  Duration between{};          // two pieces of the text
  std::optional<Error> error;  // instead of the closing turn
};

// Streams it: each reasoning and each call as one delta, in the order of the message, then the
// turn. Failed waits have the kind of wait_error.
std::unique_ptr<ModelStream> make_speech_stream(std::shared_ptr<const Speech> speech, Until until);

// Ends of `pieces` pieces of about as many characters each; fewer when there are fewer characters.
std::vector<std::uint32_t> cut_evenly(std::string_view text, std::uint32_t pieces);
// Ends of pieces of at most `bytes` bytes, but of one character at least.
std::vector<std::uint32_t> cut_by_size(std::string_view text, std::size_t bytes);
// Ends of words, with the white space that follows them.
std::vector<std::uint32_t> cut_by_word(std::string_view text);

}  // namespace tug
