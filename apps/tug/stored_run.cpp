#include "stored_run.h"

#include "core/try.h"
#include "session.h"

namespace tug::cli {

Result<StoredRun> find_stored(const Options& options, const std::string& run) {
  TUG_TRY(store, find_journal(options));
  if (!store) {
    return fail(ErrorKind::invalid, "there is no run \"" + run + "\": no run was made yet",
                "`tug runs` lists the runs");
  }
  TUG_TRY(name, find_run(*store, run));
  return StoredRun{store, name};
}

bool is_alive(const RootInfo& root) {
  return root.status == RootStatus::running && root.owner && tug::is_alive(root.owner->process);
}

const FoldedRun* find_folded(const FoldedRoot& root, const RunId& run) {
  for (const FoldedRun& folded : root.runs) {
    if (folded.who && folded.who->run_id == run) return &folded;
  }
  return nullptr;
}

Result<void> for_each_event(RecordStore& store, const RunId& root,
                            const std::function<void(const Event&)>& visit) {
  constexpr std::size_t kPage = 512;
  Seq after = 0;
  while (true) {
    TUG_TRY(records, store.read(root, after, kPage));
    for (const Record& record : records) {
      TUG_TRY(event, decode(record, store));
      visit(event);
      after = record.seq;
    }
    if (records.size() < kPage) return {};
  }
}

}  // namespace tug::cli
