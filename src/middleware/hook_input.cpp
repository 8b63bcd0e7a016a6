#include "middleware/hook_input.h"

#include <array>
#include <set>

#include "core/words.h"
#include "tools/envelope.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"
#include "tug/core/error_json.h"
#include "tug/core/nearest.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

bool is_tool_event(HookEvent event) noexcept {
  return event == HookEvent::before_tool_call || event == HookEvent::after_tool_call;
}

// A tool call has no metadata of its run's own.
ConstContext run_of(ConstContext ctx) {
  while (ctx.kind() != NodeKind::run && ctx.parent()) ctx = ctx.parent();
  return ctx;
}

// Nothing for what is not exactly {ok, content, metadata}, the last of which may be missing.
std::optional<ToolResult> read_envelope(const Json& json) {
  if (!json.is_object() || !json["ok"].is_bool() || !json["content"].is_string()) return {};
  for (const Json::Member& member : json.members()) {
    if (member.key() != "ok" && member.key() != "content" && member.key() != "metadata") return {};
  }
  const Json& metadata = json["metadata"];
  if (!metadata.is_null() && !metadata.is_object()) return {};
  ToolResult result;
  result.ok = json["ok"].as_bool();
  result.content = json["content"].as_string();
  result.metadata = metadata;
  return result;
}

ToolResult no_envelope(const Json& given) {
  std::string shown(given.is_string() ? std::string(given.as_string()) : print_json(given));
  return ToolResult::error(
      "a hook replaced the output with something that is no envelope: " + shown,
      "InvalidToolOutput");
}

void put_end(Json& json, const HookInput& input) {
  json.set("stop_reason", input.stop_reason);
  if (input.result) json.set("result", to_json(*input.result));
  if (input.error) json.set("error", to_json(*input.error));
  json.set("usage", JsonForm<Usage>::write(input.usage));
}

void put_call(Json& json, const HookInput& input) {
  json.set("call_id", input.call_id.text());
  json.set("tool", input.tool);
  json.set("tool_index", input.tool_index);
  json.set("arguments", input.arguments);
  if (input.event != HookEvent::after_tool_call) return;
  json.set("original_output", input.original_output);
  json.set("output", input.output);
  json.set("envelope", input.envelope);
  json.set("duration_ms", input.duration_ms);
}

void put_subagent(Json& json, const HookInput& input) {
  json.set("prompt", input.prompt);
  json.set("parent_call_id", input.parent_call_id.text());
  json.set("inherited", input.inherited);
  json.set("tool_mode", input.tool_mode);
  if (input.event != HookEvent::after_subagent_run) return;
  Json tools = Json::array();
  for (const std::string& tool : input.tools) tools.push_back(tool);
  json.set("tools", std::move(tools));
  put_end(json, input);
}

}  // namespace

std::string_view name_of(HookEvent event) noexcept { return enum_name(event); }

Result<HookEvent> hook_event_from(std::string_view name) {
  static constexpr std::array kEvents{HookEvent::run_start,           HookEvent::user_prompt_submit,
                                      HookEvent::before_tool_call,    HookEvent::after_tool_call,
                                      HookEvent::before_subagent_run, HookEvent::after_subagent_run,
                                      HookEvent::limit_reached,       HookEvent::run_end};
  std::vector<std::string_view> names;
  std::string list;
  for (HookEvent event : kEvents) {
    if (name == name_of(event)) return event;
    names.push_back(name_of(event));
    list += (list.empty() ? "" : ", ") + std::string(names.back());
  }
  const std::string_view near = nearest_name(name, names);
  std::string fix = near.empty() ? "" : "did you mean " + std::string(near) + "? ";
  return fail(ErrorKind::invalid, "there is no hook event " + detail::quoted(name),
              fix + "the events are " + list);
}

HookReply deny(std::string reason) {
  HookReply reply;
  reply.deny = std::move(reason);
  return reply;
}

HookInput hook_input(HookEvent event, const Context& served) {
  const Identity id = served.id();
  HookInput input;
  input.event = event;
  input.run_id = id.run_id;
  input.thread_id = id.thread_id;
  input.root_run_id = id.root_run_id;
  input.parent_run_id = id.parent_run_id;
  input.agent = id.agent;
  input.depth = id.depth;
  input.turn = id.turn;
  input.resumed = served.resumed();
  input.metadata = run_of(served).metadata();
  const Json& agent = served.inherited().values[kAgentKey];
  input.tool_mode = std::string(agent["tool_mode"].as_string());
  input.inherited = input.tool_mode == "inherit";
  return input;
}

void describe_run(HookInput& input, const Context& served, const RunInput& run) {
  input.prompt = run.prompt;
  input.resumed = run.resumed;
  input.parent_call_id = served.id().parent_call_id;
  if (input.event != HookEvent::run_start) return;
  input.root = served.get("locals.config.cwd").as_string();
  input.max_model_calls = served.budget().left(LimitKind::model_calls);
  input.max_tool_calls = served.budget().left(LimitKind::tool_calls);
}

void describe_call(HookInput& input, const ToolInput& call) {
  input.call_id = call.call;
  input.arguments = call.args;
  input.tool_index = call.index;
  if (!call.tool) return;
  input.tool = call.tool->name();
  input.tool_spec = call.tool->shared_spec();
}

void describe_output(HookInput& input, const ToolResult& result) {
  input.output = result.content;
  input.envelope = envelope_of(result);
}

void describe_end(HookInput& input, const RunResult& result) {
  input.result = std::make_shared<const RunResult>(result);
  input.error = result.error;
  input.stop_reason = name_of(result.stop);
  input.usage = result.usage;
  std::set<std::string> tools;
  for (const ToolCallRecord& call : result.tool_calls) tools.insert(call.tool);
  input.tools.assign(tools.begin(), tools.end());
  if (!result.error) return;
  if (const Limit* limit = result.error->detail_if<Limit>()) {
    input.limit = name_of(limit->kind);
    input.limit_value = limit->limit;
    input.current_count = limit->used;
  }
}

Json envelope_of(const ToolResult& result) {
  Json envelope = Json::object({{"ok", result.ok}, {"content", result.content}});
  envelope.set("metadata", result.metadata.is_null() ? Json::object() : result.metadata);
  return envelope;
}

void replace_output(ToolResult& result, const HookReply& reply) {
  ToolResult made = result;
  if (reply.envelope) {
    const bool text = reply.envelope->is_string();
    Result<Json> parsed = text ? parse_json(reply.envelope->as_string()) : *reply.envelope;
    auto envelope = parsed ? read_envelope(*parsed) : std::nullopt;
    made = envelope ? *std::move(envelope) : no_envelope(*reply.envelope);
  } else if (reply.output) {
    made.content = *reply.output;
    if (reply.output->starts_with('{')) {
      const Result<Json> parsed = parse_json(*reply.output);
      if (auto envelope = parsed ? read_envelope(*parsed) : std::nullopt) {
        made = *std::move(envelope);
      }
    }
  }
  result.ok = made.ok;
  result.content = std::move(made.content);
  result.metadata = std::move(made.metadata);
  bound_content(result.content, kMaxToolOutput);
  if (!result.ok && !result.metadata["error_type"].is_string()) set_error_type(result, "Exception");
}

Json to_json(const HookInput& input) {
  Json json = Json::object({{"event", name_of(input.event)},
                            {"run_id", input.run_id.text()},
                            {"thread_id", input.thread_id.text()},
                            {"root_run_id", input.root_run_id.text()},
                            {"agent", input.agent},
                            {"depth", input.depth},
                            {"turn", input.turn},
                            {"resumed", input.resumed},
                            {"metadata", input.metadata}});
  if (!input.parent_run_id.empty()) json.set("parent_run_id", input.parent_run_id.text());
  if (is_tool_event(input.event)) put_call(json, input);
  switch (input.event) {
    case HookEvent::run_start:
      json.set("prompt", input.prompt);
      json.set("root", input.root);
      if (input.max_model_calls) json.set("max_model_calls", *input.max_model_calls);
      if (input.max_tool_calls) json.set("max_tool_calls", *input.max_tool_calls);
      break;
    case HookEvent::user_prompt_submit:
      json.set("prompt", input.prompt);
      break;
    case HookEvent::before_subagent_run:
    case HookEvent::after_subagent_run:
      put_subagent(json, input);
      break;
    case HookEvent::limit_reached:
      json.set("limit", input.limit);
      json.set("limit_value", input.limit_value);
      json.set("current_count", input.current_count);
      break;
    case HookEvent::run_end:
      put_end(json, input);
      break;
    case HookEvent::before_tool_call:
    case HookEvent::after_tool_call:
      break;
  }
  return json;
}

}  // namespace tug
