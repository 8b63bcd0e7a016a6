// Models that take over from others: the cases of the references. TA: TinyAgents.
#include "agent/cases_testing.h"

namespace tug {
namespace {

using std::chrono::seconds;
using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

// A chain of models in one rig: the primary and two more.
struct Chain {
  Chain(std::vector<ScriptTurn> first, std::vector<ScriptTurn> second,
        std::vector<ScriptTurn> third = {again(says("third"))}, ModelProfile of_second = {})
      : primary(testkit::recording(profiled({.name = "primary"}, std::move(first)))),
        backup(testkit::recording(profiled(named(std::move(of_second)), std::move(second)))),
        last(testkit::recording(profiled({.name = "last"}, std::move(third)))),
        rig(primary, 1, {.retry = {.attempts = 2, .jitter = 0}}) {
    rig.models->add(backup);
    rig.models->add(last);
  }
  static ModelProfile named(ModelProfile profile) {
    profile.name = "backup";
    return profile;
  }
  RunResult run(std::vector<std::string> fallbacks, RunOptions options = {}) {
    options.fallback_models = std::move(fallbacks);
    return rig.run("go", std::move(options));
  }

  std::shared_ptr<testkit::RecordingModel> primary;
  std::shared_ptr<testkit::RecordingModel> backup;
  std::shared_ptr<testkit::RecordingModel> last;
  Rig rig;
};

TEST(FallbackCases, AModelThatIsDownIsReplacedWithoutBeingListedItself) {
  Chain chain({again(fails(503))}, {says("from the backup")});
  const RunResult result = chain.run({"test/backup"});
  EXPECT_EQ(result.text, "from the backup");
  EXPECT_EQ(result.model, "test/backup");
  EXPECT_EQ(chain.primary->requests().size(), 2u);
  EXPECT_EQ(chain.backup->requests().size(), 1u);
  const Event* selected = chain.rig.seen->find(Kind::model_fallback_selected);
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->data["from"].as_string(), "test/primary");
  EXPECT_EQ(selected->data["to"].as_string(), "test/backup");
  EXPECT_EQ(chain.backup->requests()[0].model, "test/backup");
}

// TA 11
TEST(FallbackCases, NoModelIsAskedTwiceInOneTurnHoweverOftenItIsListed) {
  Chain chain({again(fails(503))}, {again(fails(503))});
  const RunResult result = chain.run({"test/backup", "test/primary", "test/backup"});
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(chain.primary->requests().size(), 2u);
  EXPECT_EQ(chain.backup->requests().size(), 2u) << "retries begin anew with each model";
  EXPECT_EQ(result.counts.attempts, 4);
  EXPECT_EQ(exit_code(result), 3);
}

// TA 11
TEST(FallbackCases, AModelThatCannotCallToolsIsPassedOverInARunThatHasSome) {
  Chain chain({again(fails(503))}, {again(says("never"))}, {says("third")}, {.tools = false});
  chain.rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  const RunResult result = chain.run({"test/backup", "test/last"});
  EXPECT_EQ(result.text, "third");
  EXPECT_TRUE(chain.backup->requests().empty());
  const Event* skipped = chain.rig.seen->find(Kind::model_fallback_skipped);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->data["model"].as_string(), "test/backup");
  EXPECT_TRUE(contains(skipped->data["reason"].as_string(), "tools"));
}

TEST(FallbackCases, AModelThatCannotAnswerByTheSchemaIsPassedOver) {
  Chain chain({again(fails(503))}, {again(says("never"))}, {calls("final_result", R"({"n":3})")},
              {.tools = false});
  const RunResult result = chain.run({"test/backup", "test/last"},
                                     {.output_schema = Json::object({{"type", "object"}})});
  EXPECT_EQ(result.output, Json::object({{"n", 3}}));
  EXPECT_EQ(chain.rig.seen->count(Kind::model_fallback_skipped), 1u);
}

TEST(FallbackCases, AModelThatNobodyRegisteredIsPassedOverWithAReason) {
  Chain chain({again(fails(503))}, {says("from the backup")});
  const RunResult result = chain.run({"nobody/knows", "test/backup"});
  EXPECT_EQ(result.text, "from the backup");
  const Event* skipped = chain.rig.seen->find(Kind::model_fallback_skipped);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->data["model"].as_string(), "nobody/knows");
  EXPECT_FALSE(skipped->data["reason"].as_string().empty());
}

TEST(FallbackCases, AMalformedRequestNeverReachesAnotherModel) {
  Chain chain({again(fails(400))}, {again(says("never"))});
  const RunResult result = chain.run({"test/backup"});
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(exit_code(result), 1);
  EXPECT_EQ(chain.primary->requests().size(), 1u);
  EXPECT_TRUE(chain.backup->requests().empty());
}

TEST(FallbackCases, ACancelDoesNotReachAnotherModel) {
  ScriptTurn hanging = says("late");
  hanging.delay_ms = 3'600'000;
  Chain chain({hanging}, {again(says("never"))});
  tug::Run run = chain.rig.harness->start("go", {.fallback_models = {{"test/backup"}}});
  chain.rig.engine->advance(seconds(1));
  run.cancel();
  EXPECT_EQ(run.wait().status, RunStatus::cancelled);
  EXPECT_TRUE(chain.backup->requests().empty());
}

TEST(FallbackCases, TheRunStaysWithTheModelThatTookOver) {
  Chain chain({fails(503), fails(503), again(says("never"))}, {calls("look"), says("done")});
  chain.rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  EXPECT_EQ(chain.run({"test/backup"}).text, "done");
  EXPECT_EQ(chain.primary->requests().size(), 2u);
  EXPECT_EQ(chain.backup->requests().size(), 2u);
  EXPECT_EQ(chain.rig.seen->count(Kind::model_fallback_selected), 1u);
}

TEST(FallbackCases, TheRunStaysWithItAfterAPauseToo) {
  Chain chain({fails(503), fails(503), again(says("never"))}, {calls("look"), says("done")});
  chain.rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  auto pause = std::make_shared<PauseAt>(Kind::tool_completed);
  const RunResult parked = run_to_pause(chain.rig, pause, {.fallback_models = {{"test/backup"}}});
  ASSERT_EQ(parked.status, RunStatus::parked);
  const RunResult result = chain.rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.model, "test/backup");
}

// Answers with one error for ever.
class Refusing final : public Model {
 public:
  Refusing(ModelProfile profile, Error error)
      : profile_(std::move(profile)), error_(std::move(error)) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest, Until) override {
    return std::make_unique<Stream>(error_);
  }

 private:
  class Stream final : public ModelStream {
   public:
    explicit Stream(Error error) : error_(std::move(error)) {}
    Task<Result<std::optional<ModelEvent>>> next() override { co_return Failure(error_); }

   private:
    Error error_;
  };

  ModelProfile profile_;
  Error error_;
};

TEST(FallbackCases, WhatDoesNotFitGoesOnlyToALargerWindow) {
  const Error overflow(ErrorKind::invalid, "too long", "", Overflow{.window = 1000});
  const auto full = std::make_shared<Refusing>(
      ModelProfile{.provider = "test", .name = "full", .context_tokens = 1000}, overflow);
  Rig rig(full, 1, {.fallback_models = {"test/small", "test/large"}});
  rig.models->add(profiled({.name = "small", .context_tokens = 900}, {again(says("never"))}));
  rig.models->add(profiled({.name = "large", .context_tokens = 9000}, {says("it fits")}));
  EXPECT_EQ(rig.run("go").text, "it fits");
  EXPECT_EQ(rig.seen->find(Kind::model_fallback_skipped)->data["model"].as_string(), "test/small");
  const RunResult none = rig.harness->run("go", {.fallback_models = {{"test/small"}}});
  EXPECT_EQ(none.stop, StopReason::context_overflow);
  EXPECT_EQ(exit_code(none), 5);
}

TEST(FallbackCases, AModelThatTakesOverIsAskedThroughTheMiddlewareAnew) {
  class Names final : public Middleware {
   public:
    std::string name() const override { return "names"; }
    Task<Result<ModelTurn>> around_model(Context, ModelRequest request, NextModel& next) override {
      names.push_back(request.model);
      return next.run(std::move(request));
    }
    std::vector<std::string> names;
  };
  Chain chain({again(fails(503))}, {says("from the backup")});
  auto seen = std::make_shared<Names>();
  chain.rig.harness->use(seen);
  EXPECT_EQ(chain.run({"test/backup"}).text, "from the backup");
  EXPECT_EQ(seen->names, (std::vector<std::string>{"test/primary", "test/backup"}));
}

}  // namespace
}  // namespace tug
