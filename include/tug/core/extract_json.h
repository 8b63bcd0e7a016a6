// JSON out of what a model wrote around it.
//
// Pure functions of text; any thread. Time and memory are linear in the text, however hostile;
// nesting is capped at kMaxJsonDepth.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tug/core/json.h"

namespace tug {

// How much had to be forgiven, least first.
enum class JsonRung : std::uint8_t {
  strict,   // the text is one JSON document
  fence,    // the inside of a code fence is
  prose,    // a whole object or list stands somewhere in the text
  relaxed,  // unquoted or single-quoted keys and strings, raw line breaks in strings, commas before
            // a closing bracket, doubled braces, True, False, None
  closed,   // the text ends inside the value: open strings and brackets were closed, a key without
            // its value and a number or literal at the very end were dropped
};
std::string_view name_of(JsonRung rung) noexcept;

struct ExtractedJson {
  Json value;
  JsonRung rung = JsonRung::strict;
};

// The value that the first rung to find one finds. Whatever rung it is, the value was read strictly
// from the repaired text. From `prose` on it is an object or a list; a list in prose that holds
// nothing but numbers ("[1]", a footnote) and what is empty count only where nothing else stands.
// In `relaxed`, a list must be the whole text, and in `closed` something must be complete in it.
// Parts of a value that is malformed or cut are never taken for the whole.
//
// `invalid`: what is wrong with the likeliest value, and where in the text that begins.
Result<ExtractedJson> extract_json(std::string_view text);

// The value so far of a text that is still coming: unfinished strings are closed, unfinished keys,
// literals, escapes and characters left out, and so is a number at the very end, which may grow. A
// code fence and prose may stand before the value. For each longer prefix of a document without
// repeated keys the value only grows; after a fault it stays. Nothing when there is nothing yet.
std::optional<Json> partial_json(std::string_view text);

}  // namespace tug
