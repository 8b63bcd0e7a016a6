// Each public name that docs/from-the-seeds.md promises so far, mentioned once. That it compiles is
// the test.
#include <cstdio>

#include "tug/agent/fold.h"
#include "tug/agent/harness.h"
#include "tug/context/context.h"
#include "tug/context/transcript.h"
#include "tug/core/codec.h"
#include "tug/core/cost.h"
#include "tug/core/error_json.h"
#include "tug/core/rng.h"
#include "tug/core/schema.h"
#include "tug/core/scope.h"
#include "tug/core/sync.h"
#include "tug/core/usage.h"
#include "tug/core/window.h"
#include "tug/io/sim_engine.h"
#include "tug/journal/catalogue.h"
#include "tug/journal/journal.h"
#include "tug/journal/payloads.h"
#include "tug/journal/queued_sink.h"
#include "tug/model/models.h"
#include "tug/model/offline.h"
#include "tug/model/script.h"
#include "tug/store/record_stores.h"
#include "tug/store/store.h"
#include "tug/testkit/models.h"
#include "tug/tools/batch.h"
#include "tug/tools/file_tools.h"
#include "tug/tools/invoke.h"
#include "tug/tools/tool_set.h"
#include "tug/tug.h"
#include "tug/version.h"

using namespace tug;

template <class... Names>
constexpr std::size_t count() {
  return sizeof...(Names);
}

int main() {
  constexpr std::size_t types =
      count<Error, Limit, Overflow, Provider, Denied, Result<int>, Task<int>, Loop, CancelToken,
            CancelHandle, Scope, Semaphore, Channel<int>, Until, Json, Schema, Message, ToolSpec,
            ToolCall, ToolResult, Origin, Usage, Cost, Price, ContextWindow, Boundary, Ids, Rng,
            Digest, Fingerprint, Engine, SimEngine, Event, Lineage, RootLog, Journal, RecordStore,
            Record, Base, Sink, QueuedSink, Store, Stores, Context, Services, Budget, Hold,
            Transcript, ChildSpec, RootSpec, LogEntry, LogOptions, LogSettings, SnapshotOptions,
            Harness, HarnessOptions, Run, RunOptions, RunLimits, RunResult, RunStatusRecord,
            ResumeState, ToolCallRecord, FoldedRoot, Model, ModelRequest, ModelProfile, Models,
            ScriptTurn, Tool, ToolSet, ToolOptions, Invocation, ModelRetry, Injected<int>,
            Workspace, testkit::RecordingModel>();
  void* functions[] = {
      reinterpret_cast<void*>(&estimate_cost),
      reinterpret_cast<void*>(&verify_root),
      reinterpret_cast<void*>(&make_memory_record_store),
      reinterpret_cast<void*>(&open_sqlite_record_store),
      reinterpret_cast<void*>(&events_markdown),
      reinterpret_cast<void*>(&run_options_from),
      reinterpret_cast<void*>(&exit_code),
      reinterpret_cast<void*>(&fold_root),
      reinterpret_cast<void*>(&make_models),
      reinterpret_cast<void*>(&make_offline_model),
      reinterpret_cast<void*>(&parse_script),
      reinterpret_cast<void*>(&check_arguments),
      reinterpret_cast<void*>(&run_batch),
      reinterpret_cast<void*>(&make_file_tools),
      reinterpret_cast<void*>(&open_workspace),
      reinterpret_cast<void*>(&testkit::scripted),
      reinterpret_cast<void*>(&testkit::cycling),
      reinterpret_cast<void*>(&testkit::constant),
      reinterpret_cast<void*>(&testkit::echo),
      reinterpret_cast<void*>(&testkit::slow),
      reinterpret_cast<void*>(&testkit::streaming),
  };
  std::printf("%zu types, %zu functions\n", types, sizeof functions / sizeof *functions);
}
