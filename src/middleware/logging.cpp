#include "tug/middleware/logging.h"

namespace tug {
namespace {

using Count = std::atomic<std::uint64_t>;

void add(Count& count) { count.fetch_add(1, std::memory_order_relaxed); }

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

class Logging final : public Middleware {
 public:
  explicit Logging(std::shared_ptr<LoggingCounts> counts) : counts_(std::move(counts)) {}

  std::string name() const override { return "logging"; }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    add(counts_->runs);
    say(ctx, LogLevel::info, input.resumed ? "the run goes on" : "the run starts");
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    if (!result) {
      failed(ctx, "the run", result.error());
    } else if (result->error) {
      failed(ctx, "the run", *result->error);
    } else {
      say(ctx, LogLevel::info,
          "the run ends: " + std::string(name_of(result->stop)) + ", " +
              count_of(static_cast<std::size_t>(result->counts.model_calls), "model call") + ", " +
              count_of(static_cast<std::size_t>(result->counts.tool_calls), "tool call"));
    }
    co_return result;
  }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    add(counts_->model_calls);
    const std::string model = request.model;
    say(ctx, LogLevel::debug,
        model + " is asked: " + count_of(request.transcript.size(), "message") + ", " +
            count_of(request.tools ? request.tools->size() : 0, "tool"));
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    if (!turn) {
      failed(ctx, model, turn.error());
    } else if (turn->message) {
      say(ctx, LogLevel::debug,
          model + " answers: " + std::string(name_of(turn->finish)) + ", " +
              count_of(turn->message->text().size(), "byte") + ", " +
              count_of(turn->message->tool_calls().size(), "call"));
    }
    co_return turn;
  }

  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    add(counts_->tool_calls);
    const std::string tool = input.tool->name();
    say(ctx, LogLevel::debug, tool + " is called (" + input.call.text() + ")");
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (!result) {
      failed(ctx, tool, result.error());
    } else if (result->ok) {
      say(ctx, LogLevel::debug, tool + " answers: " + count_of(result->content.size(), "byte"));
    } else {
      add(counts_->failures);
      say(ctx, LogLevel::warning,
          tool + " fails: " + std::string(result->metadata["error_type"].as_string("Exception")));
    }
    co_return result;
  }

 private:
  void failed(const Context& ctx, const std::string& what, const Error& error) {
    add(counts_->failures);
    say(ctx, LogLevel::warning, what + " fails: " + error.message());
  }
  static void say(const Context& ctx, LogLevel level, std::string text) {
    ctx.log(LogEntry{.tag = "logging", .level = level, .text = std::move(text)});
  }

  std::shared_ptr<LoggingCounts> counts_;
};

}  // namespace

MiddlewarePtr make_logging(std::shared_ptr<LoggingCounts> counts) {
  return std::make_shared<Logging>(counts ? std::move(counts) : std::make_shared<LoggingCounts>());
}

}  // namespace tug
