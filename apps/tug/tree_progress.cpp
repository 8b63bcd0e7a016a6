#include "tree_progress.h"

#include <algorithm>

#include "amounts.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

constexpr std::size_t kName = 40;

std::string name(std::string_view text) { return terminal_text(clip_utf8(text, kName)); }

bool ends_run(Kind kind) {
  return kind == Kind::run_completed || kind == Kind::run_failed || kind == Kind::run_cancelled ||
         kind == Kind::run_paused;
}

std::string several(const std::map<std::string, std::string>& tools) {
  std::string text = tools.begin()->second;
  if (tools.size() > 1) text += " and " + std::to_string(tools.size() - 1) + " more";
  return text;
}

}  // namespace

TreeProgress::Node* TreeProgress::find(const RunId& id) {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

void TreeProgress::begin(const Event& event, Moment now) {
  nodes_.try_emplace(event.who->run_id, Node{.agent = name(event.who->agent),
                                             .parent = event.who->parent_run_id,
                                             .depth = event.who->depth,
                                             .since = now});
}

// Whatever a run spends, those above it have spent.
void TreeProgress::spend(const Event& event) {
  const std::int64_t tokens = event.data["usage"]["total_tokens"].as_int().value_or(0);
  const auto cost = JsonForm<Cost>::read(event.data["cost"]);
  for (Node* node = find(event.who->run_id); node; node = find(node->parent)) {
    node->tokens += tokens;
    if (cost) node->cost += *cost;
  }
}

void TreeProgress::on_event(const Event& event, Moment now) {
  if (!event.who || event.who->depth == 0) return;
  if (ends_run(event.kind)) {
    nodes_.erase(event.who->run_id);
    return;
  }
  if (event.kind == Kind::run_started || event.kind == Kind::run_resumed) begin(event, now);
  Node* node = find(event.who->run_id);
  if (!node) return;
  const std::string call(event.data["call_id"].as_string());
  switch (event.kind) {
    case Kind::model_started:
      node->turn = std::max(node->turn, event.turn);
      node->asks_model = true;
      node->since = now;
      break;
    case Kind::model_completed:
    case Kind::model_failed:
      node->asks_model = false;
      node->since = now;
      spend(event);
      break;
    case Kind::tool_started:
      if (node->calls.empty()) node->since = now;
      node->calls[call] = name(event.data["tool"].as_string());
      break;
    case Kind::tool_completed:
    case Kind::tool_failed:
    case Kind::tool_outcome_unknown:
      node->calls.erase(call);
      break;
    case Kind::approval_requested:
      if (node->waiting.empty()) node->since = now;
      node->waiting[call] = name(event.data["tool"].as_string());
      break;
    case Kind::approval_decided:
      node->waiting.erase(call);
      break;
    case Kind::steering_applied: {
      const std::string_view command = event.data["command"]["command"].as_string();
      if (command == "pause" || command == "resume") node->paused = command == "pause";
      break;
    }
    default:
      break;
  }
}

std::string TreeProgress::line_of(const RunId& id, const Node& node, Moment now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - node.since).count();
  std::string text(2 * std::min<std::size_t>(node.depth - 1, 20), ' ');
  text += node.agent + " " + terminal_text(short_id(id)) + "  ";
  if (node.paused) {
    text += "paused";
  } else if (!node.calls.empty()) {
    text += several(node.calls);
  } else if (!node.waiting.empty()) {
    text += "asks about " + several(node.waiting);
  } else {
    text += node.asks_model ? "model" : "starts";
  }
  text += " " + std::to_string(seconds) + "s";
  if (node.turn > 0) text += "  turn " + std::to_string(node.turn);
  if (node.tokens > 0) text += "  " + thousands(node.tokens) + " tokens";
  if (node.cost.nanos() > 0) text += "  " + to_string(node.cost);
  return text;
}

std::vector<std::string> TreeProgress::lines(Moment now, std::size_t columns,
                                             std::size_t most) const {
  using Entry = std::pair<const RunId, Node>;
  std::map<RunId, std::vector<const Entry*>> below;
  std::vector<const Entry*> open;  // still to be shown, the next one last
  for (const Entry& entry : nodes_) {
    const RunId& parent = entry.second.parent;
    if (nodes_.contains(parent)) {
      below[parent].push_back(&entry);
    } else {
      open.push_back(&entry);
    }
  }
  std::ranges::reverse(open);
  std::vector<std::string> shown;
  while (!open.empty() && shown.size() < most) {
    if (shown.size() + 1 == most && nodes_.size() > most) {
      shown.push_back("+ " + std::to_string(nodes_.size() - shown.size()) + " more");
      break;
    }
    const Entry* entry = open.back();
    open.pop_back();
    shown.push_back(clip_columns(line_of(entry->first, entry->second, now), columns));
    if (const auto next = below.find(entry->first); next != below.end())
      open.insert(open.end(), next->second.rbegin(), next->second.rend());
  }
  return shown;
}

}  // namespace tug::cli
