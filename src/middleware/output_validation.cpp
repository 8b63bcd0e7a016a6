#include "tug/middleware/output_validation.h"

#include <algorithm>

#include "core/try.h"
#include "middleware/tool_view.h"

namespace tug {
namespace {

// On the context of the run: why it ends.
struct GaveUp {};

bool answers_by_call(const ModelRequest& request) {
  return request.tools && std::ranges::any_of(*request.tools, [](const auto& spec) {
           return spec->name == kAnswerTool;
         });
}

// What a turn answers, as text; nothing when it is no final answer.
std::optional<std::string> answer_in(const ModelTurn& turn, bool by_call) {
  if (!turn.message || !turn.nudge.empty()) return std::nullopt;
  const auto calls = turn.message->tool_calls();
  if (by_call) {
    const bool whole = turn.finish == Finish::stop || turn.finish == Finish::tool_calls;
    if (!whole || calls.size() != 1 || calls[0]->tool != kAnswerTool) return std::nullopt;
    return calls[0]->arguments;
  }
  if (turn.finish != Finish::stop || !calls.empty()) return std::nullopt;
  return turn.message->text();
}

class OutputValidation final : public Middleware {
 public:
  OutputValidation(OutputCheck check, std::uint32_t retries)
      : check_(std::move(check)), retries_(retries) {}

  std::string name() const override { return "output_validation"; }
  Json settings() const override { return Json::object({{"retries", retries_}}); }
  Around around() const noexcept override { return {.tool = false}; }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    if (result && result->stop == StopReason::error && ctx.target().get<GaveUp>()) {
      result->stop = StopReason::output_validation_failed;
    }
    co_return result;
  }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    const bool by_call = answers_by_call(request);
    for (std::uint32_t used = 0;; ++used) {
      auto asking = next.run(request);
      Result<ModelTurn> turn = co_await std::move(asking);
      if (!turn) co_return turn;
      std::optional<std::string> answer = answer_in(*turn, by_call);
      if (!answer) co_return turn;
      const std::string wrong = check_(*turn);
      if (wrong.empty()) co_return turn;
      if (used == retries_) {
        ctx.target().set(GaveUp{});
        co_return next.fail(Error(ErrorKind::invalid, "the final answer is not valid: " + wrong,
                                  "raise the retries of the check, or ask for less"));
      }
      MessagePtr shown = by_call ? Message::assistant(*std::move(answer)) : turn->message;
      TUG_CO_TRY(said, request.transcript.append_turn(std::move(shown), 0));
      TUG_CO_TRY(told, request.transcript.append_user(Message::user(
                           "This answer is not valid: " + wrong + "\nAnswer again, in full.")));
      ctx.log(LogEntry{.tag = "output_validation",
                       .level = LogLevel::info,
                       .text = "the final answer is not valid: " + wrong});
    }
  }

 private:
  OutputCheck check_;
  std::uint32_t retries_;
};

}  // namespace

MiddlewarePtr make_output_validation(OutputCheck check, std::uint32_t retries) {
  return std::make_shared<OutputValidation>(std::move(check), retries);
}

}  // namespace tug
