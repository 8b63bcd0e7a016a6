#include "tug/context/context.h"

#include <algorithm>

#include "context/node.h"
#include "tug/core/digest.h"
#include "tug/core/loop.h"
#include "tug/journal/journal.h"

namespace tug {
namespace detail {

// A loop, not recursion: a chain of contexts may be long. A child goes before its parent.
void ContextNode::drop(ContextNode* node) noexcept {
  if (!node || --node->refs != 0) return;
  ContextNode* dead = node;
  dead->next_dead = nullptr;
  while (dead) {
    ContextNode* gone = std::exchange(dead, dead->next_dead);
    for (ContextNode* above : {gone->parent, gone->target}) {
      if (!above || --above->refs != 0) continue;
      above->next_dead = dead;
      dead = above;
    }
    delete gone;
  }
}

ContextLocals& ContextNode::own_locals() {
  if (!locals) {
    locals = std::make_unique<ContextLocals>();
    locals->values = Json::object({{"config", root->services->config()}});
  }
  return *locals;
}

ContextInherited& ContextNode::own_inherited() {
  if (inherited->refs > 1) {
    auto* copy = new ContextInherited(*inherited);
    copy->refs = 1;
    inherited = Counted<ContextInherited>(copy);
  }
  return *inherited;
}

const CancelToken& ContextNode::own_cancel() {
  if (cancel) return cancel;
  std::vector<ContextNode*> without;
  ContextNode* above = this;
  for (; above && !above->cancel; above = above->parent) without.push_back(above);
  for (auto node = without.rbegin(); node != without.rend(); ++node) {
    (*node)->cancel = above ? above->cancel.child() : CancelToken::root();
    above = *node;
  }
  return cancel;
}

const CancelToken* ContextNode::deciding_cancel() const noexcept {
  for (const ContextNode* node = this; node; node = node->parent) {
    if (node->cancel) return &node->cancel;
  }
  return nullptr;
}

void overlay(Json& object, const Json& from) {
  for (const Json::Member& member : from.members()) object.set(member.key(), member.value);
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

}  // namespace detail

namespace {

using detail::ContextInherited;
using detail::ContextNode;
using detail::ContextRoot;
using detail::ContextRun;
using detail::Counted;

Failure refuse(std::string what, std::string fix = {}) {
  return fail(ErrorKind::invalid, std::move(what), std::move(fix));
}

Result<void> check_object(const Json& value, std::string_view field) {
  if (value.is_null() || value.is_object()) return {};
  return refuse(std::string(field) + " of a context must be a JSON object");
}

// What holds for every kind of node.
Result<void> check(const ChildSpec& spec) {
  if (spec.kind != NodeKind::run) {
    const char* field = !spec.run_id.empty()        ? "run_id"
                        : !spec.thread_id.empty()   ? "thread_id"
                        : !spec.agent.empty()       ? "agent"
                        : !spec.defaults.empty()    ? "defaults"
                        : spec.restored.has_value() ? "restored"
                                                    : nullptr;
    if (field) {
      return refuse(
          std::string(field) + " was set for a context of kind " + std::string(name_of(spec.kind)),
          "only runs have one; other nodes share that of their run");
    }
  }
  for (const auto& [value, field] : {std::pair<const Json&, const char*>{spec.metadata, "metadata"},
                                     {spec.locals, "locals"},
                                     {spec.inherit.values, "inherit.values"},
                                     {spec.inherit.metadata, "inherit.metadata"},
                                     {spec.inherit.configurable, "inherit.configurable"}}) {
    if (auto object = check_object(value, field); !object) return object;
  }
  return {};
}

bool adds(const Inherited& inherit) noexcept {
  return !inherit.values.empty() || !inherit.metadata.empty() || !inherit.configurable.empty() ||
         !inherit.tags.empty();
}

// The parts of a new node that come from its spec alone.
Result<void> furnish(ContextNode& node, ChildSpec& spec) {
  node.number = node.root->nodes++;
  node.kind = spec.kind;
  node.args = std::move(spec.args);
  node.tool = std::move(spec.tool);
  if (adds(spec.inherit)) {
    Inherited& values = node.own_inherited().values;
    detail::overlay(values.values, spec.inherit.values);
    detail::overlay(values.metadata, spec.inherit.metadata);
    detail::overlay(values.configurable, spec.inherit.configurable);
    for (std::string& tag : spec.inherit.tags) detail::add_once(values.tags, std::move(tag));
  }
  if (!spec.tags.empty() || !spec.metadata.empty() || spec.origin || spec.chain) {
    auto& locals = node.own_locals();
    for (std::string& tag : spec.tags) detail::add_once(locals.tags, std::move(tag));
    locals.metadata = std::move(spec.metadata);
    locals.origin = std::move(spec.origin);
    locals.chain = std::move(spec.chain);
  }
  if (!spec.locals.empty()) {
    const Context self = ContextNode::handle(&node);
    for (const Json::Member& member : spec.locals.members()) {
      // A config in the seed completes the one from the services instead of replacing it.
      if (member.key() == "config" && member.value.is_object()) {
        detail::overlay(node.own_locals().values.edit("config"), member.value);
        continue;
      }
      if (auto set = self.set("locals." + std::string(member.key()), member.value); !set)
        return set;
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::run:
      return "run";
    case NodeKind::tool:
      return "tool";
    case NodeKind::middleware:
      return "middleware";
    case NodeKind::graph_node:
      return "graph_node";
  }
  return "tool";
}

Result<Context> Context::root(RootSpec spec) {
  if (!spec.services || !spec.loop || !spec.log) {
    return refuse("a root context needs services, a loop and a log");
  }
  ChildSpec& run = spec.run;
  run.kind = NodeKind::run;
  if (run.target) return refuse("a root context cannot serve another");
  if (auto checked = check(run); !checked) return Failure(std::move(checked).error());

  // The log's lineage is the root's: its chain covers it, and a run has one for life.
  const LineagePtr who = spec.log->lineage();
  const bool other = (!run.run_id.empty() && run.run_id != who->run_id) ||
                     (!run.thread_id.empty() && run.thread_id != who->thread_id) ||
                     (!run.agent.empty() && run.agent != who->agent) ||
                     (!run.call.empty() && run.call != who->parent_call_id);
  if (other) {
    return refuse(
        "the root context of run " + who->run_id.text() + " with another id, thread, agent or call",
        "say them when the log is created, or leave them out");
  }

  Context context = ContextNode::adopt(new ContextNode);
  ContextNode& node = *context.node_;
  // From the id and not from a shared generator: the numbers of a root do not depend on other
  // roots.
  const std::uint64_t seed = fingerprint_of(who->run_id.text(), spec.services->seed()).low;
  node.root = Counted(new ContextRoot{.services = std::move(spec.services),
                                      .loop = spec.loop,
                                      .log = std::move(spec.log),
                                      .rng = Rng(seed),
                                      .ring = detail::LogRing(spec.log_ring)});
  const Instant now = spec.loop->now();
  node.budget = Budget::root({who->run_id, run.limits, run.defaults, run.restored}, now);
  node.run = Counted(new ContextRun{.who = who});
  node.inherited =
      Counted(new ContextInherited{.values = {Json::object(), Json::object(), Json::object(), {}}});
  node.cancel = CancelToken::child_of_both(spec.loop->stopping(), run.cancel);
  node.interactive = spec.interactive;
  if (auto furnished = furnish(node, run); !furnished) {
    return Failure(std::move(furnished).error());
  }
  detail::follow_log_defaults(*node.root);
  return context;
}

Result<Context> Context::child(ChildSpec spec) const {
  if (auto checked = check(spec); !checked) return Failure(std::move(checked).error());
  if (spec.target && spec.kind != NodeKind::middleware) {
    return refuse("target was set for a context of kind " + std::string(name_of(spec.kind)),
                  "only a middleware serves another context");
  }
  const ContextNode& above = *node_;
  if (spec.target && !*spec.target) return refuse("the target of a middleware is an empty context");
  if (spec.target && &*ContextNode::of(*spec.target)->root != &*above.root) {
    return refuse("the target of a middleware is in another root's tree");
  }

  Context context = ContextNode::adopt(new ContextNode);
  ContextNode& node = *context.node_;
  node.parent = ContextNode::share(node_);
  node.root = above.root;
  node.inherited = above.inherited;
  if (spec.kind == NodeKind::run) {
    const Lineage& mine = *above.run->who;
    const Loop& loop = *above.root->loop;
    Lineage who;
    who.run_id = spec.run_id.empty() ? RunId(above.root->services->ids().next(loop.wall()))
                                     : std::move(spec.run_id);
    who.thread_id = spec.thread_id.empty() ? mine.thread_id : std::move(spec.thread_id);
    who.root_run_id = mine.root_run_id;
    who.parent_run_id = mine.run_id;
    who.parent_call_id = spec.call.empty() ? above.call : std::move(spec.call);
    who.depth = mine.depth + 1;
    who.agent = spec.agent.empty() ? mine.agent : std::move(spec.agent);
    auto budget = above.budget.child_run(
        {who.run_id, std::move(spec.limits), std::move(spec.defaults), spec.restored}, loop.now());
    if (!budget) return Failure(std::move(budget).error());
    node.budget = *std::move(budget);
    node.run = Counted(new ContextRun{.who = std::make_shared<const Lineage>(std::move(who))});
  } else {
    node.run = above.run;
    node.turn = above.turn;
    node.call = spec.call.empty() ? above.call : std::move(spec.call);
    node.budget = spec.limits.empty()
                      ? above.budget
                      : above.budget.part(std::move(spec.limits), above.root->loop->now());
  }
  if (spec.target) node.target = ContextNode::share(ContextNode::of(*spec.target));
  if (spec.cancel) {
    node_->own_cancel();
    node.cancel = CancelToken::child_of_both(node_->cancel, spec.cancel);
  }
  if (auto furnished = furnish(node, spec); !furnished) {
    return Failure(std::move(furnished).error());
  }
  return context;
}

Context Context::target() const noexcept {
  return ContextNode::handle(node_->target ? node_->target : node_);
}

Result<Context> Context::require_target() const {
  if (node_->target) return target();
  return refuse("context " + detail::context_id(*node_) + " serves no other context",
                "it was not invoked as a middleware");
}

Budget& Context::budget() const noexcept { return node_->budget; }
const CancelToken& Context::cancel() const { return node_->own_cancel(); }
Rng& Context::rng() const noexcept { return node_->root->rng; }
RootLog& Context::events() const noexcept { return *node_->root->log; }

Seq Context::emit(Kind kind, Json data, MessagePtr message) const {
  Event event;
  event.kind = kind;
  event.turn = node_->turn;
  event.who = node_->run->who;
  event.data = std::move(data);
  event.message = std::move(message);
  return events().emit(std::move(event));
}

void Context::emit_live(Kind kind, Json data) const {
  if (!events().wants_live()) return;
  Event event;
  event.kind = kind;
  event.turn = node_->turn;
  event.who = node_->run->who;
  event.data = std::move(data);
  events().emit_live(std::move(event));
}

Seq Context::emit(std::string_view name, Json data) const {
  return emit(Kind::custom, Json::object({{"name", name}, {"data", std::move(data)}}));
}

void Context::set_slot(TypeKey key, std::shared_ptr<const void> value) const {
  node_->own_locals().slots.put(key, std::move(value));
}

void Context::inherit_slot(TypeKey key, std::shared_ptr<const void> value) const {
  node_->own_inherited().slots.put(key, std::move(value));
}

void Context::set_result(Json result) const { node_->own_locals().result = std::move(result); }

void Context::set_error(std::optional<Error> error) const {
  node_->own_locals().error = std::move(error);
}

void Context::add_frame(std::string tool, Json args) const {
  auto& history = node_->own_locals().history;
  if (history.size() == kHistoryFrames) history.erase(history.begin());
  history.push_back({std::move(tool), std::move(args), loop().wall()});
}

void Context::add_tag(std::string tag) const {
  detail::add_once(node_->own_locals().tags, std::move(tag));
}

void Context::inherit_tag(std::string tag) const {
  detail::add_once(node_->own_inherited().values.tags, std::move(tag));
}

void Context::inherit_metadata(std::string_view key, Json value) const {
  node_->own_inherited().values.metadata.set(key, std::move(value));
}

void Context::set_turn(std::uint32_t turn) const noexcept { node_->turn = turn; }
void Context::set_resumed(Json remembered) const {
  node_->run->memory = std::move(remembered);
  node_->run->resumed = true;
}
void Context::remember(std::string_view key, Json value) const {
  emit(Kind::state_set, Json::object({{"key", key}, {"value", value}}));
  node_->run->memory.set(key, std::move(value));
}
void Context::set_metadata(Json metadata) const {
  node_->own_locals().metadata = std::move(metadata);
}

void Context::set_window(ContextWindow window) const { node_->run->window = std::move(window); }
void Context::set_tool(std::shared_ptr<const ToolSpec> tool) const noexcept {
  node_->tool = std::move(tool);
}
void Context::set_chain(std::shared_ptr<const MiddlewareChain> chain) const {
  node_->own_locals().chain = std::move(chain);
}

}  // namespace tug
