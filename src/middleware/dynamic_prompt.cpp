#include "tug/middleware/dynamic_prompt.h"

namespace tug {
namespace {

class DynamicPrompt final : public Middleware {
 public:
  explicit DynamicPrompt(PromptText text) : text_(std::move(text)) {}

  std::string name() const override { return "dynamic_prompt"; }
  Around around() const noexcept override { return {.run = false, .tool = false}; }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    std::string text = text_(ctx.target());
    if (!text.empty()) {
      if (request.system && !request.system->empty()) text += "\n\n" + *request.system;
      request.system = std::make_shared<const std::string>(std::move(text));
    }
    return next.run(std::move(request));
  }

 private:
  PromptText text_;
};

}  // namespace

MiddlewarePtr make_dynamic_prompt(PromptText text) {
  return std::make_shared<DynamicPrompt>(std::move(text));
}

}  // namespace tug
