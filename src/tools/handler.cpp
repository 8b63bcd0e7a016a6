#include "tug/tools/detail/handler.h"

#include "tools/invocation_door.h"
#include "tug/context/context.h"

namespace tug::detail {
namespace {

void collect_injected(const Shape& shape, const std::string& prefix,
                      std::vector<std::string>& paths) {
  if (shape.kind != ShapeKind::object) return;
  for (const FieldShape& field : static_cast<const ObjectShape&>(shape).fields) {
    const std::string name(field.name);
    if (field.shape) {
      // Through values only: what a pointer or a list holds has no injected fields.
      collect_injected(*field.shape, prefix + name + ".", paths);
    } else {
      paths.push_back(prefix + name);
    }
  }
}

// "... [T = store::Account]" or "... [with T = store::Account]"
std::string_view type_name(std::string_view printed) {
  constexpr std::string_view kBefore = "T = ";
  const std::size_t at = printed.find(kBefore);
  const std::size_t end = printed.rfind(']');
  if (at == printed.npos || end == printed.npos) return printed;
  return printed.substr(at + kBefore.size(), end - at - kBefore.size());
}

}  // namespace

ToolResult done_result() { return ToolResult::text("done"); }
ToolResult empty_task_result() {
  return ToolResult::error("the tool's handler gave an empty task", "Exception");
}

std::shared_ptr<const void> shared_value(const Context& ctx, TypeKey key) { return ctx.share(key); }

Invocation inline_invocation(const Context& ctx) {
  Invocation call(ctx, {});
  InvocationStart::on_loop(call);
  return call;
}

ToolResult missing_value_result(std::string_view field, std::string_view printed_type) {
  return ToolResult::error("the program has put no value of type " +
                               std::string(type_name(printed_type)) +
                               " into the context, which the tool needs for its field \"" +
                               std::string(field) + "\"; other arguments will not help",
                           "InjectedValueMissing");
}

Result<ToolPtr> make_typed_tool(std::string name, std::string description, const Shape* arguments,
                                const ToolOptions& options, std::shared_ptr<const ToolCode> code) {
  std::vector<std::string> injected;
  if (arguments) collect_injected(*arguments, {}, injected);
  Json parameters = arguments ? build_schema(*arguments) : Json();
  return Tool::make(
      tool_spec(std::move(name), std::move(description), std::move(parameters), options),
      std::move(code), std::move(injected), options.checks);
}

}  // namespace tug::detail
