#include "tug/journal/record_store.h"

#include <algorithm>

#include "core/try.h"

namespace tug {
namespace {

constexpr std::size_t kPage = 512;

Failure damage(const RunId& root, Seq seq, const std::string& what) {
  return fail(ErrorKind::invalid,
              "root " + root.text() + (seq ? ", record " + std::to_string(seq) : "") + ": " + what,
              "the stored bytes are damaged; restore the state folder from a copy",
              Damage{.root = root.text(), .seq = seq});
}

Result<void> verify_blob(RecordStore& store, const RunId& root, const Record& record) {
  const auto named = blob_of(record.body);
  if (!named) return {};
  auto bytes = store.blob(*named);
  if (!bytes)
    return damage(root, record.seq, "blob " + named->hex() + ": " + bytes.error().message());
  if (sha256(*bytes) == *named) return {};
  return damage(root, record.seq, "blob " + named->hex() + " has other bytes");
}

Result<void> verify_records(RecordStore& store, const RootInfo& info) {
  const RunId& root = info.who->run_id;
  Chain chain(info.genesis);
  Seq seen = 0;
  while (true) {
    TUG_TRY(records, store.read(root, seen, kPage));
    for (const Record& record : records) {
      if (record.seq != seen + 1) {
        return damage(root, seen + 1,
                      "it is missing; the next one is " + std::to_string(record.seq));
      }
      if (chain.next(record.who, record.seq, record.ts, record.body) != record.hash) {
        return damage(root, record.seq,
                      "its hash does not fit its content and the record before it");
      }
      TUG_TRY(checked, verify_blob(store, root, record));
      seen = record.seq;
    }
    if (records.size() < kPage) return {};
  }
}

}  // namespace

std::string_view name_of(RootStatus status) noexcept {
  switch (status) {
    case RootStatus::pending:
      return "pending";
    case RootStatus::running:
      return "running";
    case RootStatus::parked:
      return "parked";
    case RootStatus::completed:
      return "completed";
    case RootStatus::failed:
      return "failed";
    case RootStatus::cancelled:
      return "cancelled";
  }
  return "pending";
}

std::string to_text(const Owner& owner) {
  const ProcessIdentity& process = owner.process;
  return print_json(
      Json::array({process.host, process.boot, process.pid, process.started, owner.serial}));
}

std::optional<Owner> owner_from(std::string_view text) {
  auto json = parse_json(text);
  if (!json || json->items().size() != 5) return std::nullopt;
  const auto fields = json->items();
  const auto pid = fields[2].as_int();
  const auto started = fields[3].as_uint();
  const auto serial = fields[4].as_uint();
  if (!pid || !started || !serial) return std::nullopt;
  return Owner{
      {std::string(fields[0].as_string()), std::string(fields[1].as_string()), *pid, *started},
      *serial};
}

Result<void> verify_root(RecordStore& store, const RunId& root, std::vector<RunId>* verified) {
  RunId next = root;
  while (true) {
    if (verified && std::find(verified->begin(), verified->end(), next) != verified->end())
      return {};
    TUG_TRY(info, store.info(next));
    const Base* base = info.base ? &*info.base : nullptr;
    if (genesis_of(info.who->run_id, info.who->thread_id, base) != info.genesis) {
      return damage(next, 0, "its genesis does not fit its ids and its base");
    }
    TUG_TRY(whole, verify_records(store, info));
    if (verified) verified->push_back(next);
    if (!base) return {};
    next = base->root;
  }
}

}  // namespace tug
