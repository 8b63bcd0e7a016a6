#include "agent/commands.h"

#include <algorithm>

#include "tug/core/utf8.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

constexpr std::size_t kShownText = 1000;

bool has(const SteerBatch& batch, SteerKind kind) {
  return std::ranges::find(batch.commands, kind, &Steer::kind) != batch.commands.end();
}

bool has_words(const SteerBatch& batch) {
  return has(batch, SteerKind::inject) || has(batch, SteerKind::redirect);
}

const SteeringPolicy& policy_for(const LiveRun& run, const SteerBatch& batch) {
  static const SteeringPolicy kAll = SteeringPolicy::allow_all();
  if (batch.sender == "prompt") return kAll;
  return batch.sender == "parent" ? run.hangs.steering : run.plan->steering;
}

// Why nothing of the batch is taken; nothing when all of it is.
std::optional<std::string> fault_of(const LiveRun& run, const SteerBatch& batch) {
  const SteeringPolicy& policy = policy_for(run, batch);
  for (const Steer& command : batch.commands) {
    if (!policy.permits(command.kind)) {
      return "the run does not permit " + std::string(name_of(command.kind));
    }
    // What could not be read back is no command.
    if (auto read = steer_from(to_json(command)); !read) return read.error().message();
  }
  return std::nullopt;
}

void reject(LiveRun& run, const SteerBatch& batch, std::string reason) {
  Json commands = Json::array();
  for (Steer command : batch.commands) {
    // What is too long to be taken is too long to be kept.
    if (command.text.size() > kMaxSteerText) command.text = clip_utf8(command.text, kShownText);
    commands.push_back(to_json(command));
  }
  payload::Steering rejected{.command = std::move(commands)};
  rejected.sender = batch.sender;
  rejected.reason = std::move(reason);
  record(run, Kind::steering_rejected, rejected);
}

MessagePtr words_of(const Steer& command) {
  if (command.kind == SteerKind::inject) return Message::user(command.text);
  if (command.kind == SteerKind::redirect) {
    return Message::user("[steering:redirect] " + command.text);
  }
  return nullptr;
}

void apply_command(LiveRun& run, const Steer& command, const std::string& sender) {
  payload::Steering applied{.command = to_json(command)};
  applied.sender = sender;
  record(run, Kind::steering_applied, applied, words_of(command));
  if (command.kind == SteerKind::cancel) {
    run.ctx.cancel().request({CancelReason::Why::user, command.text});
  }
  if (command.kind == SteerKind::resume && !run.parent && run.tree.pause()) run.tree.unpause();
  if (command.kind == SteerKind::pause || command.kind == SteerKind::resume) {
    // Everything below holds, or goes on, with it.
    for (LiveRun* other : run.tree.runs()) other->wake();
  }
  if (command.kind == SteerKind::set_metadata) run.ctx.set_metadata(command.metadata);
}

void take(LiveRun& run, const SteerBatch& batch) {
  if (auto fault = fault_of(run, batch)) {
    reject(run, batch, *std::move(fault));
  } else {
    for (const Steer& command : batch.commands) {
      // A cancel wins, and nothing comes after it.
      if (has(batch, SteerKind::cancel) && command.kind != SteerKind::cancel) continue;
      apply_command(run, command, batch.sender);
      if (command.kind == SteerKind::cancel) break;
    }
  }
  if (batch.inbox_id) run.ctx.events().took({batch.inbox_id});
}

}  // namespace

void enqueue(LiveRun& run, SteerBatch batch) {
  if (run.state.ending || batch.commands.empty()) return;
  if (has(batch, SteerKind::cancel)) return take(run, batch);
  if (run.commands.size() >= kMaxSteerBacklog) {
    reject(run, batch,
           "more than " + std::to_string(kMaxSteerBacklog) + " batches wait for a checkpoint");
    if (batch.inbox_id) run.ctx.events().took({batch.inbox_id});
    return;
  }
  run.commands.push_back(std::move(batch));
  // A run that waits for its children hears at once: what it holds must not run on.
  if (run.state.phase == Phase::running) {
    drain(run, Drain::everything);
  } else if (run.joining) {
    drain(run, Drain::control_only);
  }
  run.wake();
}

void drain(LiveRun& run, Drain what) {
  while (!run.commands.empty() && !run.state.ending) {
    if (what == Drain::control_only && has_words(run.commands.front())) return;
    const SteerBatch batch = std::move(run.commands.front());
    run.commands.erase(run.commands.begin());
    take(run, batch);
  }
}

}  // namespace tug
