#include <algorithm>

#include "model/openai_chat/wire.h"
#include "model/wire_words.h"
#include "tug/core/digest.h"

namespace tug::chat {
namespace {

constexpr std::string_view kAzureVersion = "2024-10-21";

// The members of a request but for its messages, written once each.
class Head {
 public:
  Head(const WireCall& call, EncodedCall& out) : call_(call), out_(out) {
    options_ = call.provider.options.is_object() ? call.provider.options : Json::object();
    for (const Json::Member& option : call.request.provider_options.members())
      options_.set(option.key(), option.value);
    // What is asked for and how it comes back is not theirs to say.
    for (const std::string_view name : {"messages", "stream"}) {
      if (options_.erase(name)) note(name, "it cannot be set by provider options");
    }
  }

  bool says(std::string_view name) const noexcept { return options_.contains(name); }
  // Is ours to write: no option says it, and the model takes it.
  bool takes(std::string_view name) {
    if (options_.contains(name)) return false;
    if (!call_.profile.drops(name)) return true;
    note(name, "it does not take it");
    return false;
  }
  // The same for what nobody asked for: nothing is said when it is left out.
  bool takes_silently(std::string_view name) const {
    return !options_.contains(name) && !call_.profile.drops(name);
  }
  void note(std::string_view name, std::string_view why) {
    out_.notes.push_back(std::string(name) + " is left out for " + call_.profile.id() + ": " +
                         std::string(why));
  }
  void add(std::string_view name, const Json& value) {
    print_json_string(name, text_);
    text_ += ':';
    print_json(value, text_);
    text_ += ',';
  }
  // All tools, by reference.
  void add_tools() {
    if (!call_.tools || call_.tools->empty() || !takes("tools")) return;
    text_ += R"("tools":)";
    flush();
    out_.body.add_view(*call_.tools);
    text_ = ",";
  }
  void add_options() { add_members(options_, text_); }
  std::string& text() noexcept { return text_; }
  void flush() {
    out_.body.add(std::move(text_));
    text_.clear();
  }

 private:
  const WireCall& call_;
  EncodedCall& out_;
  Json options_;
  std::string text_ = "{";
};

void add_sampling(const ModelRequest& request, Head& head) {
  if (request.temperature && head.takes("temperature"))
    head.add("temperature", *request.temperature);
  if (request.top_p && head.takes("top_p")) head.add("top_p", *request.top_p);
  if (request.seed && head.takes("seed")) head.add("seed", *request.seed);
  if (request.stop.empty() || !head.takes("stop")) return;
  Json stop = Json::array();
  for (const std::string& word : request.stop) stop.push_back(word);
  head.add("stop", stop);
}

void add_effort(const WireCall& call, Head& head) {
  const std::string& effort = call.request.reasoning;
  const bool nested = has_quirk(call, "reasoning_object");
  if (effort.empty() || (nested && !head.takes_silently("reasoning"))) return;
  if (!head.takes("reasoning_effort")) return;
  const std::vector<std::string>& known = call.profile.efforts;
  if (!known.empty() && std::ranges::find(known, effort) == known.end()) {
    head.note("reasoning_effort " + effort, "it has no such effort");
    return;
  }
  if (nested) {
    head.add("reasoning", Json::object({{"effort", effort}}));
  } else {
    head.add("reasoning_effort", effort);
  }
}

void add_tool_choice(const WireCall& call, Head& head) {
  const ModelRequest& request = call.request;
  if (!call.tools || call.tools->empty()) return;
  if (!call.profile.parallel_tools && head.takes_silently("parallel_tool_calls"))
    head.add("parallel_tool_calls", false);
  if (request.tool_choice == ToolChoice::automatic || !head.takes("tool_choice")) return;
  if (request.tool_choice == ToolChoice::none) {
    head.add("tool_choice", "none");
  } else if (request.tool.empty()) {
    head.add("tool_choice", "required");
  } else if (has_quirk(call, "no_named_tool")) {
    head.note("the choice of " + request.tool, "it can only be told to call some tool");
    head.add("tool_choice", "required");
  } else {
    head.add("tool_choice",
             Json::object({{"type", "function"},
                           {"function", Json::object({{"name", wire_tool_name(request.tool)}})}}));
  }
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

void add_output(const WireCall& call, Head& head) {
  const OutputFormat* output = call.request.output.get();
  if (!output || !head.takes("response_format")) return;
  if (has_quirk(call, "json_object")) {
    head.add("response_format", Json::object({{"type", "json_object"}}));
    return;
  }
  head.add("response_format",
           Json::object({{"type", "json_schema"},
                         {"json_schema", Json::object({{"name", legal_name(output->name)},
                                                       {"schema", output->schema},
                                                       {"strict", output->strict}})}}));
}

// The thread of a run, so that a provider's cache finds its way back.
std::string thread_value(const WireCall& call) {
  const std::string& salt = call.provider.thread_salt;
  if (salt.empty() || call.request.thread.empty()) return call.request.thread;
  Sha256 hash;
  hash.update_field(salt);
  hash.update_field(call.request.thread);
  return hash.finish().hex();
}

void add_caching(const WireCall& call, Head& head) {
  const std::string& field = call.provider.thread_field;
  if (!field.empty() && !call.request.thread.empty() && head.takes_silently(field))
    head.add(field, thread_value(call));
  const std::string& ttl = call.provider.cache_ttl;
  if (call.request.cache_policy.protect_prefix == false) return;
  if (has_quirk(call, "cache_control") && head.takes_silently("cache_control")) {
    Json mark = Json::object({{"type", "ephemeral"}});
    if (!ttl.empty()) mark.set("ttl", ttl);
    head.add("cache_control", mark);
  } else if ((ttl == "24h" || ttl == "in_memory") &&
             head.takes_silently("prompt_cache_retention")) {
    head.add("prompt_cache_retention", ttl);
  }
}

// What a server without json_schema is told of the form of the answer.
std::string schema_text(const WireCall& call) {
  const OutputFormat* output = call.request.output.get();
  if (!output || !has_quirk(call, "json_object")) return "";
  return "Answer with one JSON object and nothing else. It must match this JSON Schema:\n" +
         print_json(output->schema);
}

std::string system_text(const WireCall& call) {
  std::string text = call.request.system ? *call.request.system : std::string();
  const std::string schema = schema_text(call);
  if (!text.empty() && !schema.empty()) text += "\n\n";
  return text + schema;
}

void add_messages(const WireCall& call, Head& head, EncodedCall& out) {
  const WireProfile profile = wire_profile(call);
  const std::uint64_t key = profile.key();
  const auto encode = [&](const Message& message) { return encode_message(message, profile); };
  std::string_view separator;
  head.text() += R"("messages":[)";
  if (const std::string system = system_text(call); !system.empty()) {
    head.text() += has_quirk(call, "developer_role") ? R"({"role":"developer","content":)"
                                                     : R"({"role":"system","content":)";
    print_json_string(system, head.text());
    head.text() += '}';
    separator = ",";
  }
  head.flush();
  bool reasoning_lost = false;
  bool media_lost = false;
  out.body.reserve(2 * call.request.transcript.size() + 8);
  for (const MessagePtr& message : call.request.transcript.messages()) {
    const std::string& kept = kept_blocks(*message, key, encode);
    if (kept.empty()) continue;
    out.body.add_view(separator);
    out.body.add_view(kept);
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

void add_escaped(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

}  // namespace

// Azure has a path per deployment, and one that is like everybody else's under /v1.
std::string path_of(const ProviderConfig& provider, std::string_view model,
                    std::string_view endpoint) {
  if (!provider.has_quirk("azure")) return std::string(endpoint);
  std::string_view base = provider.base_url;
  while (base.ends_with('/')) base.remove_suffix(1);
  const bool alike = base.ends_with("/v1");
  std::string path;
  if (!alike && base.find("/deployments/") == std::string_view::npos) {
    path = base.ends_with("/openai") ? "/deployments/" : "/openai/deployments/";
    add_escaped(model, path);
  }
  path += endpoint;
  std::string_view version = provider.api_version;
  if (version.empty() && !alike) version = kAzureVersion;
  // Under /v1 versions are words ("preview"); a date is refused.
  if (alike && version.starts_with("20")) version = {};
  if (!version.empty()) {
    path += "?api-version=";
    add_escaped(version, path);
  }
  return path;
}

std::string encode_tools(const ToolSpecs& tools) {
  std::string out = "[";
  for (const std::shared_ptr<const ToolSpec>& tool : tools) {
    if (out.size() > 1) out += ',';
    out += R"({"type":"function","function":{"name":)";
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
    out += "}}";
  }
  return out + "]";
}

Result<EncodedCall> encode(const WireCall& call) {
  EncodedCall out;
  out.path = path_of(call.provider, call.profile.name, "/chat/completions");
  const ModelRequest& request = call.request;
  Head head(call, out);
  if (head.takes_silently("model")) head.add("model", call.profile.name);
  if (call.stream) {
    head.add("stream", true);
    if (!has_quirk(call, "no_stream_usage") && head.takes_silently("stream_options"))
      head.add("stream_options", Json::object({{"include_usage", true}}));
  }
  const std::string_view cap =
      has_quirk(call, "max_tokens") ? "max_tokens" : "max_completion_tokens";
  const bool capped = head.says("max_tokens") || head.says("max_completion_tokens");
  if (request.max_output_tokens > 0 && !capped && head.takes(cap))
    head.add(cap, request.max_output_tokens);
  add_sampling(request, head);
  add_effort(call, head);
  add_output(call, head);
  add_caching(call, head);
  if (request.metadata.is_object() && !request.metadata.empty() && head.takes("metadata"))
    head.add("metadata", request.metadata);
  add_tool_choice(call, head);
  head.add_options();
  head.add_tools();
  add_messages(call, head, out);
  if (!call.provider.thread_header.empty() && !request.thread.empty())
    out.headers.push_back({call.provider.thread_header, thread_value(call)});
  return out;
}

}  // namespace tug::chat
