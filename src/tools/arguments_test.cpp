#include <gtest/gtest.h>

#include "tug/core/utf8.h"
#include "tug/tools/invoke.h"
#include "tug/tools/typed_tool.h"

namespace tug {
namespace {

struct Account {};
struct Inner {
  std::optional<int> depth;
  Injected<Account> account;
};
struct Args {
  std::string city;
  std::optional<int> days;
  std::optional<Json> anything;
  std::vector<std::string> names = {"x"};
  Inner inner;
  Injected<Account> account;
};

ToolPtr tool() {
  return *make_tool("forecast", "d", [](const Args& args) { return args.city; });
}

std::string error_of(std::string_view text) {
  auto checked = check_arguments(*tool(), text);
  return checked ? "valid: " + print_json(checked->args) : checked.error().message();
}

TEST(CheckArguments, EmptyTextIsAnEmptyObject) {
  auto none = *make_tool("none", "d", [] {});
  EXPECT_EQ(check_arguments(*none, "")->args, Json::object());
  EXPECT_EQ(check_arguments(*none, "{}")->args, Json::object());
  EXPECT_FALSE(check_arguments(*none, R"({"x":1})"));
}

TEST(CheckArguments, WhatIsWrongIsSaidForTheModel) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"city":"Oslo","inner":{}})", R"(valid: {"city":"Oslo","inner":{}})"},
      {R"({"city":"Oslo","inner":{},"days":"x"})",
       "the arguments for \"forecast\" are not what its schema asks for:\n"
       "- /days: expected integer, got string \"x\""},
      {R"({"city":1,"inner":{},"days":"x"})",
       "the arguments for \"forecast\" are not what its schema asks for:\n"
       "- /city: expected string, got integer 1\n"
       "- /days: expected integer, got string \"x\""},
      {"[]", "the arguments for \"forecast\" are not a JSON object but a list"},
      {"7", "the arguments for \"forecast\" are not a JSON object but a number"},
      {"\"x\"", "the arguments for \"forecast\" are not a JSON object but a string"},
      {"null", "the arguments for \"forecast\" are not a JSON object but null"},
  };
  for (const auto& [text, said] : cases) EXPECT_EQ(error_of(text), said) << text;
  EXPECT_TRUE(error_of("{").starts_with("the arguments for \"forecast\" are not valid JSON: "));
  EXPECT_NE(error_of(R"({"inner":{}})").find("city"), std::string::npos);
}

struct Place {
  std::string city;
};

TEST(CheckArguments, TextIsRepairedOnlyWhereNothingCanBeMisread) {
  auto place = *make_tool("place", "d", [](const Place& where) { return where.city; });
  const std::string paris = R"({"city":"Paris"})";
  EXPECT_FALSE(check_arguments(*place, paris)->repaired);
  const std::string repaired[] = {
      "```json\n" + paris + "\n```",
      " ```" + paris + "```\n",
      R"("{\"city\":\"Paris\"}")",
      R"("```json\n{\"city\":\"Paris\"}\n```")",
      "```\n\"{\\\"city\\\":\\\"Paris\\\"}\"\n```",
      R"({"properties":{"city":"Paris"}})",
      R"({"param":{"city":"Paris"}})",
  };
  for (const std::string& text : repaired) {
    auto checked = check_arguments(*place, text);
    ASSERT_TRUE(checked) << text << checked.error().message();
    EXPECT_EQ(print_json(checked->args), paris) << text;
    EXPECT_TRUE(checked->repaired) << text;
  }
  const std::pair<std::string, std::string_view> refused[] = {
      {"", "ValidationError"},
      {"Paris", "InvalidArguments"},
      {"{city: 'Paris'}", "InvalidArguments"},
      {R"({"city":"Paris",})", "InvalidArguments"},
      {R"({"city":"Par)", "InvalidArguments"},
      {"use " + paris, "InvalidArguments"},
      {R"("\"{\\\"city\\\":\\\"Paris\\\"}\"")", "InvalidArguments"},
      {R"("[1]")", "InvalidArguments"},
      {R"([{"city":"Paris"}])", "InvalidArguments"},
      {R"({"param":{"town":"Paris"}})", "ValidationError"},
      {R"({"param":{"city":"Paris"},"input":1})", "ValidationError"},
      {R"({"other":{"city":"Paris"}})", "ValidationError"},
  };
  for (const auto& [text, type] : refused) {
    auto checked = check_arguments(*place, text);
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().error_type(), type) << text;
  }
}

TEST(CheckArguments, AStringIsTheInputOfAnAgentThatTakesNothingElse) {
  auto agent = *make_tool("agent", "d", [](const Place&) { return "x"; }, {.agent = true});
  auto checked = check_arguments(*agent, R"("Paris")");
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(print_json(checked->args), R"({"city":"Paris"})");
  EXPECT_TRUE(checked->repaired);
  EXPECT_EQ(print_json(check_arguments(*agent, R"("{\"city\":\"Rome\"}")")->args),
            R"({"city":"Rome"})")
      << "a quoted object is that object";
  EXPECT_FALSE(check_arguments(*agent, "7"));
  EXPECT_FALSE(check_arguments(*agent, "Paris")) << "not JSON";
  struct Two {
    std::string city;
    std::optional<std::string> street;
  };
  auto two = *make_tool("two", "d", [](const Two&) { return "x"; }, {.agent = true});
  EXPECT_FALSE(check_arguments(*two, R"("Paris")")) << "which of them?";
}

TEST(CheckArguments, AToolThatDeclaresAWrappersNameIsLeftAlone) {
  struct Declared {
    std::optional<Json> properties;
    std::optional<std::string> city;
  };
  auto declared = *make_tool("declared", "d", [](const Declared&) { return "x"; });
  auto checked = check_arguments(*declared, R"({"properties":{"city":"Paris"}})");
  ASSERT_TRUE(checked);
  EXPECT_EQ(print_json(checked->args), R"({"properties":{"city":"Paris"}})");
  EXPECT_FALSE(checked->repaired);
  struct Other {
    std::optional<Place> param;
    std::optional<std::string> town;
  };
  auto other = *make_tool("other", "d", [](const Other&) { return "x"; });
  EXPECT_FALSE(check_arguments(*other, R"({"param":{"town":"Paris"}})"))
      << "its own member is malformed, not a wrapper";
}

TEST(CheckArguments, BlankTextIsAnEmptyObject) {
  auto none = *make_tool("none", "d", [] {});
  for (const std::string_view blank : {"", " \n", "```\n```"}) {
    auto checked = check_arguments(*none, blank);
    ASSERT_TRUE(checked) << blank;
    EXPECT_EQ(checked->args, Json::object());
    EXPECT_TRUE(checked->repaired);
  }
}

TEST(CheckArguments, NullForWhatMayBeLeftOutIsLeavingItOut) {
  EXPECT_EQ(error_of(R"({"city":"Oslo","days":null,"inner":{"depth":null}})"),
            R"(valid: {"city":"Oslo","inner":{}})");
  EXPECT_EQ(error_of(R"({"city":"Oslo","anything":null,"inner":{}})"),
            R"(valid: {"city":"Oslo","anything":null,"inner":{}})");
  EXPECT_NE(error_of(R"({"city":null,"inner":{}})").find("/city"), std::string::npos);
}

TEST(CheckArguments, ForgedValuesForInjectedFieldsAreDroppedAndReported) {
  auto checked = check_arguments(
      *tool(), R"({"city":"Oslo","account":{"owner":"eve"},"inner":{"account":null,"depth":1}})");
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(print_json(checked->args), R"({"city":"Oslo","inner":{"depth":1}})");
  EXPECT_EQ(checked->forged, (std::vector<std::string>{"$.inner.account", "$.account"}));
}

TEST(CheckArguments, HostileTextHasAClearEnd) {
  const std::string huge(kMaxToolArguments + 1, ' ');
  EXPECT_EQ(
      error_of(huge),
      "the arguments for \"forecast\" are 8388609 bytes, more than the 8388608 that are taken");
  const std::string deep = std::string(100'000, '[');
  EXPECT_TRUE(error_of(deep).starts_with("the arguments for \"forecast\" are not valid JSON: "));
  const std::string long_value =
      R"({"city":1,"inner":{},"days":")" + std::string(1 << 20, 'x') + "\"}";
  EXPECT_LT(error_of(long_value).size(), 2000u);
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) many += "\"k" + std::to_string(i) + "\":1,";
  many += "\"z\":1}";
  EXPECT_LT(error_of(many).size(), 8000u);
  EXPECT_TRUE(is_utf8(error_of("{\"city\":\"\xff\xfe\",\"inner\":{},\"\xff\":1}")));
}

TEST(RefusedCalls, AnUnknownToolIsNamedWithTheNearestAndTheKnown) {
  const ToolResult result = unknown_tool_result("serach", "search", {"write", "read", "search"});
  EXPECT_EQ(result.content,
            "there is no tool \"serach\". Did you mean \"search\"? The tools are: read, search, "
            "write.");
  EXPECT_EQ(result.tool, "serach");
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.metadata, Json::object({{"error_type", "UnknownTool"}}));
  EXPECT_EQ(unknown_tool_result("x", "", {}).content,
            "there is no tool \"x\". There are no tools.");
}

TEST(RefusedCalls, ListsAndNamesAreCapped) {
  std::vector<std::string> known;
  for (int i = 0; i < 10'000; ++i) known.push_back("tool_" + std::to_string(100'000 + i));
  const ToolResult result = unknown_tool_result(std::string(1 << 20, '\xff'), "", known);
  EXPECT_LT(result.content.size(), 8000u);
  EXPECT_TRUE(is_utf8(result.content) && is_utf8(result.tool));
  EXPECT_TRUE(result.content.ends_with(" more.")) << result.content.substr(4000);
}

TEST(RefusedCalls, InvalidArgumentsCarryTheSchemaAndMayBeRetried) {
  struct City {
    std::string city;
  };
  auto small = *make_tool("forecast", "d", [](const City& city) { return city.city; });
  auto checked = check_arguments(*small, R"({"city":1})");
  const ToolResult result = invalid_arguments_result(*small, checked.error());
  EXPECT_EQ(result.content,
            "the arguments for \"forecast\" are not what its schema asks for:\n"
            "- /city: expected string, got integer 1\n"
            "The schema of the arguments is: "
            R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"],)"
            R"("additionalProperties":false})");
  EXPECT_EQ(result.tool, "forecast");
  EXPECT_EQ(print_json(result.metadata),
            R"({"error_type":"ValidationError","retry":true,"retry_kind":"ValidationError",)"
            R"("errors":[{"path":"/city","message":"expected string, got integer 1"}]})");
  const ToolResult malformed =
      invalid_arguments_result(*small, check_arguments(*small, "{").error());
  EXPECT_EQ(print_json(malformed.metadata),
            R"({"error_type":"InvalidArguments","retry":true,"retry_kind":"InvalidArguments"})");
  ToolSpec spec;
  spec.name = "big";
  spec.parameters = Json::object({{"type", "object"}, {"description", std::string(100'000, 'x')}});
  auto big = *make_tool(spec, JsonPoolHandler([](const Json&, Invocation&) {
                          return Result<ToolResult>(ToolResult{});
                        }));
  EXPECT_LT(invalid_arguments_result(*big, checked.error()).content.size(), 20'000u);
}

}  // namespace
}  // namespace tug
