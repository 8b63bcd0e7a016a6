// A harness as the command line and the configuration ask for it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "config.h"
#include "providers.h"
#include "run_flags.h"
#include "tug/agent/harness.h"
#include "tug/journal/record_store.h"
#include "tug/model/models.h"

namespace tug::cli {

struct Session {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<RecordStore> store;
  std::shared_ptr<Models> models;
  std::unique_ptr<Harness> harness;
  RunOptions options;  // of the run to come
  CacheSettings cache;
  OutputFlags output;
  bool kept = true;    // on disk
  bool hooks = false;  // commands of the configuration are run
  bool fail_on_deny = false;
  bool prompts = false;  // a person is asked about calls that need approval
  std::string root;      // the folder that the tools see
};

// What a run to go on with was told before: it stays unless a flag says otherwise.
struct Recorded {
  std::string model;
  std::string address = {};  // where it was asked
  std::optional<Permissions> permissions;
};

// Every failure is one of usage or configuration: nothing has run. Without a store the journal is
// opened, and made when it is missing; in memory with --no-session.
Result<Session> open_session(const Options& options, const RunFlags& flags,
                             std::shared_ptr<RecordStore> store, const Recorded& recorded = {});

// The journal for reading: null when there is none yet.
Result<std::shared_ptr<RecordStore>> find_journal(const Options& options);

// The built-in tools for a root folder.
Result<std::vector<ToolPtr>> built_in_tools(const std::string& root);

}  // namespace tug::cli
