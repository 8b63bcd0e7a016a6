#include "agent/turn.h"

namespace tug {

NextStep resolve(const TurnFacts& turn) noexcept {
  if (turn.finish == Finish::refusal) {
    return next::Unexpected{StopReason::refusal, "the model refused"};
  }
  const bool cut = turn.finish == Finish::length;
  if (turn.calls) {
    if (cut) return next::Correct{next::Correct::What::cut_calls};
    return next::CallTools{};
  }
  if (turn.finish == Finish::pause) return next::Pause{};
  if (!turn.text) {
    if (turn.empty_before < kMaxEmptyAnswers) return next::Correct{next::Correct::What::empty};
    return next::Unexpected{StopReason::error, "the model gave an empty answer twice"};
  }
  if (!cut) return next::Finish{};
  if (turn.continued < kMaxContinuations) return next::Correct{next::Correct::What::cut_text};
  return next::Finish{.cut = true};
}

}  // namespace tug
