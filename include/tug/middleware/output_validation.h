// A final answer that has to please.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tug/middleware/middleware.h"

namespace tug {

// What is wrong with a final answer, for the model to read; empty when nothing is. On the loop;
// returns at once.
using OutputCheck = std::function<std::string(const ModelTurn& turn)>;

// Checks turns that call no tools and were not cut short, or, where the answer is a call of
// final_result, turns that call it alone (the answer is its arguments). A bad answer is set aside,
// and the model is asked again with that answer and what is wrong with it behind the conversation;
// neither stays in the transcript. After `retries` of that for one answer the run ends as
// `output_validation_failed`, with an error (`invalid`) that says what was wrong last.
MiddlewarePtr make_output_validation(OutputCheck check, std::uint32_t retries = 1);

}  // namespace tug
