// Which calls of a turn may run, call by call.
#include "agent/admission.h"

#include "agent/approvals.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// What a model may call: a tool for code alone is none of it.
const Tool* callable(const RunPlan& plan, std::string_view name) {
  const Tool* tool = plan.tools.find(name);
  return tool && tool->spec().visibility == Visibility::model ? tool : nullptr;
}

std::vector<std::string> names_of(const RunPlan& plan) {
  std::vector<std::string> names;
  for (const auto& spec : *plan.specs) names.push_back(spec->name);
  return names;
}

bool is_final(const LiveRun& run, const ToolCall& call) {
  return run.plan->output && run.plan->output->tool && call.tool == kFinalResult;
}

void record_unknown(LiveRun& run, const ToolCall& call) {
  const std::string nearest = run.plan->tools.nearest(call.tool);
  payload::ToolUnknown unknown{
      .call_id = call.id.text(), .tool = call.tool, .arguments = arguments_of(call)};
  if (!nearest.empty()) unknown.nearest = nearest;
  unknown.output = unknown_tool_result(call.tool, nearest, names_of(*run.plan)).content;
  record(run, Kind::tool_unknown, unknown);
}

void record_invalid(LiveRun& run, const ToolCall& call, const Tool& tool,
                    const BadArguments& error) {
  ToolResult told = invalid_arguments_result(tool, error);
  payload::ToolInvalidArgs invalid{.call_id = call.id.text(),
                                   .tool = call.tool,
                                   .arguments = arguments_of(call),
                                   .error = error.message(),
                                   .output = std::move(told.content)};
  invalid.error_type = std::string(told.metadata["error_type"].as_string());
  if (const Json* errors = told.metadata.find("errors")) invalid.errors = *errors;
  invalid.retryable = true;
  invalid.used = retries_used(run, call.tool);
  invalid.budget = run.plan->retries_of(tool);
  record(run, Kind::tool_invalid_args, invalid);
}

void record_denied(LiveRun& run, const ToolCall& call, const std::string& reason) {
  std::string told = "The call was denied, and not run.";
  if (!reason.empty()) told += "\nReason: " + reason;
  record(run, Kind::tool_denied,
         payload::ToolDenied{.call_id = call.id.text(),
                             .tool = call.tool,
                             .reason = reason.empty() ? "denied" : reason,
                             .output = std::move(told)});
}

void record_asked(LiveRun& run, const ToolCall& call, const Json& args, const Judgement& why) {
  payload::ApprovalRequested asked{.call_id = call.id.text(),
                                   .tool = call.tool,
                                   .arguments = args,
                                   .digest = approval_digest(call.tool, args).hex(),
                                   .hold = std::string(name_of(run.plan->permissions.hold))};
  if (!why.reason.empty()) asked.reason = why.reason;
  record(run, Kind::approval_requested, asked);
}

void record_start(LiveRun& run, const ToolCall& call, std::uint32_t index, Json args,
                  bool repaired) {
  const Tool& tool = *run.plan->tools.find(call.tool);
  payload::ToolStarted started{.call_id = call.id.text(),
                               .provider_call_id = call.provider_id,
                               .tool = call.tool,
                               .index = index,
                               .arguments = std::move(args),
                               .effect = std::string(name_of(tool.spec().effect))};
  if (repaired) started.repaired = true;
  record(run, Kind::tool_started, started);
}

// A call that was found fit to run.
struct FitCall {
  std::uint32_t index = 0;
  CheckedArguments checked;
};

// Answers a call that cannot be run or asks about it; gives it back when it may run.
std::optional<FitCall> consider_call(LiveRun& run, const ToolCall& call, std::uint32_t index) {
  const Tool* tool = callable(*run.plan, call.tool);
  if (!tool) {
    record_unknown(run, call);
    return std::nullopt;
  }
  auto checked = check_arguments(*tool, call.arguments);
  if (!checked) {
    record_invalid(run, call, *tool, checked.error());
    return std::nullopt;
  }
  for (const std::string& field : checked->forged) {
    record(
        run, Kind::tool_forged_argument,
        payload::ToolForgedArgument{.call_id = call.id.text(), .tool = call.tool, .field = field});
  }
  const Judgement judgement = judge_call(run, *tool, checked->args);
  switch (judgement.verdict) {
    case Judgement::Verdict::deny:
      record_denied(run, call, judgement.reason);
      return std::nullopt;
    case Judgement::Verdict::ask:
      if (run.plan->permissions.on_ask == OnAsk::deny) {
        record_denied(run, call, judgement.reason + ", and nobody can be asked");
      } else {
        record_asked(run, call, checked->args, judgement);
      }
      return std::nullopt;
    case Judgement::Verdict::allow:
      break;
  }
  return FitCall{index, *std::move(checked)};
}

// Starts a call that somebody has decided about, or answers it.
void start_decided(LiveRun& run, const OpenCall& open, std::uint32_t index) {
  if (!*open.asked->approved) return record_denied(run, open.call, open.asked->denied_because);
  if (const std::string why = changed_since(run, open); !why.empty()) {
    return record_denied(run, open.call, why);
  }
  record_start(run, open.call, index, open.asked->args, false);
}

// Calls of final_result that stand beside others: none of them is the answer.
void answer_finals(LiveRun& run, const std::vector<ToolCall>& finals, bool several) {
  for (const ToolCall& call : finals) {
    record(run, Kind::output_retry,
           payload::OutputRetry{
               .attempt = 0,
               .error = several ? "not taken: send exactly one final_result"
                                : "not final: other tools were called in the same turn; send it "
                                  "again, alone, when they are done",
               .reason = several ? "several" : "not_final",
               .call_id = call.id.text()});
  }
}

}  // namespace

std::uint32_t retries_used(const LiveRun& run, const std::string& tool) {
  const auto& counts = run.state.counts.tool_retries;
  const auto found = counts.find(tool);
  return 1 + (found == counts.end() ? 0 : static_cast<std::uint32_t>(found->second));
}

void admit(LiveRun& run) {
  std::vector<std::uint32_t> undecided;
  std::vector<ToolCall> finals;
  std::size_t all_finals = 0;
  std::int64_t uncounted = 0;
  for (std::uint32_t i = 0; i < run.state.calls.size(); ++i) {
    const OpenCall& open = run.state.calls[i];
    all_finals += is_final(run, open.call);
    if (open.started || open.result) continue;
    if (open.asked && !open.asked->approved) continue;
    if (is_final(run, open.call)) {
      finals.push_back(open.call);
    } else {
      undecided.push_back(i);
      uncounted += !open.counted;
    }
  }
  auto hold = run.ctx.budget().hold({.tool_calls = uncounted});
  if (!hold) {
    record_limit(run, *hold.error().detail_if<Limit>());
    return;
  }
  hold->settle(hold->amount());
  answer_finals(run, finals, all_finals > 1);
  // Copies: the record that decides the last call may close the turn.
  std::vector<OpenCall> decided(undecided.size());
  std::vector<std::optional<FitCall>> fit(undecided.size());
  for (std::size_t at = 0; at < undecided.size(); ++at) {
    const OpenCall open = run.state.calls[undecided[at]];
    if (open.asked) {
      decided[at] = open;
    } else {
      decided[at].call = open.call;
      fit[at] = consider_call(run, open.call, undecided[at]);
    }
  }
  // Some may have to be asked about first.
  if (run.state.phase != Phase::admitting) return;
  for (std::size_t at = 0; at < undecided.size(); ++at) {
    if (decided[at].asked) {
      start_decided(run, decided[at], undecided[at]);
    } else if (fit[at]) {
      record_start(run, decided[at].call, undecided[at], std::move(fit[at]->checked.args),
                   fit[at]->checked.repaired);
    }
  }
}

void refuse_cut_calls(LiveRun& run) {
  std::vector<ToolCall> calls;
  std::int64_t counted = 0;
  for (const OpenCall& open : run.state.calls) {
    if (open.started || open.result) continue;
    calls.push_back(open.call);
    counted += !is_final(run, open.call);
  }
  // They are not run, but they count, so they are held like others.
  auto hold = run.ctx.budget().hold({.tool_calls = counted});
  if (!hold) {
    record_limit(run, *hold.error().detail_if<Limit>());
    return;
  }
  hold->settle(hold->amount());
  constexpr std::string_view kWhy =
      "The turn was cut before this call was complete, so it was not run. Send it again, smaller.";
  for (const ToolCall& call : calls) {
    if (is_final(run, call)) {
      record(run, Kind::output_retry,
             payload::OutputRetry{.attempt = 0,
                                  .error = std::string(kWhy),
                                  .reason = "length",
                                  .call_id = call.id.text()});
      continue;
    }
    record(run, Kind::tool_invalid_args,
           payload::ToolInvalidArgs{.call_id = call.id.text(),
                                    .tool = call.tool,
                                    .arguments = arguments_of(call),
                                    .error = "the turn was cut by length",
                                    .output = std::string(kWhy)});
  }
}

}  // namespace tug
