// Answers that fit a schema: tool mode, prompted mode, corrections, and how it ends without one.
#include "journey.h"

namespace tug::journey {
namespace {

class Answers : public Journey {
 protected:
  static std::string final_result(const std::string& arguments) {
    return R"({"tool_calls":[{"id":"f1","name":"final_result","arguments":)" + arguments + "}]}";
  }
  static std::string says(const std::string& text) {
    return print_json(Json::object({{"text", text}}));
  }
  Ran ask(const std::vector<std::string>& turns, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run", "--json-schema",          schema_,
                                      "-m",  script("s.jsonl", turns), "go"};
    words.insert(words.end(), more.begin(), more.end());
    return tug(words);
  }
  Json result(const std::vector<std::string>& turns, std::vector<std::string> more, int code) {
    more.push_back("--json");
    const Ran ran = ask(turns, std::move(more));
    EXPECT_EQ(ran.exit, code) << ran.out << ran.err;
    return parse_json(ran.out).value();
  }

  std::string schema_ =
      R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false})";
  const Json three = Json::object({{"n", 3}});
};

TEST_F(Answers, ToolModeTakesTheAnswerFromFinalResult) {
  const Json fits = result({final_result(R"({"n":3})")}, {"--output-mode", "tool"}, 0);
  EXPECT_EQ(fits["output"], three);
  EXPECT_EQ(fits["stop_reason"], Json("end_turn"));
  EXPECT_EQ(fits["counts"]["output_retries"], Json(0));
  EXPECT_EQ(fits["tool_calls"], Json(0)) << "final_result is no tool call";
  EXPECT_EQ(parse_json(tug({"replay", "last", "--json"}).out).value()["output"], three);
}

TEST_F(Answers, WhatDoesNotFitIsCorrectedAndCounted) {
  for (const char* mode : {"tool", "prompted"}) {
    const bool tool = std::string(mode) == "tool";
    const Json corrected =
        result(tool ? std::vector{final_result(R"({"n":"x"})"), final_result(R"({"n":3})")}
                    : std::vector{says("no idea"), says("{\"n\":3}")},
               {"--output-mode", mode}, 0);
    EXPECT_EQ(corrected["output"], three) << mode;
    EXPECT_EQ(corrected["counts"]["output_retries"], Json(1)) << mode;
  }
}

TEST_F(Answers, WithoutCorrectionsLeftItEndsWithSevenAndEverythingSoFar) {
  for (const char* mode : {"tool", "prompted"}) {
    const bool tool = std::string(mode) == "tool";
    const std::string wrong = tool ? final_result(R"({"n":"x"})") : says("{\"n\":\"x\"}");
    const Json failed = result({wrong, wrong, wrong}, {"--output-mode", mode}, 7);
    EXPECT_EQ(failed["stop_reason"], Json("output_validation_failed")) << mode;
    EXPECT_EQ(failed["status"], Json("failed")) << mode;
    EXPECT_EQ(failed["output"], Json()) << mode;
    EXPECT_EQ(failed["model_calls"], Json(2)) << mode;
    EXPECT_TRUE(has(std::string(failed["error"]["message"].as_string()), "/n")) << mode;
    EXPECT_EQ(result({wrong}, {"--output-mode", mode, "--output-retries", "0"}, 7)["model_calls"],
              Json(1));
    EXPECT_EQ(result({wrong, wrong, wrong, tool ? final_result(R"({"n":3})") : says("{\"n\":3}")},
                     {"--output-mode", mode, "--output-retries", "3"}, 0)["output"],
              three);
  }
  environment_ = {"TUG_OUTPUT__RETRIES=0"};
  EXPECT_EQ(result({says("hm")}, {"--output-mode", "prompted"}, 7)["model_calls"], Json(1));
}

TEST_F(Answers, PromptedModeFindsTheAnswerInWhatIsAroundIt) {
  for (const char* text : {"{\"n\":3}", "```json\n{\"n\":3}\n```", "It is this: {\"n\":3}. Done."})
    EXPECT_EQ(result({says(text)}, {"--output-mode", "prompted"}, 0)["output"], three) << text;
}

TEST_F(Answers, TextModePrintsTheAnswerAsJson) {
  EXPECT_EQ(ask({final_result(R"({"n": 3})")}, {"--output-mode", "tool"}).out, "{\"n\":3}\n");
  EXPECT_EQ(ask({says("So: {\"n\": 3}")}, {"--output-mode", "prompted"}).out, "{\"n\":3}\n");
}

TEST_F(Answers, OnATerminalTheAnswerStandsThereOnce) {
  const std::tuple<std::string, const char*, const char*> table[] = {
      {says("So: {\"n\": 3}"), "prompted", "So: {\"n\": 3}\r\n{\"n\":3}\r\n"},
      {says("{\"n\": 3}"), "prompted", "{\"n\": 3}\r\n"},
      {final_result(R"({"n": 3})"), "tool", "{\"n\":3}\r\n"},
  };
  for (const auto& [turn, mode, shown] : table) {
    Place quiet = place();
    quiet.environment = {"CI=1"};
    Running running(quiet,
                    {"run", "--json-schema", schema_, "--output-mode", mode, "-m",
                     script("s.jsonl", {turn}), "go"},
                    Running::Face::terminal);
    EXPECT_EQ(running.wait().out, shown) << mode;
  }
}

TEST_F(Answers, ASchemaMayBeAFileAndNeedNotBeOfAnObject) {
  schema_ = file("list.json", R"({"type":"array","items":{"type":"integer"}})");
  EXPECT_EQ(result({final_result(R"({"value":[1,2]})")}, {"--output-mode", "tool"}, 0)["output"],
            Json::array({1, 2}));
  EXPECT_EQ(result({says("[1,2]")}, {"--output-mode", "prompted"}, 0)["output"],
            Json::array({1, 2}));
}

TEST_F(Answers, AModelThatCannotBeToldASchemaIsExitTwoInNativeMode) {
  const Ran ran = ask({says("{\"n\":3}")}, {"--output-mode", "native"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "schema"));
}

TEST_F(Answers, FinalResultBesideOtherCallsIsNotFinal) {
  file("notes.txt", "a\n");
  const std::string both =
      R"({"tool_calls":[{"id":"f1","name":"final_result","arguments":{"n":1}},{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})";
  const std::string twice =
      R"({"tool_calls":[{"id":"f1","name":"final_result","arguments":{"n":1}},{"id":"f2","name":"final_result","arguments":{"n":2}}]})";
  const Json after = result({both, final_result(R"({"n":3})")}, {"--output-mode", "tool"}, 0);
  EXPECT_EQ(after["output"], three);
  EXPECT_EQ(after["tool_calls"], Json(1));
  EXPECT_EQ(result({twice, final_result(R"({"n":3})")}, {"--output-mode", "tool"}, 0)["output"],
            three);
}

TEST_F(Answers, ARunThatWasAnsweredByACallGoesOnAfterIt) {
  ASSERT_EQ(ask({final_result(R"({"n":3})")}, {"--output-mode", "tool"}).exit, 0);
  const std::string more = script("more.jsonl", {final_result(R"({"n":4})")});
  const Ran on = tug({"resume", "--last", "--json", "-m", more, "one more"});
  EXPECT_EQ(on.exit, 0) << on.err;
  EXPECT_EQ(parse_json(on.out).value()["output"], Json::object({{"n", 4}}));
}

}  // namespace
}  // namespace tug::journey
