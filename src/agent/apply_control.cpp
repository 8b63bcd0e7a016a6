// What records of approvals, steering and child runs do to a run.
#include <algorithm>

#include "agent/apply.h"
#include "core/try.h"
#include "tug/agent/steering.h"

namespace tug {
namespace applying {

void hear(RunState& state) {
  state.output.reset();
  state.final_text.reset();
  forget_parts(state);
  if (state.phase == Phase::admitting && state.calls.empty()) state.phase = Phase::ready;
}

std::vector<PendingApproval> pending_in(const Json& result) {
  std::vector<PendingApproval> pending;
  for (const Json& item : result["pending_approvals"].items()) {
    pending.push_back({.call = CallId(text_of(item, "call_id")),
                       .tool = text_of(item, "tool"),
                       .arguments = item["arguments"],
                       .run = RunId(text_of(item, "run_id")),
                       .agent = text_of(item, "agent"),
                       .reason = text_of(item, "reason"),
                       .digest = text_of(item, "digest")});
  }
  return pending;
}

Result<void> ask_approval(RunState& state, const Event& event) {
  TUG_TRY(open, call_of(state, event));
  if (open->started || open->result || open->asked) {
    return out_of_place(event, "the call is decided already");
  }
  const bool batch = event.data["hold"].as_string() != "call";
  open->asked = AskedCall{.args = event.data["arguments"],
                          .asked = event.data["arguments"],
                          .digest = text_of(event.data, "digest"),
                          .reason = text_of(event.data, "reason"),
                          .holds_batch = batch};
  state.asks = true;
  count_call(state, *open);
  if (batch) {
    // What waits with it is counted with it.
    for (OpenCall& other : state.calls) {
      if (!other.result) count_call(state, other);
    }
  }
  return settle_calls(state);
}

Result<void> decide_approval(RunState& state, const Event& event) {
  TUG_TRY(open, call_of(state, event));
  if (!open->asked || open->asked->approved) {
    return out_of_place(event, "the call does not wait for approval");
  }
  AskedCall& asked = *open->asked;
  asked.approved = event.data["approved"].as_bool();
  asked.denied_because = text_of(event.data, "reason");
  if (const Json* edited = event.data.find("arguments")) {
    asked.args = *edited;
    asked.digest = text_of(event.data, "digest");
  }
  if (const Json* grant = event.data.find("grant")) {
    state.grants.emplace_back(grant->as_string());
  }
  return settle_calls(state);
}

void take_grant(RunState& state, const Event& event) {
  const Json* grant = event.data.find("grant");
  if (grant && event.data["scope"].as_string() == "tree") {
    state.grants.emplace_back(grant->as_string());
  }
}

Result<void> steer(RunState& state, const Event& event) {
  TUG_TRY(command, steer_from(event.data["command"]));
  switch (command.kind) {
    case SteerKind::pause:
      if (!state.paused) state.paused = command.text;
      return {};
    case SteerKind::resume:
      state.paused.reset();
      return {};
    case SteerKind::cancel:
      return {};
    case SteerKind::inject:
    case SteerKind::redirect:
      if (!event.message) return out_of_place(event, "it has no message");
      hear(state);
      return append_user(state, event.message);
    case SteerKind::set_metadata:
      if (!state.options.is_object()) state.options = Json::object();
      state.options.set("metadata", command.metadata);
      return {};
    case SteerKind::follow_up:
      state.follow_ups.push_back(command.text);
      return {};
  }
  return {};
}

void open_child(RunState& state, const Event& event) {
  const std::string run = text_of(event.data, "child_run_id");
  state.children[run] = {.run = RunId(run),
                         .name = text_of(event.data, "name"),
                         .call = CallId(text_of(event.data, "call_id")),
                         .background = event.data["background"].as_bool()};
}

void close_child(RunState& state, const Event& event) {
  const auto found = state.children.find(text_of(event.data, "child_run_id"));
  if (found == state.children.end()) return;
  if (found->second.background) state.done_children.push_back(std::move(found->second));
  state.children.erase(found);
}

}  // namespace applying

std::vector<PendingApproval> waiting_calls(const RunState& state) {
  std::vector<PendingApproval> waiting;
  for (const OpenCall& open : state.calls) {
    if (open.result || !open.asked || open.asked->approved) continue;
    waiting.push_back({.call = open.call.id,
                       .tool = open.call.tool,
                       .arguments = open.asked->args,
                       .run = state.who->run_id,
                       .agent = state.who->agent,
                       .reason = open.asked->reason,
                       .digest = open.asked->digest});
  }
  return waiting;
}

}  // namespace tug
