// A JSON Schema that is named on the command line.
#pragma once

#include <string>

#include "command.h"

namespace tug::cli {

// What starts with "{" is the schema itself; anything else is a file, or stdin for "-". `invalid`
// for what cannot be read, has more than `most` bytes or is not JSON, naming it; whether it is a
// schema is not looked at.
Result<Json> read_schema(const std::string& given, std::size_t most = kMaxInput);

// The schema of an answer: an object that compiles, of at most kMaxAnswerSchema bytes. Stdin
// carries the prompt, so it is no place for it. Every error names --json-schema.
inline constexpr std::size_t kMaxAnswerSchema = 1u << 20;
Result<Json> read_answer_schema(const std::string& given);

// The same as a value of a file in `folder` (with its slash): an object is the schema, a
// text is a file, relative to that folder, or the schema itself.
Result<Json> schema_value(const Json& given, const std::string& folder);

}  // namespace tug::cli
