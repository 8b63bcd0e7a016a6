// What the cases of the references share: models with a profile of their own, turns that a script
// cannot say, and questions about what a model was told.
#pragma once

#include <utility>

#include "agent/testing.h"
#include "tug/core/wait.h"

namespace tug {

inline ModelPtr profiled(ModelProfile profile, std::vector<ScriptTurn> turns) {
  if (profile.provider.empty()) profile.provider = "test";
  return make_script_model(std::move(turns), std::move(profile));
}

// Says whole turns, one per request; the last one again and again.
class Turns final : public Model {
 public:
  explicit Turns(std::vector<ModelTurn> turns) : turns_(std::move(turns)) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest, Until) override {
    const std::size_t place = std::min(asked_++, turns_.size() - 1);
    return std::make_unique<Once>(turns_[place]);
  }

 private:
  class Once final : public ModelStream {
   public:
    explicit Once(ModelTurn turn) : turn_(std::move(turn)) {}
    Task<Result<std::optional<ModelEvent>>> next() override {
      std::optional<ModelEvent> event;
      if (auto turn = std::exchange(turn_, std::nullopt)) event = *std::move(turn);
      co_return event;
    }

   private:
    std::optional<ModelTurn> turn_;
  };

  ModelProfile profile_{.provider = "test", .name = "turns"};
  std::vector<ModelTurn> turns_;
  std::size_t asked_ = 0;
};

inline ScriptTurn cut(ScriptTurn turn) {
  turn.finish = Finish::length;
  return turn;
}
inline ScriptTurn again(ScriptTurn turn) {
  turn.repeat = true;
  return turn;
}
inline ScriptTurn used(ScriptTurn turn, std::int64_t input, std::int64_t output) {
  turn.usage = {.input_tokens = input, .output_tokens = output};
  return turn;
}

// A tool `child` that answers with what a run below its call says.
inline void give_child(Rig& rig, RunOptions options = {}) {
  rig.harness->tool("child", "Runs a child",
                    [&rig, options](const Context& ctx) -> Task<std::string> {
                      auto running = rig.harness->run_async(ctx, "go on", options);
                      RunResult result = co_await std::move(running);
                      co_return result.text;
                    });
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The notices of a transcript, in order.
inline std::vector<std::string> notices_in(const Transcript& transcript) {
  std::vector<std::string> found;
  for (const MessagePtr& message : transcript.messages()) {
    const std::string text = message->text();
    if (message->role() == Role::user && text.starts_with("<harness_notice")) found.push_back(text);
  }
  return found;
}

// "limit:remaining" of every warning, in order.
inline std::vector<std::string> warnings_in(const SeenEvents& seen) {
  std::vector<std::string> found;
  for (const Event& event : seen.events) {
    if (event.kind != Kind::limit_warning) continue;
    found.push_back(std::string(event.data["limit"].as_string()) + ":" +
                    std::to_string(event.data["remaining"].as_int().value_or(-1)));
  }
  return found;
}

inline std::vector<const Event*> events_of(const SeenEvents& seen, Kind kind) {
  std::vector<const Event*> found;
  for (const Event& event : seen.events) {
    if (event.kind == kind) found.push_back(&event);
  }
  return found;
}

// Pauses the run as soon as an event of this kind is there for the n-th time.
class PauseAt final : public Sink {
 public:
  explicit PauseAt(Kind kind, int nth = 1) : kind_(kind), left_(nth) {}
  void on_event(const Event& event) override {
    if (event.kind == kind_ && --left_ == 0) run.pause("for a test");
  }
  tug::Run run;

 private:
  Kind kind_;
  int left_;
};

// Starts a run that pauses there, and gives what it came to.
inline RunResult run_to_pause(Rig& rig, std::shared_ptr<PauseAt> pause, RunOptions options = {}) {
  options.observers.push_back(pause);
  options.observers.push_back(rig.seen);
  pause->run = rig.harness->start("go", std::move(options));
  RunResult result = pause->run.wait();
  pause->run = {};
  return result;
}

inline std::optional<LimitKind> limit_of(const RunResult& result) {
  if (!result.error) return std::nullopt;
  const Limit* limit = result.error->detail_if<Limit>();
  return limit ? std::optional(limit->kind) : std::nullopt;
}

inline void give_look(Rig& rig) {
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
}

inline constexpr const char* kGo = R"({"text":"go"})";

inline std::string shout(const Words& words) { return words.text + "!"; }

inline std::string_view error_type_of(const ToolCallRecord& record) {
  return record.result.metadata["error_type"].as_string();
}

// What the model was told in the n-th request about its calls.
inline std::vector<const ToolResult*> told(const testkit::RecordingModel& model,
                                           std::size_t request) {
  return model.requests().at(request).transcript.back()->tool_results();
}

// A tool that is never content with its arguments.
inline void give_picky(Rig& rig, ToolOptions options = {}) {
  rig.harness->inline_tool(
      "picky", "Wants other arguments",
      []() -> std::string { throw ModelRetry("try something else"); }, std::move(options));
}

// Answers instead of a tool.
class Cancels final : public Middleware {
 public:
  explicit Cancels(std::string tool) : tool_(std::move(tool)) {}
  std::string name() const override { return "cancels"; }
  Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
    if (input.tool->name() == tool_) {
      co_return next.finish(ToolResult::error("not today", "ToolCallCancelled"));
    }
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    co_return result;
  }

 private:
  std::string tool_;
};

}  // namespace tug
