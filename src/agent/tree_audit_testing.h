// Watches a whole tree of runs, segment after segment, and says when something happens that may
// not: a record out of place, a limit that was passed, code that runs when it must not.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tug/agent/options.h"
#include "tug/agent/steering.h"
#include "tug/agent/stream.h"
#include "tug/context/budget.h"
#include "tug/context/run_result.h"
#include "tug/core/codec.h"
#include "tug/journal/sink.h"
#include "tug/tools/permissions.h"

namespace tug {

class TreeAudit final : public Sink {
 public:
  enum class Stands : std::uint8_t { open, parked, ended };

  struct Asked {
    std::string tool;
    std::string digest;
    bool holds_batch = false;
    std::optional<bool> approved;
  };
  struct Call {
    std::string tool;
    std::string effect;
    bool from_code = false;
    bool started = false;
    bool counted = false;
    std::optional<Asked> asked;
    Json args;
    Seq ran_in = 0;  // the segment of its run in which its code ran last
  };
  struct Grant {
    std::string tool;
    std::string scope;
  };
  struct Node {
    LineagePtr who;
    Node* parent = nullptr;
    Stands stands = Stands::open;
    Kind ended_with = Kind::run_started;
    Seq segment = 0;  // the record that began it
    Seq last = 0;
    Seq ended_at = 0;
    Json result;  // of its newest terminal event
    RunLimits limits;
    std::string attempt;
    std::map<std::string, Call> calls;  // that have no result yet
    std::set<std::string> done;         // calls that have one
    std::set<std::string> children;     // whose end it was not told of
    std::set<std::string> background;   // children that nobody awaits
    std::vector<Grant> grants;
    bool paused = false;
    int bodies = 0;                 // code of its calls that runs now
    std::set<std::string> running;  // calls of its turn whose code does
    // Of the run alone, and with everything below it; beyond what was held, of the subtree.
    Amount own;
    Amount all;
    Amount over;
    Duration alive{};
    Time since{};
  };

  // What the tree was told when it began.
  std::function<Permissions(const Node&)> permissions;
  std::function<SteeringPolicy(const Node&, std::string_view sender)> steering;
  std::function<bool(std::string_view tool, const Json& args)> requires_approval;
  bool one_by_one = false;        // the calls of a turn run one after the other
  bool paused_by_handle = false;  // pauses of nodes that needed no permission
  bool show = false;              // every record, for whoever looks for a cause

  void on_event(const Event& event) override {
    if (event.live != 0) return;
    if (show) std::printf("%s\n", line_of(event).c_str());
    if (event.seq != ++last_seq_) fault(event, "the records have a gap");
    if (event.kind == Kind::run_started) return begin(event);
    const auto found = nodes_.find(event.who->run_id.text());
    if (found == nodes_.end()) return fault(event, "its run has not begun");
    Node& node = found->second;
    if (event.kind == Kind::run_resumed) return resume(node, event);
    const bool decides = event.kind == Kind::approval_decided && node.stands == Stands::parked &&
                         root().stands == Stands::open;
    if (node.stands != Stands::open && !decides) return fault(event, "its run is not under way");
    node.last = event.seq;
    take(node, event);
  }

  // The code of a call begins, and ends.
  void enter(const RunId& run, const CallId& id, const ToolSpec& tool, const Json& args) {
    const std::string what = "the code of " + tool.name + " " + id.text() + " in " + run.text();
    Node* node = find(run);
    if (!node || node->stands != Stands::open) return fault(what + " runs outside of its run");
    ++node->bodies;
    const auto found = node->calls.find(id.text());
    if (found == node->calls.end() || !found->second.started) {
      return fault(what + " runs without a record");
    }
    Call& call = found->second;
    if (call.ran_in == node->segment) return fault(what + " runs twice in a segment");
    if (call.ran_in != 0 && tool.effect != Effect::pure && tool.effect != Effect::idempotent) {
      return fault(what + " runs twice");
    }
    call.ran_in = node->segment;
    if (!call.from_code) {
      if (one_by_one) check_alone(*node, id.text(), what);
      node->running.insert(id.text());
    }
    if (call.args != args) return fault(what + " runs with other arguments than were recorded");
    check_allowed(*node, call, tool, what);
  }
  void leave(const RunId& run, const CallId& id) {
    Node* node = find(run);
    if (!node) return;
    --node->bodies;
    node->running.erase(id.text());
    if (node->stands != Stands::open || !node->calls.contains(id.text())) {
      fault("the code of " + id.text() + " in " + run.text() + " ran on after its end");
    }
  }

  void fault(std::string what) {
    faults.push_back(what);
    if (faults.size() < 4) ADD_FAILURE() << what;
  }

  bool empty() const noexcept { return order_.empty(); }
  Node& root() { return *order_.front(); }
  Node* find(const RunId& run) {
    const auto found = nodes_.find(run.text());
    return found == nodes_.end() ? nullptr : &found->second;
  }
  // In the order they began.
  const std::vector<Node*>& order() const noexcept { return order_; }
  std::vector<Node*> open() const {
    std::vector<Node*> nodes;
    for (Node* node : order_) {
      if (node->stands == Stands::open) nodes.push_back(node);
    }
    return nodes;
  }
  bool any_paused() const {
    return std::ranges::any_of(
        order_, [](const Node* node) { return node->stands == Stands::open && node->paused; });
  }
  // "run/call" of all that wait for a decision.
  std::set<std::string> waiting() const {
    std::set<std::string> waiting;
    for (const Node* node : order_) {
      if (node->stands == Stands::ended) continue;
      for (const auto& [id, call] : node->calls) {
        if (call.asked && !call.asked->approved) {
          waiting.insert(node->who->run_id.text() + "/" + id);
        }
      }
    }
    return waiting;
  }
  Seq last_seq() const noexcept { return last_seq_; }

  std::vector<std::string> faults;

 private:
  void fault(const Event& event, const std::string& what) {
    fault("record " + std::to_string(event.seq) + " (" + std::string(event.name()) + ") of run " +
          event.who->run_id.text() + " [" + event.who->agent + "]: " + what + "\n  " +
          print_json(event.data));
  }

  void begin(const Event& event) {
    const Lineage& who = *event.who;
    if (nodes_.contains(who.run_id.text())) return fault(event, "it began already");
    Node& node = nodes_[who.run_id.text()];
    order_.push_back(&node);
    node.who = event.who;
    node.segment = node.last = event.seq;
    node.since = event.ts;
    node.parent = find(who.parent_run_id);
    if (const Json* limits = event.data.find("limits")) {
      node.limits = read_json<RunLimits>(*limits).value_or(RunLimits{});
    }
    if (const auto timeout = event.data["options"]["timeout"].as_double()) {
      node.limits.max_time = std::min(*timeout, node.limits.max_time.value_or(*timeout));
    }
    if (order_.size() == 1) return;
    if (!node.parent) return fault(event, "it has no parent");
    if (node.parent->stands != Stands::open) fault(event, "its parent is not under way");
    if (!node.parent->children.contains(who.run_id.text())) fault(event, "its parent said nothing");
    if (who.depth != node.parent->who->depth + 1) fault(event, "it is not one level deeper");
    for (Node* above = node.parent; above; above = above->parent) {
      const std::uint32_t levels = who.depth - above->who->depth;
      const std::uint32_t allowed =
          above->limits.max_depth.value_or(above->parent ? ~0u : kDefaultMaxDepth);
      if (levels > allowed) fault(event, "it is deeper than a limit allows");
    }
  }

  void resume(Node& node, const Event& event) {
    if (node.stands == Stands::open) fault(event, "it is under way already");
    if (node.parent && node.stands != Stands::parked) fault(event, "it was not parked");
    if (node.parent && node.parent->stands != Stands::open) {
      fault(event, "its parent is not under way");
    }
    node.stands = Stands::open;
    node.segment = node.last = event.seq;
    node.since = event.ts;
    if (!event.data["keeps_pause"].as_bool()) node.paused = false;
    if (const Json* limits = event.data["options"].find("limits")) {
      const RunLimits told = read_json<RunLimits>(*limits).value_or(RunLimits{});
      if (told.max_turns) node.limits.max_turns = told.max_turns;
      if (told.max_tool_calls) node.limits.max_tool_calls = told.max_tool_calls;
    }
  }

  void take(Node& node, const Event& event) {
    switch (event.kind) {
      case Kind::run_completed:
      case Kind::run_failed:
      case Kind::run_cancelled:
      case Kind::run_paused:
        return end(node, event);
      case Kind::model_started:
        if (!node.attempt.empty()) fault(event, "another attempt is open");
        node.attempt = event.data["call"].as_string();
        return check_time(node, event);
      case Kind::model_completed:
      case Kind::model_failed:
        return end_attempt(node, event);
      case Kind::tool_started:
        return start_call(node, event);
      case Kind::tool_unknown:
      case Kind::tool_invalid_args:
      case Kind::tool_denied:
        return refuse_call(node, event);
      case Kind::tool_completed:
      case Kind::tool_failed:
      case Kind::tool_outcome_unknown:
        return end_call(node, event);
      case Kind::approval_requested:
        return ask(node, event);
      case Kind::approval_decided:
        return decide(node, event);
      case Kind::subagent_started:
        if (!node.children.insert(text(event, "child_run_id")).second) {
          fault(event, "that child was told of");
        }
        if (event.data["background"].as_bool()) {
          node.background.insert(text(event, "child_run_id"));
        }
        return;
      case Kind::subagent_completed:
      case Kind::subagent_failed:
        return end_child(node, event);
      case Kind::steering_applied:
        return steer(node, event);
      case Kind::steering_rejected:
        return reject(node, event);
      default:
        return;
    }
  }

  // Indented by depth; results and the like are left out.
  static std::string line_of(const Event& event) {
    std::string line = std::to_string(event.seq) + std::string(1 + 2 * event.who->depth, ' ') +
                       event.who->run_id.text().substr(16) + " [" + event.who->agent + "] " +
                       std::string(event.name());
    for (const auto& member : event.data.members()) {
      const std::string key(member.key());
      if (key == "result" || key == "context" || key == "message" || key == "constants") continue;
      line += " " + key + "=" + print_json(member.value).substr(0, 120);
    }
    return line;
  }

  static std::string text(const Event& event, std::string_view key) {
    return std::string(event.data[key].as_string());
  }

  void end(Node& node, const Event& event) {
    const bool parks = event.kind == Kind::run_paused;
    if (!node.attempt.empty()) fault(event, "an attempt is open");
    if (node.bodies > 0) fault(event, std::to_string(node.bodies) + " calls run on");
    for (const auto& [id, call] : node.calls) {
      if (!call.started) continue;
      // One that has not begun, or whose child was parked.
      const bool again = call.effect == "pure" || call.effect == "idempotent" || call.ran_in == 0;
      if (!parks || !again || call.from_code) fault(event, "call " + id + " has no partner");
    }
    for (Node* other : order_) {
      if (other->parent != &node || other->stands == Stands::ended) continue;
      if (!parks || other->stands == Stands::open) {
        fault(event, "run " + other->who->run_id.text() + " below it goes on");
      }
    }
    if (!parks && !node.children.empty()) {
      fault(event, "it was not told of the end of " + *node.children.begin());
    }
    node.stands = parks ? Stands::parked : Stands::ended;
    node.ended_with = event.kind;
    node.ended_at = event.seq;
    node.result = event.data["result"];
    node.alive += event.ts - node.since;
    if (parks) return;
    for (const auto& [id, call] : node.calls) node.done.insert(id);
    node.calls.clear();
  }

  void end_attempt(Node& node, const Event& event) {
    if (node.attempt.empty() || node.attempt != event.data["call"].as_string()) {
      fault(event, "it is no partner of the open attempt");
    }
    node.attempt.clear();
    Amount spent;
    if (event.kind == Kind::model_failed) {
      spent = amount(event.data["spent"]);
    } else if (const Json* counted = event.data.find("counted")) {
      spent = amount(*counted);
    } else {
      const auto usage = JsonForm<Usage>::read(event.data["usage"]).value_or(Usage{});
      const Json* cost = event.data.find("cost");
      spent = {.model_calls = 1, .tokens = usage.total()};
      if (cost) spent.cost = JsonForm<Cost>::read(*cost).value_or(Cost()).nanos();
    }
    const Amount over = amount(event.data["over"]);
    for (Node* at = &node; at; at = at->parent) at->over += over;
    spend(node, event, spent);
  }

  static Amount amount(const Json& json) {
    return {.model_calls = json["model_calls"].as_int().value_or(0),
            .tool_calls = json["tool_calls"].as_int().value_or(0),
            .tokens = json["tokens"].as_int().value_or(0),
            .cost = json["cost"].as_int().value_or(0)};
  }

  void spend(Node& node, const Event& event, const Amount& spent) {
    node.own += spent;
    for (Node* at = &node; at; at = at->parent) {
      at->all += spent;
      const RunLimits& limits = at->limits;
      const std::string of = " of run " + at->who->run_id.text();
      if (at->all.model_calls > limits.max_turns.value_or(kMost)) {
        fault(event, "more model calls than the limit" + of);
      }
      if (at->all.tool_calls > limits.max_tool_calls.value_or(kMost)) {
        fault(event, "more tool calls than the limit" + of);
      }
      if (at->all.tokens - at->over.tokens > limits.max_tokens.value_or(kMost)) {
        fault(event, "more tokens than the limit" + of);
      }
      if (limits.max_cost && at->all.cost - at->over.cost >
                                 nanos_from_dollars(Json(*limits.max_cost)).value_or(kMost)) {
        fault(event, "a higher cost than the limit" + of);
      }
    }
    const RunLimits& limits = node.limits;
    if (!limits.max_turns && node.own.model_calls > kDefaultMaxTurns) {
      fault(event, "more model calls than any run may make");
    }
    if (!limits.max_tool_calls && node.own.tool_calls > kDefaultMaxToolCalls) {
      fault(event, "more tool calls than any run may make");
    }
  }

  // Nothing begins once the time of a run, or of one above it, is over.
  void check_time(Node& node, const Event& event) {
    for (Node* at = &node; at; at = at->parent) {
      if (!at->limits.max_time) continue;
      const Duration alive = at->alive + (event.ts - at->since);
      const auto ms = std::chrono::duration<double, std::milli>(alive).count();
      if (ms > *at->limits.max_time * 1000 + 1) {
        fault(event, "it begins after the time of run " + at->who->run_id.text());
      }
    }
  }

  void count(Node& node, Call& call, const Event& event) {
    if (std::exchange(call.counted, true)) return;
    spend(node, event, {.tool_calls = 1});
  }

  // A call that is spoken of for the first time, or one that is open.
  Call& call_of(Node& node, const Event& event) {
    const std::string id = text(event, "call_id");
    if (node.done.contains(id)) fault(event, "the call has its result");
    Call& call = node.calls[id];
    call.tool = text(event, "tool");
    return call;
  }

  void start_call(Node& node, const Event& event) {
    Call& call = call_of(node, event);
    if (call.started) return fault(event, "the call was started already");
    call.started = true;
    call.args = event.data["arguments"];
    call.effect = text(event, "effect");
    call.from_code = event.data.contains("called_by");
    count(node, call, event);
    if (call.from_code) return;
    check_time(node, event);
    if (call.asked) {
      if (!call.asked->approved.value_or(false)) fault(event, "it was not approved");
      if (approval_digest(call.tool, call.args).hex() != call.asked->digest) {
        fault(event, "something else was approved");
      }
    }
    for (const auto& [id, other] : node.calls) {
      if (other.asked && other.asked->holds_batch && !other.asked->approved) {
        fault(event, "it was to wait for the decision about " + id);
      }
    }
  }

  void refuse_call(Node& node, const Event& event) {
    Call& call = call_of(node, event);
    if (call.started) fault(event, "the call was started");
    if (event.kind == Kind::tool_denied && call.asked && !call.asked->approved) {
      fault(event, "nobody decided about it");
    }
    count(node, call, event);
    close(node, event);
  }

  void end_call(Node& node, const Event& event) {
    const auto found = node.calls.find(text(event, "call_id"));
    if (found == node.calls.end() || !found->second.started) {
      return fault(event, "the call was never started");
    }
    close(node, event);
  }

  static void close(Node& node, const Event& event) {
    const std::string id = text(event, "call_id");
    node.calls.erase(id);
    node.done.insert(id);
  }

  void ask(Node& node, const Event& event) {
    Call& call = call_of(node, event);
    if (call.started || call.asked) return fault(event, "the call is decided about");
    if (approval_digest(call.tool, event.data["arguments"]).hex() != text(event, "digest")) {
      fault(event, "the digest is of something else");
    }
    call.asked = Asked{call.tool, text(event, "digest"), text(event, "hold") != "call", {}};
    count(node, call, event);
  }

  void decide(Node& node, const Event& event) {
    const auto found = node.calls.find(text(event, "call_id"));
    if (found == node.calls.end() || !found->second.asked || found->second.asked->approved) {
      return fault(event, "the call does not wait");
    }
    Asked& asked = *found->second.asked;
    asked.approved = event.data["approved"].as_bool();
    const bool edited = event.data.contains("arguments");
    if (!edited && text(event, "digest") != asked.digest) fault(event, "something else was shown");
    asked.digest = text(event, "digest");
    if (event.data.contains("grant")) {
      node.grants.push_back({text(event, "grant"), text(event, "scope")});
    }
  }

  void end_child(Node& node, const Event& event) {
    const std::string id = text(event, "child_run_id");
    if (node.children.erase(id) == 0) return fault(event, "no such child is open");
    const Node* child = find(RunId(id));
    if (!child || child->stands != Stands::ended) return fault(event, "the child has not ended");
    const bool well = child->ended_with == Kind::run_completed;
    if (well != (event.kind == Kind::subagent_completed)) fault(event, "the child ended otherwise");
  }

  void steer(Node& node, const Event& event) {
    const auto command = steer_from(event.data["command"]);
    if (!command) return fault(event, "it is no command");
    const std::string sender = text(event, "sender");
    const bool by_handle = paused_by_handle && command->kind == SteerKind::pause;
    if (steering && sender != "prompt" && !by_handle &&
        !steering(node, sender).permits(command->kind)) {
      fault(event, "the run does not permit it");
    }
    if (command->kind == SteerKind::pause) node.paused = true;
    if (command->kind == SteerKind::resume) node.paused = false;
  }

  void reject(Node& node, const Event& event) {
    const std::string sender = text(event, "sender");
    if (!steering || sender == "prompt") return fault(event, "nothing speaks against it");
    for (const Json& item : event.data["command"].items()) {
      const auto command = steer_from(item);
      if (!command || !steering(node, sender).permits(command->kind)) return;
    }
    fault(event, "the run permits all of it");
  }

  void check_alone(const Node& node, const std::string& call, const std::string& what) {
    for (const std::string& other : node.running) fault(what + " runs beside call " + other);
    for (const Node* child : order_) {
      const std::string& of = child->who->parent_call_id.text();
      if (child->parent != &node || child->stands != Stands::open || of == call) continue;
      if (node.background.contains(child->who->run_id.text())) continue;
      const auto found = node.calls.find(of);
      if (found == node.calls.end() || !found->second.started || found->second.from_code) continue;
      fault(what + " runs beside the child of call " + of);
    }
  }

  bool is_granted(const Node& node, const std::string& tool) const {
    for (const Node* other : order_) {
      for (const Grant& grant : other->grants) {
        if (grant.tool != tool) continue;
        if (grant.scope == "tree") return true;
        for (const Node* at = &node; at; at = at->parent) {
          if (at == other) return true;
        }
      }
    }
    return false;
  }

  void check_allowed(const Node& node, const Call& call, const ToolSpec& tool,
                     const std::string& what) {
    if (!permissions || tool.agent) return;
    for (const Node* at = &node; at; at = at->parent) {
      if (permissions(*at).mode == PermissionMode::read_only && tool.effect != Effect::pure) {
        return fault(what + " runs where only reading is allowed");
      }
    }
    const Permissions mine = permissions(node);
    bool asks = requires_approval(tool.name, call.args);
    if (mine.mode == PermissionMode::ask || mine.mode == PermissionMode::accept_edits) {
      asks = asks || tool.effect != Effect::pure;
    }
    if (std::ranges::find(mine.ask_effects, tool.effect) != mine.ask_effects.end()) asks = true;
    if (mine.mode == PermissionMode::yolo) asks = false;
    if (std::ranges::find(mine.ask, tool.name) != mine.ask.end()) asks = true;
    if (asks && !call.asked && !is_granted(node, tool.name)) {
      fault(what + " runs without approval");
    }
  }

  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::map<std::string, Node> nodes_;
  std::vector<Node*> order_;
  Seq last_seq_ = 0;
};

}  // namespace tug
