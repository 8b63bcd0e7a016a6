#include "tug/middleware/output_validation.h"

#include "core/try.h"

namespace tug {
namespace {

// On the context of the run: why it ends.
struct GaveUp {};

bool is_final(const ModelTurn& turn) {
  return turn.finish == Finish::stop && turn.nudge.empty() && turn.message &&
         turn.message->tool_calls().empty();
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
    for (std::uint32_t used = 0;; ++used) {
      auto asking = next.run(request);
      Result<ModelTurn> turn = co_await std::move(asking);
      if (!turn || !is_final(*turn)) co_return turn;
      const std::string wrong = check_(*turn);
      if (wrong.empty()) co_return turn;
      if (used == retries_) {
        ctx.target().set(GaveUp{});
        co_return next.fail(Error(ErrorKind::invalid, "the final answer is not valid: " + wrong,
                                  "raise the retries of the check, or ask for less"));
      }
      TUG_CO_TRY(said, request.transcript.append_turn(turn->message, 0));
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
