#include <algorithm>

#include "model/openai_responses/wire.h"
#include "tug/core/digest.h"

namespace tug::responses {
namespace {

constexpr std::string_view kEncrypted = "reasoning.encrypted_content";

// What the provider's options and the request's say together.
Json options_of(const WireCall& call) {
  Json options = call.provider.options.is_object() ? call.provider.options : Json::object();
  for (const Json::Member& option : call.request.provider_options.members())
    options.set(option.key(), option.value);
  return options;
}

// The members of a request but for its input, written once each.
class Head {
 public:
  Head(const WireCall& call, EncodedCall& out)
      : call_(call), out_(out), options_(options_of(call)) {
    // What is asked for and how it comes back is not theirs to say.
    for (const std::string_view name : {"input", "stream", "previous_response_id"}) {
      if (options_.erase(name)) note(name, "it cannot be set by provider options");
    }
  }

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
  // An object whose members are ours where the options say nothing about them.
  void add_merged(std::string_view name, Json ours) {
    const Json given = options_[name];
    if (!given.is_null() && !given.is_object()) return;  // as it stands
    for (const Json::Member& member : given.members()) ours.set(member.key(), member.value);
    options_.erase(name);
    if (!ours.empty()) add(name, ours);
  }
  // A list that has this item in any case.
  void add_included(std::string_view name, std::string_view item) {
    Json list = options_[name];
    if (!list.is_null() && !list.is_array()) return;
    const auto items = list.items();
    const bool there =
        std::ranges::any_of(items, [&](const Json& known) { return known.as_string() == item; });
    if (!there) list.push_back(item);
    options_.erase(name);
    add(name, list);
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
  if (request.max_output_tokens > 0 && head.takes("max_output_tokens"))
    head.add("max_output_tokens", request.max_output_tokens);
  if (request.temperature && head.takes("temperature"))
    head.add("temperature", *request.temperature);
  if (request.top_p && head.takes("top_p")) head.add("top_p", *request.top_p);
  if (request.seed) head.note("seed", "this API has none");
  if (!request.stop.empty()) head.note("stop", "this API has none");
}

void add_reasoning(const WireCall& call, Head& head) {
  Json reasoning = Json::object();
  const std::string& effort = call.request.reasoning;
  const std::vector<std::string>& known = call.profile.efforts;
  const bool unknown =
      !effort.empty() && !known.empty() && std::ranges::find(known, effort) == known.end();
  if (unknown) {
    head.note("the effort " + effort, "it has no such effort");
  } else if (!effort.empty()) {
    reasoning.set("effort", effort);
  }
  const bool thinks = call.profile.reasoning && effort != "none";
  if (thinks && !has_quirk(call, "no_reasoning_summary")) reasoning.set("summary", "auto");
  if (!call.profile.drops("reasoning")) {
    head.add_merged("reasoning", std::move(reasoning));
  } else if (!effort.empty()) {
    head.note("reasoning", "it does not take it");
  }
  if (call.profile.reasoning && !has_quirk(call, "no_encrypted_content"))
    head.add_included("include", kEncrypted);
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
  if (!output) return;
  head.add_merged("text", Json::object({{"format", Json::object({{"type", "json_schema"},
                                                                 {"name", legal_name(output->name)},
                                                                 {"schema", output->schema},
                                                                 {"strict", output->strict}})}}));
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
  } else {
    head.add("tool_choice", Json::object({{"type", "function"}, {"name", request.tool}}));
  }
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
  if (ttl.empty() || call.request.cache_policy.protect_prefix == false) return;
  if (ttl == "24h" || ttl == "in_memory") {
    if (head.takes_silently("prompt_cache_retention")) head.add("prompt_cache_retention", ttl);
  } else if (head.takes_silently("prompt_cache_options")) {
    head.add("prompt_cache_options", Json::object({{"ttl", ttl}}));
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

void add_input(const WireCall& call, Head& head, EncodedCall& out) {
  const WireProfile profile = wire_profile(call);
  const std::uint64_t key = profile.key();
  const auto encode = [&](const Message& message) { return encode_message(message, profile); };
  const Transcript& transcript = call.request.transcript;
  const bool chained = is_chained(call);
  const std::size_t covered = chained ? call.request.previous_messages : 0;
  std::vector<const ToolCall*> calls;
  if (chained) calls = known_calls(transcript, covered);
  head.text() += R"("input":[)";
  head.flush();
  std::string_view separator;
  bool reasoning_lost = false;
  bool media_lost = false;
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

bool has_quirk(const WireCall& call, std::string_view quirk) noexcept {
  return call.profile.has_quirk(quirk) || call.provider.has_quirk(quirk);
}

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
    print_json_string(tool->name, out);
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
  Head head(call, out);
  if (head.takes_silently("model")) head.add("model", call.profile.name);
  if (call.stream) head.add("stream", true);
  if (head.takes_silently("store")) head.add("store", is_stored(call));
  add_reasoning(call, head);
  add_sampling(request, head);
  add_output(call, head);
  add_caching(call, head);
  if (request.metadata.is_object() && !request.metadata.empty() && head.takes("metadata"))
    head.add("metadata", request.metadata);
  add_tool_choice(call, head);
  // They are not inherited from a response before, so they are always sent.
  if (request.system && !request.system->empty() && head.takes_silently("instructions"))
    head.add("instructions", *request.system);
  head.add_options();
  if (is_chained(call)) head.add("previous_response_id", request.previous_response);
  head.add_tools();
  add_input(call, head, out);
  if (!call.provider.thread_header.empty() && !request.thread.empty())
    out.headers.push_back({call.provider.thread_header, thread_value(call)});
  return out;
}

}  // namespace tug::responses
