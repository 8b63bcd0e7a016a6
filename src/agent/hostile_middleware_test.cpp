// Middleware that does what it should not: the run ends or goes on, and its records still tell all.
#include <stdexcept>

#include "agent/probe_testing.h"
#include "tug/core/scope.h"

namespace tug {
namespace {

using testkit::says;
using testkit::scripted;

// Puts itself in again and again.
class Endless final : public Middleware, public std::enable_shared_from_this<Endless> {
 public:
  std::string name() const override { return "endless"; }
  Task<Result<ModelTurn>> around_model(Context, ModelRequest request, NextModel& next) override {
    next.inject(shared_from_this());
    return next.run(std::move(request));
  }
};

TEST(HostileMiddleware, OneThatInjectsItselfForEverFailsTheCall) {
  Rig rig(scripted({says("never")}));
  rig.harness->use(std::make_shared<Endless>());
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->kind(), ErrorKind::exhausted);
  EXPECT_EQ(result.error->message(), "more than 1000 middlewares stand around one call");
}

// Asks three times at once.
class AtOnce final : public Middleware {
 public:
  std::string name() const override { return "at once"; }
  Task<Result<ModelTurn>> around_model(Context, ModelRequest request, NextModel& next) override {
    std::vector<Task<Result<ModelTurn>>> asking;
    for (int i = 0; i < 3; ++i) asking.push_back(next.run(request));
    auto all = when_all(std::move(asking));
    std::vector<Result<ModelTurn>> turns = co_await std::move(all);
    for (const Result<ModelTurn>& turn : turns) {
      said.push_back(turn ? turn->message->text() : turn.error().message());
    }
    co_return std::move(turns[0]);
  }

  Trace said;
};

TEST(HostileMiddleware, TheModelIsAskedOneRequestAtATimeSoThatEachIsRecorded) {
  auto model = testkit::recording(testkit::slow(std::chrono::seconds(1), says("done")));
  Rig rig(model);
  auto asking = std::make_shared<AtOnce>();
  rig.harness->use(asking);
  EXPECT_EQ(rig.run("go").text, "done");
  const std::string refused = "a middleware asked the model twice at once";
  EXPECT_EQ(asking->said, (Trace{"done", refused, refused}));
  EXPECT_EQ(model->requests().size(), rig.seen->count(Kind::model_started));
}

TEST(HostileMiddleware, AnAnswerThatIsNoTurnIsSetAsideAndPaidFor) {
  const MessagePtr wrong[] = {Message::user("not a turn"),
                              Message::make(Role::assistant, {ToolResult::text("of no call")})};
  for (const MessagePtr& message : wrong) {
    Rig rig(scripted({used(says("good"), 100, 20)}));
    auto changing = probe("changing");
    changing->after_model = [&](Context&, ModelTurn& turn) { turn.message = message; };
    rig.harness->use(changing);
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.status, RunStatus::failed);
    EXPECT_EQ(result.usage.total(), 120);
    ASSERT_TRUE(result.error);
    EXPECT_TRUE(contains(result.error->message(), "is not a turn of a model"));
    EXPECT_EQ(rig.seen->count(Kind::model_failed), 1u);
  }
}

// Throws where it is asked for its name the second time.
class Nameless final : public Middleware {
 public:
  std::string name() const override {
    if (asked_++ == nth_) throw std::runtime_error("no name");
    return "nameless";
  }
  explicit Nameless(int nth) : nth_(nth) {}

 private:
  int nth_;
  mutable int asked_ = 0;
};

class Steps final : public Sink {
 public:
  bool wants_steps() const noexcept override { return true; }
  void on_event(const Event&) override {}
};

TEST(HostileMiddleware, ANameThatThrowsWhileStepsAreWatchedEndsTheRunAndNotTheProcess) {
  for (int nth = 0; nth < 8; ++nth) {
    Rig rig(scripted({says("done")}));
    rig.harness->use(std::make_shared<Nameless>(nth));
    RunOptions options;
    options.observers.push_back(std::make_shared<Steps>());
    const RunResult result = rig.run("go", std::move(options));
    EXPECT_TRUE(result.status == RunStatus::failed || result.text == "done") << nth;
  }
}

}  // namespace
}  // namespace tug
