// Structured answers: the cases of the references. TA: TinyAgents, TH: ThinHarness.
#include "agent/cases_testing.h"
#include "tug/core/codec.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;

struct City {
  std::string name;
  int people = 0;
};
enum class Mood { happy, sad };

Json city_schema() { return schema_of<City>(); }

constexpr const char* kOslo = R"({"name":"Oslo","people":700000})";
const Json kOsloJson = Json::object({{"name", "Oslo"}, {"people", 700'000}});

RunOptions wants_city(OutputMode mode = OutputMode::automatic) {
  return {.output_schema = city_schema(), .output_mode = mode};
}

ModelProfile native_profile() { return {.name = "native", .structured = true}; }
ModelProfile mute_profile() { return {.name = "mute", .tools = false}; }

const ToolSpec* advertised(const ModelRequest& request, std::string_view name) {
  for (const auto& spec : *request.tools) {
    if (spec->name == name) return spec.get();
  }
  return nullptr;
}

// TH 35
TEST(OutputCases, AFinalResultThatLacksAFieldIsCorrectedThroughItsOwnCall) {
  auto model = testkit::recording(scripted(
      {calls("final_result", R"({"people":1})"), calls("final_result", kOslo), says("never")}));
  Rig rig(model);
  const RunResult result = rig.run("go", wants_city());
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.output, kOsloJson);
  EXPECT_EQ(result.counts.output_retries, 1);
  EXPECT_EQ(result.counts.tool_calls, 0) << "final_result is no tool call";
  const Event* retry = rig.seen->find(Kind::output_retry);
  ASSERT_TRUE(retry);
  EXPECT_EQ(retry->data["reason"].as_string(), "schema");
  EXPECT_EQ(retry->data["attempt"].as_int(), 1);
  EXPECT_EQ(retry->data["call_id"],
            rig.seen->find(Kind::model_completed)->data["tool_calls"][0]["call_id"]);
  const auto told = model->requests()[1].transcript.back()->tool_results();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(contains(told[0]->content, "name")) << told[0]->content;
  expect_legal(result.messages);
}

// TH 36, with the rule of CLI.md
TEST(OutputCases, AFinalResultBesideOtherCallsIsNotFinalAndTheOthersRun) {
  auto model = testkit::recording(scripted(
      {calls({{"a", "final_result", kOslo}, {"b", "look", "{}"}}), calls("final_result", kOslo)}));
  Rig rig(model);
  int looked = 0;
  rig.harness->inline_tool("look", "Looks", [&looked] { return ++looked; });
  const RunResult result = rig.run("go", wants_city());
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(looked, 1);
  EXPECT_EQ(result.counts.tool_calls, 1);
  EXPECT_EQ(result.counts.output_retries, 0) << "it is no correction";
  const auto told = model->requests()[1].transcript.back()->tool_results();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(contains(told[0]->content, "not final")) << told[0]->content;
  EXPECT_EQ(told[1]->content, "1");
  expect_legal(result.messages);
}

TEST(OutputCases, TwoFinalResultsOfOneTurnAreAnsweredThatItMustBeOne) {
  auto model = testkit::recording(
      scripted({calls({{"a", "final_result", kOslo}, {"b", "final_result", kOslo}}),
                calls("final_result", kOslo)}));
  Rig rig(model);
  const RunResult result = rig.run("go", wants_city());
  EXPECT_EQ(result.output, kOsloJson);
  const auto told = model->requests()[1].transcript.back()->tool_results();
  ASSERT_EQ(told.size(), 2u);
  for (const ToolResult* one : told) EXPECT_TRUE(contains(one->content, "exactly one"));
  expect_legal(result.messages);
}

// TH 37
TEST(OutputCases, ACorrectionWithoutAModelCallLeftIsALimitAndNotCounted) {
  for (const OutputMode mode : {OutputMode::tool, OutputMode::prompted}) {
    SCOPED_TRACE(name_of(mode));
    const bool calls_it = mode == OutputMode::tool;
    const auto model = testkit::recording(scripted(
        {calls_it ? calls("final_result", R"({"no":1})") : says(R"({"no":1})"), says("never")}));
    Rig rig(model);
    RunOptions options = wants_city(mode);
    options.limits.max_turns = 1;
    const RunResult result = rig.run("go", options);
    EXPECT_EQ(limit_of(result), LimitKind::model_calls);
    EXPECT_EQ(result.counts.output_retries, 0);
    EXPECT_EQ(model->requests().size(), 1u);
    expect_legal(result.messages);
    // Whoever goes on with it begins with the correction.
    const auto other =
        calls_it ? scripted({calls("final_result", kOslo)}) : scripted({says(kOslo)});
    rig.models->add(other);
    const RunResult more =
        rig.harness->resume(result.id, "", {.model = other->profile().id()}).wait();
    EXPECT_EQ(more.output, kOsloJson) << (more.error ? to_string(*more.error) : "");
  }
}

// TH 55
TEST(OutputCases, ATextWhereFinalResultWasToBeCalledIsCorrectedByAMessage) {
  auto model = testkit::recording(scripted({says("It is Oslo."), calls("final_result", kOslo)}));
  Rig rig(model);
  const RunResult result = rig.run("go", wants_city(OutputMode::tool));
  EXPECT_EQ(result.output, kOsloJson);
  const MessagePtr told = model->requests()[1].transcript.back();
  EXPECT_EQ(told->role(), Role::user);
  EXPECT_TRUE(contains(told->text(), "final_result")) << told->text();
}

// TH 55
TEST(OutputCases, OtherToolsComeBeforeAnAnswerInEveryMode) {
  for (const OutputMode mode : {OutputMode::native, OutputMode::tool, OutputMode::prompted}) {
    const ScriptTurn end = mode == OutputMode::tool ? calls("final_result", kOslo) : says(kOslo);
    Rig rig(profiled(native_profile(), {calls("look"), end}));
    rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
    const RunResult result = rig.run("go", wants_city(mode));
    EXPECT_EQ(result.output, kOsloJson) << name_of(mode);
    EXPECT_EQ(result.counts.tool_calls, 1) << name_of(mode);
  }
}

// TH 58
TEST(OutputCases, CorrectionsThatAreUsedUpFailTheRun) {
  auto model = testkit::recording(scripted({again(calls("final_result", R"({"name":7})"))}));
  Rig rig(model);
  RunOptions options = wants_city();
  options.limits.output_retries = 2;
  const RunResult result = rig.run("go", options);
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::output_validation_failed);
  EXPECT_EQ(exit_code(result), 7);
  EXPECT_EQ(model->requests().size(), 3u);
  EXPECT_EQ(result.counts.output_retries, 2) << "corrections, not attempts";
  EXPECT_TRUE(contains(result.error->message(), "name")) << result.error->message();
  EXPECT_TRUE(result.output.is_null());
  expect_legal(result.messages);
}

TEST(OutputCases, WithoutCorrectionsTheFirstMisfitFailsTheRun) {
  auto model = testkit::recording(scripted({says("no"), says("never")}));
  Rig rig(model);
  RunOptions options = wants_city(OutputMode::prompted);
  options.limits.output_retries = 0;
  EXPECT_EQ(exit_code(rig.run("go", options)), 7);
  EXPECT_EQ(model->requests().size(), 1u);
}

// TH 54
TEST(OutputModeCases, AModelThatCanBeToldASchemaIsToldIt) {
  auto model = testkit::recording(profiled(native_profile(), {says(kOslo)}));
  Rig rig(model);
  EXPECT_EQ(rig.run("go", wants_city()).output, kOsloJson);
  const ModelRequest& asked = model->requests()[0];
  ASSERT_TRUE(asked.output);
  EXPECT_EQ(asked.output->schema, city_schema());
  EXPECT_FALSE(advertised(asked, "final_result"));
  EXPECT_FALSE(asked.system);
}

// TH 54
TEST(OutputModeCases, AModelThatOnlyCallsToolsIsGivenFinalResult) {
  auto model = testkit::recording(scripted({calls("final_result", kOslo)}));
  Rig rig(model);
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  rig.harness->inline_tool("aim", "Aims", [] { return "done"; });
  EXPECT_EQ(rig.run("go", wants_city()).output, kOsloJson);
  const ModelRequest& asked = model->requests()[0];
  EXPECT_FALSE(asked.output);
  const ToolSpec* tool = advertised(asked, "final_result");
  ASSERT_TRUE(tool);
  EXPECT_EQ(tool->parameters, city_schema());
  EXPECT_EQ(asked.tools->at(0)->name, "aim");
  EXPECT_EQ(asked.tools->at(1)->name, "final_result") << "sorted as all tools are";
}

// TH 54, 36 of its section 1
TEST(OutputModeCases, AModelThatCanDoNeitherReadsTheSchemaAfterItsInstructions) {
  auto model = testkit::recording(profiled(mute_profile(), {says(kOslo)}));
  Rig rig(model, 1, {.system_prompt = "Be brief."});
  EXPECT_EQ(rig.run("go", wants_city()).output, kOsloJson);
  const ModelRequest& asked = model->requests()[0];
  EXPECT_FALSE(asked.output);
  ASSERT_TRUE(asked.system);
  EXPECT_TRUE(asked.system->starts_with("Be brief.\n\n")) << *asked.system;
  EXPECT_TRUE(asked.system->ends_with(print_json(city_schema()))) << *asked.system;
}

TEST(OutputModeCases, AModeThatTheModelCannotServeIsRefusedBeforeAnythingStarts) {
  Rig plain(scripted({says("never")}));
  const RunResult native = plain.run("go", wants_city(OutputMode::native));
  EXPECT_EQ(native.error->kind(), ErrorKind::invalid);
  EXPECT_TRUE(contains(native.error->message(), "output_mode"));
  Rig mute(profiled(mute_profile(), {says("never")}));
  const RunResult tool = mute.run("go", wants_city(OutputMode::tool));
  EXPECT_EQ(tool.error->kind(), ErrorKind::invalid);
  EXPECT_TRUE(mute.seen->events.empty());
}

// TH 54
TEST(OutputModeCases, ASchemaThatAnyTextFitsIsText) {
  auto model = testkit::recording(scripted({says("just words")}));
  Rig rig(model);
  const RunResult result = rig.run("go", {.output_schema = Json::object({{"type", "string"}})});
  EXPECT_EQ(result.text, "just words");
  EXPECT_EQ(result.output, Json("just words"));
  EXPECT_TRUE(model->requests()[0].tools->empty());
  const RunResult wrong = rig.harness->run("go", wants_city(OutputMode::text));
  EXPECT_EQ(wrong.error->kind(), ErrorKind::invalid) << "text mode serves no other schema";
}

// TH 56
TEST(OutputModeCases, ASchemaThatIsNoObjectIsAskedForInsideOne) {
  const Json numbers = schema_of<std::vector<int>>();
  const Json value = Json::array({1, 2, 3});
  auto by_tool = testkit::recording(scripted({calls("final_result", R"({"value":[1,2,3]})")}));
  Rig tool(by_tool);
  EXPECT_EQ(tool.run("go", {.output_schema = numbers}).output, value);
  const Json& asked = advertised(by_tool->requests()[0], "final_result")->parameters;
  EXPECT_EQ(asked["type"].as_string(), "object");
  EXPECT_EQ(asked["properties"]["value"]["type"].as_string(), "array");
  Rig native(profiled(native_profile(), {says(R"({"value":[1,2,3]})")}));
  EXPECT_EQ(native.run("go", {.output_schema = numbers}).output, value);
  Rig prompted(profiled(mute_profile(), {says("[1,2,3]")}));
  EXPECT_EQ(prompted.run("go", {.output_schema = numbers}).output, value);
}

// TH 57
TEST(OutputModeCases, TheStrictFlagNeedsEveryPropertyRequiredAndNoOtherAllowed) {
  const auto is_strict = [](std::string_view schema) {
    auto model = testkit::recording(profiled(native_profile(), {again(says("{}"))}));
    Rig rig(model);
    (void)rig.run("go", {.output_schema = *parse_json(schema)});
    return model->requests().at(0).output->strict;
  };
  EXPECT_TRUE(is_strict(R"({"type":"object","properties":{"a":{"type":"integer"}},
                            "required":["a"],"additionalProperties":false})"));
  EXPECT_FALSE(is_strict(R"({"type":"object","properties":{"a":{"type":"integer"}},
                             "additionalProperties":false})"));
  EXPECT_FALSE(is_strict(R"({"type":"object","properties":{"a":{"type":"integer"}},
                             "required":["a"]})"));
  EXPECT_FALSE(is_strict(R"({"type":"object","properties":{"a":{"type":"object"}},
                             "required":["a"],"additionalProperties":false})"));
  EXPECT_TRUE(is_strict(R"({"type":"array","items":{"type":"integer"}})"))
      << "what it is wrapped in is an object";
}

// TA 43
TEST(ExtractionCases, AnAnswerIsFoundInFencesProseAndLooseJson) {
  const std::string fence = "```";
  for (const std::string& text : {
           std::string(kOslo),
           "  " + std::string(kOslo) + "\n",
           fence + "json\n" + kOslo + "\n" + fence,
           "Here you are: " + std::string(kOslo) + " Anything else?",
           std::string("{name: 'Oslo', people: 700000,}"),
       }) {
    Rig rig(profiled(mute_profile(), {says(text)}));
    const RunResult result = rig.run("go", wants_city());
    EXPECT_EQ(result.output, kOsloJson) << text;
    EXPECT_EQ(result.counts.output_retries, 0) << text;
    EXPECT_EQ(result.text, text);
  }
}

TEST(ExtractionCases, EmptyArgumentsOfFinalResultAreAnEmptyObject) {
  Rig rig(scripted({calls("final_result", "")}));
  const RunResult result = rig.run("go", {.output_schema = Json::object({{"type", "object"}})});
  EXPECT_EQ(result.output, Json::object());
  EXPECT_EQ(result.counts.output_retries, 0);
}

TEST(ExtractionCases, AnEmptyAnswerIsAskedForAgainAndIsNoCorrection) {
  Rig rig(profiled(mute_profile(), {says(""), says(kOslo)}));
  const RunResult result = rig.run("go", wants_city());
  EXPECT_EQ(result.output, kOsloJson);
  EXPECT_EQ(result.counts.output_retries, 0);
}

TEST(ExtractionCases, AnAnswerThatWasCutIsJoinedBeforeItIsRead) {
  Rig rig(profiled(mute_profile(), {cut(says(R"({"name":"Os)")), says(R"(lo","people":700000})")}));
  EXPECT_EQ(rig.run("go", wants_city()).output, kOsloJson);
}

TEST(ExtractionCases, AnAnswerAfterACorrectionIsReadAlone) {
  Rig rig(
      profiled(mute_profile(), {cut(says(R"({"name":7,)")), says(R"("people":1})"), says(kOslo)}));
  const RunResult result = rig.run("go", wants_city());
  EXPECT_EQ(result.output, kOsloJson);
  EXPECT_EQ(result.text, kOslo);
  EXPECT_EQ(result.counts.output_retries, 1);
}

TEST(ExtractionCases, ACutCallOfFinalResultIsSentAgainAndIsNoCorrection) {
  Rig rig(scripted({cut(calls("final_result", R"({"name":"Os)")), calls("final_result", kOslo)}));
  const RunResult result = rig.run("go", wants_city());
  EXPECT_EQ(result.output, kOsloJson);
  EXPECT_EQ(result.counts.output_retries, 0);
  expect_legal(result.messages);
}

TEST(AskCases, AStructComesBack) {
  Rig rig(scripted({calls("final_result", kOslo)}));
  const Result<City> city = rig.harness->ask<City>("which?");
  ASSERT_TRUE(city) << to_string(city.error());
  EXPECT_EQ(city->name, "Oslo");
  EXPECT_EQ(city->people, 700'000);
}

TEST(AskCases, ListsEnumsNumbersAndTextComeBack) {
  Rig list(scripted({calls("final_result", R"({"value":[{"name":"Oslo"},{"name":"Rome"}]})")}));
  const auto cities = list.harness->ask<std::vector<City>>("which?");
  ASSERT_TRUE(cities) << to_string(cities.error());
  EXPECT_EQ(cities->at(1).name, "Rome");
  Rig mood(scripted({calls("final_result", R"({"value":"sad"})")}));
  EXPECT_EQ(mood.harness->ask<Mood>("how?").value(), Mood::sad);
  Rig number(scripted({calls("final_result", R"({"value":42})")}));
  EXPECT_EQ(number.harness->ask<int>("how many?").value(), 42);
  Rig text(scripted({says("words")}));
  EXPECT_EQ(text.harness->ask<std::string>("say").value(), "words");
}

struct Guess {
  std::optional<std::string> name;
};

TEST(AskCases, WhatIsOptionalMayBeMissing) {
  Rig field(scripted({calls("final_result", "{}")}));
  EXPECT_EQ(field.harness->ask<Guess>("who?").value().name, std::nullopt);
  Rig none(scripted({calls("final_result", R"({"value":null})")}));
  const auto nothing = none.harness->ask<std::optional<int>>("how many?");
  ASSERT_TRUE(nothing) << to_string(nothing.error());
  EXPECT_EQ(*nothing, std::nullopt);
  Rig some(scripted({calls("final_result", R"({"value":3})")}));
  EXPECT_EQ(some.harness->ask<std::optional<int>>("how many?").value(), 3);
}

TEST(AskCases, AWrongEnumNameIsCorrected) {
  Rig rig(scripted({calls("final_result", R"({"value":"gloomy"})"),
                    calls("final_result", R"({"value":"happy"})")}));
  EXPECT_EQ(rig.harness->ask<Mood>("how?").value(), Mood::happy);
}

TEST(AskCases, HowTheRunEndedIsTheError) {
  Rig limit(scripted({says("never")}));
  const auto none = limit.harness->ask<City>("which?", {.limits = {.max_turns = 0}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::exhausted);
  Rig misfit(scripted({again(says("no"))}));
  EXPECT_EQ(misfit.harness->ask<City>("which?").error().kind(), ErrorKind::invalid);
}

struct Strict {
  int name = 0;
};

// B16
TEST(AskCases, ParsingIntoAnotherStructNamesThePath) {
  Rig rig(scripted({calls("final_result", kOslo)}));
  const RunResult result = rig.run("go", wants_city());
  const auto wrong = result.parse<Strict>();
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(contains(wrong.error().message(), "$.name")) << wrong.error().message();
  Rig text(scripted({says("words")}));
  EXPECT_TRUE(contains(text.run("go").parse<City>().error().message(), "no structured answer"));
}

// B16
TEST(OutputOptionCases, ASchemaOfTheHarnessHoldsForRunsThatNameNone) {
  Rig rig(scripted({again(calls("final_result", kOslo))}), 1, {.output_schema = city_schema()});
  EXPECT_EQ(rig.run("go").output, kOsloJson);
  const RunResult own =
      rig.harness->run("go", {.output_schema = Json::object({{"type", "object"}})});
  EXPECT_EQ(own.output, kOsloJson);
}

TEST(OutputOptionCases, ARunMayAskForTextWhereTheHarnessHasASchema) {
  auto model = testkit::recording(scripted({says("just words")}));
  Rig rig(model, 1, {.output_schema = city_schema()});
  const RunResult result = rig.run("go", {.output_mode = OutputMode::text});
  EXPECT_EQ(result.text, "just words") << (result.error ? to_string(*result.error) : "");
  EXPECT_TRUE(result.output.is_null());
}

// TH 56, made better: the call is acknowledged.
TEST(OutputOptionCases, ARunThatEndedWithFinalResultGoesOnWithANewPrompt) {
  auto model = testkit::recording(scripted({again(calls("final_result", kOslo))}));
  Rig rig(model);
  const RunResult first = rig.run("which city?", wants_city());
  ASSERT_EQ(first.stop, StopReason::end_turn);
  expect_legal(first.messages);
  const RunResult second = rig.harness->resume(first.id, "and again?").wait();
  EXPECT_EQ(second.output, kOsloJson) << (second.error ? to_string(*second.error) : "");
  const Transcript& sent = model->requests()[1].transcript;
  EXPECT_EQ(sent.back()->text(), "and again?");
  EXPECT_EQ(sent.size(), first.messages.size() + 1);
  expect_legal(second.messages);
}

TEST(OutputOptionCases, CorrectionsAreCountedOverAPause) {
  Rig rig(scripted({again(calls("final_result", "{}"))}));
  auto pause = std::make_shared<PauseAt>(Kind::output_retry);
  const RunResult parked = run_to_pause(rig, pause, wants_city());
  ASSERT_EQ(parked.status, RunStatus::parked);
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.stop, StopReason::output_validation_failed);
  EXPECT_EQ(result.counts.output_retries, 1);
  EXPECT_EQ(result.counts.model_calls, 2);
}

TEST(OutputDeltaCases, AnAnswerIsSeenAsItGrows) {
  ScriptTurn turn = says(R"({"name":"Oslo","people":700000})");
  turn.chunks = 8;
  Rig rig(profiled(native_profile(), {turn}));
  const RunResult result = rig.run("go", wants_city());
  const auto seen = events_of(*rig.seen, Kind::output_delta);
  ASSERT_GE(seen.size(), 2u);
  EXPECT_TRUE(std::string_view("Oslo").starts_with(seen[0]->data["output"]["name"].as_string()));
  EXPECT_EQ(seen.back()->data["output"]["name"].as_string(), "Oslo");
  for (const Event* event : seen) {
    EXPECT_GT(event->live, 0u);
    EXPECT_EQ(event->data["call"], rig.seen->find(Kind::model_started)->data["call"]);
  }
  EXPECT_EQ(result.output, kOsloJson);
}

TEST(OutputDeltaCases, AnAnswerByFinalResultIsSeenToo) {
  Rig rig(scripted({calls("final_result", R"({"value":["a","b"]})")}));
  (void)rig.run("go", {.output_schema = schema_of<std::vector<std::string>>()});
  const auto seen = events_of(*rig.seen, Kind::output_delta);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back()->data["output"], Json::array({"a", "b"}))
      << "without what it is wrapped in";
}

TEST(OutputDeltaCases, ATextHasNone) {
  Rig rig(testkit::streaming("some words", 3));
  (void)rig.run("go");
  EXPECT_EQ(rig.seen->count(Kind::output_delta), 0u);
}

}  // namespace
}  // namespace tug
