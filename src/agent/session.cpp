// Conversations of several runs with one agent.
#include <algorithm>

#include "agent/harness_core.h"
#include "core/try.h"
#include "tug/agent/agent.h"
#include "tug/agent/fold.h"
#include "tug/journal/journal.h"

namespace tug {
namespace detail {

struct SessionCore {
  AgentCorePtr agent;
  Context ctx;  // empty: every send is a root of its own
  ThreadId thread;
  std::uint32_t turns = 0;
  ResumeState at;                     // the root and the record up to which the conversation counts
  RunId last;                         // its newest run that ended well
  std::string hash;                   // of that record, where it was read back
  History history;                    // what was said; where it was said in another root
  Seq offset = 0;                     // of the newest run, for one in the same root
  std::optional<std::string> system;  // the instructions of its first run
  bool sending = false;
};

}  // namespace detail

namespace {

using detail::HarnessCore;
using detail::SessionCore;

// `offset` is that of the run (RunState::offset).
void keep(SessionCore& session, const RunResult& result, Seq offset) {
  if (!result.ok() || result.stop != StopReason::end_turn) return;
  session.offset = offset;
  session.at = {result.root, result.last_seq};
  session.last = result.id;
  session.hash.clear();
  session.history.transcript = result.messages;
  session.thread = result.thread;
  ++session.turns;
}

std::size_t size_of(const Transcript& transcript) {
  std::size_t bytes = 0;
  for (const MessagePtr& message : transcript.messages()) bytes += message->size();
  return bytes;
}

LaunchBelow launch_below(SessionCore& session, std::string input) {
  LaunchBelow launch{.prompt = std::move(input), .agent = session.agent};
  launch.options.thread_id = session.thread.text();
  launch.options.system_prompt = session.system;
  if (session.turns == 0) return launch;
  RootLog& log = session.ctx.events();
  const bool here = session.at.run == session.ctx.id().root_run_id;
  launch.session_turn = session.turns;
  launch.history = session.history;
  launch.history.bytes = size_of(session.history.transcript);
  // As a fold finds it.
  if (here) launch.history.offset = session.offset;
  launch.base = payload::Base{.root = session.at.run.text(),
                              .seq = here ? log.last_seq() : session.at.seq,
                              .hash = here ? log.last_hash().hex() : session.hash,
                              .run = session.last.text()};
  return launch;
}

RunResult refused(Error error) { return failed_result(std::move(error)); }

// One send at a time, also where the one before was left.
class Sending {
 public:
  explicit Sending(SessionCore& session) : session_(session) { session_.sending = true; }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending() { session_.sending = false; }

 private:
  SessionCore& session_;
};

}  // namespace

AgentSession Agent::session(Context ctx) const {
  auto core = std::make_shared<detail::SessionCore>();
  core->agent = core_;
  core->ctx = std::move(ctx);
  return AgentSession(std::move(core));
}

AgentSession Agent::session() const { return session(Context()); }

Task<RunResult> AgentSession::send(std::string input) {
  const auto session = core_;
  if (session->sending) {
    co_return refused(Error(ErrorKind::invalid, "the session is busy with another send",
                            "await one answer before the next"));
  }
  const auto harness = session->agent->harness.lock();
  if (!harness) co_return refused(Error(ErrorKind::invalid, "the harness of this agent is gone"));
  const Sending sending(*session);
  if (session->turns == 0) session->system = harness->instructions_of(*session->agent);
  if (session->ctx) {
    auto launch = std::make_unique<LaunchBelow>(launch_below(*session, std::move(input)));
    const LiveRun* root = RunTree::of(session->ctx)->root();
    const Seq offset = std::max(launch->history.offset, root ? root->state.offset : 0);
    auto running = harness->run_below(session->ctx, std::move(launch));
    const std::unique_ptr<RunResult> result = co_await std::move(running);
    keep(*session, *result, offset);
    co_return *result;
  }
  auto launch = std::make_unique<Launch>(
      Launch{.prompt = std::move(input), .agent = session->agent, .session_turn = session->turns});
  launch->options.thread_id = session->thread.text();
  launch->options.system_prompt = session->system;
  if (session->turns > 0) {
    launch->kind = Launch::Kind::follow;
    launch->from = session->at.run;
  }
  auto running = harness->run_here(std::move(launch));
  RunResult result = co_await std::move(running);
  keep(*session, result, 0);
  co_return result;
}

void AgentSession::reset() {
  core_->turns = 0;
  core_->at = {};
  core_->last = {};
  core_->history = {};
}

const Transcript& AgentSession::transcript() const noexcept { return core_->history.transcript; }
const ThreadId& AgentSession::thread() const noexcept { return core_->thread; }
std::uint32_t AgentSession::turns() const noexcept { return core_->turns; }
ResumeState AgentSession::at() const { return {core_->last, core_->at.seq}; }

Result<void> AgentSession::take_up(const ResumeState& at) {
  const auto harness = core_->agent->harness.lock();
  if (!harness) return fail(ErrorKind::invalid, "the harness of this agent is gone");
  RecordStore& store = harness->store();
  TUG_TRY(found, find_run(store, at.run.text()));
  TUG_TRY(root, fold_tree(store, found.root));
  for (const auto& run : root.runs()) {
    if (run->who->run_id != found.run) continue;
    const RunResult result = result_of(*run);
    if (!result.ok() || result.stop != StopReason::end_turn) {
      return fail(ErrorKind::invalid, "run " + found.run.text() + " has not ended well",
                  "take the conversation up at a run that has");
    }
    if (run->who->agent != core_->agent->name) {
      return fail(ErrorKind::invalid, "run " + found.run.text() + " is one of the agent \"" +
                                          run->who->agent + "\", not of \"" + core_->agent->name +
                                          "\"");
    }
    if (!core_->ctx && found.run != found.root) {
      return fail(ErrorKind::invalid,
                  "run " + found.run.text() + " is below another: no root can go on from it",
                  "take it up in a session of a run: agent.session(ctx)");
    }
    TUG_TRY(records, store.read(found.root, result.last_seq - 1, 1));
    keep(*core_, result, run->offset);
    core_->history.offset = root.root().offset + result.last_seq;
    if (!records.empty()) core_->hash = records[0].hash.hex();
    const Json* system = run->options.find("system_prompt");
    core_->system =
        system ? std::string(system->as_string()) : harness->instructions_of(*core_->agent);
    return {};
  }
  return fail(ErrorKind::invalid, "there is no run " + at.run.text());
}

}  // namespace tug
