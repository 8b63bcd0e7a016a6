#include "tug/middleware/tool_selection.h"

#include "middleware/tool_view.h"

namespace tug {
namespace {

class ToolSelection final : public Middleware {
 public:
  ToolSelection(ToolPredicate predicate, std::string name)
      : predicate_(std::move(predicate)), name_(std::move(name)), key_(name_ + ".hidden") {}

  std::string name() const override { return name_; }
  Around around() const noexcept override { return {.run = false}; }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    Json hidden = Json::array();
    const Context run = ctx.target();
    keep_tools(request, [&](const ToolSpec& spec) {
      const bool shown = predicate_(run, spec);
      if (!shown) hidden.push_back(spec.name);
      return shown;
    });
    // A list that is empty from the start needs no record.
    const Json& before = ctx.remembered(key_);
    if (before.is_null() ? !hidden.empty() : !(before == hidden)) {
      ctx.remember(key_, std::move(hidden));
    }
    return next.run(std::move(request));
  }

  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    for (const Json& hidden : ctx.remembered(key_).items()) {
      if (hidden.as_string() != input.tool->name()) continue;
      co_return next.finish(refused_call(input, "is not available at this point of the run"));
    }
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    co_return result;
  }

 private:
  ToolPredicate predicate_;
  std::string name_;
  std::string key_;
};

}  // namespace

MiddlewarePtr make_tool_selection(ToolPredicate predicate, std::string name) {
  return std::make_shared<ToolSelection>(std::move(predicate), std::move(name));
}

}  // namespace tug
