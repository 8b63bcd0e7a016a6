#include "tug/tools/tool.h"

#include <algorithm>

#include "core/try.h"
#include "tug/context/context.h"

namespace tug {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr std::string_view kReservedName = "final_result";
// Only what the library itself makes may be called so; it says that it runs agents.
constexpr std::string_view kAgentNames[] = {"subagent", "subagent_runs"};

bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

Result<void> check_name(const std::string& name, bool agent) {
  if (name.empty() || name.size() > kMaxNameLength || !std::ranges::all_of(name, is_name_char)) {
    std::string shown;
    print_json_string(std::string_view(name).substr(0, 2 * kMaxNameLength), shown);
    return fail(ErrorKind::invalid, shown + " is no name for a tool",
                "use 1 to 64 letters, digits, '_', '.' and '-'");
  }
  if (name == kReservedName) {
    return fail(ErrorKind::invalid, "the name \"" + name + "\" is reserved for structured output",
                "name the tool otherwise");
  }
  if (!agent && std::ranges::find(kAgentNames, name) != std::end(kAgentNames)) {
    return fail(ErrorKind::invalid, "the name \"" + name + "\" is reserved for sub-agents",
                "name the tool otherwise");
  }
  return {};
}

Result<Schema> compile(const ToolSpec& spec, const Json& schema, std::string_view which) {
  Result<Schema> compiled = Schema::compile(schema);
  if (compiled) return compiled;
  return Failure(
      compiled.error().within("the " + std::string(which) + " of the tool \"" + spec.name + "\""));
}

class PoolJsonCode final : public ToolCode {
 public:
  explicit PoolJsonCode(JsonPoolHandler handler)
      : handler_(std::make_shared<const JsonPoolHandler>(std::move(handler))) {}
  Result<ToolWork> bind(Context&, const Json& args) const override {
    return ToolWork(
        PoolWork([handler = handler_, args](Invocation& call) { return (*handler)(args, call); }));
  }

 private:
  std::shared_ptr<const JsonPoolHandler> handler_;
};

class LoopJsonCode final : public ToolCode {
 public:
  explicit LoopJsonCode(JsonLoopHandler handler) : handler_(std::move(handler)) {}
  Result<ToolWork> bind(Context& ctx, const Json& args) const override {
    return ToolWork(handler_(ctx, args));
  }

 private:
  JsonLoopHandler handler_;
};

Result<void> check_handler(const ToolSpec& spec, bool is_there) {
  if (is_there) return {};
  return fail(ErrorKind::invalid, "the tool \"" + spec.name + "\" has no handler");
}

}  // namespace

Tool::Tool(ToolSpec spec, Schema parameters, std::optional<Schema> returns,
           std::shared_ptr<const ToolCode> code, std::vector<std::string> injected,
           ToolChecks checks)
    : spec_(std::make_shared<const ToolSpec>(std::move(spec))),
      parameters_(std::move(parameters)),
      returns_(std::move(returns)),
      code_(std::move(code)),
      injected_(std::move(injected)),
      checks_(std::move(checks)) {}

Result<ToolPtr> Tool::make(ToolSpec spec, std::shared_ptr<const ToolCode> code,
                           std::vector<std::string> injected, ToolChecks checks) {
  TUG_TRY(named, check_name(spec.name, spec.agent));
  TUG_TRY(handled, check_handler(spec, code != nullptr));
  if (spec.max_retries && *spec.max_retries < 0) {
    return fail(ErrorKind::invalid, "max_retries of the tool \"" + spec.name + "\" is negative",
                "0 is the least");
  }
  if (spec.timeout && *spec.timeout <= Duration::zero()) {
    return fail(ErrorKind::invalid, "the timeout of the tool \"" + spec.name + "\" is not positive",
                "leave it out to set none");
  }
  if (spec.parameters.is_null()) {
    spec.parameters = Json::object(
        {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}});
  }
  if (spec.parameters["type"].as_string() != "object") {
    return fail(ErrorKind::invalid,
                "the parameters of the tool \"" + spec.name + "\" are not a schema of an object",
                "give a JSON Schema with \"type\": \"object\"; in a typed tool, take a struct");
  }
  TUG_TRY(parameters, compile(spec, spec.parameters, "parameters"));
  std::optional<Schema> returns;
  if (!spec.returns.is_null()) {
    TUG_TRY(compiled, compile(spec, spec.returns, "returns"));
    returns = std::move(compiled);
  }
  return ToolPtr(new Tool(std::move(spec), std::move(parameters), std::move(returns),
                          std::move(code), std::move(injected), std::move(checks)));
}

ToolSpec tool_spec(std::string name, std::string description, Json parameters,
                   const ToolOptions& options) {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.description = std::move(description);
  spec.parameters = std::move(parameters);
  spec.effect = options.effect;
  spec.lane = options.lane;
  spec.sequential = options.sequential;
  spec.requires_approval = options.requires_approval;
  spec.subject = options.subject;
  spec.agent = options.agent;
  spec.needs_terminal = options.needs_terminal;
  spec.visibility = options.visibility;
  spec.tags = options.tags;
  spec.max_retries = options.max_retries;
  spec.timeout = options.timeout;
  spec.on_error = options.on_error;
  spec.error_text = options.error_text;
  spec.allowed_tools = options.allowed_tools;
  spec.result = options.result;
  spec.metadata = options.metadata;
  return spec;
}

Result<ToolPtr> make_tool(ToolSpec spec, JsonPoolHandler handler, ToolChecks checks) {
  TUG_TRY(handled, check_handler(spec, handler != nullptr));
  return Tool::make(std::move(spec), std::make_shared<const PoolJsonCode>(std::move(handler)), {},
                    std::move(checks));
}

Result<ToolPtr> make_tool(ToolSpec spec, JsonLoopHandler handler, ToolChecks checks) {
  TUG_TRY(handled, check_handler(spec, handler != nullptr));
  return Tool::make(std::move(spec), std::make_shared<const LoopJsonCode>(std::move(handler)), {},
                    std::move(checks));
}

}  // namespace tug
