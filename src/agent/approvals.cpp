#include "agent/approvals.h"

#include <algorithm>
#include <stdexcept>

#include "core/try.h"
#include "tug/core/digest.h"
#include "tug/journal/journal.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

struct Waiting {
  const RunState* run = nullptr;
  const OpenCall* open = nullptr;
};

bool waits(const OpenCall& open) { return !open.result && open.asked && !open.asked->approved; }

Result<Waiting> find_waiting(const std::vector<const RunState*>& runs, const Decision& decision) {
  Waiting found;
  for (const RunState* run : runs) {
    if (!decision.run.empty() && run->who->run_id != decision.run) continue;
    for (const OpenCall& open : run->calls) {
      if (open.call.id != decision.call || !waits(open)) continue;
      if (found.open) {
        return fail(ErrorKind::invalid,
                    "call " + decision.call.text() + " waits in two runs: " +
                        found.run->who->run_id.text() + " and " + run->who->run_id.text(),
                    "name the run, too");
      }
      found = {run, &open};
    }
  }
  if (found.open) return found;
  std::string waiting;
  for (const RunState* run : runs) {
    for (const OpenCall& open : run->calls) {
      if (waits(open)) waiting += (waiting.empty() ? "" : ", ") + open.call.id.text();
    }
  }
  return fail(ErrorKind::invalid, "no call " + decision.call.text() + " waits for approval",
              waiting.empty() ? "nothing waits" : "these wait: " + waiting);
}

Failure wrong(const Decision& decision, const std::string& what, std::string fix = {}) {
  return fail(ErrorKind::invalid, "call " + decision.call.text() + ": " + what, std::move(fix));
}

Result<Ruling> ruling_on(const Waiting& waiting, const Decision& decision,
                         const FindTool& find_tool) {
  const AskedCall& asked = *waiting.open->asked;
  if (!decision.digest.empty() && decision.digest != asked.digest) {
    return wrong(decision, "what was shown is not what waits", "look at it again");
  }
  Ruling ruling{.run = waiting.run->who->run_id,
                .decided = {.call_id = decision.call.text(),
                            .approved = decision.approved,
                            .digest = asked.digest,
                            .by = "owner"}};
  if (!decision.reason.empty()) ruling.decided.reason = decision.reason;
  if (!decision.approved) {
    if (decision.arguments || decision.scope != GrantScope::once || !decision.pattern.empty()) {
      return wrong(decision, "a denial has neither arguments nor a grant");
    }
    return ruling;
  }
  const bool grants = decision.scope != GrantScope::once;
  if (!grants && !decision.pattern.empty()) {
    return wrong(decision, "a pattern needs a scope", "say `run` or `tree`");
  }
  if (!decision.arguments && !grants) return ruling;
  const std::string& name = waiting.open->call.tool;
  const Tool* tool = find_tool(*waiting.run, name);
  if (!tool) return wrong(decision, "the tool \"" + name + "\" is not there any more", "deny it");
  Json args = asked.args;
  if (decision.arguments) {
    auto checked = check_arguments(*tool, print_json(*decision.arguments));
    if (!checked) return wrong(decision, checked.error().message());
    args = std::move(checked->args);
    ruling.decided.arguments = args;
    ruling.decided.digest = approval_digest(name, args).hex();
  }
  if (grants) {
    auto grant = grant_for(*tool, args, decision.pattern);
    if (!grant) return Failure(grant.error().within("call " + decision.call.text()));
    ruling.decided.grant = *grant;
    ruling.decided.scope = std::string(name_of(decision.scope));
  }
  return ruling;
}

std::vector<std::string> grants_for(const LiveRun& run) {
  std::vector<std::string> grants;
  for (const LiveRun* at = &run; at; at = at->parent) {
    grants.insert(grants.end(), at->state.grants.begin(), at->state.grants.end());
  }
  return grants;
}

void rule_by_policy(LiveRun& run, const OpenCall& open, bool approved, const std::string& reason) {
  payload::ApprovalDecided decided{.call_id = open.call.id.text(),
                                   .approved = approved,
                                   .digest = open.asked->digest,
                                   .by = "policy"};
  if (!reason.empty()) decided.reason = reason;
  record(run, Kind::approval_decided, decided);
}

// What a grant covers need not be asked about any longer. Whether there was any of it.
bool allow_granted(LiveRun& run) {
  bool any = false;
  const std::vector<OpenCall> calls = run.state.asks ? run.state.calls : std::vector<OpenCall>();
  for (const OpenCall& open : calls) {
    if (!waits(open)) continue;
    const Tool* tool = run.plan->tools.find(open.call.tool);
    if (!tool) continue;
    const Judgement now = judge_call(run, *tool, open.asked->args);
    if (now.verdict != Judgement::Verdict::allow) continue;
    rule_by_policy(run, open, true, {});
    any = true;
  }
  return any;
}

RunState* state_of(RunTree& tree, const RunId& run) {
  if (LiveRun* live = tree.find(run)) return &live->state;
  for (const auto& state : tree.left_over) {
    if (state->who->run_id == run) return state.get();
  }
  return nullptr;
}

}  // namespace

Judgement judge_call(const LiveRun& run, const Tool& tool, const Json& args) {
  Judgement judgement = judge(run.plan->permissions, grants_for(run), tool, args);
  // Nobody below a run may do what the run may not.
  for (const LiveRun* above = run.parent; above; above = above->parent) {
    if (judgement.verdict == Judgement::Verdict::deny) break;
    Judgement there = judge(above->plan->permissions, {}, tool, args);
    if (there.verdict == Judgement::Verdict::deny) judgement = std::move(there);
  }
  return judgement;
}

Result<std::vector<Ruling>> check_decisions(const std::vector<const RunState*>& runs,
                                            const std::vector<Decision>& decisions,
                                            const FindTool& find_tool) {
  if (decisions.empty()) return fail(ErrorKind::invalid, "there is no decision", "give one");
  std::vector<Ruling> rulings;
  std::vector<const OpenCall*> named;
  for (const Decision& decision : decisions) {
    TUG_TRY(waiting, find_waiting(runs, decision));
    if (std::ranges::find(named, waiting.open) != named.end()) {
      return wrong(decision, "it is decided twice", "name every call once");
    }
    named.push_back(waiting.open);
    TUG_TRY(ruling, ruling_on(waiting, decision, find_tool));
    rulings.push_back(std::move(ruling));
  }
  return rulings;
}

void record_left_over(RunTree& tree, RunState& state, Kind kind, Json data) {
  LiveRun& root = *tree.root();
  RootLog& log = root.ctx.events();
  Event event{.kind = kind,
              .seq = log.last_seq() + 1,
              .turn = state.turn,
              .ts = root.ctx.loop().wall(),
              .who = state.who,
              .data = std::move(data)};
  if (auto applied = apply(state, event); !applied) {
    throw std::logic_error(applied.error().message());
  }
  for (RunState* above = state_of(tree, state.who->parent_run_id); above;
       above = state_of(tree, above->who->parent_run_id)) {
    apply_below(*above, event);
  }
  log.emit(std::move(event));
}

void rule(RunTree& tree, const std::vector<Ruling>& rulings) {
  std::vector<LiveRun*> freed;
  bool grants = false;
  for (const Ruling& ruling : rulings) {
    grants = grants || ruling.decided.grant;
    if (LiveRun* live = tree.find(ruling.run)) {
      record(*live, Kind::approval_decided, ruling.decided);
      if (std::ranges::find(freed, live) == freed.end()) freed.push_back(live);
    } else if (RunState* state = state_of(tree, ruling.run)) {
      record_left_over(tree, *state, Kind::approval_decided, write_json(ruling.decided));
    }
  }
  for (LiveRun* run : grants ? tree.runs() : std::vector<LiveRun*>()) {
    if (allow_granted(*run) && std::ranges::find(freed, run) == freed.end()) freed.push_back(run);
  }
  for (LiveRun* run : freed) {
    if (run->on_freed) run->on_freed();
    run->wake();
  }
}

Result<void> decide_calls(LiveRun& scope, const std::vector<Decision>& decisions) {
  RunTree& tree = scope.tree;
  std::vector<const RunState*> runs;
  for (const LiveRun* run : tree.runs()) {
    for (const LiveRun* at = run; at; at = at->parent) {
      if (at != &scope) continue;
      runs.push_back(&run->state);
      const auto below = tree.left_over_below(run->state);
      runs.insert(runs.end(), below.begin(), below.end());
      break;
    }
  }
  const FindTool find_tool = [&](const RunState& run, const std::string& name) {
    const LiveRun* live = tree.find(run.who->run_id);
    return (live ? live : tree.root())->plan->tools.find(name);
  };
  TUG_TRY(rulings, check_decisions(runs, decisions, find_tool));
  rule(tree, rulings);
  return {};
}

void deny_waiting(LiveRun& run, const std::string& reason) {
  std::vector<std::string> ids;
  for (const OpenCall& open : run.state.calls) {
    if (waits(open)) ids.push_back(open.call.id.text());
  }
  for (const std::string& id : ids) {
    const auto open = std::ranges::find_if(
        run.state.calls, [&](const OpenCall& call) { return call.call.id.text() == id; });
    rule_by_policy(run, *open, false, reason);
  }
  run.wake();
}

std::string changed_since(const LiveRun& run, const OpenCall& open) {
  const Tool* tool = run.plan->tools.find(open.call.tool);
  if (!tool) return "the tool \"" + open.call.tool + "\" is not there any more";
  if (approval_digest(open.call.tool, open.asked->args).hex() != open.asked->digest) {
    return "the arguments are not those that were shown";
  }
  if (!run.ctx.resumed()) return {};
  auto checked = check_arguments(*tool, print_json(open.asked->args));
  if (!checked) return checked.error().message();
  if (checked->args != open.asked->args) return "the tool takes other arguments now";
  const Judgement now = judge_call(run, *tool, open.asked->args);
  if (now.verdict == Judgement::Verdict::deny) return now.reason;
  // Somebody may have put arguments in their place that would not have been asked about.
  const Judgement then = judge_call(run, *tool, open.asked->asked);
  if (then.verdict == Judgement::Verdict::allow && !then.by_choice) {
    return "\"" + open.call.tool +
           "\" does not require approval any more: it is not what was asked "
           "about";
  }
  return {};
}

std::string refused_since(const LiveRun& run, const OpenCall& open) {
  if (!run.ctx.resumed()) return {};
  const Judgement now = judge_call(run, *run.plan->tools.find(open.call.tool), open.args);
  if (now.verdict == Judgement::Verdict::deny) return now.reason;
  const bool approved = open.asked && open.asked->approved.value_or(false);
  if (now.verdict == Judgement::Verdict::allow || approved) return {};
  return now.reason + ", and it did not when the call was admitted";
}

void check_asked_again(LiveRun& run) {
  const std::vector<OpenCall> calls = run.state.calls;
  for (const OpenCall& open : calls) {
    if (!waits(open)) continue;
    if (const std::string why = changed_since(run, open); !why.empty()) {
      rule_by_policy(run, open, false, why);
      continue;
    }
    const Tool& tool = *run.plan->tools.find(open.call.tool);
    const Judgement now = judge_call(run, tool, open.asked->args);
    if (now.verdict == Judgement::Verdict::allow) rule_by_policy(run, open, true, {});
  }
}

}  // namespace tug
