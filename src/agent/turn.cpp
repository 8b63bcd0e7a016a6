#include "agent/turn.h"

namespace tug {
namespace {

NextStep judged(const TurnFacts& turn, bool cut) noexcept {
  if (turn.answer != Answer::misfit) return next::Finish{.cut = cut};
  if (turn.may_correct) return next::Correct{next::Correct::What::output};
  return next::Unexpected{StopReason::output_validation_failed,
                          "the answer does not fit its schema, and no correction is left"};
}

}  // namespace

NextStep resolve(const TurnFacts& turn) noexcept {
  if (turn.finish == Finish::refusal) {
    return next::Unexpected{StopReason::refusal, "the model refused"};
  }
  const bool cut = turn.finish == Finish::length;
  if (turn.calls || turn.finals > 0) {
    if (cut) return next::Correct{next::Correct::What::cut_calls};
    if (turn.finals == 1 && !turn.calls) return judged(turn, false);
    // One that is not alone is answered while the others are admitted.
    return next::CallTools{};
  }
  if (turn.finish == Finish::pause) return next::Pause{};
  if (!turn.text) {
    if (turn.empty_before < kMaxEmptyAnswers) return next::Correct{next::Correct::What::empty};
    return next::Unexpected{StopReason::error, "the model gave an empty answer twice"};
  }
  if (turn.nudge) return next::Correct{next::Correct::What::nudge};
  if (cut && turn.continued < kMaxContinuations) {
    return next::Correct{next::Correct::What::cut_text};
  }
  return judged(turn, cut);
}

}  // namespace tug
