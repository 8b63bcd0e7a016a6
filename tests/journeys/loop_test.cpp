// What the loop does about failures, limits and calls that must be repaired.
#include "journey.h"

namespace tug::journey {
namespace {

class Loop : public Journey {
 protected:
  Loop() {
    file("notes.txt", "a\n");
    environment_ = {"TUG_RETRY__INITIAL_MS=1"};
  }
  const std::string hello = R"({"text":"hello"})";
  const std::string busy = R"({"error":{"status":529,"body":"busy"}})";
  const std::string reads =
      R"({"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})";
  const std::string wrong_read =
      R"({"tool_calls":[{"id":"c1","name":"read","arguments":{"n":1}}]})";

  Told run(std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "-o", "stream-json"});
    words.push_back("go");
    return told_by(tug(words));
  }
};

TEST_F(Loop, AModelThatIsBusyIsAskedAgain) {
  const Told told = run({"-m", script("s.jsonl", {busy, busy, hello})});
  EXPECT_EQ(told.exit, 0);
  EXPECT_EQ(told.result["text"], Json("hello"));
  EXPECT_EQ(told.result["counts"]["attempts"], Json(3));
  EXPECT_EQ(told.result["counts"]["model_calls"], Json(1));
  EXPECT_EQ(told.of("retry.scheduled").size(), 2u);
  EXPECT_EQ(told.of("model.failed").size(), 2u);
}

TEST_F(Loop, AttemptsAreBoundedByEitherNameOfTheSetting) {
  const std::string model = script("s.jsonl", {busy, busy, busy, busy, busy, hello});
  EXPECT_EQ(run({"-m", model}).result["counts"]["attempts"], Json(4));
  const Told none = run({"-m", model, "--retries", "0"});
  EXPECT_EQ(none.exit, 3) << "it may pass";
  EXPECT_EQ(none.result["stop_reason"], Json("provider_error"));
  EXPECT_EQ(none.result["counts"]["attempts"], Json(1));
  EXPECT_TRUE(none.of("retry.scheduled").empty());
  EXPECT_EQ(run({"-m", model, "--retries", "5"}).exit, 0);
  environment_.push_back("TUG_RETRY__ATTEMPTS=2");
  EXPECT_EQ(run({"-m", model}).result["counts"]["attempts"], Json(2));
}

TEST_F(Loop, WhatCannotPassIsNotTriedAgain) {
  const std::tuple<const char*, int> table[] = {{R"({"error":{"status":401,"body":"who"}})", 4},
                                                {R"({"error":{"status":403,"body":"no"}})", 4},
                                                {R"({"error":{"status":400,"body":"what"}})", 1}};
  for (const auto& [line, code] : table) {
    const Told told = run({"-m", script("s.jsonl", {line, hello})});
    EXPECT_EQ(told.exit, code) << line;
    EXPECT_EQ(told.result["counts"]["attempts"], Json(1)) << line;
  }
}

TEST_F(Loop, AStatedWaitThatIsTooLongIsNotWaitedOut) {
  const std::string later = R"({"error":{"status":429,"retry_after":300,"body":"later"}})";
  const Told told = run({"-m", script("s.jsonl", {later, hello})});
  EXPECT_EQ(told.exit, 3);
  EXPECT_EQ(told.result["counts"]["attempts"], Json(1));
}

TEST_F(Loop, TheNextModelAnswersAndTheRunStaysWithIt) {
  const std::string first = script("first.jsonl", {busy, reads});
  const std::string second = script("second.jsonl", {reads, R"({"text":"from the second"})"});
  const Told told = run({"-m", first, "--retries", "0", "--fallback-model", second});
  EXPECT_EQ(told.exit, 0);
  EXPECT_EQ(told.result["text"], Json("from the second"));
  EXPECT_EQ(told.result["model"], Json(second));
  EXPECT_EQ(told.result["model_calls"], Json(2));
  const auto selected = told.of("model.fallback_selected");
  ASSERT_EQ(selected.size(), 1u);
  EXPECT_EQ(selected[0]["from"], Json(first));
  EXPECT_EQ(selected[0]["to"], Json(second));
}

TEST_F(Loop, FallbacksComeInOrderAndAMalformedRequestGoesToNobodyElse) {
  const std::string first = script("1.jsonl", {busy});
  const std::string second = script("2.jsonl", {R"({"error":{"status":401,"body":"no"}})"});
  const std::string third = script("3.jsonl", {R"({"text":"third"})"});
  const Told told =
      run({"-m", first, "--retries", "0", "--fallback-model", second, "--fallback-model", third});
  EXPECT_EQ(told.result["text"], Json("third"));
  EXPECT_EQ(told.of("model.fallback_selected").size(), 2u);
  const std::string malformed = script("4.jsonl", {R"({"error":{"status":400,"body":"what"}})"});
  const Told bad = run({"-m", malformed, "--fallback-model", third});
  EXPECT_EQ(bad.exit, 1);
  EXPECT_TRUE(bad.of("model.fallback_selected").empty());
  const std::string list =
      file("models.toml", "fallback_models = [\"" + third + "\"]\n[limits]\nretries = 0\n");
  EXPECT_EQ(run({"-m", first, "--config", list}).result["text"], Json("third"));
  EXPECT_EQ(run({"-m", first, "--config", list, "--fallback-model", "none"}).exit, 3);
}

TEST_F(Loop, ACallThatMustBeRepairedCountsAgainstItsTool) {
  const std::vector<std::string> turns = {wrong_read, wrong_read, wrong_read, reads, hello};
  const Told usual = run({"-m", script("s.jsonl", turns)});
  EXPECT_EQ(usual.exit, 1);
  EXPECT_EQ(usual.result["stop_reason"], Json("tool_retries_exceeded"));
  EXPECT_EQ(usual.result["counts"]["tool_retries"], Json::object({{"read", 2}}));
  const Told none = run({"-m", script("s.jsonl", turns), "--tool-retries", "0"});
  EXPECT_EQ(none.result["counts"]["tool_retries"], Json::object({{"read", 1}}));
  EXPECT_EQ(none.result["model_calls"], Json(1));
  const Told three = run({"-m", script("s.jsonl", turns), "--tool-retries", "3"});
  EXPECT_EQ(three.exit, 0);
  EXPECT_EQ(three.result["text"], Json("hello"));
  EXPECT_EQ(three.of("tool.invalid_args").size(), 3u);
}

TEST_F(Loop, TheModelIsToldWhenALimitIsNear) {
  const Told told = run({"-m", script("s.jsonl", {reads, reads, hello}), "--max-tool-calls", "2",
                         "--max-turns", "3"});
  EXPECT_EQ(told.exit, 0);
  const auto warnings = told.of("limit.warning");
  std::vector<Json> seen;
  for (const Json& warning : warnings)
    seen.push_back(Json::array({warning["limit"], warning["remaining"]}));
  EXPECT_EQ(seen,
            (std::vector<Json>{Json::array({"tool_calls", 1}), Json::array({"model_calls", 1}),
                               Json::array({"tool_calls", 0})}));
  for (const Json& warning : warnings)
    EXPECT_TRUE(has(std::string(warning["content"].as_string()), "<harness_notice"));
  const std::string shown = tug({"show", "last"}).out;
  EXPECT_TRUE(has(shown, "<harness_notice")) << "it is part of the conversation";
}

TEST_F(Loop, ANoticeIsNotTakenForTheRequest) {
  EXPECT_EQ(tug({"run", "-q", "--max-turns", "1", "what is 6 * 7?"}).out, "6 * 7 = 42\n");
  const std::string model =
      script("when.jsonl", {reads, R"({"text":"never","when":"harness_notice"})",
                            R"({"text":"it says a","when":"a","repeat":true})"});
  const Told told = run({"-m", model, "--max-turns", "2"});
  EXPECT_EQ(told.of("limit.warning").size(), 1u);
  EXPECT_EQ(told.result["text"], Json("it says a"));
}

TEST_F(Loop, ALimitEndsWithFiveAndEveryCallHasItsResult) {
  const Told told = run({"-m", script("s.jsonl", {reads, reads, hello}), "--max-tool-calls", "1"});
  EXPECT_EQ(told.exit, 5);
  EXPECT_EQ(told.result["stop_reason"], Json("limit_reached"));
  EXPECT_EQ(told.result["status"], Json("completed"));
  EXPECT_EQ(told.of("limit.reached").size(), 1u);
  EXPECT_EQ(told.result["tool_calls"], Json(1));
}

TEST_F(Loop, CallsRunOneAfterTheOtherWhenTheyAreToldTo) {
  const std::string two =
      R"({"tool_calls":[{"id":"a","name":"read","arguments":{"path":"notes.txt"}},{"id":"b","name":"list","arguments":{}},{"id":"c","name":"read","arguments":{"path":"notes.txt"}}]})";
  const std::string model = script("s.jsonl", {two, hello});
  const std::string config = file("turns.toml", "tool_execution = \"sequential\"\n");
  const Told told = run({"-m", model, "--config", config});
  EXPECT_EQ(told.exit, 0);
  std::vector<std::string> order;
  for (const Json& ended : told.of("tool.completed"))
    order.emplace_back(print_json(ended["index"]) + std::string(ended["tool"].as_string()));
  EXPECT_EQ(order, (std::vector<std::string>{"0read", "1list", "2read"}));
  EXPECT_EQ(told.events[1]["data"]["options"]["tool_execution"], Json("sequential"));
}

TEST_F(Loop, HidingTheRunsBelowIsAnnounced) {
  const std::string model = script("s.jsonl", {hello});
  const Ran ran = tug({"run", "-o", "stream-json", "--no-subagents", "-m", model, "go"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(lines(ran.out)[0]["gaps"], Json(true));
  EXPECT_EQ(tug({"run", "--no-subagents", "-m", model, "go"}).out, "hello\n");
}

TEST_F(Loop, OnATerminalItIsSaidWhoAnswersNow) {
  const std::string second = script("second.jsonl", {hello});
  Running running(place(),
                  {"run", "-m", script("first.jsonl", {busy}), "--retries", "0", "--fallback-model",
                   second, "go"},
                  Running::Face::terminal);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(has(ran.out, "[retrying with " + second + "]\r\n"));
}

TEST_F(Loop, ARetriedCallStartsOnANewLineAfterItIsSaid) {
  const std::string cut =
      R"({"text":"half an ans","chunks":2,"error":{"status":529,"body":"busy"}})";
  Running running(place(), {"run", "-m", script("s.jsonl", {cut, hello}), "go"},
                  Running::Face::terminal);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  const std::size_t said = ran.out.find("[retrying]\r\n");
  EXPECT_NE(said, std::string::npos) << ran.out;
  EXPECT_GT(ran.out.rfind("hello"), said);
}

}  // namespace
}  // namespace tug::journey
