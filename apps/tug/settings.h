// The keys of the configuration: which there are and what each may hold, in a file, in the
// environment and on the command line alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug::cli {

struct KeyInfo {
  enum class Shape : std::uint8_t {
    text,
    words,
    patterns,
    choice,
    count,
    amount,
    on_off,
    schema,
    address,   // that begins with http:// or https://
    variable,  // the name of one; never shown, since it may be a key by mistake
    texts,     // a table of strings
    table,     // of anything
  };
  // "limits.max_turns"; "models[].id" for every row of [[models]]; "providers.*.api" for a table of
  // any name.
  std::string_view key;
  Shape shape;
  std::string_view expects;  // for people: "a whole number from 0"
  std::int64_t least = 0;    // of a count or an amount
  std::int64_t most = 0;
  std::string_view choices = {};  // "auto|sequential"; of words: what may stand for the list
  bool secret = false;            // its value is not for eyes
  bool in_row() const { return key.contains("[]") || key.contains('*'); }
  // A table that is one value.
  bool whole() const {
    return shape == Shape::schema || shape == Shape::texts || shape == Shape::table;
  }
  // What the layers say counts together, the lowest first; elsewhere the highest layer wins.
  bool adds_up() const { return shape == Shape::patterns; }
};

std::span<const KeyInfo> config_keys();
// Whether there are keys below this one: "limits".
bool is_section(std::string_view key);
// Null for what is no key. The number of a row does not matter: "models[3].id" is "models[].id",
// nor does the name of a table that may have any: "providers.mine.api" is "providers.*.api".
const KeyInfo* find_key(std::string_view key);
// For a key that nobody knows: what to do about it. Of a file that is one row ("agents[0]."), that
// is left out of what is said.
std::string nearest_key(std::string_view key, std::string_view row = {});
// Whether keys like that are the names of rows: "hooks", "agents[2].hooks".
bool is_row_list(std::string_view key);

// Some settings have two names: what sets one sets the other, which counts `more`.
struct Twin {
  std::string_view key;
  std::int64_t more = 0;
};
std::optional<Twin> twin_of(std::string_view key);

// The value as it will be used; the error says what was expected, not where.
Result<Json> check_value(const KeyInfo& info, const Json& value);
// The same from text: `TUG_TOOLS=read,list`, `--max-turns 3`. "none" is an empty list of words.
Result<Json> value_from_text(const KeyInfo& info, std::string_view text);

// "limits.max_turns" as TUG_LIMITS__MAX_TURNS.
std::string variable_of(std::string_view key);

}  // namespace tug::cli
