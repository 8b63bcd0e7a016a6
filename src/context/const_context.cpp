// The reading half of a context.
#include "context/node.h"
#include "tug/core/error_json.h"
#include "tug/core/loop.h"

namespace tug {

using detail::ContextNode;

ConstContext::ConstContext(const ConstContext& other) noexcept
    : node_(ContextNode::share(other.node_)) {}
ConstContext::~ConstContext() { ContextNode::drop(node_); }

Identity ConstContext::id() const noexcept {
  const Lineage& who = *node_->run->who;
  return {who.run_id, who.thread_id, who.root_run_id, who.parent_run_id, who.parent_call_id,
          who.depth,  who.agent,     node_->call,     node_->turn,       node_->number};
}

const LineagePtr& ConstContext::lineage() const noexcept { return node_->run->who; }
NodeKind ConstContext::kind() const noexcept { return node_->kind; }
const Json& ConstContext::args() const noexcept { return node_->args; }
ConstContext ConstContext::parent() const noexcept { return ContextNode::read(node_->parent); }
bool ConstContext::has_other_target() const noexcept { return node_->target != nullptr; }
bool ConstContext::resumed() const noexcept { return node_->run->resumed; }
const Json& ConstContext::remembered(std::string_view key) const noexcept {
  return node_->run->memory[key];
}
bool ConstContext::interactive() const noexcept { return node_->interactive; }

const ToolSpec* ConstContext::tool() const noexcept { return node_->tool.get(); }

const Origin& ConstContext::origin() const noexcept {
  static const Origin kBuiltIn;
  if (node_->locals && node_->locals->origin) return *node_->locals->origin;
  return node_->tool ? node_->tool->origin : kBuiltIn;
}

const MiddlewareChain& ConstContext::chain() const noexcept {
  static const MiddlewareChain kNone;
  return node_->locals && node_->locals->chain ? *node_->locals->chain : kNone;
}

const ContextWindow& ConstContext::window() const noexcept { return node_->run->window; }
const Services& ConstContext::services() const noexcept { return *node_->root->services; }
Stores& ConstContext::stores() const noexcept { return services().stores(); }
Loop& ConstContext::loop() const noexcept { return *node_->root->loop; }

Json ConstContext::locals() const {
  if (!node_->locals) return Json::object({{"config", services().config()}});
  const auto& locals = *node_->locals;
  Json all = locals.values;
  if (!locals.result.is_null()) all.set("result", locals.result);
  if (locals.error) all.set("error", to_json(*locals.error));
  if (!locals.history.empty()) all.set("history", detail::history_json(*node_));
  return all;
}

const Json& ConstContext::result() const noexcept {
  static const Json kNone;
  return node_->locals ? node_->locals->result : kNone;
}

const Error* ConstContext::error() const noexcept {
  return node_->locals && node_->locals->error ? &*node_->locals->error : nullptr;
}

const std::vector<Frame>& ConstContext::history() const noexcept {
  static const std::vector<Frame> kNone;
  return node_->locals ? node_->locals->history : kNone;
}

const Inherited& ConstContext::inherited() const noexcept { return node_->inherited->values; }

std::vector<std::string> ConstContext::tags() const {
  std::vector<std::string> tags = inherited().tags;
  if (!node_->locals) return tags;
  for (const std::string& tag : node_->locals->tags) detail::add_once(tags, tag);
  return tags;
}

Json ConstContext::metadata() const {
  Json metadata = inherited().metadata;
  if (node_->locals) detail::overlay(metadata, node_->locals->metadata);
  return metadata;
}

const void* ConstContext::slot(TypeKey key) const noexcept {
  if (node_->locals) {
    if (const void* own = node_->locals->slots.find(key)) return own;
  }
  return node_->inherited->slots.find(key);
}

std::shared_ptr<const void> ConstContext::share(TypeKey key) const noexcept {
  if (node_->locals) {
    if (auto own = node_->locals->slots.share(key)) return own;
  }
  return node_->inherited->slots.share(key);
}

std::vector<std::pair<TypeKey, std::shared_ptr<const void>>> ConstContext::share_all() const {
  detail::Slots all = node_->inherited->slots;
  if (node_->locals) {
    for (const auto& [key, value] : node_->locals->slots.list) all.put(key, value);
  }
  std::vector<std::pair<TypeKey, std::shared_ptr<const void>>> values;
  values.reserve(all.list.size());
  for (auto& [key, value] : all.list) values.emplace_back(key, std::move(value));
  return values;
}

bool ConstContext::cancelled() const noexcept {
  const CancelToken* token = node_->deciding_cancel();
  return token && token->requested();
}

const CancelReason* ConstContext::cancel_reason() const noexcept {
  const CancelToken* token = node_->deciding_cancel();
  return token ? token->reason() : nullptr;
}

}  // namespace tug
