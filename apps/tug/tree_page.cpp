#include "tree_page.h"

#include <algorithm>

#include "amounts.h"
#include "stored_run.h"
#include "table.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

constexpr std::size_t kPrompt = 60;

const char* mark_of(const FoldedRoot& root, RunStatus status) {
  switch (status) {
    case RunStatus::completed:
      return "+";
    case RunStatus::failed:
      return "x";
    case RunStatus::cancelled:
      return "-";
    case RunStatus::parked:
      return "=";
    case RunStatus::pending:
    case RunStatus::running:
      break;
  }
  return is_alive(root.info) ? ">" : "!";
}

bool has_ended(RunStatus status) {
  return status != RunStatus::running && status != RunStatus::pending;
}

std::string spent(const Usage& usage, const Cost& cost) {
  return thousands(usage.total()) + (cost.nanos() > 0 ? " " + to_string(cost) : "");
}

using Rows = std::vector<std::vector<std::string>>;

void add_rows(const FoldedRoot& root, const FoldedRun& run, std::size_t depth, Rows& rows) {
  const RunResult& result = run.result;
  const std::string_view prompt(run.prompt);
  const bool ended = has_ended(result.status);
  rows.push_back(
      {std::string(mark_of(root, result.status)) + " " +
           std::string(2 * std::min<std::size_t>(depth, 20), ' ') +
           (run.who ? terminal_text(clip_utf8(run.who->agent, kPrompt)) : "?") + " " +
           terminal_text(short_id(result.id)),
       ended                 ? std::string(name_of(result.stop))
       : is_alive(root.info) ? "under way"
                             : "cut off",
       std::to_string(result.counts.model_calls), std::to_string(result.counts.tool_calls),
       spent(result.own.usage, result.own.cost),
       run.children.empty() ? "" : spent(result.usage, result.cost), duration(result.duration_ms),
       terminal_text(clip_utf8(prompt.substr(0, prompt.find('\n')), kPrompt))});
  for (std::size_t child : run.children) {
    if (child < root.runs.size()) add_rows(root, root.runs[child], depth + 1, rows);
  }
}

}  // namespace

Json tree_json(const FoldedRoot& root, const FoldedRun& run) {
  Json node = Json::object({{"run_id", run.result.id.text()},
                            {"parent_call_id", Json()},
                            {"agent", run.who ? Json(run.who->agent) : Json()}});
  if (run.who && run.who->parent_call_id)
    node.set("parent_call_id", run.who->parent_call_id.text());
  const Json result = to_json(run.result);
  for (const char* key : {"status", "stop_reason", "model", "model_calls", "tool_calls", "usage",
                          "cost", "own", "duration_ms"}) {
    node.set(key, result[key]);
  }
  node.set("prompt", run.prompt);
  Json children = Json::array();
  for (std::size_t child : run.children) {
    if (child < root.runs.size()) children.push_back(tree_json(root, root.runs[child]));
  }
  node.set("children", std::move(children));
  return node;
}

std::string tree_table(const FoldedRoot& root, const FoldedRun& run) {
  Rows rows = {{"  RUN", "STOP", "TURNS", "CALLS", "TOKENS", "WITH BELOW", "TIME", "PROMPT"}};
  add_rows(root, run, 0, rows);
  return table(rows);
}

}  // namespace tug::cli
