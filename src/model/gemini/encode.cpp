// A request to Gemini: what stays the same first, the contents last.
#include <array>
#include <optional>
#include <utility>

#include "model/gemini/wire.h"
#include "model/request_head.h"
#include "model/wire_media.h"
#include "model/wire_words.h"

namespace tug::gemini {
namespace {

struct Depth {
  std::string_view effort;
  std::string_view level;
  std::int64_t budget;
};
constexpr std::array<Depth, 7> kDepths = {{{"none", "MINIMAL", 0},
                                           {"minimal", "MINIMAL", 1024},
                                           {"low", "LOW", 4096},
                                           {"medium", "MEDIUM", 8192},
                                           {"high", "HIGH", 16384},
                                           {"xhigh", "HIGH", 24576},
                                           {"max", "HIGH", 24576}}};

std::string escaped(std::string_view name) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/@").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string path_of(const WireCall& call) {
  const std::string& name = call.profile.name;
  std::string path = "/";
  path += call.provider.api_version.empty() ? kVersion : call.provider.api_version;
  path += name.find('/') == name.npos ? "/models/" : "/";  // "tunedModels/mine" is a whole name
  path += escaped(name);
  path += call.stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
  return path;
}

// An object without properties is refused; a tool that takes nothing says nothing.
bool has_parameters(const Json& schema) noexcept {
  if (!schema["properties"].empty()) return true;
  for (const char* word : {"$ref", "anyOf", "oneOf", "allOf", "patternProperties"}) {
    if (schema.contains(word)) return true;
  }
  const Json& others = schema["additionalProperties"];
  return others.is_object() || others.as_bool();
}

class RequestWriter {
 public:
  explicit RequestWriter(const WireCall& call)
      : call_(call), head_(encoded_.body, merged_options(call, {"contents"}, encoded_.notes)) {}

  Result<EncodedCall> write() && {
    encoded_.path = path_of(call_);
    if (!call_.provider.thread_header.empty() && !call_.request.thread.empty())
      encoded_.headers.push_back({call_.provider.thread_header, wire_thread(call_)});
    write_head();
    if (!write_contents()) {
      return fail(ErrorKind::invalid,
                  call_.profile.id() + ": there is nothing to send: every message is empty",
                  "say something before the model is asked");
    }
    return std::move(encoded_);
  }

 private:
  void note(std::string text) { encoded_.notes.push_back(std::move(text)); }

  void write_head() {
    const ModelRequest& request = call_.request;
    head_.add_tools(call_.tools ? std::string_view(*call_.tools) : std::string_view(), "");
    write_tool_choice();
    if (request.system && !request.system->empty()) {
      head_.add(
          "systemInstruction",
          Json::object({{"parts", Json::array({Json::object({{"text", *request.system}})})}}));
    }
    head_.add_object("generationConfig", generation());
    if (!call_.provider.thread_field.empty() && !request.thread.empty())
      head_.add(call_.provider.thread_field, wire_thread(call_));
    head_.open_list("contents");
  }

  void write_tool_choice() {
    if (!call_.tools || call_.tools->size() <= 2) return;
    const ModelRequest& request = call_.request;
    if (request.tool_choice == ToolChoice::automatic) return;
    const bool none = request.tool_choice == ToolChoice::none;
    Json choice = Json::object({{"mode", none ? "NONE" : "ANY"}});
    if (!none && !request.tool.empty())
      choice.set("allowedFunctionNames", Json::array({wire_tool_name(request.tool)}));
    head_.add_object("toolConfig", Json::object({{"functionCallingConfig", std::move(choice)}}));
  }

  Json generation() {
    const ModelRequest& request = call_.request;
    Json config = Json::object();
    if (request.max_output_tokens > 0) config.set("maxOutputTokens", request.max_output_tokens);
    set_unless_dropped(config, "temperature", "temperature", request.temperature);
    set_unless_dropped(config, "top_p", "topP", request.top_p);
    set_unless_dropped(config, "seed", "seed", request.seed);
    if (!request.stop.empty()) {
      Json stop = Json::array();
      for (const std::string& sequence : request.stop) stop.push_back(sequence);
      set_unless_dropped(config, "stop", "stopSequences", std::optional<Json>(std::move(stop)));
    }
    if (request.output) {
      config.set("responseMimeType", "application/json");
      config.set("responseJsonSchema", request.output->schema);
    }
    if (Json thinking = thinking_config(); !thinking.is_null())
      config.set("thinkingConfig", std::move(thinking));
    return config;
  }
  template <class T>
  void set_unless_dropped(Json& config, std::string_view parameter, std::string_view member,
                          const std::optional<T>& value) {
    if (!value) return;
    if (!call_.profile.drops(parameter)) {
      config.set(member, Json(*value));
    } else if (!head_.option("generationConfig").contains(member)) {
      note(std::string(parameter) + " is left out: " + call_.profile.name + " refuses it");
    }
  }

  Json thinking_config() {
    const std::string& wanted = call_.request.reasoning;
    if (wanted.empty()) return {};
    const std::string_view effort = nearest_effort(call_.profile, wanted);
    if (!call_.profile.reasoning || effort.empty()) {
      note("reasoning \"" + wanted + "\" is left out: " + call_.profile.name +
           " is not known to take it");
      return {};
    }
    if (effort != wanted)
      note("reasoning \"" + wanted + "\" is sent as \"" + std::string(effort) + "\"");
    Json config = Json::object();
    if (effort != "none") config.set("includeThoughts", true);
    for (const Depth& depth : kDepths) {
      if (depth.effort != effort) continue;
      if (has_quirk(call_, "thinking_budget")) {
        config.set("thinkingBudget", depth.budget);
      } else {
        config.set("thinkingLevel", depth.level);
        if (effort == "none") note("reasoning \"none\" is sent as MINIMAL: it cannot be off");
      }
    }
    return config;
  }

  bool write_contents() {
    WireProfile profile{.api = Api::gemini,
                        .provider = call_.provider.name,
                        // Signatures are taken whatever a request asks for.
                        .reasoning = !call_.request.drop_reasoning,
                        .images = takes_images(call_.profile),
                        .flags = media_flags(call_.profile)};
    if (has_quirk(call_, "no_thought_signature")) profile.flags |= kNoForeignSignature;
    const std::uint64_t key = profile.key();
    HttpBody& body = encoded_.body;
    body.reserve(2 * call_.request.transcript.size() + 8);
    Dropped dropped;
    bool first = true;
    for (const MessagePtr& message : call_.request.transcript.messages()) {
      const std::string& parts = kept_blocks(
          *message, key, [&](const Message& said) { return encode_parts(said, profile, dropped); });
      if (parts.empty()) continue;
      if (message->role() == Role::assistant) {
        body.add_view(first ? R"({"role":"model","parts":[)" : R"(]},{"role":"model","parts":[)");
      } else {
        body.add_view(first ? R"({"role":"user","parts":[)" : R"(]},{"role":"user","parts":[)");
      }
      body.add_view(parts);
      first = false;
    }
    if (first) return false;
    body.add_view("]}]}");
    if (dropped.reasoning) {
      note(call_.request.drop_reasoning ? "earlier reasoning is sent as text: it was refused"
                                        : "reasoning of another provider is sent as text");
    }
    if (dropped.blocks) note("blocks that only another provider understands are left out");
    if (dropped.media) note("files that " + call_.profile.name + " does not take are named only");
    return true;
  }

  const WireCall& call_;
  EncodedCall encoded_;
  RequestHead head_;
};

}  // namespace

std::string encode_tools(const ToolSpecs& tools) {
  if (tools.empty()) return "[]";
  std::string out = R"([{"functionDeclarations":[)";
  bool first = true;
  for (const auto& tool : tools) {
    if (!std::exchange(first, false)) out += ',';
    Json spec = Json::object({{"name", wire_tool_name(tool->name)}});
    spec.set("description", tool->description);
    if (has_parameters(tool->parameters)) spec.set("parametersJsonSchema", tool->parameters);
    print_json(spec, out);
  }
  return out += "]}]";
}

Result<EncodedCall> encode(const WireCall& call) { return RequestWriter(call).write(); }

}  // namespace tug::gemini
