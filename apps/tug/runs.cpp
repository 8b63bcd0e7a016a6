// tug runs
#include <charconv>
#include <memory>

#include "amounts.h"
#include "commands.h"
#include "session.h"
#include "stored_run.h"
#include "table.h"
#include "tug/agent/fold.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

constexpr std::size_t kUsualLimit = 20;
constexpr std::size_t kMostRuns = 100'000;
constexpr std::size_t kPromptShown = 60;

// A run that nobody runs any more has crashed.
std::string status_of(const RootInfo& root) {
  const bool open = root.status == RootStatus::running || root.status == RootStatus::pending;
  return open && !is_alive(root) ? "crashed" : std::string(name_of(root.status));
}

Json to_json(const RootInfo& root) {
  const Json& summary = root.summary;
  return Json::object({{"run_id", root.who->run_id.text()},
                       {"thread_id", root.who->thread_id.text()},
                       {"status", name_of(root.status)},
                       {"alive", is_alive(root)},
                       {"stop_reason", summary["stop_reason"]},
                       {"prompt", summary["prompt"]},
                       {"model", summary["model"]},
                       {"created", to_rfc3339(root.created)},
                       {"updated", to_rfc3339(root.updated)},
                       {"model_calls", summary["model_calls"].as_int().value_or(0)},
                       {"tool_calls", summary["tool_calls"].as_int().value_or(0)},
                       {"usage", summary["usage"]},
                       {"cost", summary["cost"]}});
}

// The summary of a run is written when it ends: of one that has not, the records say how far it
// came. One whose records do not fold is listed as it is; `tug show` says what is wrong with it.
void bring_up_to_date(RecordStore& store, RootInfo& root) {
  if (root.status != RootStatus::running && root.status != RootStatus::pending) return;
  auto folded = fold_root(store, root.who->run_id);
  if (!folded || folded->runs.empty()) return;
  const FoldedRun& run = folded->runs.front();
  const Json result = tug::to_json(run.result);
  for (const char* key : {"model_calls", "tool_calls", "usage", "cost"}) {
    root.summary.set(key, result[key]);
  }
  root.updated = run.status.updated;
}

Result<std::size_t> limit_from(const std::string& text) {
  if (text.empty()) return kUsualLimit;
  std::size_t limit = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (problem == std::errc() && end == text.data() + text.size() && limit >= 1 &&
      limit <= kMostRuns) {
    return limit;
  }
  return fail(
      ErrorKind::invalid,
      "--limit " + text + ": expected a whole number from 1 to " + std::to_string(kMostRuns),
      "give such a number");
}

int runs(const Options& options, const std::string& limit_text) {
  auto limit = limit_from(limit_text);
  if (!limit) return report(options, limit.error(), unusable);
  auto store = find_journal(options);
  if (!store) return report(options, store.error(), unusable);
  std::vector<RootInfo> roots;
  if (*store) {
    auto listed = (*store)->list(*limit);
    if (!listed) return report(options, listed.error(), unusable);
    roots = std::move(*listed);
    for (RootInfo& root : roots) bring_up_to_date(**store, root);
  }
  if (options.json()) {
    Json list = Json::array();
    for (const RootInfo& root : roots) list.push_back(to_json(root));
    print(print_json(list) + "\n");
    return ok;
  }
  if (roots.empty()) {
    notice("no run was made yet: tug \"list the files here\"");
    return ok;
  }
  std::vector<std::vector<std::string>> rows = {
      {"RUN", "AGE", "STATUS", "MODEL", "TURNS", "PROMPT"}};
  const Time at = now();
  for (const RootInfo& root : roots) {
    const std::string_view prompt = root.summary["prompt"].as_string();
    const std::string_view line = prompt.substr(0, prompt.find('\n'));
    rows.push_back({short_id(root.who->run_id), age(root.updated, at), status_of(root),
                    terminal_text(clip_utf8(root.summary["model"].as_string(), 40)),
                    std::to_string(root.summary["model_calls"].as_int().value_or(0)),
                    terminal_text(clip_utf8(line, kPromptShown))});
  }
  print(table(rows));
  return ok;
}

}  // namespace

Command runs_command(Options& options) {
  auto limit = std::make_shared<std::string>();
  return {.name = "runs",
          .summary = "List the runs, the newest first",
          .examples = "  tug runs\n  tug runs --json --limit 100\n",
          .flags = std::vector<Flag>{{"--limit", "N", "At most so many (20)", limit.get()}} +
                   common_flags(options),
          .run = [limit, &options] { return runs(options, *limit); }};
}

}  // namespace tug::cli
