#include "tug/middleware/tool_allowlist.h"

#include <algorithm>

#include "middleware/tool_view.h"

namespace tug {
namespace {

class ToolAllowlist final : public Middleware {
 public:
  explicit ToolAllowlist(std::vector<std::string> names) : names_(std::move(names)) {
    std::ranges::sort(names_);
  }

  std::string name() const override { return "tool_allowlist"; }
  Json settings() const override {
    Json names = Json::array();
    for (const std::string& one : names_) names.push_back(one);
    return Json::object({{"names", std::move(names)}});
  }
  Around around() const noexcept override { return {.run = false}; }

  Task<Result<ModelTurn>> around_model(Context, ModelRequest request, NextModel& next) override {
    keep_tools(request, [this](const ToolSpec& spec) { return allows(spec.name); });
    return next.run(std::move(request));
  }
  Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
    if (allows(input.tool->name())) {
      auto running = next.run(std::move(input));
      Result<ToolResult> result = co_await std::move(running);
      co_return result;
    }
    co_return next.finish(refused_call(input, "is not among the tools of this run"));
  }

 private:
  bool allows(const std::string& tool) const { return std::ranges::binary_search(names_, tool); }

  std::vector<std::string> names_;
};

}  // namespace

MiddlewarePtr make_tool_allowlist(std::vector<std::string> names) {
  return std::make_shared<ToolAllowlist>(std::move(names));
}

}  // namespace tug
