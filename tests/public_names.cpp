// Each public name that docs/from-the-seeds.md promises so far, mentioned once. That it compiles is
// the test.
#include <cstdio>

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
#include "tug/store/record_stores.h"
#include "tug/store/store.h"
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
            Transcript, ChildSpec, RootSpec, LogEntry, LogOptions, LogSettings, SnapshotOptions>();
  void* functions[] = {
      reinterpret_cast<void*>(&estimate_cost),
      reinterpret_cast<void*>(&verify_root),
      reinterpret_cast<void*>(&make_memory_record_store),
      reinterpret_cast<void*>(&open_sqlite_record_store),
      reinterpret_cast<void*>(&events_markdown),
  };
  std::printf("%zu types, %zu functions\n", types, sizeof functions / sizeof *functions);
}
