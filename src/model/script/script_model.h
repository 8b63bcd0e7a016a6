// The turns of a script as a model, and the order in which they are served.
#pragma once

#include <cstdint>
#include <vector>

#include "model/speech.h"
#include "tug/model/script.h"

namespace tug {

enum class ScriptOrder : std::uint8_t {
  once,     // the first fitting turn that was not used
  in_turn,  // one after the other, and then again
};

ModelPtr make_script_model(std::vector<ScriptTurn> turns, ModelProfile profile, ScriptOrder order);

// What one line says; its calls have ids.
Speech speech_of(ScriptTurn turn, const ModelProfile& profile);

}  // namespace tug
