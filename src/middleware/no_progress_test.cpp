#include "tug/middleware/no_progress.h"

#include "middleware/progress_ladder.h"
#include "middleware/signature.h"
#include "middleware/testing.h"

namespace tug {
namespace {

ToolResult failure(std::string content, std::string_view type = "Exception") {
  return ToolResult::error(std::move(content), type);
}

// "-", "nudge" or "end" for each failure of a list.
class Ladder {
 public:
  std::string next(std::string_view tool, Json args, const ToolResult& result) {
    const Rung rung = count_failure(counts_, options_, tool, args, result);
    return !rung.end.empty() ? "end" : !rung.nudge.empty() ? "nudge" : "-";
  }
  NoProgressOptions options_;

 private:
  Json counts_;
};

TEST(ProgressLadder, TheSameFailureNudgesAtTwoAndEndsAtThree) {
  Ladder ladder;
  const Json a = *parse_json(R"({"x":1,"y":[1,2]})");
  const Json b = *parse_json(R"({"y":[1,2],"x":1})");
  EXPECT_EQ(ladder.next("t", a, failure("no\nat line 3")), "-");
  EXPECT_EQ(ladder.next("t", b, failure("no\nat line 7")), "nudge");
  EXPECT_EQ(ladder.next("t", a, failure("no")), "end");
}

TEST(ProgressLadder, AnotherToolOtherArgumentsOrAnotherErrorAreNotTheSame) {
  Ladder ladder;
  EXPECT_EQ(ladder.next("t", Json::object(), failure("no")), "-");
  EXPECT_EQ(ladder.next("u", Json::object(), failure("no")), "-");
  EXPECT_EQ(ladder.next("t", Json::array({1, 2}), failure("no")), "-");
  EXPECT_EQ(ladder.next("t", Json::array({2, 1}), failure("no")), "nudge") << "the fourth in a row";
  EXPECT_EQ(ladder.next("t", Json::object(), failure("never")), "-");
}

TEST(ProgressLadder, FailuresInARowNudgeAtFourAndEndAtSix) {
  Ladder ladder;
  std::vector<std::string> said;
  for (int i = 0; i < 6; ++i) {
    said.push_back(ladder.next("t", Json(i), failure("no")));
    EXPECT_EQ(ladder.next("ghost", Json(i), failure("there is no tool", "UnknownTool")), "-");
  }
  EXPECT_EQ(said, (std::vector<std::string>{"-", "-", "-", "nudge", "-", "end"}));
}

TEST(ProgressLadder, TheSameCallOfAToolThatIsNotThereIsTheSameFailure) {
  Ladder ladder;
  std::vector<std::string> said;
  for (int i = 0; i < 3; ++i) {
    said.push_back(ladder.next("ghost", Json(), failure("there is no tool", "UnknownTool")));
  }
  EXPECT_EQ(said, (std::vector<std::string>{"-", "nudge", "end"}));
}

TEST(ProgressLadder, ARejectionEndsAtTwo) {
  for (const std::string_view type : {"ApprovalRejected", "ToolCallCancelled"}) {
    Ladder ladder;
    EXPECT_EQ(ladder.next("t", Json(), failure("no", type)), "-");
    EXPECT_EQ(ladder.next("t", Json(1), failure("no", type)), "-");
    EXPECT_EQ(ladder.next("t", Json(), failure("no", type)), "end");
  }
}

TEST(ProgressLadder, AnEndIsAlwaysLaterThanItsNudge) {
  Ladder ladder;
  ladder.options_ = {.same_nudge = 3, .same_end = 1, .row_nudge = 9, .row_end = 1};
  std::vector<std::string> said;
  for (int i = 0; i < 4; ++i) said.push_back(ladder.next("t", Json(), failure("no")));
  EXPECT_EQ(said, (std::vector<std::string>{"-", "-", "nudge", "end"}));
}

TEST(ProgressLadder, ASignatureHasSixteenDigits) {
  EXPECT_EQ(call_signature("t", Json()).size(), 16u);
  EXPECT_NE(call_signature("t", Json()), call_signature("u", Json()));
}

// One turn with these calls, each "tool arguments", and their results.
struct Turn {
  std::vector<std::pair<std::string, std::string>> calls;
  std::vector<std::string> results;
  bool ok = true;
  std::string_view error_type = "Exception";
};

Transcript transcript_of(const std::vector<Turn>& turns) {
  Transcript transcript;
  EXPECT_TRUE(transcript.append_user(Message::user("go")));
  Seq seq = 0;
  for (const Turn& turn : turns) {
    std::vector<Part> parts;
    for (const auto& [tool, args] : turn.calls) {
      parts.emplace_back(ToolCall{.tool = tool, .arguments = args});
    }
    EXPECT_TRUE(transcript.append_turn(Message::make(Role::assistant, std::move(parts)), ++seq));
    std::vector<ToolResult> results;
    for (std::size_t i = 0; i < turn.results.size(); ++i) {
      results.push_back(turn.ok ? ToolResult::text(turn.results[i])
                                : failure(turn.results[i], turn.error_type));
      results.back().call = make_call_id(seq, static_cast<std::uint32_t>(i));
    }
    EXPECT_TRUE(transcript.append_results(std::move(results)));
  }
  return transcript;
}

TEST(Repeats, TheSameGoodCallsEndAtThreeTheSameResultsAtFour) {
  const Turn same{{{"t", R"({"a":1,"b":2})"}}, {"x"}};
  const Turn sorted{{{"t", R"({"b":2,"a":1})"}}, {"x"}};
  EXPECT_EQ(repeats(transcript_of({same, sorted}), {}), "");
  EXPECT_EQ(repeats(transcript_of({same, sorted, same}), {}),
            "the same calls were made in 3 turns in a row");
  std::vector<Turn> turns;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(repeats(transcript_of(turns), {}), "") << i;
    turns.push_back({{{"t", std::to_string(i)}}, {"nothing found"}});
  }
  EXPECT_EQ(repeats(transcript_of(turns), {}), "tools gave the same results in 4 turns in a row");
}

TEST(Repeats, AFailureAnExemptToolOtherCallsAndAUsersWordBeginAnew) {
  const Turn same{{{"t", "{}"}}, {"x"}};
  const Turn other{{{"t", "{}"}, {"t", "{}"}}, {"x", "x"}};
  Turn failed = same;
  failed.ok = false;
  EXPECT_EQ(repeats(transcript_of({same, same, failed, same}), {}), "");
  EXPECT_EQ(repeats(transcript_of({same, same, other, same}), {}), "");
  EXPECT_EQ(repeats(transcript_of({same, same, same}), {.exempt = {"t"}}), "");
  Transcript asked = transcript_of({same, same, same});
  ASSERT_TRUE(asked.append_user(Message::user("once more")));
  EXPECT_EQ(repeats(asked, {}), "");
  EXPECT_EQ(repeats({}, {}), "");
}

class NoProgressTest : public BuiltIn {
 protected:
  NoProgressTest() { links = {make_no_progress()}; }

  // What each of these outcomes of the same call is told as.
  std::vector<std::string> told(std::vector<ToolResult> results) {
    outcomes.results = results;
    outcomes.ran = 0;
    std::vector<Step> steps(results.size(), calls(tool("t")));
    std::vector<std::string> said;
    for (const Outcome& outcome : go(std::move(steps))) {
      const auto& result = std::get<1>(outcome);
      said.push_back(result ? result->content : "end: " + result.error().message());
    }
    return said;
  }
  static ModelRequest with(const std::vector<Turn>& turns) {
    ModelRequest request;
    request.transcript = transcript_of(turns);
    return request;
  }
};

TEST_F(NoProgressTest, ANudgeIsAddedToTheResultAndTheEndIsAnErrorThatSaysWhy) {
  const auto said = told({failure("no"), failure("no"), failure("no"), failure("no")});
  EXPECT_EQ(said, (std::vector<std::string>{
                      "no",
                      "no\n\nThis call has failed the same way 2 times. Do not repeat it: change "
                      "the arguments or go another way.",
                      "end: the run makes no progress: the same call of \"t\" failed the same way "
                      "3 times: no",
                      "no"}))
      << "and the end resets what was counted";
  links = {make_no_progress({.same_nudge = 0, .same_end = 1})};
  outcomes.results = {failure("no")};
  const Result<ToolResult> ended = use(tool("t"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind(), ErrorKind::denied);
  EXPECT_EQ(ended.error().detail_if<Denied>()->by, "no_progress");
}

TEST_F(NoProgressTest, SuccessClearsWhatWasCounted) {
  const auto said = told({failure("no"), ToolResult::text("yes"), failure("no"),
                          ToolResult::text("yes"), failure("no")});
  EXPECT_EQ(said, (std::vector<std::string>{"no", "yes", "no", "yes", "no"}));
}

TEST_F(NoProgressTest, ACallThatStoppedWithTheRunIsNoFailure) {
  const ToolResult stopped = failure("stopped", "Cancelled");
  EXPECT_EQ(told({stopped, stopped, stopped}),
            (std::vector<std::string>{"stopped", "stopped", "stopped"}));
}

TEST_F(NoProgressTest, WhatWasCountedGoesOnAfterAResume) {
  outcomes.results = {failure("no")};
  go({calls(tool("t")), calls(tool("t"))});
  Json kept = Json::object();
  for (const Json& set : events(Kind::state_set)) {
    kept.set(set["key"].as_string(), set["value"]);
  }
  prepare = [kept](Context& run) { run.set_resumed(kept); };
  const Result<ToolResult> third = use(tool("t"));
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().message().find("3 times"), std::string::npos);
}

TEST_F(NoProgressTest, CallsRefusedBeforeTheyBeganAreCountedWhenTheModelIsAskedNext) {
  const Turn bad{{{"t", "{"}}, {"not valid JSON"}, false, "InvalidArguments"};
  const auto found = go({with({bad}), with({bad, bad}), with({bad, bad}), with({bad, bad, bad})});
  EXPECT_TRUE(std::get<0>(found[0]));
  EXPECT_EQ(model.asked[0].transcript.back()->role(), Role::tool);
  EXPECT_EQ(model.asked[1].transcript.back()->text(),
            "About t: This call has failed the same way 2 times. Do not repeat it: change the "
            "arguments or go another way.");
  EXPECT_TRUE(std::get<0>(found[2])) << "the same request again counts once";
  const auto& ended = std::get<0>(found[3]);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().detail_if<Denied>()->what, "t");
}

TEST_F(NoProgressTest, ARejectionByAPersonEndsTheRunTheSecondTime) {
  const Turn denied{{{"t", "{}"}}, {"The call was denied"}, false, "ApprovalRejected"};
  const auto found = go({with({denied}), with({denied, denied})});
  EXPECT_TRUE(std::get<0>(found[0]));
  EXPECT_FALSE(std::get<0>(found[1]));
}

TEST_F(NoProgressTest, TurnsThatRepeatThemselvesEndTheRun) {
  const Turn same{{{"t", "{}"}}, {"x"}};
  EXPECT_TRUE(ask(with({same, same})));
  const Result<ModelTurn> ended = ask(with({same, same, same}));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message(),
            "the run makes no progress: the same calls were made in 3 turns in a row");
}

}  // namespace
}  // namespace tug
