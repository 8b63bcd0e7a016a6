// Opening a state folder: what is refused, what is made, in which order.
#pragma once

#include <string>

#include "store/file_lock.h"
#include "store/sqlite_db.h"
#include "tug/store/record_stores.h"

namespace tug {

struct OpenedJournal {
  std::string path;  // of journal.db
  FileLock lock;
  Database writer;
};

Result<OpenedJournal> open_journal_file(const std::string& folder, const SqliteOptions& options);

}  // namespace tug
