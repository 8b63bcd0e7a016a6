// tug show RUN
#include <unistd.h>

#include <memory>

#include "amounts.h"
#include "approval_text.h"
#include "commands.h"
#include "harmless_text.h"
#include "stored_run.h"
#include "tree_page.h"
#include "tug/core/enum_names.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

struct ShowRequest {
  std::string run;
  bool events = false;
  bool tree = false;
  bool raw = false;
};

constexpr std::size_t kResultShown = 2000;

// Raw for programs, harmless on a terminal.
std::string body(std::string_view text) {
  if (!isatty(STDOUT_FILENO)) return std::string(text);
  HarmlessText harmless;
  return harmless.push(text) + harmless.flush();
}

std::string line_of(const std::string& text) {
  return text.empty() || text.ends_with('\n') ? text : text + "\n";
}

std::string call_text(const ToolCall& call) {
  return "  -> " + terminal_text(call.tool) + " " +
         terminal_text(clip_utf8(call.arguments, kResultShown)) + "\n";
}

std::string result_text(const ToolResult& result) {
  const std::string_view shown = clip_utf8(result.content, kResultShown);
  std::string text = "  <- " + terminal_text(result.tool) + (result.ok ? "" : " failed") + "\n";
  for (std::string_view rest = shown; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    text += "     " + body(rest.substr(0, end)) + "\n";
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  if (shown.size() < result.content.size()) {
    text += "     .. " + std::to_string(result.content.size() - shown.size()) + " bytes more\n";
  }
  return text;
}

std::string message_text(const Message& message) {
  std::string text = "\n" + std::string(name_of(message.role())) + "\n";
  text += line_of(body(message.text()));
  for (const ToolCall* call : message.tool_calls()) text += call_text(*call);
  for (const ToolResult* result : message.tool_results()) text += result_text(*result);
  return text;
}

std::string page(const FoldedRoot& root, const FoldedRun& run) {
  const RunResult& result = run.result;
  const bool ended = result.status != RunStatus::running && result.status != RunStatus::pending;
  std::string text = "run      " + terminal_text(result.id.text()) + "\n" + "thread   " +
                     terminal_text(result.thread.text()) + "\n" + "status   " +
                     std::string(name_of(result.status));
  if (ended) text += " (" + std::string(name_of(result.stop)) + ")";
  text += "\nmodel    " + terminal_text(result.model) + "\n";
  text += "created  " + to_rfc3339(root.info.created) + "\n";
  if (root.info.base) {
    text += "base     " + terminal_text(root.info.base->root.text()) + " up to record " +
            std::to_string(root.info.base->seq) + "\n";
  }
  for (const MessagePtr& message : result.messages.messages()) text += message_text(*message);
  const Usage& usage = result.usage;
  text += "\n" + counted(result.counts.model_calls, "model call") + ", " +
          counted(result.counts.tool_calls, "tool call") + ", " +
          std::to_string(usage.input_tokens) + " tokens in, " +
          std::to_string(usage.output_tokens) + " out, cost " + to_string(result.cost) + ", " +
          std::to_string(result.duration_ms) + " ms\n";
  if (!result.pending.empty()) {
    text += "\nwaits for approval\n" + pending_list(result.pending);
  }
  if (result.error) text += "error    " + terminal_text(to_string(*result.error)) + "\n";
  return text;
}

Json show_json(const FoldedRoot& root, const FoldedRun& run) {
  Json json = to_json(run.result);
  Json messages = Json::array();
  for (const MessagePtr& message : run.result.messages.messages())
    messages.push_back(to_json(*message));
  json.set("messages", std::move(messages));
  json.set("tree", tree_json(root, run));
  json.set("progress", to_json(run.status));
  return json;
}

int show_events(const Options& options, const StoredRun& stored) {
  const bool whole = stored.name.run == stored.name.root;
  auto shown = for_each_event(*stored.store, stored.name.root, [&](const Event& event) {
    if (whole || (event.who && event.who->run_id == stored.name.run)) print(to_line(event) + "\n");
  });
  return shown ? ok : report(options, shown.error(), unusable);
}

int show(const Options& options, const ShowRequest& request) {
  auto stored = find_stored(options, request.run);
  if (!stored) return report(options, stored.error(), unusable);
  if (!request.raw && (request.events || options.stream())) return show_events(options, *stored);
  auto root = fold_root(*stored->store, stored->name.root);
  if (!root) return report(options, root.error(), unusable);
  const FoldedRun* run = find_folded(*root, stored->name.run);
  if (!run) {
    return report(options,
                  Error(ErrorKind::invalid,
                        "run " + stored->name.run.text() + " has left no record of its start",
                        "`tug show --events` shows what there is"),
                  unusable);
  }
  if (request.raw) {
    for (const Json& response : run->result.responses) print(print_json(response) + "\n");
    return ok;
  }
  if (request.tree) {
    print(options.json() ? print_json(tree_json(*root, *run)) + "\n" : tree_table(*root, *run));
    return ok;
  }
  print(options.json() ? print_json(show_json(*root, *run)) + "\n" : page(*root, *run));
  return ok;
}

}  // namespace

Command show_command(Options& options) {
  auto request = std::make_shared<ShowRequest>();
  return {.name = "show",
          .summary = "Read a run: its messages and calls, its events, its tree, the raw replies",
          .examples = "  tug show last\n  tug show 4k2m9x --events | tail -1\n",
          .flags =
              std::vector<Flag>{
                  {.names = "RUN",
                   .value = "RUN",
                   .help = "An id, 4 letters of its start or end, or last",
                   .target = &request->run,
                   .required = true},
                  {"--events", nullptr, "Its records, one JSON object a line", &request->events},
                  {"--tree", nullptr, "It and the runs below it", &request->tree},
                  {"--raw", nullptr, "What the provider answered, one JSON value a line",
                   &request->raw}} +
              common_flags(options),
          .run = [request, &options] { return show(options, *request); }};
}

}  // namespace tug::cli
