#include "agent/turn.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

using What = next::Correct::What;

struct Row {
  const char* says;
  TurnFacts turn;
  NextStep means;
};

const Row kTable[] = {
    {"text that stopped is the answer", {.text = true}, next::Finish{}},
    {"an unknown finish with text is the answer",
     {.finish = Finish::other, .text = true},
     next::Finish{}},
    {"tool_calls without calls but with text is the answer",
     {.finish = Finish::tool_calls, .text = true},
     next::Finish{}},
    {"calls are run", {.finish = Finish::tool_calls, .calls = true}, next::CallTools{}},
    {"calls are run whatever the finish is called",
     {.finish = Finish::stop, .calls = true, .text = true},
     next::CallTools{}},
    {"calls beside a pause are run", {.finish = Finish::pause, .calls = true}, next::CallTools{}},
    {"calls of a cut turn never run",
     {.finish = Finish::length, .calls = true, .text = true},
     next::Correct{What::cut_calls}},
    {"a cut text goes on", {.finish = Finish::length, .text = true}, next::Correct{What::cut_text}},
    {"a cut text goes on three times",
     {.finish = Finish::length, .text = true, .continued = 2},
     next::Correct{What::cut_text}},
    {"and then is taken as it is",
     {.finish = Finish::length, .text = true, .continued = 3},
     next::Finish{.cut = true}},
    {"an empty answer is asked for again", {}, next::Correct{What::empty}},
    {"also when it was cut", {.finish = Finish::length}, next::Correct{What::empty}},
    {"a second empty answer is an error",
     {.empty_before = 1},
     next::Unexpected{StopReason::error, "the model gave an empty answer twice"}},
    {"a pause asks again", {.finish = Finish::pause, .text = true}, next::Pause{}},
    {"a pause may be empty", {.finish = Finish::pause, .empty_before = 1}, next::Pause{}},
    {"a turn that is not done is told what it wants",
     {.text = true, .nudge = true},
     next::Correct{What::nudge}},
    {"an answer that fits its schema is the answer",
     {.text = true, .answer = Answer::fits},
     next::Finish{}},
    {"one that does not is corrected",
     {.text = true, .answer = Answer::misfit, .may_correct = true},
     next::Correct{What::output}},
    {"as long as corrections are left",
     {.text = true, .answer = Answer::misfit},
     next::Unexpected{StopReason::output_validation_failed,
                      "the answer does not fit its schema, and no correction is left"}},
    {"a call of final_result alone is the answer",
     {.finish = Finish::tool_calls, .finals = 1, .answer = Answer::fits},
     next::Finish{}},
    {"and corrected when it does not fit",
     {.finish = Finish::tool_calls, .finals = 1, .answer = Answer::misfit, .may_correct = true},
     next::Correct{What::output}},
    {"beside other calls it is not final",
     {.finish = Finish::tool_calls, .calls = true, .finals = 1},
     next::CallTools{}},
    {"two of them are no answer", {.finish = Finish::tool_calls, .finals = 2}, next::CallTools{}},
    {"one that was cut is not taken",
     {.finish = Finish::length, .finals = 1, .answer = Answer::fits},
     next::Correct{What::cut_calls}},
    {"an answer that was cut goes on before it is judged",
     {.finish = Finish::length, .text = true, .answer = Answer::misfit, .may_correct = true},
     next::Correct{What::cut_text}},
    {"a refusal has no answer to judge",
     {.finish = Finish::refusal, .text = true, .answer = Answer::fits},
     next::Unexpected{StopReason::refusal, "the model refused"}},
    {"a refusal ends the run, whatever else is in the turn",
     {.finish = Finish::refusal, .calls = true, .text = true},
     next::Unexpected{StopReason::refusal, "the model refused"}},
};

TEST(Turn, MeansWhatTheTableSays) {
  for (const Row& row : kTable) EXPECT_TRUE(resolve(row.turn) == row.means) << row.says;
}

}  // namespace
}  // namespace tug
