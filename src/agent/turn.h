// What a model's turn means. Pure: no I/O, no state; the loop acts on the answer.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "tug/core/model_turn.h"
#include "tug/core/stop_reason.h"

namespace tug {

namespace next {
// The answer is there.
struct Finish {
  bool cut = false;  // it was cut by length once too often
  friend bool operator==(const Finish&, const Finish&) = default;
};
struct CallTools {
  friend bool operator==(const CallTools&, const CallTools&) = default;
};
// The turn cannot stand as it is, but the model may do better.
struct Correct {
  enum class What : std::uint8_t {
    cut_calls,  // calls of a turn cut by length are never run; each is answered
    cut_text,   // the text goes on in the next turn
    empty,      // it said nothing; it is asked again
    nudge,      // it is not done, and says what it wants to be told
    output,     // the answer does not fit its schema
  };
  What what = What::empty;
  friend bool operator==(const Correct&, const Correct&) = default;
};
// The model wants to be asked again, as it stands.
struct Pause {
  friend bool operator==(const Pause&, const Pause&) = default;
};
struct Unexpected {
  StopReason stop = StopReason::unexpected_model_behavior;
  std::string_view why;
  friend bool operator==(const Unexpected&, const Unexpected&) = default;
};
}  // namespace next

using NextStep =
    std::variant<next::Finish, next::CallTools, next::Correct, next::Pause, next::Unexpected>;

inline constexpr std::uint32_t kMaxContinuations = 3;
inline constexpr std::uint32_t kMaxEmptyAnswers = 1;

// What the answer is worth, if this turn is one: the only call of final_result, or the text.
enum class Answer : std::uint8_t {
  free,    // any text will do
  fits,    // it fits its schema
  misfit,  // it does not, or it is text where final_result was to be called
};

struct TurnFacts {
  tug::Finish finish = tug::Finish::stop;
  bool calls = false;        // of tools; final_result is none
  std::uint32_t finals = 0;  // calls of final_result, where that is how to answer
  bool text = false;
  bool nudge = false;
  Answer answer = Answer::free;
  bool may_correct = false;        // corrections of the answer are left
  std::uint32_t continued = 0;     // turns before this one, in a row, that were cut texts
  std::uint32_t empty_before = 0;  // turns before this one, in a row, that said nothing
};
NextStep resolve(const TurnFacts& turn) noexcept;

}  // namespace tug
