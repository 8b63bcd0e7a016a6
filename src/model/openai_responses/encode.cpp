#include <algorithm>

#include "model/openai_responses/wire.h"
#include "model/request_head.h"
#include "model/wire_words.h"

namespace tug::responses {
namespace {

constexpr std::string_view kEncrypted = "reasoning.encrypted_content";

// What is left out, for people.
class Notes {
 public:
  Notes(const WireCall& call, std::vector<std::string>& out) noexcept : call_(call), out_(out) {}
  void left_out(std::string_view what, std::string_view why) {
    out_.push_back(std::string(what) + " is left out for " + call_.profile.id() + ": " +
                   std::string(why));
  }
  // Does the model take a parameter that was asked for?
  bool takes(std::string_view name) {
    if (!call_.profile.drops(name)) return true;
    left_out(name, "it does not take it");
    return false;
  }

 private:
  const WireCall& call_;
  std::vector<std::string>& out_;
};

// Those of the provider and of the request. What has to be included is, whatever else they ask for.
Json options_of(const WireCall& call, std::vector<std::string>& notes) {
  Json options = merged_options(call, {"input", "stream", "previous_response_id"}, notes);
  if (!call.profile.reasoning || has_quirk(call, "no_encrypted_content")) return options;
  Json include = options["include"];
  const bool there = std::ranges::any_of(
      include.items(), [](const Json& item) { return item.as_string() == kEncrypted; });
  if (!there && (include.is_null() || include.is_array())) include.push_back(kEncrypted);
  options.set("include", include);
  return options;
}

void add_sampling(const ModelRequest& request, RequestHead& head, Notes& notes) {
  if (request.max_output_tokens > 0 && notes.takes("max_output_tokens"))
    head.add("max_output_tokens", request.max_output_tokens);
  if (request.temperature && notes.takes("temperature"))
    head.add("temperature", *request.temperature);
  if (request.top_p && notes.takes("top_p")) head.add("top_p", *request.top_p);
  if (request.seed) notes.left_out("seed", "this API has none");
  if (!request.stop.empty()) notes.left_out("stop", "this API has none");
}

void add_reasoning(const WireCall& call, RequestHead& head, Notes& notes) {
  const std::string& wanted = call.request.reasoning;
  if (call.profile.drops("reasoning")) {
    if (!wanted.empty()) notes.left_out("the effort " + wanted, "it does not take one");
    return;
  }
  Json reasoning = Json::object();
  const std::string_view effort = nearest_effort(call.profile, wanted);
  if (!effort.empty()) reasoning.set("effort", effort);
  if (effort != wanted)
    notes.left_out("the effort " + wanted,
                   effort.empty() ? "it has none like it" : "it takes " + std::string(effort));
  const bool thinks = call.profile.reasoning && effort != "none";
  if (thinks && !has_quirk(call, "no_reasoning_summary")) reasoning.set("summary", "auto");
  head.add_object("reasoning", std::move(reasoning));
}

std::string legal_name(std::string_view name) {
  std::string legal;
  for (const char c : name.substr(0, 64)) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    legal += fits ? c : '_';
  }
  return legal.empty() ? "answer" : legal;
}

void add_output(const WireCall& call, RequestHead& head) {
  const OutputFormat* output = call.request.output.get();
  if (!output) return;
  head.add_object("text", Json::object({{"format", Json::object({{"type", "json_schema"},
                                                                 {"name", legal_name(output->name)},
                                                                 {"schema", output->schema},
                                                                 {"strict", output->strict}})}}));
}

void add_tool_choice(const WireCall& call, RequestHead& head) {
  const ModelRequest& request = call.request;
  if (!call.tools || call.tools->empty()) return;
  if (!call.profile.parallel_tools) head.add("parallel_tool_calls", false);
  if (request.tool_choice == ToolChoice::automatic) return;
  if (request.tool_choice == ToolChoice::none) {
    head.add("tool_choice", "none");
  } else if (request.tool.empty()) {
    head.add("tool_choice", "required");
  } else {
    head.add("tool_choice",
             Json::object({{"type", "function"}, {"name", wire_tool_name(request.tool)}}));
  }
}

void add_caching(const WireCall& call, RequestHead& head) {
  const std::string& field = call.provider.thread_field;
  if (!field.empty() && !call.request.thread.empty() && !call.profile.drops(field))
    head.add(field, wire_thread(call));
  const std::string& ttl = call.provider.cache_ttl;
  if (ttl.empty() || call.request.cache_policy.protect_prefix == false) return;
  if (ttl == "24h" || ttl == "in_memory") {
    if (!call.profile.drops("prompt_cache_retention")) head.add("prompt_cache_retention", ttl);
  } else if (!call.profile.drops("prompt_cache_options")) {
    head.add_object("prompt_cache_options", Json::object({{"ttl", ttl}}));
  }
}

// The provider keeps answers only where it was told to.
bool is_chained(const WireCall& call) noexcept {
  return call.provider.chain_responses && !call.request.previous_response.empty();
}

// The calls of the last turn that the provider has kept, which it knows by its own ids.
std::vector<const ToolCall*> known_calls(const Transcript& transcript, std::size_t covered) {
  for (std::size_t i = std::min(covered, transcript.size()); i > 0; --i) {
    const Message& message = *transcript[i - 1];
    if (message.role() == Role::assistant) return message.tool_calls();
  }
  return {};
}

void add_input(const WireCall& call, EncodedCall& out) {
  const WireProfile profile = wire_profile(call);
  const std::uint64_t key = profile.key();
  const auto encode = [&](const Message& message) { return encode_message(message, profile); };
  const Transcript& transcript = call.request.transcript;
  const bool chained = is_chained(call);
  const std::size_t covered = chained ? call.request.previous_messages : 0;
  std::vector<const ToolCall*> calls;
  if (chained) calls = known_calls(transcript, covered);
  std::string_view separator;
  bool reasoning_lost = false;
  bool media_lost = false;
  out.body.reserve(2 * transcript.size() + 8);
  for (const MessagePtr& message : transcript.since(covered)) {
    const bool answers_kept = !calls.empty() && message->role() == Role::tool;
    if (answers_kept) {
      out.body.add_view(separator);
      out.body.add(encode_results(*message, calls));
      calls.clear();
    } else {
      const std::string& kept = kept_blocks(*message, key, encode);
      if (kept.empty()) continue;
      out.body.add_view(separator);
      out.body.add_view(kept);
    }
    separator = ",";
    if (message->role() == Role::assistant) {
      reasoning_lost = reasoning_lost || loses_reasoning(*message, profile);
    } else if (message->role() == Role::user) {
      media_lost = media_lost || loses_media(*message, profile);
    }
  }
  out.body.add_view("]}");
  if (reasoning_lost)
    out.notes.push_back("reasoning is sent to " + call.profile.id() +
                        " as text where it has one: it cannot take it as it came");
  if (media_lost)
    out.notes.push_back("pictures or files are left out for " + call.profile.id() +
                        ": it cannot take them");
}

std::string path_of(const WireCall& call) {
  std::string path = "/responses";
  if (has_quirk(call, "azure") && !call.provider.api_version.empty())
    path += "?api-version=" + call.provider.api_version;
  return path;
}

}  // namespace

bool is_stored(const WireCall& call) noexcept {
  for (const Json* options : {&call.request.provider_options, &call.provider.options}) {
    if ((*options)["store"].is_bool()) return (*options)["store"].as_bool();
  }
  return call.provider.chain_responses;
}

std::string encode_tools(const ToolSpecs& tools) {
  std::string out = "[";
  for (const std::shared_ptr<const ToolSpec>& tool : tools) {
    if (out.size() > 1) out += ',';
    out += R"({"type":"function","name":)";
    print_json_string(wire_tool_name(tool->name), out);
    if (!tool->description.empty()) {
      out += R"(,"description":)";
      print_json_string(tool->description, out);
    }
    out += R"(,"parameters":)";
    if (tool->parameters.is_object() && !tool->parameters.empty()) {
      print_json(tool->parameters, out);
    } else {
      out += R"({"type":"object","properties":{}})";
    }
    // Not said, it is true, and most schemas are refused.
    out += R"(,"strict":false})";
  }
  return out + "]";
}

Result<EncodedCall> encode(const WireCall& call) {
  EncodedCall out;
  out.path = path_of(call);
  const ModelRequest& request = call.request;
  Notes notes(call, out.notes);
  RequestHead head(out.body, options_of(call, out.notes));
  head.add("model", call.profile.name);
  if (call.stream) head.add("stream", true);
  if (!call.profile.drops("store")) head.add("store", is_stored(call));
  add_reasoning(call, head, notes);
  add_sampling(request, head, notes);
  add_output(call, head);
  add_caching(call, head);
  if (request.metadata.is_object() && !request.metadata.empty() && notes.takes("metadata"))
    head.add("metadata", request.metadata);
  add_tool_choice(call, head);
  // They are not inherited from a response before, so they are always sent.
  if (request.system && !request.system->empty()) head.add("instructions", *request.system);
  if (is_chained(call)) head.add("previous_response_id", request.previous_response);
  head.add_tools(call.tools ? std::string_view(*call.tools) : std::string_view(), "");
  head.open_list("input");
  add_input(call, out);
  if (!call.provider.thread_header.empty() && !request.thread.empty())
    out.headers.push_back({call.provider.thread_header, wire_thread(call)});
  return out;
}

}  // namespace tug::responses
