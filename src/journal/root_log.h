// The log of one root: see RootLog. Made by the journal.
#pragma once

#include <memory>

#include "journal/outbox.h"
#include "tug/core/job.h"
#include "tug/journal/journal.h"

namespace tug {

struct RootLogStart {
  LineagePtr who;
  std::shared_ptr<const Owner> owner;
  std::uint64_t epoch = 1;
  std::optional<NewRoot> create;  // unless it was claimed
  Seq last_seq = 0;
  Digest last_hash;
};

// `gone` runs when the log is, on its loop.
std::unique_ptr<RootLog> make_root_log(std::shared_ptr<Outbox> outbox, RootLogStart start,
                                       Job gone);

}  // namespace tug
