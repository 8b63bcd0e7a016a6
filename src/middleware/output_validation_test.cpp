#include "tug/middleware/output_validation.h"

#include "middleware/testing.h"

namespace tug {
namespace {

std::string must_be_good(const ModelTurn& turn) {
  return turn.message->text() == "good" ? "" : "say good, not " + turn.message->text();
}

class OutputValidationTest : public BuiltIn {
 protected:
  OutputValidationTest() {
    EXPECT_TRUE(request.transcript.append_user(Message::user("go")));
    links = {make_output_validation(must_be_good)};
  }

  // A run that asks once and ends with what became of it.
  class AsksOnce final : public RunCore {
   public:
    AsksOnce(const Middlewares& links, Context root, ModelRequest request, Answers& model)
        : links_(links), root_(std::move(root)), request_(std::move(request)), model_(model) {}
    Task<Result<RunResult>> call(RunInput) override {
      auto asking = around_model(links_, root_, request_, model_);
      Result<ModelTurn> turn = co_await std::move(asking);
      RunResult result;
      if (turn) {
        result.stop = StopReason::end_turn;
      } else {
        result.error = turn.error();
      }
      co_return result;
    }

   private:
    const Middlewares& links_;
    Context root_;
    ModelRequest request_;
    Answers& model_;
  };

  Result<RunResult> run() {
    return world.run([&](Context root) { return whole(links, root, request, model); });
  }
  static Task<Result<RunResult>> whole(const Middlewares& links, Context root, ModelRequest request,
                                       Answers& model) {
    AsksOnce core(links, root, std::move(request), model);
    auto running = around_run(links, root, RunInput{}, core);
    Result<RunResult> result = co_await std::move(running);
    co_return result;
  }

  ModelRequest request;
};

TEST_F(OutputValidationTest, AGoodAnswerPasses) {
  model.say("good");
  EXPECT_EQ(ask(request)->message->text(), "good");
  EXPECT_EQ(model.asked.size(), 1u);
}

TEST_F(OutputValidationTest, ABadAnswerIsAskedForAgainWithWhatIsWrong) {
  model.say("bad");
  model.say("good");
  EXPECT_EQ(ask(request)->message->text(), "good");
  ASSERT_EQ(model.asked.size(), 2u);
  const Transcript& again = model.asked[1].transcript;
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[1]->text(), "bad");
  EXPECT_EQ(again[2]->text(),
            "This answer is not valid: say good, not bad\nAnswer again, in full.");
  EXPECT_EQ(again[2]->role(), Role::user);
}

TEST_F(OutputValidationTest, ASpentBudgetEndsTheRunAsSuch) {
  links = {make_output_validation(must_be_good, 2)};
  model.say("bad");
  const Result<RunResult> result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(model.asked.size(), 3u);
  EXPECT_EQ(result->stop, StopReason::output_validation_failed);
  EXPECT_EQ(result->error->kind(), ErrorKind::invalid);
  EXPECT_EQ(result->error->message(), "the final answer is not valid: say good, not bad");
}

TEST_F(OutputValidationTest, OtherFailuresStayWhatTheyAre) {
  model.answers = {fail(ErrorKind::overloaded, "busy")};
  const Result<RunResult> result = run();
  EXPECT_EQ(result->stop, StopReason::error);
  EXPECT_EQ(result->error->message(), "busy");
}

TEST_F(OutputValidationTest, TurnsThatAreNotFinalAreNotChecked) {
  const auto turn = [](Finish finish, std::vector<Part> parts) {
    return ModelTurn{.message = Message::make(Role::assistant, std::move(parts)), .finish = finish};
  };
  for (const ModelTurn& one :
       {turn(Finish::tool_calls, {TextPart{"bad"}, ToolCall{.tool = "t", .arguments = "{}"}}),
        turn(Finish::length, {TextPart{"bad"}}), turn(Finish::pause, {TextPart{"bad"}}),
        turn(Finish::refusal, {TextPart{"bad"}})}) {
    model.answers = {one};
    model.asked.clear();
    EXPECT_TRUE(ask(request));
    EXPECT_EQ(model.asked.size(), 1u);
  }
}

}  // namespace
}  // namespace tug
