// The built-in middleware in whole runs.
#include "agent/cases_testing.h"
#include "tug/middleware/dynamic_prompt.h"
#include "tug/middleware/message_trim.h"
#include "tug/middleware/no_progress.h"
#include "tug/middleware/output_validation.h"
#include "tug/middleware/prompt_cache_guard.h"
#include "tug/middleware/redaction.h"
#include "tug/middleware/tool_allowlist.h"
#include "tug/middleware/tool_policy.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::cycling;
using testkit::recording;
using testkit::says;
using testkit::scripted;

TEST(BuiltInMiddleware, AHiddenToolIsNotShownAndACallOfItIsCancelledWithoutUsingUpRetries) {
  auto model = recording(scripted({calls("write"), says("done")}));
  Rig rig(model);
  int ran = 0;
  rig.harness->inline_tool("write", "d", [&ran] { ++ran; });
  rig.harness->inline_tool("read", "d", [] {});
  rig.harness->use(make_tool_allowlist({"read"}));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(ran, 0);
  ASSERT_EQ(model->requests()[0].tools->size(), 1u);
  EXPECT_EQ(model->requests()[0].tools->front()->name, "read");
  EXPECT_EQ(result.counts.cancelled_tool_calls, 1);
  EXPECT_TRUE(result.counts.tool_retries.empty());
  expect_legal(result.messages);
}

TEST(BuiltInMiddleware, ACallThatKeepsFailingTheSameWayIsNudgedAndThenEndsTheRun) {
  Rig rig(cycling({calls("read", R"({"text":"x"})")}));
  rig.harness->inline_tool(
      "read", "d", [](const Words&) -> std::string { throw std::runtime_error("no such file"); });
  rig.harness->use(make_no_progress());
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.stop, StopReason::error);
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message().find("failed the same way 3 times"), std::string::npos)
      << result.error->message();
  ASSERT_EQ(result.tool_calls.size(), 3u);
  EXPECT_NE(result.tool_calls[1].result.content.find("Do not repeat it"), std::string::npos);
  expect_legal(result.messages);
}

TEST(BuiltInMiddleware, TheSameGoodCallsThreeTimesEndTheRun) {
  Rig rig(cycling({calls("read", R"({"text":"x"})")}));
  rig.harness->inline_tool("read", "d", [](const Words&) { return "same"; });
  rig.harness->use(make_no_progress());
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.counts.model_calls, 3);
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message().find("in 3 turns in a row"), std::string::npos);
  expect_legal(result.messages);
}

TEST(BuiltInMiddleware, ASecretIsNeitherStreamedNorKept) {
  Rig rig(testkit::streaming("the secret is out", 3));
  rig.harness->use(make_redaction({"secret"}));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "the [redacted] is out");
  std::string streamed;
  for (const Event& event : rig.seen->events) {
    EXPECT_EQ(to_line(event).find("secret"), std::string::npos) << to_line(event);
    if (event.kind == Kind::model_delta) streamed += event.data["text"].as_string();
  }
  EXPECT_EQ(streamed, "the [redacted] is out");
  EXPECT_EQ(result.messages.back()->text(), "the [redacted] is out");
}

TEST(BuiltInMiddleware, TheReplyThatASecretCameInIsNotKeptEither) {
  const ModelTurn told{.message = Message::assistant("the secret"),
                       .raw = Json::object({{"content", "the secret"}})};
  Rig plain(std::make_shared<Turns>(std::vector<ModelTurn>{told}));
  EXPECT_EQ(plain.run("hi").responses, std::vector<Json>{told.raw});
  Rig rig(std::make_shared<Turns>(std::vector<ModelTurn>{told}));
  rig.harness->use(make_redaction({"secret"}));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "the [redacted]");
  EXPECT_TRUE(result.responses.empty());
  EXPECT_FALSE(rig.seen->find(Kind::model_completed)->data.contains("response"));
}

TEST(BuiltInMiddleware, ASecretInWhatAToolSaysBesideItsResultIsMaskedToo) {
  Rig rig(scripted({calls("look"), says("done")}));
  rig.harness->inline_tool("look", "Looks", [] {
    ToolResult result = ToolResult::text("fine");
    result.metadata = *parse_json(R"({"a":["a secret",1],"b":{"c":"secret"}})");
    return result;
  });
  rig.harness->use(make_redaction({"secret"}));
  EXPECT_EQ(rig.run("hi").tool_calls.at(0).result.metadata,
            *parse_json(R"({"a":["a [redacted]",1],"b":{"c":"[redacted]"}})"));
}

TEST(BuiltInMiddleware, AToolThatIsNotThereIsNotAskedForForEver) {
  Rig rig(scripted({again(calls("ghost"))}));
  give_look(rig);
  rig.harness->use(make_no_progress());
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(result.counts.model_calls, 3);
}

TEST(BuiltInMiddleware, ABadAnswerIsSetAsideAndTheGoodOneIsTheOnlyOneKept) {
  const auto check = [](const ModelTurn& turn) {
    return turn.message->text() == "good" ? "" : "say good";
  };
  Rig rig(scripted({says("bad"), says("good")}));
  rig.harness->use(make_output_validation(check));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "good");
  EXPECT_EQ(result.messages.size(), 2u);
  EXPECT_EQ(result.counts.attempts, 2);
  Rig worse(cycling({says("bad")}));
  worse.harness->use(make_output_validation(check));
  const RunResult failed = worse.run("hi");
  EXPECT_EQ(failed.stop, StopReason::output_validation_failed);
  EXPECT_EQ(failed.status, RunStatus::failed);
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->message(), "the final answer is not valid: say good");
}

TEST(BuiltInMiddleware, AnAnswerByFinalResultIsCheckedToo) {
  const auto check = [](const ModelTurn& turn) -> std::string {
    return contains(turn.message->tool_calls()[0]->arguments, "2") ? "" : "more";
  };
  auto model = recording(profiled({.name = "m"}, {calls("final_result", R"({"value":1})"),
                                                  calls("final_result", R"({"value":2})")}));
  Rig rig(model);
  rig.harness->use(make_output_validation(check));
  const RunResult result = rig.run("hi", {.output_schema = *parse_json(R"({"type":"integer"})"),
                                          .output_mode = OutputMode::tool});
  EXPECT_EQ(result.output, Json(2));
  ASSERT_EQ(model->requests().size(), 2u);
  EXPECT_TRUE(contains(model->requests()[1].transcript.back()->text(), "more"));
  EXPECT_EQ(result.messages.size(), 3u);
}

TEST(BuiltInMiddleware, TheRunKeepsWhatARequestWasTrimmedOf) {
  auto model = recording(scripted({calls("read"), calls("read"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("read", "d", [] { return "x"; });
  rig.harness->use(make_message_trim({.keep_last = 1}));
  rig.harness->use(make_dynamic_prompt(
      [](const Context& run) { return "turn " + std::to_string(run.id().turn); }));
  rig.harness->use(make_prompt_cache_guard());
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.messages.size(), 6u);
  ASSERT_EQ(model->requests().size(), 3u);
  EXPECT_EQ(model->requests()[2].transcript.size(), 2u) << "the last result and its call";
  EXPECT_EQ(rig.seen->count(Kind::context_trimmed), 2u);
  EXPECT_EQ(rig.seen->count(Kind::cache_prefix_changed), 2u);
  expect_legal(result.messages);
}

}  // namespace
}  // namespace tug
