// A middleware for tests.
#pragma once

#include <functional>

#include "agent/cases_testing.h"

namespace tug {

using Trace = std::vector<std::string>;

// Says where it is, and does what it is told on the way in and on the way out.
class Probe final : public Middleware {
 public:
  explicit Probe(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Json settings() const override { return Json::object({{"of", name_}}); }

  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    say("run in");
    if (before_run) before_run(ctx, input);
    if (run_answer) co_return next.finish(*run_answer);
    if (run_error) co_return next.fail(*run_error);
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    if (after_run && result) after_run(ctx, *result);
    say("run out");
    co_return result;
  }
  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    say("model in");
    if (before_model) before_model(ctx, request);
    if (injected) next.inject(injected);
    if (model_answer) co_return next.finish(*model_answer);
    const ModelRequest copy = request;
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    if (ask_again && ask_again(turn)) {
      ModelRequest other = copy;
      if (again_with) other.model = *again_with;
      auto second = next.run(std::move(other));
      turn = co_await std::move(second);
    }
    if (after_model && turn) after_model(ctx, *turn);
    say("model out");
    if (model_error) co_return next.fail(*model_error);
    co_return turn;
  }
  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    say("tool in");
    if (before_tool) before_tool(ctx, input);
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (after_tool && result) after_tool(ctx, *result);
    say("tool out");
    co_return result;
  }
  void on_error(Context, const Error& error) override {
    errors.push_back(error.message());
    say("error");
  }

  std::function<void(Context&, RunInput&)> before_run;
  std::function<void(Context&, RunResult&)> after_run;
  std::function<void(Context&, ModelRequest&)> before_model;
  std::function<void(Context&, ModelTurn&)> after_model;
  std::function<void(Context&, ToolInput&)> before_tool;
  std::function<void(Context&, ToolResult&)> after_tool;
  std::function<bool(const Result<ModelTurn>&)> ask_again;
  std::optional<std::string> again_with;
  std::optional<RunResult> run_answer;
  std::optional<Error> run_error;
  std::optional<ModelTurn> model_answer;
  std::optional<Error> model_error;
  MiddlewarePtr injected;
  Trace* trace = nullptr;
  Trace errors;

 private:
  void say(const std::string& what) {
    if (trace) trace->push_back(name_ + " " + what);
  }
  std::string name_;
};
using ProbePtr = std::shared_ptr<Probe>;

inline ProbePtr probe(std::string name, Trace* trace = nullptr) {
  auto made = std::make_shared<Probe>(std::move(name));
  made->trace = trace;
  return made;
}

inline ModelTurn turn_of(std::string text) {
  return {.message = Message::assistant(std::move(text))};
}

}  // namespace tug
