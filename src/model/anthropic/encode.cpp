// A request to Anthropic: what stays the same first, the messages last.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/anthropic/wire.h"
#include "model/request_head.h"
#include "model/wire_media.h"
#include "model/wire_words.h"

namespace tug::anthropic {
namespace {

constexpr std::int64_t kLeastBudget = 1024;  // of thinking; also below max_tokens

std::string_view version_of(const WireCall& call) noexcept {
  return call.provider.api_version.empty() ? kVersion : call.provider.api_version;
}

std::int64_t max_tokens_of(const WireCall& call) noexcept {
  if (call.request.max_output_tokens > 0) return call.request.max_output_tokens;
  if (call.profile.max_output_tokens > 0) return call.profile.max_output_tokens;
  return kAssumedOutputTokens;
}

bool has_tools(const WireCall& call) noexcept { return call.tools && call.tools->size() > 2; }

std::int64_t budget_of(std::string_view effort) noexcept {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kBudgets = {
      {{"minimal", kLeastBudget},
       {"low", 4096},
       {"medium", 8192},
       {"high", 16384},
       {"xhigh", 32768},
       {"max", 65536}}};
  const auto* found =
      std::ranges::find(kBudgets, effort, &std::pair<std::string_view, std::int64_t>::first);
  return found == kBudgets.end() ? kLeastBudget : found->second;
}

Json cache_mark(const WireCall& call) {
  Json mark = Json::object({{"type", "ephemeral"}});
  if (!call.provider.cache_ttl.empty()) mark.set("ttl", call.provider.cache_ttl);
  return mark;
}

// How much it is to think: nothing of it is written where nothing was said.
struct Thinking {
  Json thinking;            // null: unsaid
  std::string_view effort;  // of output_config; empty: unsaid
};

class RequestWriter {
 public:
  explicit RequestWriter(const WireCall& call)
      : call_(call),
        head_(encoded_.body, merged_options(call, {"messages", "stream"}, encoded_.notes)) {}

  Result<EncodedCall> write() && {
    encoded_.path = "/v1/messages";
    encoded_.headers.push_back({"anthropic-version", std::string(version_of(call_))});
    if (!call_.provider.thread_header.empty() && !call_.request.thread.empty())
      encoded_.headers.push_back({call_.provider.thread_header, wire_thread(call_)});
    const Thinking thinking = plan_thinking();
    write_head(thinking);
    if (!write_messages()) {
      return fail(ErrorKind::invalid,
                  call_.profile.id() + ": there is nothing to send: every message is empty",
                  "say something before the model is asked");
    }
    return std::move(encoded_);
  }

 private:
  void note(std::string text) { encoded_.notes.push_back(std::move(text)); }

  Thinking plan_thinking() {
    const std::string& wanted = call_.request.reasoning;
    if (const Json& said = head_.option("thinking"); !said.is_null()) {
      thinks_ = said["type"].as_string() != "disabled";
    }
    if (wanted.empty()) return {};
    const std::string_view effort = nearest_effort(call_.profile, wanted);
    if (!call_.profile.reasoning || effort.empty()) {
      note("reasoning \"" + wanted + "\" is left out: " + call_.profile.name +
           " is not known to take it");
      return {};
    }
    if (effort != wanted)
      note("reasoning \"" + wanted + "\" is sent as \"" + std::string(effort) + "\"");
    if (effort == "none") return {Json::object({{"type", "disabled"}}), {}};
    if (call_.request.tool_choice == ToolChoice::required && has_tools(call_)) {
      note("reasoning is left out: it does not go with a tool that must be called");
      return {};
    }
    return has_quirk(call_, "thinking_budget") ? plan_budget(effort) : plan_adaptive(effort);
  }

  Thinking plan_budget(std::string_view effort) {
    const std::int64_t room = max_tokens_of(call_);
    if (room <= kLeastBudget) {
      note("reasoning is left out: it takes more than " + std::to_string(kLeastBudget) +
           " output tokens");
      return {};
    }
    if (!head_.has_option("thinking")) thinks_ = true;
    const std::int64_t most = std::max(room / 4 * 3, kLeastBudget);
    return {
        Json::object({{"type", "enabled"}, {"budget_tokens", std::min(budget_of(effort), most)}}),
        {}};
  }

  Thinking plan_adaptive(std::string_view effort) {
    if (!head_.has_option("thinking")) thinks_ = true;
    return {Json::object({{"type", "adaptive"}, {"display", "summarized"}}),
            effort == "minimal" ? "low" : effort};
  }

  void write_head(const Thinking& thinking) {
    const ModelRequest& request = call_.request;
    const bool marks =
        request.cache_policy.protect_prefix.value_or(true) && !has_quirk(call_, "no_cache_control");
    const Json mark = cache_mark(call_);
    head_.add("model", call_.profile.name);
    head_.add("max_tokens", max_tokens_of(call_));
    head_.add("stream", call_.stream);
    write_sampling();
    head_.add_tools(call_.tools ? std::string_view(*call_.tools) : std::string_view(),
                    marks ? "\"cache_control\":" + print_json(mark) : "");
    write_tool_choice();
    if (request.system && request.system->find_first_not_of(" \t\r\n") != std::string::npos) {
      Json text = Json::object({{"type", "text"}, {"text", *request.system}});
      if (marks) text.set("cache_control", mark);
      head_.add("system", Json::array({std::move(text)}));
    }
    if (!thinking.thinking.is_null()) head_.add("thinking", thinking.thinking);
    Json output = Json::object();
    if (!thinking.effort.empty()) output.set("effort", thinking.effort);
    if (request.output) {
      output.set("format",
                 Json::object({{"type", "json_schema"}, {"schema", request.output->schema}}));
    }
    head_.add_object("output_config", std::move(output));
    write_metadata();
    if (marks) head_.add("cache_control", mark);
    head_.open_list("messages");
  }

  void write_sampling() {
    const ModelRequest& request = call_.request;
    std::string why;
    if (version_of(call_) != kVersionWithSampling) {
      why = "the API version " + std::string(version_of(call_)) + " refuses it (api_version = \"" +
            std::string(kVersionWithSampling) + "\" takes it)";
    } else if (thinks_) {
      why = "it does not go with reasoning";
    }
    write_sampling("temperature", request.temperature, why);
    write_sampling("top_p", request.top_p, why);
    if (request.seed) note("seed is left out: Anthropic takes none");
    if (request.stop.empty()) return;
    if (call_.profile.drops("stop") || call_.profile.drops("stop_sequences"))
      return note("stop is left out: " + call_.profile.name + " refuses it");
    Json stop = Json::array();
    for (const std::string& sequence : request.stop) stop.push_back(sequence);
    head_.add("stop_sequences", stop);
  }
  void write_sampling(std::string_view name, std::optional<double> value, const std::string& why) {
    if (!value || head_.has_option(name)) return;
    const bool dropped = call_.profile.drops(name);
    if (why.empty() && !dropped) return head_.add(name, *value);
    note(std::string(name) +
         " is left out: " + (dropped ? call_.profile.name + " refuses it" : why));
  }

  void write_tool_choice() {
    if (!has_tools(call_)) return;
    const ModelRequest& request = call_.request;
    Json choice = Json::object();
    switch (request.tool_choice) {
      case ToolChoice::automatic:
        if (call_.profile.parallel_tools) return;
        choice.set("type", "auto");
        break;
      case ToolChoice::none:
        return head_.add("tool_choice", choice.set("type", "none"));
      case ToolChoice::required:
        choice.set("type", request.tool.empty() ? "any" : "tool");
        if (!request.tool.empty()) choice.set("name", wire_tool_name(request.tool));
        break;
    }
    if (!call_.profile.parallel_tools) choice.set("disable_parallel_tool_use", true);
    head_.add("tool_choice", choice);
  }

  void write_metadata() {
    const std::string& field = call_.provider.thread_field;
    Json metadata = Json::object();
    if (!field.empty() && !call_.request.thread.empty()) {
      const bool of_metadata = field == "user_id" || field == "user" || field == "metadata.user_id";
      if (of_metadata) {
        metadata.set("user_id", wire_thread(call_));
      } else {
        head_.add(field, wire_thread(call_));
      }
    }
    if (const Json& user = call_.request.metadata["user_id"]; user.is_string())
      metadata.set("user_id", user);
    head_.add_object("metadata", std::move(metadata));
  }

  std::string_view role_of(const Message& message, bool first) const noexcept {
    if (message.role() == Role::assistant) return "assistant";
    // Only behind the first message, and not in the old version.
    if (message.role() == Role::system && !first && version_of(call_) != kVersionWithSampling)
      return "system";
    return "user";
  }

  bool write_messages() {
    const WireProfile profile{.api = Api::anthropic,
                              .provider = call_.provider.name,
                              .reasoning = thinks_ && !call_.request.drop_reasoning,
                              .images = takes_images(call_.profile),
                              .flags = media_flags(call_.profile)};
    const std::uint64_t key = profile.key();
    HttpBody& body = encoded_.body;
    body.reserve(2 * call_.request.transcript.size() + 8);
    Dropped dropped;
    bool first = true;
    for (const MessagePtr& message : call_.request.transcript.messages()) {
      const std::string& blocks = kept_blocks(*message, key, [&](const Message& said) {
        return encode_blocks(said, profile, dropped);
      });
      if (blocks.empty()) continue;
      const std::string_view role = role_of(*message, first);
      if (role == "assistant") {
        body.add_view(first ? R"({"role":"assistant","content":[)"
                            : R"(]},{"role":"assistant","content":[)");
      } else if (role == "system") {
        body.add_view(R"(]},{"role":"system","content":[)");
      } else {
        body.add_view(first ? R"({"role":"user","content":[)" : R"(]},{"role":"user","content":[)");
      }
      body.add_view(blocks);
      first = false;
    }
    if (first) return false;
    body.add_view("]}]}");
    if (dropped.reasoning) {
      note(call_.request.drop_reasoning ? "earlier reasoning is sent as text: it was refused"
           : thinks_                    ? "reasoning of another provider is sent as text"
                     : "earlier reasoning is sent as text: this request does not reason");
    }
    if (dropped.blocks) note("blocks that only another provider understands are left out");
    if (dropped.media) note("files that " + call_.profile.name + " does not take are named only");
    return true;
  }

  const WireCall& call_;
  EncodedCall encoded_;
  RequestHead head_;
  bool thinks_ = false;
};

}  // namespace

std::string encode_tools(const ToolSpecs& tools) {
  std::string out = "[";
  for (const auto& tool : tools) {
    if (out.size() > 1) out += ',';
    Json spec = Json::object({{"name", wire_tool_name(tool->name)}});
    if (!tool->description.empty()) spec.set("description", tool->description);
    Json schema = tool->parameters.is_object() ? tool->parameters : Json::object();
    if (!schema.contains("type")) schema.set("type", "object");
    spec.set("input_schema", std::move(schema));
    print_json(spec, out);
  }
  return out += ']';
}

Result<EncodedCall> encode(const WireCall& call) { return RequestWriter(call).write(); }

}  // namespace tug::anthropic
