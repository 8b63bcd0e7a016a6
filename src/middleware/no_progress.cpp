#include "tug/middleware/no_progress.h"

#include <algorithm>

#include "core/try.h"
#include "middleware/progress_ladder.h"

namespace tug {
namespace {

constexpr std::string_view kKey = "no_progress";
constexpr std::string_view kSeen = "seen";  // the last call that was refused before it began

// A call that is refused before it begins passes no middleware: its result is found in the
// transcript. These are the types that only such results have.
bool is_refusal(const ToolResult& result) {
  const std::string_view type = result.metadata["error_type"].as_string();
  return type == "InvalidArguments" || type == "ValidationError" || type == "ApprovalRejected" ||
         type == "UnknownTool";
}

Error halt(std::string_view tool, std::string why) {
  return Error(ErrorKind::denied, "the run makes no progress: " + std::move(why),
               "change the request, or the options of no_progress",
               Denied{.what = std::string(tool), .by = "no_progress"});
}

class NoProgress final : public Middleware {
 public:
  explicit NoProgress(NoProgressOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "no_progress"; }
  Around around() const noexcept override { return {.run = false}; }

  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    const ToolPtr tool = input.tool;
    const Json args = input.args;
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (!result) co_return result;
    if (result->ok) {
      clear(ctx);
      co_return result;
    }
    if (stopped_with_the_run(*result) || is_refusal(*result)) co_return result;
    const Rung rung = count(ctx, tool->name(), args, *result);
    if (!rung.end.empty()) co_return next.fail(halt(tool->name(), rung.end));
    if (!rung.nudge.empty()) result->content += "\n\n" + rung.nudge;
    co_return result;
  }

  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    std::string why = repeats(request.transcript, options_);
    if (!why.empty()) co_return next.fail(halt("", std::move(why)));
    std::string nudges;
    for (const Refused& refused : refusals(ctx, request.transcript)) {
      const Rung rung =
          count(ctx, refused.call->tool, arguments_of(*refused.call), *refused.result);
      if (!rung.end.empty()) co_return next.fail(halt(refused.call->tool, rung.end));
      if (!rung.nudge.empty()) nudges += "About " + refused.call->tool + ": " + rung.nudge + "\n";
      remember_seen(ctx, refused.call->id);
    }
    if (!nudges.empty()) {
      nudges.pop_back();
      TUG_CO_TRY(told, request.transcript.append_user(Message::user(std::move(nudges))));
    }
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    co_return turn;
  }

 private:
  struct Refused {
    const ToolCall* call;
    const ToolResult* result;
  };

  static bool stopped_with_the_run(const ToolResult& result) {
    return result.metadata["error_type"].as_string() == "Cancelled";
  }

  static Json arguments_of(const ToolCall& call) {
    Result<Json> value = parse_json(call.arguments);
    return value ? *std::move(value) : Json(call.arguments);
  }

  // Those of the last turn that were not counted yet. A request may come again.
  static std::vector<Refused> refusals(const Context& ctx, const Transcript& transcript) {
    std::size_t end = transcript.size();
    while (end > 0 && transcript[end - 1]->role() == Role::user) --end;
    if (end < 2 || transcript[end - 1]->role() != Role::tool) return {};
    const auto calls = transcript[end - 2]->tool_calls();
    const auto results = transcript[end - 1]->tool_results();
    std::vector<Refused> found;
    for (std::size_t i = 0; i < std::min(calls.size(), results.size()); ++i) {
      if (calls[i]->id.text() == ctx.remembered(kKey)[kSeen].as_string()) {
        found.clear();
      } else if (!results[i]->ok && is_refusal(*results[i])) {
        found.push_back({calls[i], results[i]});
      }
    }
    return found;
  }

  Rung count(const Context& ctx, std::string_view tool, const Json& args,
             const ToolResult& result) const {
    Json counts = ctx.remembered(kKey);
    Rung rung = count_failure(counts, options_, tool, args, result);
    if (!rung.end.empty()) counts = Json::object();
    if (!(counts == ctx.remembered(kKey))) ctx.remember(kKey, std::move(counts));
    return rung;
  }

  static void remember_seen(const Context& ctx, const CallId& call) {
    Json counts = ctx.remembered(kKey);
    counts.set(kSeen, call.text());
    ctx.remember(kKey, std::move(counts));
  }

  static void clear(const Context& ctx) {
    Json counts = ctx.remembered(kKey);
    if (counts["row"].is_null() && counts["same"].is_null()) return;
    counts.erase("row");
    counts.erase("same");
    ctx.remember(kKey, std::move(counts));
  }

  NoProgressOptions options_;
};

}  // namespace

MiddlewarePtr make_no_progress(NoProgressOptions options) {
  return std::make_shared<NoProgress>(std::move(options));
}

}  // namespace tug
