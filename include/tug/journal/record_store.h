// What a backend implements: a synchronous keeper of roots, records, blobs, partials and inboxes.
//
// Everything but `read`, `blob`, `info`, `list`, `find_runs`, `partials`, `send`, `inbox` and
// `addressed` is called by one thread at a time (the committer); those may be called from any
// thread beside it. Failure kinds: `denied` (the root belongs to somebody else), `exhausted` (no
// space), `invalid` (no such root, damaged bytes: detail Damage), `unsupported` (written by a newer
// version), `overloaded` (another process writes for too long), `internal`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/io/process_identity.h"
#include "tug/journal/record.h"

namespace tug {

enum class RootStatus : std::uint8_t { pending, running, parked, completed, failed, cancelled };
std::string_view name_of(RootStatus status) noexcept;

// Who advances a root: a process, and which of its journals.
struct Owner {
  ProcessIdentity process;
  std::uint64_t serial = 0;
  friend bool operator==(const Owner&, const Owner&) = default;
};
std::string to_text(const Owner& owner);
std::optional<Owner> owner_from(std::string_view text);

struct NewRoot {
  LineagePtr who;  // the root run's own lineage
  std::optional<Base> base;
  Json summary;  // what `tug runs` shows before anything happened: prompt, model
};

struct RootInfo {
  LineagePtr who;
  std::optional<Base> base;
  Digest genesis;
  std::uint64_t epoch = 1;
  std::optional<Owner> owner;
  RootStatus status = RootStatus::pending;
  Time created{};
  Time updated{};
  Json summary;
  Seq last_seq = 0;
  Digest last_hash;
};

// Bytes of a model stream that is not finished: outside seq and chain, gone with the call's
// partner.
struct Partial {
  CallId call;
  std::uint32_t n = 0;
  std::string bytes;
};

// A command for a root from anywhere: another process, another thread.
struct InboxCommand {
  std::int64_t id = 0;
  std::string command;  // JSON
  std::string sender;
  Time created{};
};

// What one root adds in one transaction, all of it or nothing, and only under its epoch.
struct Batch {
  RunId root;
  std::uint64_t epoch = 1;
  Seq after = 0;                  // the record it goes on from, whatever it holds itself
  std::optional<NewRoot> create;  // with the first batch of a new root
  std::optional<Owner> owner;     // who creates it
  std::vector<Record> records;
  std::vector<Blob> blobs;
  std::vector<Partial> partials;
  std::vector<CallId> finished_partials;
  std::vector<std::int64_t> taken_commands;
  std::optional<RootStatus> status;
  std::optional<Json> summary;
  bool release = false;  // nobody owns the root after this
  Time now{};
};

// A run and the root it belongs to.
struct RunName {
  RunId run;
  RunId root;
  friend auto operator<=>(const RunName&, const RunName&) = default;
};

class RecordStore : public BlobSource {
 public:
  // One transaction, one verdict per batch, in order. A batch that is refused leaves no trace; the
  // others are unaffected.
  virtual std::vector<Result<void>> commit(std::span<const Batch> batches) = 0;
  // Takes a root over under the next epoch; `denied`, naming the owner, while that one lives.
  virtual Result<RootInfo> claim(const RunId& root, const Owner& owner, Time now) = 0;
  // Moves what is committed from the log of the store to its final place. Cheap when there is
  // little.
  virtual Result<void> checkpoint() = 0;

  virtual Result<RootInfo> info(const RunId& root) = 0;
  // Newest first.
  virtual Result<std::vector<RootInfo>> list(std::size_t limit) = 0;
  // Runs, children included, whose id starts or ends with `part`; newest roots first.
  virtual Result<std::vector<RunName>> find_runs(std::string_view part, std::size_t limit) = 0;
  // Records after `after`, in order, at most `limit`. Of this root alone: a base is read by its own
  // name.
  virtual Result<std::vector<Record>> read(const RunId& root, Seq after, std::size_t limit) = 0;
  virtual Result<std::vector<Partial>> partials(const RunId& root) = 0;
  virtual Result<void> send(const RunId& root, InboxCommand command) = 0;
  virtual Result<std::vector<InboxCommand>> inbox(const RunId& root) = 0;
  // Roots that have commands in their inboxes.
  virtual Result<std::vector<RunId>> addressed() { return std::vector<RunId>{}; }
  // Whether other processes may send commands, too, so that somebody has to look from time to time.
  virtual bool is_shared() const noexcept { return false; }
  // Every byte the backend can check by itself, its own structure included.
  virtual Result<void> check_integrity() = 0;
  // Whether a commit is a copy in memory: then it is made on the loop that asks for it, without a
  // thread in between, and `commit` may be called from several threads at once.
  virtual bool commits_at_once() const noexcept { return false; }
  // For messages: the folder or "memory".
  virtual std::string where() const = 0;
};

// Reads all records of a root and its bases, recomputes the chain and the digests of its blobs. The
// error
// (`invalid`, detail Damage) names the root, the seq and what does not fit.
// Roots in `verified` are taken to hold, and those found to are added: a shared base is read once.
Result<void> verify_root(RecordStore& store, const RunId& root,
                         std::vector<RunId>* verified = nullptr);

}  // namespace tug
