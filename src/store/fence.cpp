#include "store/fence.h"

namespace tug {

RootInfo first_info(const Batch& batch) {
  const NewRoot& fresh = *batch.create;
  const Base* base = fresh.base ? &*fresh.base : nullptr;
  RootInfo info;
  info.who = fresh.who;
  info.base = fresh.base;
  info.genesis = genesis_of(fresh.who->run_id, fresh.who->thread_id, base);
  info.epoch = batch.epoch;
  info.owner = batch.owner;
  info.status = batch.status.value_or(RootStatus::running);
  info.created = batch.now;
  info.updated = batch.now;
  info.summary = fresh.summary;
  info.last_hash = info.genesis;
  return info;
}

Result<void> check_fence(const RootInfo& info, const Batch& batch) {
  if (info.epoch != batch.epoch) {
    return fail(ErrorKind::denied,
                "root " + batch.root.text() + " was taken over: we write under epoch " +
                    std::to_string(batch.epoch) + ", it is at " + std::to_string(info.epoch),
                "look at it with its new owner, or resume it once that one has ended",
                Denied{batch.root.text(), info.owner ? to_text(*info.owner) : "another owner"});
  }
  // Also of a batch without records: what it says may follow from records that were refused.
  if (batch.after != info.last_seq) {
    return fail(ErrorKind::internal, "root " + batch.root.text() + ": a batch after record " +
                                         std::to_string(batch.after) + " does not follow record " +
                                         std::to_string(info.last_seq));
  }
  return {};
}

Result<void> may_claim(const RootInfo& info, const Owner& claimant) {
  if (!info.owner || *info.owner == claimant || !is_alive(info.owner->process)) return {};
  const ProcessIdentity& process = info.owner->process;
  return fail(ErrorKind::denied,
              "root " + info.who->run_id.text() + " is owned by process " +
                  std::to_string(process.pid) + " on " + process.host + ", which is alive",
              "wait for it to end, or stop it",
              Denied{info.who->run_id.text(), to_text(*info.owner)});
}

Failure no_such_root(const RunId& root, const std::string& where) {
  return fail(ErrorKind::invalid, "there is no run " + root.text() + " in " + where,
              "`tug runs` lists what is there");
}

Failure no_such_blob(const Digest& digest, const std::string& where) {
  return fail(ErrorKind::invalid, "there is no blob " + digest.hex() + " in " + where,
              "the state folder is incomplete; restore it from a copy");
}

Failure no_such_base(const Base& base) {
  return fail(ErrorKind::invalid,
              "run " + base.root.text() + " has no record " + std::to_string(base.seq) +
                  " with the given hash",
              "take the base from the journal (Journal::base_at)");
}

Failure already_exists(const RunId& root) {
  return fail(ErrorKind::denied, "run " + root.text() + " exists already",
              "choose another run id, or resume that run", Denied{root.text(), "the existing run"});
}

}  // namespace tug
