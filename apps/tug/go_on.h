// Going on with a run that is in the journal: what resume, fork and approve have in common.
#pragma once

#include <memory>
#include <string>

#include "command_line.h"
#include "run_flags.h"
#include "session.h"

namespace tug::cli {

struct GoOnRequest {
  std::string run;
  std::string prompt;
  bool last = false;
  std::string at;
  RunFlags flags;
};

struct GoOn {
  std::shared_ptr<RecordStore> store;
  RootInfo root;
  std::string prompt;
};

// `invalid` for a run that is not there and for words that do not fit together.
Result<GoOn> find_root(const Options& options, GoOnRequest request);
// Where the run began and with what it was told, unless flags say otherwise.
Result<Session> session_of(const Options& options, const GoOnRequest& request, const GoOn& found);
Flag run_word(GoOnRequest& request);

}  // namespace tug::cli
