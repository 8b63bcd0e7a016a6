#include "tug/middleware/prompt_cache_guard.h"

#include <algorithm>

#include "middleware/signature.h"
#include "tug/core/codec.h"
#include "tug/journal/event.h"
#include "tug/journal/payloads.h"

namespace tug {
namespace {

// The request before, on the context of its run. All of it is shared, so keeping it is cheap.
struct Layout {
  std::shared_ptr<const std::string> system;
  std::shared_ptr<const ToolSpecs> tools;
  Transcript messages;
};

std::string_view text_of(const Layout& layout) {
  return layout.system ? std::string_view(*layout.system) : std::string_view();
}

bool same_tools(const Layout& a, const Layout& b) {
  static const ToolSpecs kNone;
  if (a.tools == b.tools) return true;
  return std::ranges::equal(
      a.tools ? *a.tools : kNone, b.tools ? *b.tools : kNone, [](const auto& x, const auto& y) {
        return x == y || (x->name == y->name && x->description == y->description &&
                          x->parameters == y->parameters);
      });
}

bool is_stable(const Layout& before, const Layout& after) {
  if (before.system != after.system && text_of(before) != text_of(after)) return false;
  if (!same_tools(before, after)) return false;
  const Messages was = before.messages.messages();
  const Messages is = after.messages.messages();
  auto a = was.begin();
  for (auto b = is.begin(); a != was.end() && b != is.end(); ++a, ++b) {
    if (*a != *b && (*a)->fingerprint() != (*b)->fingerprint()) return false;
  }
  return true;
}

Fingerprint mixed(const Fingerprint& so_far, std::string_view bytes) {
  const Fingerprint more = fingerprint_of(bytes, so_far.low);
  return {so_far.high * 31 + more.high, more.low};
}

std::string print_of(const Layout& layout, std::size_t messages) {
  Fingerprint sum = mixed({}, text_of(layout));
  if (layout.tools) {
    for (const auto& tool : *layout.tools) {
      sum = mixed(sum, tool->name + "\n" + tool->description + "\n" + print_json(tool->parameters));
    }
  }
  for (std::size_t i = 0; i < messages; ++i) {
    const Fingerprint& print = layout.messages[i]->fingerprint();
    sum = {sum.high * 31 + print.high, sum.low * 31 + print.low};
  }
  return hex16(sum);
}

class PromptCacheGuard final : public Middleware {
 public:
  explicit PromptCacheGuard(CacheGuardOptions options) : options_(options) {}

  std::string name() const override { return "prompt_cache_guard"; }
  Json settings() const override {
    return Json::object({{"protect_prefix", options_.protect_prefix}});
  }
  Around around() const noexcept override { return {.run = false, .tool = false}; }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    const Context run = ctx.target();
    Layout now{request.system, request.tools, request.transcript};
    const Layout* before = run.get<Layout>();
    if (before && !is_stable(*before, now)) {
      const std::size_t both = std::min(before->messages.size(), now.messages.size());
      ctx.emit(Kind::cache_prefix_changed,
               write_json(payload::CachePrefixChanged{.before = print_of(*before, both),
                                                      .after = print_of(now, both),
                                                      .violates_policy = options_.protect_prefix}));
    }
    run.set(std::move(now));
    return next.run(std::move(request));
  }

 private:
  CacheGuardOptions options_;
};

}  // namespace

MiddlewarePtr make_prompt_cache_guard(CacheGuardOptions options) {
  return std::make_shared<PromptCacheGuard>(options);
}

}  // namespace tug
