#include "tug/middleware/tool_policy.h"

#include <algorithm>

#include "middleware/tool_view.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

template <class T>
bool has(const std::vector<T>& list, const T& one) {
  return std::ranges::find(list, one) != list.end();
}

// Why a tool is denied; empty when it is not.
std::string denied_for(const ToolPolicy& policy, const ToolSpec& spec) {
  if (has(policy.allowed, spec.name)) return "";
  for (const std::string& tag : spec.tags) {
    if (has(policy.denied_tags, tag)) return "is tagged \"" + tag + "\", which the policy denies";
  }
  if (has(policy.denied_effects, spec.effect)) {
    return "has the effect " + std::string(name_of(spec.effect)) + ", which the policy denies";
  }
  const bool classified =
      spec.effect != Effect::at_most_once || spec.metadata["classified"].as_bool();
  if (policy.deny_unclassified && !classified) {
    return "does not say what it does, which the policy asks of tools";
  }
  return "";
}

class ToolPolicyGate final : public Middleware {
 public:
  explicit ToolPolicyGate(ToolPolicy policy) : policy_(std::move(policy)) {}

  std::string name() const override { return "tool_policy"; }
  Json settings() const override {
    Json tags = Json::array();
    for (const std::string& tag : policy_.denied_tags) tags.push_back(tag);
    return Json::object(
        {{"denied_tags", std::move(tags)}, {"deny_unclassified", policy_.deny_unclassified}});
  }
  Around around() const noexcept override { return {.run = false}; }

  Task<Result<ModelTurn>> around_model(Context, ModelRequest request, NextModel& next) override {
    keep_tools(request, [this](const ToolSpec& spec) { return denied_for(policy_, spec).empty(); });
    return next.run(std::move(request));
  }

  Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
    const std::string why = denied_for(policy_, input.tool->spec());
    if (!why.empty()) co_return next.finish(refused_call(input, why));
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (result && policy_.max_result_bytes) cut(*result);
    co_return result;
  }

 private:
  void cut(ToolResult& result) const {
    const std::size_t bytes = result.content.size();
    const std::size_t kept = clip_utf8(result.content, *policy_.max_result_bytes).size();
    if (kept == bytes) return;
    result.content.resize(kept);
    if (!result.metadata.is_object()) result.metadata = Json::object();
    result.metadata.set("truncated", true).set("bytes", bytes);
  }

  ToolPolicy policy_;
};

}  // namespace

ToolPolicy ToolPolicy::permissive() { return {}; }
ToolPolicy ToolPolicy::strict() {
  return {.denied_tags = {"destructive", "payment"}, .deny_unclassified = true};
}

MiddlewarePtr make_tool_policy(ToolPolicy policy) {
  return std::make_shared<ToolPolicyGate>(std::move(policy));
}

}  // namespace tug
