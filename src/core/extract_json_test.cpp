#include "tug/core/extract_json.h"

#include <gtest/gtest.h>

#include "core/loose_json.h"
#include "tug/core/rng.h"

namespace tug {
namespace {

std::string taken(std::string_view text) {
  Result<ExtractedJson> found = extract_json(text);
  if (!found) return "error: " + found.error().message();
  return std::string(name_of(found->rung)) + " " + print_json(found->value);
}

struct Case {
  std::string_view text;
  std::string_view taken;
};

TEST(ExtractJson, TheFirstRungThatFindsAValueTakesIt) {
  const Case cases[] = {
      {R"({"a":1})", R"(strict {"a":1})"},
      {" 42 ", "strict 42"},
      {R"("text")", R"(strict "text")"},
      {"[]", "strict []"},

      {"```json\n{\"a\":1}\n```", R"(fence {"a":1})"},
      {"Here it is:\n```\n[1,2]\n```\nDone.", "fence [1,2]"},
      {"```{\"a\":1}```", R"(fence {"a":1})"},
      {"```json\n{\"a\":\"``` inside\"}\n```", R"(fence {"a":"``` inside"})"},
      {"```sh\nls {x}\n```\nand\n```json\n{\"a\":1}\n```", R"(fence {"a":1})"},
      {"```json\n\"text\"\n```", R"(fence "text")"},

      {R"(use {x} then {"a":1})", R"(prose {"a":1})"},
      {R"(The answer is {"a":{"b":[1,2]}}. Good?)", R"(prose {"a":{"b":[1,2]}})"},
      {R"(see [1] and [2]: {"a":1})", R"(prose {"a":1})"},
      {R"(f() {} gives ["x"])", R"(prose ["x"])"},
      {"numbers: [1, 2]", "prose [1,2]"},
      {R"(first {"a":1} second {"b":2})", R"(prose {"a":1})"},
      {R"({ or [ or {"a":"} {"})", R"(prose {"a":"} {"})"},
      {"```json\n// a comment\n{\"a\":1}\n``` as in {\"b\":2}", R"(prose {"a":1})"},
      {R"({"a":1}})", R"(prose {"a":1})"},
      {R"(one { {"a":1} )", R"(prose {"a":1})"},
      {R"(use {"x"} or {"bad" 1, "b": {"c": 2}} then {"a":1})", R"(prose {"a":1})"},

      {"{a: 1, b_2: 'two', $c: three}", R"(relaxed {"a":1,"b_2":"two","$c":"three"})"},
      {R"({'a': 'it\'s "so"', "b": [1, 2,],})", R"(relaxed {"a":"it's \"so\"","b":[1,2]})"},
      {R"({{"a": {{"b": 1}} }})", R"(relaxed {"a":{"b":1}})"},
      {R"({{"a": {"b": 1}}})", R"(relaxed {"a":{"b":1}})"},
      {"{'yes': True, 'no': False, 'none': None}",
       R"(relaxed {"yes":true,"no":false,"none":null})"},
      {"{\"a\": \"two\nlines\"}", R"(relaxed {"a":"two\nlines"})"},
      {"['a', 'b']", R"(relaxed ["a","b"])"},
      {"Sure: {a: {\"b\": 1}} there", R"(relaxed {"a":{"b":1}})"},
      {"```\n{a: 1}\n```\nnot {\"b\":2}", R"(relaxed {"a":1})"},

      {R"({"a": "cut he)", R"(closed {"a":"cut he"})"},
      {R"([{"a":1},{"a":2)", R"(closed [{"a":1},{}])"},
      {R"({"a": [1, {"b": "x"}, 12)", R"(closed {"a":[1,{"b":"x"}]})"},
      {R"({"a": 1, "b)", R"(closed {"a":1})"},
      {R"({"a": 1, "b": tru)", R"(closed {"a":1})"},
      {"{a: 'x', b: ['y", R"(closed {"a":"x","b":["y"]})"},
      {"```json\n{\"a\": \"x", R"(closed {"a":"x"})"},
  };
  for (const Case& one : cases) EXPECT_EQ(taken(one.text), one.taken) << one.text;
}

TEST(ExtractJson, WhatHoldsNoValueIsNamed) {
  const Case cases[] = {
      {"", "error: the text is empty, not JSON"},
      {" \n", "error: the text is empty, not JSON"},
      {"I cannot do that.", "error: there is no JSON object or list in the text"},
      {"see [link] and {x}",
       "error: there is no whole JSON value in the text; read from the first bracket, on line 1: "
       "line 1, column 2: expected a value, found 'l'"},
      {"well,\n{\"a\" 1}",
       "error: there is no whole JSON value in the text; read from the first bracket, on line 2: "
       "line 1, column 6: expected ':' after the key, found '1'"},
      {"{",
       "error: there is no whole JSON value in the text; read from the first bracket, on line "
       "1: line 1, column 2: expected a key in double quotes or '}', found the end of the "
       "text"},
  };
  for (const Case& one : cases) EXPECT_EQ(taken(one.text), one.taken) << one.text;
  EXPECT_EQ(extract_json("no").error().kind(), ErrorKind::invalid);
}

TEST(ExtractJson, HostileTextCostsLinearTime) {
  // Quadratic time would never end.
  const std::size_t size = 2u << 20;
  const auto repeated = [&](std::string_view unit) {
    std::string text;
    while (text.size() < size) text += unit;
    return text;
  };
  for (const std::string_view unit : {"[", "{", "{\"a\":", "[\"", "{x", "[[],", "```", "```\n",
                                      "\\\"{", "{{", "'{\"", "{\"a\":1,"}) {
    const std::string text = repeated(unit);
    EXPECT_LT(taken(text).size(), 2 * text.size() + 1000) << unit;
    EXPECT_LT(taken("x" + text).size(), 2 * text.size() + 1000) << unit;
    static_cast<void>(partial_json(text));
  }
  std::string deep(kMaxJsonDepth, '[');
  EXPECT_FALSE(extract_json("x " + deep + "[" + std::string(kMaxJsonDepth + 1, ']')));
  EXPECT_TRUE(extract_json("x " + deep + std::string(kMaxJsonDepth, ']')));
  EXPECT_EQ(taken("{\"a\":\"\xff\"} \xff"), "prose {\"a\":\"\xef\xbf\xbd\"}");
}

std::string so_far(std::string_view text) {
  const std::optional<Json> value = partial_json(text);
  return value ? print_json(*value) : "nothing";
}

TEST(PartialJson, IsWhatIsCompleteSoFar) {
  const Case cases[] = {
      {"", "nothing"},
      {"  ", "nothing"},
      {"{", "{}"},
      {R"({"a)", "{}"},
      {R"({"a":)", "{}"},
      {R"({"a":")", R"({"a":""})"},
      {R"({"a":"x)", R"({"a":"x"})"},
      {R"({"a":"x\)", R"({"a":"x"})"},
      {R"({"a":"x\u00)", R"({"a":"x"})"},
      {R"({"a":"x\ud83d)", R"({"a":"x"})"},
      {R"({"a":"x\ud83d\ude0)", R"({"a":"x"})"},
      {R"({"a":"x\ud83d\ude00)", "{\"a\":\"x\xf0\x9f\x98\x80\"}"},
      {"{\"a\":\"x\xf0\x9f\x98", R"({"a":"x"})"},
      {R"({"a":12)", "{}"},
      {R"({"a":12,)", R"({"a":12})"},
      {R"({"a":tru)", "{}"},
      {R"({"a":true)", R"({"a":true})"},
      {R"([1,[2,{"b":[)", R"([1,[2,{"b":[]}]])"},
      {R"("still com)", R"("still com")"},
      {"12", "nothing"},
      {"12 ", "12"},
      {"```json\n{\"a\":\"x", R"({"a":"x"})"},
      {"```js", "nothing"},
      {"Here it is: {", "nothing"},
      {"Use {x}: {\"a\":[", R"({"a":[]})"},
      {R"({"a":1,, "b":2)", R"({"a":1})"},
      {"{\"a\":1}\n```", R"({"a":1})"},
      {"Hello", "nothing"},
  };
  for (const Case& one : cases) EXPECT_EQ(so_far(one.text), one.taken) << one.text;
}

// Whether `after` is `before` with more in it.
bool grew(const Json& before, const Json& after) {
  if (before.type() != after.type()) return false;
  if (before.is_string()) return after.as_string().starts_with(before.as_string());
  if (before.size() > after.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool last = i + 1 == before.size();
    if (before.is_object()) {
      const Json::Member& was = before.members()[i];
      const Json::Member& is = after.members()[i];
      if (was.key() != is.key() || !(last ? grew(was.value, is.value) : was.value == is.value))
        return false;
    } else if (!(last ? grew(before[i], after[i]) : before[i] == after[i])) {
      return false;
    }
  }
  return before.is_object() || before.is_array() || before == after;
}

TEST(PartialJson, OnlyGrowsWithTheText) {
  const std::string_view documents[] = {
      R"({"title":"A \"q\" \u00e9 \ud83d\ude00 z","n":[1,-2.5e3,10,true,false,null],"o":{"a":{}}})",
      "{\"text\":\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\",\"list\":[{\"x\":\"\"},[],[[\"y\"]]]} ",
      R"( [ "a" , { "b" : [ 12345 , 0 ] } ] )",
  };
  for (const std::string_view document : documents) {
    std::optional<Json> before;
    for (std::size_t length = 0; length <= document.size(); ++length) {
      std::optional<Json> now = partial_json(document.substr(0, length));
      if (before) {
        ASSERT_TRUE(now) << document.substr(0, length);
        EXPECT_TRUE(grew(*before, *now)) << document.substr(0, length) << "\n"
                                         << print_json(*before) << "\n"
                                         << print_json(*now);
      }
      before = std::move(now);
    }
    ASSERT_TRUE(before);
    EXPECT_EQ(*before, *parse_json(document));
  }
}

TEST(LooseReader, WhateverItMakesOfNoiseIsStrictJson) {
  constexpr std::uint64_t kSeed = 41;
  RecordProperty("seed", std::to_string(kSeed));
  Rng rng(kSeed);
  const std::string_view pieces[] = {
      "{", "}",    "[",    "]", "\"", "'",  ":",  ",",  "\\",   "\\u",  "d83d",   "12",  "-",   "e",
      ".", "true", "None", "x", " ",  "\n", "{{", "}}", "\xc3", "\xa9", "\"a\":", "[1,", "\xff"};
  for (int round = 0; round < 50'000; ++round) {
    std::string text = rng.below(2) == 0 ? "{" : "[";
    for (std::uint64_t left = rng.below(24); left > 0; --left) {
      text += pieces[rng.below(std::size(pieces))];
    }
    for (const detail::Grammar grammar : {detail::Grammar::strict, detail::Grammar::relaxed}) {
      detail::LooseReader reader(text, grammar);
      const bool whole = reader.read(0) == detail::LooseReader::End::whole;
      const auto closed = reader.closed();
      if (whole) EXPECT_TRUE(parse_json(reader.written())) << text << "\n" << reader.written();
      if (closed) EXPECT_TRUE(parse_json(*closed)) << text << "\n" << *closed;
    }
    static_cast<void>(extract_json(text));
  }
}

}  // namespace
}  // namespace tug
