// Models for tests and for trying things out: no key, no network, nothing random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tug/core/time.h"
#include "tug/model/model.h"
#include "tug/model/script.h"

namespace tug::testkit {

// A turn of text, and one of calls: the short forms of ScriptTurn.
ScriptTurn says(std::string text);
ScriptTurn calls(std::string tool, std::string arguments = "{}");
ScriptTurn calls(std::vector<ScriptCall> calls);
ScriptTurn fails(int status, std::string body = "scripted failure");

// Says these turns, one per attempt; exhausted after the last.
ModelPtr scripted(std::vector<ScriptTurn> turns);
// Says these turns over and over.
ModelPtr cycling(std::vector<ScriptTurn> turns);
// Always the same text.
ModelPtr constant(std::string text);
// What the newest message says.
ModelPtr echo();
// `turn` after `delay` on the loop's clock: for cancellation, deadlines and parked runs.
ModelPtr slow(Duration delay, ScriptTurn turn);
// The text in pieces of at most `piece` bytes (never inside a character), `delay` before each
// further one.
ModelPtr streaming(std::string text, std::size_t piece, Duration delay = {});

// Passes everything on and keeps what it was asked.
class RecordingModel : public Model {
 public:
  virtual const std::vector<ModelRequest>& requests() const noexcept = 0;
};
std::shared_ptr<RecordingModel> recording(ModelPtr model);

}  // namespace tug::testkit
