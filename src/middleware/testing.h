// What the tests of the built-in middleware share: calls that go through a chain, all on one run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "middleware/chain.h"
#include "tools/testing.h"
#include "tug/model/delta_filter.h"

namespace tug {

class OneAnswer final : public ModelStream {
 public:
  explicit OneAnswer(Result<ModelTurn> answer) : answer_(std::move(answer)) {}
  Task<Result<std::optional<ModelEvent>>> next() override {
    if (std::exchange(given_, true)) co_return std::optional<ModelEvent>();
    if (!answer_) co_return Failure(answer_.error());
    co_return std::optional<ModelEvent>(*answer_);
  }

 private:
  Result<ModelTurn> answer_;
  bool given_ = false;
};

// Answers in order, the last one again and again, through the filters of the request. Keeps what it
// was asked.
class Answers final : public ModelCore {
 public:
  Task<Result<ModelTurn>> call(ModelRequest request) override {
    asked.push_back(request);
    const std::size_t place = std::min(asked.size(), answers.size()) - 1;
    auto stream = filtered(std::make_unique<OneAnswer>(answers[place]), request.filters);
    auto collecting = collect(*stream, observer);
    Result<ModelTurn> turn = co_await std::move(collecting);
    co_return turn;
  }

  void say(std::string text) {
    answers.push_back(ModelTurn{.message = Message::assistant(std::move(text))});
  }

  std::vector<Result<ModelTurn>> answers;
  std::vector<ModelRequest> asked;
  DeltaObserver* observer = nullptr;
};

// The same for tools; counts what really ran.
class Outcomes final : public ToolCore {
 public:
  Task<Result<ToolResult>> call(ToolInput) override {
    const std::size_t place = std::min(++ran, results.size()) - 1;
    co_return results[place];
  }

  std::vector<ToolResult> results;
  std::size_t ran = 0;
};

using Step = std::variant<ModelRequest, ToolInput>;
using Outcome = std::variant<Result<ModelTurn>, Result<ToolResult>>;

class BuiltIn : public ToolTest {
 protected:
  // Every step through the chain, on one run, in order.
  std::vector<Outcome> go(std::vector<Step> steps) {
    if (model.answers.empty()) model.say("fine");
    if (outcomes.results.empty()) outcomes.results.push_back(ToolResult::text("done"));
    auto found = world.run([&](Context root) {
      if (prepare) prepare(root);
      return all(links, root, std::move(steps), model, outcomes);
    });
    EXPECT_TRUE(found) << to_string(found.error());
    return *std::move(found);
  }
  Result<ModelTurn> ask(ModelRequest request = {}) {
    return std::get<0>(go({std::move(request)}).front());
  }
  Result<ToolResult> use(const ToolPtr& tool, Json args = Json::object()) {
    return std::get<1>(go({calls(tool, std::move(args))}).front());
  }

  static ToolInput calls(const ToolPtr& tool, Json args = Json::object()) {
    return {.tool = tool, .args = std::move(args), .call = make_call_id(1, 0)};
  }
  static ToolPtr tool(std::string name, ToolOptions options = {}) {
    return made(make_tool(tool_spec(std::move(name), "d", {}, options),
                          JsonPoolHandler([](const Json&, Invocation&) {
                            return Result<ToolResult>(ToolResult{});
                          })));
  }
  static ModelRequest shows(const std::vector<ToolPtr>& tools) {
    auto specs = std::make_shared<ToolSpecs>();
    for (const ToolPtr& one : tools) specs->push_back(one->shared_spec());
    ModelRequest request{.model = "m"};
    request.tools = std::move(specs);
    return request;
  }
  static std::string names(const ModelRequest& request) {
    std::string all;
    for (const auto& spec : *request.tools) all += spec->name + " ";
    return all;
  }
  std::vector<Json> events(Kind kind) const {
    std::vector<Json> found;
    for (const Event& event : world.log->records) {
      if (event.kind == kind) found.push_back(event.data);
    }
    return found;
  }

  Middlewares links;
  Answers model;
  Outcomes outcomes;
  std::function<void(Context&)> prepare;

 private:
  static Task<std::vector<Outcome>> all(const Middlewares& links, Context root,
                                        std::vector<Step> steps, Answers& model,
                                        Outcomes& outcomes) {
    std::vector<Outcome> found;
    for (Step& step : steps) {
      if (auto* request = std::get_if<ModelRequest>(&step)) {
        auto asking = around_model(links, root, std::move(*request), model);
        Result<ModelTurn> turn = co_await std::move(asking);
        found.emplace_back(std::move(turn));
      } else {
        auto running = around_tool(links, root, std::move(std::get<ToolInput>(step)), outcomes);
        Result<ToolResult> result = co_await std::move(running);
        found.emplace_back(std::move(result));
      }
    }
    co_return found;
  }
};

}  // namespace tug
