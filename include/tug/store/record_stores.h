// The backends of the journal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tug/core/error.h"
#include "tug/journal/record_store.h"

namespace tug {

// Gone with the process. For tests and for `--no-session`.
std::unique_ptr<RecordStore> make_memory_record_store();

struct SqliteOptions {
  // Log pages (4 KiB) after which a commit is followed by a checkpoint.
  std::uint32_t checkpoint_pages = 4000;
  // How long to wait for another process that writes.
  std::uint32_t busy_ms = 10'000;
  // A database may not grow past this many pages; 0 is no cap.
  std::uint32_t max_pages = 0;
};

// The state folder `folder` (made with mode 0700 when missing), with journal.db and journal.lock in
// it.
//
// Many processes may have it open. WAL with synchronous=FULL; every commit runs under a shared lock
// on journal.lock and every checkpoint under an exclusive one, so that no checkpoint ever runs
// beside a commit. Refuses, and changes nothing: a folder or file that cannot be written
// (`denied`), a file that is not a journal or is damaged (`invalid`, detail Damage), one of a newer
// version (`unsupported`).
Result<std::unique_ptr<RecordStore>> open_sqlite_record_store(std::string folder,
                                                              SqliteOptions options = {});

}  // namespace tug
