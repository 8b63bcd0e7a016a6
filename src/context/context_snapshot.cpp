// A context as JSON for people.
#include <fmt/format.h>

#include <algorithm>

#include "context/node.h"

namespace tug {
namespace detail {

std::string context_id(const ContextNode& node) {
  const std::string& run = node.run->who->run_id.text();
  return node.kind == NodeKind::run ? run : fmt::format("{}#{}", run, node.number);
}

namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json texts(const std::vector<std::string>& list) {
  Json all = Json::array();
  for (const std::string& text : list) all.push_back(text);
  return all;
}

Json tool_json(const ToolSpec& tool) {
  return Json::object({{"name", tool.name},
                       {"description", tool.description},
                       {"parameters", tool.parameters},
                       {"returns", tool.returns},
                       {"visibility", name_of(tool.visibility)},
                       {"effect", name_of(tool.effect)},
                       {"allowed_tools", tool.allowed_tools ? texts(*tool.allowed_tools) : Json()},
                       {"role", tool.role},
                       {"tags", texts(tool.tags)}});
}

}  // namespace

Json window_json(const ContextWindow& window) {
  return Json::object({{"model", window.model},
                       {"max_tokens", window.max_tokens},
                       {"reserved_output_tokens", window.reserved_output_tokens},
                       {"prompt_tokens", window.prompt_tokens},
                       {"source", window.source}});
}

Json envelope_json(const ContextNode& node) {
  const Lineage& who = *node.run->who;
  return Json::object({{"id", context_id(node)},
                       {"run_id", who.run_id.text()},
                       {"thread_id", who.thread_id.text()},
                       {"root_run_id", who.root_run_id.text()},
                       {"parent_run_id", text_or_null(who.parent_run_id.text())},
                       {"parent_call_id", text_or_null(who.parent_call_id.text())},
                       {"call_id", text_or_null(node.call.text())},
                       {"depth", who.depth},
                       {"agent", who.agent},
                       {"turn", node.turn},
                       {"node", node.number},
                       {"parent", node.parent ? Json(context_id(*node.parent)) : Json()},
                       {"target", context_id(node.target ? *node.target : node)},
                       {"has_other_target", node.target != nullptr}});
}

Json run_json(const ContextNode& node) {
  Json run = Json::object({{"kind", name_of(node.kind)}, {"interactive", node.interactive}});
  if (node.tool) run.set("tool", tool_json(*node.tool));
  const Origin* origin = node.locals && node.locals->origin ? node.locals->origin.get()
                         : node.tool                        ? &node.tool->origin
                                                            : nullptr;
  if (origin) {
    run.set("origin",
            Json::object({{"uri", text_or_null(origin->uri)}, {"metadata", origin->metadata}}));
  }
  if (node.locals && node.locals->chain) {
    Json chain = Json::array();
    for (const MiddlewareLink& link : *node.locals->chain) {
      chain.push_back(Json::object({{"name", link.name},
                                    {"source", text_or_null(link.source)},
                                    {"settings", link.settings}}));
    }
    run.set("middleware", std::move(chain));
  }
  const CancelToken* token = node.deciding_cancel();
  run.set("cancelled", token && token->requested());
  if (const CancelReason* reason = token ? token->reason() : nullptr) {
    run.set("cancel_reason", Json::object({{"why", name_of(reason->why)}, {"text", reason->text}}));
  }
  run.set("window", window_json(node.run->window));
  return run;
}

Json history_json(const ContextNode& node) {
  Json frames = Json::array();
  if (!node.locals) return frames;
  for (const Frame& frame : node.locals->history) {
    frames.push_back(Json::object(
        {{"tool", frame.tool}, {"args", frame.args}, {"timestamp", to_rfc3339(frame.timestamp)}}));
  }
  return frames;
}

}  // namespace detail

namespace {

using detail::ContextNode;

// Lists and objects that are nested deeper than `levels` become a marker.
Json shallow(const Json& value, std::size_t levels) {
  if (!value.is_array() && !value.is_object()) return value;
  if (levels == 0) return value.empty() ? value : Json("[Truncated]");
  if (value.is_array()) {
    Json list = Json::array();
    list.reserve(value.size());
    for (const Json& item : value.items()) list.push_back(shallow(item, levels - 1));
    return list;
  }
  Json object = Json::object();
  for (const Json::Member& member : value.members()) {
    object.set(member.key(), shallow(member.value, levels - 1));
  }
  return object;
}

// `above` are the contexts that contain this one on the page, outermost first.
Json whole(const ContextNode& node, const SnapshotOptions& options,
           std::vector<const ContextNode*>& above) {
  const ConstContext context = ContextNode::read(const_cast<ContextNode*>(&node));
  Json envelope = detail::envelope_json(node);
  above.push_back(&node);
  // A reference to what is on the page already is a cycle, however it is shown otherwise.
  const auto refer = [&](std::string_view name, const ContextNode* other) {
    if (!other) return;
    for (const ContextNode* shown : above) {
      if (shown == other) return void(envelope.set(name, "[Circular]"));
    }
    // A chain of ancestors longer than the page is deep would be cut off anyway.
    if (options.ancestors && above.size() < options.depth) {
      envelope.set(name, whole(*other, options, above));
    }
  };
  refer("parent", node.parent);
  refer("target", node.target ? node.target : &node);
  above.pop_back();

  const Inherited& inherited = context.inherited();
  Json page = Json::object({{"envelope", std::move(envelope)},
                            {"args", node.args},
                            {"run", detail::run_json(node)},
                            {"locals", context.locals()},
                            {"inherited", inherited.values},
                            {"metadata", context.metadata()},
                            {"configurable", inherited.configurable}});
  Json tags = Json::array();
  for (const std::string& tag : context.tags()) tags.push_back(tag);
  page.set("tags", std::move(tags));
  if (options.globals && above.empty()) page.set("globals", context.services().shared().all());
  return page;
}

}  // namespace

Json ConstContext::snapshot(const SnapshotOptions& options) const {
  std::vector<const ContextNode*> above;
  return shallow(whole(*node_, options, above), std::min(options.depth, kMaxJsonDepth));
}

}  // namespace tug
