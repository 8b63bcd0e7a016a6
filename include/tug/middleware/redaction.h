// Words that nobody should read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tug/middleware/middleware.h"

namespace tug {

struct RedactionOptions {
  std::string mask = "[redacted]";
  // In the arguments of calls too. Tools then get the mask; it must not break JSON.
  bool arguments = false;
};

// Literal patterns, one pass from left to right, the longest that fits first; what was put in is
// not looked at again. A mask that stands in the text already is left alone, so doing it twice is
// doing it once, also where a pattern is part of the mask. Empty patterns are none.
std::string redacted(std::string_view text, const std::vector<std::string>& patterns,
                     std::string_view mask);

// Masks what a model says, text and reasoning, before anyone sees it, wherever the stream is cut,
// and the results of tools with their metadata. What goes to the model is not touched. The raw
// replies of a provider, in which it may stand in pieces, are not kept.
MiddlewarePtr make_redaction(std::vector<std::string> patterns, RedactionOptions options = {});

}  // namespace tug
