#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <random>

#include "tug/core/json.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

std::string read_and_print(std::string_view text) {
  auto value = parse_json(text);
  return value ? print_json(*value) : "error: " + value.error().message();
}

TEST(JsonParse, ReadsEveryKindOfValue) {
  struct Case {
    std::string_view text;
    std::string_view printed;
  };
  const Case cases[] = {
      {"null", "null"},
      {" true\n", "true"},
      {"\t\r\n false ", "false"},
      {"\xef\xbb\xbf 1", "1"},
      {"0", "0"},
      {"-0", "-0"},
      {"-0.0", "-0.0"},
      {"0.0", "0.0"},
      {"-0e5", "-0.0"},
      {"0e999", "0.0"},
      {"1.0", "1.0"},
      {"1.50", "1.5"},
      {"1e2", "100.0"},
      {"1E+2", "100.0"},
      {"1e21", "1e+21"},
      {"1e-7", "1e-07"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "18446744073709551616"},
      {"-9223372036854775809", "-9223372036854775809"},
      {"99999999999999999999", "99999999999999999999"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1e400", "1e400"},
      {"-1E+400", "-1E+400"},
      {"1e-400", "1e-400"},
      {"0.1e-99999999999999999999", "0.1e-99999999999999999999"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"5e-324", "5e-324"},
      {"0.1", "0.1"},
      {"\"\"", "\"\""},
      {"\"12345678901234\"", "\"12345678901234\""},
      {"\"123456789012345\"", "\"123456789012345\""},
      {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
      {R"("\u0000\u001F\u007f")", "\"\\u0000\\u001f\x7f\""},
      {R"("\u00e9\u20AC\ud83d\ude00")", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
      {R"("\u2028")", "\"\xe2\x80\xa8\""},
      {"[]", "[]"},
      {"[ ]", "[]"},
      {"{}", "{}"},
      {"{ }", "{}"},
      {"[[],{},[{}]]", "[[],{},[{}]]"},
      {" [ 1 , \"a\" , null ] ", "[1,\"a\",null]"},
      {R"( { "a" : 1 , "b" : { "c" : [ true ] } } )", R"({"a":1,"b":{"c":[true]}})"},
      {R"({"":0})", R"({"":0})"},
  };
  for (const Case& c : cases) EXPECT_EQ(read_and_print(c.text), c.printed) << c.text;
}

TEST(JsonParse, RepairsTextInsteadOfRefusingIt) {
  struct Case {
    std::string_view text;
    std::string_view printed;
  };
  const Case cases[] = {
      {"\"\xff\"", "\"\xef\xbf\xbd\""},
      {"\"a\xe2\x82\"", "\"a\xef\xbf\xbd\""},
      {"\"\xff\\n\xfe long enough for the heap\"",
       "\"\xef\xbf\xbd\\n\xef\xbf\xbd long enough for the heap\""},
      {R"("\ud800")", "\"\xef\xbf\xbd\""},
      {R"("\udc00x")", "\"\xef\xbf\xbdx\""},
      {R"("\ud800\ud800\udc00")", "\"\xef\xbf\xbd\xf0\x90\x80\x80\""},
      {R"("\ud800\n")", "\"\xef\xbf\xbd\\n\""},
      {R"("\ud800\u0041")",
       "\"\xef\xbf\xbd"
       "A\""},
      {R"("\udc00\ud800")", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
      {"{\"\xff\":1,\"\xfe\":2}", "{\"\xef\xbf\xbd\":2}"},
  };
  for (const Case& c : cases) EXPECT_EQ(read_and_print(c.text), c.printed) << c.text;
}

TEST(JsonParse, SaysWhereItWentWrongAndWhatItExpected) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  const Case cases[] = {
      {"", "line 1, column 1: expected a value, found the end of the text"},
      {" \n ", "line 2, column 2: expected a value, found the end of the text"},
      {"x", "line 1, column 1: expected a value, found 'x'"},
      {"\xff", "line 1, column 1: expected a value, found byte 0xff"},
      {std::string_view("\0", 1), "line 1, column 1: expected a value, found byte 0x00"},
      {std::string_view("1\0", 2),
       "line 1, column 2: expected the end of the text, found byte 0x00"},
      {"1 2", "line 1, column 3: expected the end of the text, found '2'"},
      {"[]]", "line 1, column 3: expected the end of the text, found ']'"},
      {"{\n\"a\": 1,\n\"b\" 2}", "line 3, column 5: expected ':' after the key, found '2'"},
      {"{\"a\":1 \"b\"}", "line 1, column 8: expected ',' or '}', found '\"'"},
      {"[\"\xc3\xa9\" x", "line 1, column 6: expected ',' or ']', found 'x'"},
      {"[1 \xc3\xa9", "line 1, column 4: expected ',' or ']', found '\xc3\xa9'"},
      {"[1,]", "line 1, column 4: expected a value, found ']'"},
      {"[,1]", "line 1, column 2: expected a value, found ','"},
      {"[1", "line 1, column 3: expected ',' or ']', found the end of the text"},
      {"[", "line 1, column 2: expected a value, found the end of the text"},
      {"[1}", "line 1, column 3: expected ',' or ']', found '}'"},
      {"{", "line 1, column 2: expected a key in double quotes or '}', found the end of the text"},
      {"{\"a\":1,}", "line 1, column 8: expected a key in double quotes, found '}'"},
      {"{a:1}", "line 1, column 2: expected a key in double quotes or '}', found 'a'"},
      {"{'a':1}", "line 1, column 2: expected a key in double quotes or '}', found '''"},
      {"{\"a\"", "line 1, column 5: expected ':' after the key, found the end of the text"},
      {"{\"a\":", "line 1, column 6: expected a value, found the end of the text"},
      {"{1:1}", "line 1, column 2: expected a key in double quotes or '}', found '1'"},
      {"tru", "line 1, column 4: expected 'true', found the end of the text"},
      {"trUe", "line 1, column 3: expected 'true', found 'U'"},
      {"truex", "line 1, column 5: expected the end of the text, found 'x'"},
      {"nul", "line 1, column 4: expected 'null', found the end of the text"},
      {"falsy", "line 1, column 5: expected 'false', found 'y'"},
      {"NaN", "line 1, column 1: expected a value, found 'N'"},
      {"Infinity", "line 1, column 1: expected a value, found 'I'"},
      {"-Infinity", "line 1, column 2: expected a digit, found 'I'"},
      {"+1", "line 1, column 1: expected a value, found '+'"},
      {".5", "line 1, column 1: expected a value, found '.'"},
      {"5.", "line 1, column 3: expected a digit, found the end of the text"},
      {"5.e1", "line 1, column 3: expected a digit, found 'e'"},
      {"-", "line 1, column 2: expected a digit, found the end of the text"},
      {"-a", "line 1, column 2: expected a digit, found 'a'"},
      {"01", "line 1, column 2: expected no digit after a leading 0, found '1'"},
      {"-012", "line 1, column 3: expected no digit after a leading 0, found '1'"},
      {"1e", "line 1, column 3: expected a digit, found the end of the text"},
      {"1e+", "line 1, column 4: expected a digit, found the end of the text"},
      {"1e5.2", "line 1, column 4: expected the end of the text, found '.'"},
      {"0x10", "line 1, column 2: expected the end of the text, found 'x'"},
      {"1_000", "line 1, column 2: expected the end of the text, found '_'"},
      {"\"abc", "line 1, column 1: this string has no closing quote"},
      {"\"abc\\", "line 1, column 1: this string has no closing quote"},
      {"\"abc\\\"", "line 1, column 1: this string has no closing quote"},
      {"[\"", "line 1, column 2: this string has no closing quote"},
      {"\"a\nb\"",
       "line 1, column 3: expected an escape such as \\n in place of a control byte, found byte "
       "0x0a"},
      {"\"\\x\"", "line 1, column 3: expected one of \" \\ / b f n r t u after '\\', found 'x'"},
      {"\"\\'\"", "line 1, column 3: expected one of \" \\ / b f n r t u after '\\', found '''"},
      {"\"\\u12\"", "line 1, column 6: expected four hexadecimal digits after '\\u', found '\"'"},
      {"\"\\u12g4\"", "line 1, column 6: expected four hexadecimal digits after '\\u', found 'g'"},
      {"\"\\ud800\\u\"",
       "line 1, column 10: expected four hexadecimal digits after '\\u', found '\"'"},
      {"\"\xff\\q\"",
       "line 1, column 4: expected one of \" \\ / b f n r t u after '\\', found 'q'"},
      {"// c\n1", "line 1, column 1: expected a value, found '/'"},
      {"1 /* c */", "line 1, column 3: expected the end of the text, found '/'"},
      {"[1\x0c]", "line 1, column 3: expected ',' or ']', found byte 0x0c"},
      {"\xef\xbb\xbf\xef\xbb\xbf"
       "1",
       "line 1, column 2: expected a value, found '\xef\xbb\xbf'"},
      {"1\xef\xbb\xbf", "line 1, column 2: expected the end of the text, found '\xef\xbb\xbf'"},
  };
  for (const Case& c : cases) {
    auto value = parse_json(c.text);
    ASSERT_FALSE(value) << c.text;
    EXPECT_EQ(value.error().kind(), ErrorKind::invalid);
    EXPECT_EQ(value.error().message(), c.message) << c.text;
  }
}

TEST(JsonParse, LastValueOfARepeatedKeyWinsInThePlaceOfTheFirst) {
  EXPECT_EQ(read_and_print(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
  EXPECT_EQ(read_and_print(R"({"a":1,"\u0061":2})"), R"({"a":2})");
  EXPECT_EQ(read_and_print(R"({"a key that is longer":1,"b":[2],"a key that is longer":[3]})"),
            R"({"a key that is longer":[3],"b":[2]})");
  std::string many = "{";
  for (int i = 0; i < 100; ++i)
    many += "\"k" + std::to_string(i % 40) + "\":" + std::to_string(i) + ",";
  many += "\"end\":0}";
  auto value = parse_json(many);
  ASSERT_TRUE(value);
  ASSERT_EQ(value->size(), 41u);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(value->members()[i].key(), "k" + std::to_string(i));
    EXPECT_EQ((*value)["k" + std::to_string(i)], Json(i < 20 ? 80 + i : 40 + i));
  }
}

TEST(JsonParse, CapsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)));
  auto deep = parse_json(nested(kMaxJsonDepth + 1));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message(), "line 1, column 129: nested deeper than 128 levels");
  EXPECT_TRUE(parse_json(nested(100'000), {.max_depth = 100'000}));
  EXPECT_FALSE(parse_json("[]", {.max_depth = 0}));
  EXPECT_TRUE(parse_json("1", {.max_depth = 0}));
}

TEST(JsonParse, AHundredMillionOpenBracketsFailAtTheCap) {
  const std::string hostile(100'000'000, '[');
  EXPECT_FALSE(parse_json(hostile));
}

TEST(JsonParse, AHundredThousandKeysAndTheirRepeatsAreNotQuadratic) {
  std::string text = "{";
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100'000; ++i) {
      text += "\"key number " + std::to_string(i) + "\":" + std::to_string(round) + ",";
    }
  }
  text += "\"end\":2}";
  auto value = parse_json(text);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 100'001u);
  EXPECT_EQ((*value)["key number 77777"], Json(1));
  EXPECT_EQ((*value)["key number 100000"], Json());
}

TEST(JsonParse, ReadsStringsOfEveryLengthWithASpecialByteAtEveryPlace) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string plain(size, 'x');
    EXPECT_EQ(parse_json("\"" + plain + "\"")->as_string(), plain);
    for (std::size_t place = 0; place < size; ++place) {
      for (const std::string_view special : {"\\n", "\\\"", "\xc3\xa9", "\\u20ac", "\xff"}) {
        std::string text = plain;
        text.replace(place, 1, special);
        std::string expected = plain;
        expected.replace(place, 1,
                         special == "\\n"       ? "\n"
                         : special == "\\\""    ? "\""
                         : special == "\\u20ac" ? "\xe2\x82\xac"
                         : special == "\xff"    ? "\xef\xbf\xbd"
                                                : special);
        auto value = parse_json("\"" + text + "\"");
        ASSERT_TRUE(value);
        ASSERT_EQ(value->as_string(), expected);
      }
    }
  }
}

TEST(JsonParse, DoublesAndIntegersComeBackExactly) {
  const std::uint64_t seed = 20240607;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = random();
    const auto real = std::bit_cast<double>(bits);
    if (std::isfinite(real)) {
      auto back = parse_json(print_json(Json(real)));
      ASSERT_TRUE(back) << real;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(*back->as_double()), bits) << real;
      ASSERT_FALSE(back->is_integer());
    }
    const auto natural = bits >> (random() % 64);
    auto back = parse_json(print_json(Json(natural)));
    ASSERT_EQ(back->as_uint(), natural);
    const auto integer = static_cast<std::int64_t>(bits) >> (random() % 64);
    back = parse_json(print_json(Json(integer)));
    ASSERT_EQ(back->as_int(), integer);
    ASSERT_TRUE(back->is_integer());
  }
}

Json random_value(std::mt19937_64& random, int depth) {
  const auto text = [&] {
    std::string out(random() % 40, '\0');
    for (char& c : out) c = static_cast<char>(random() % 4 == 0 ? random() : 'a' + random() % 26);
    return out;
  };
  switch (random() % (depth > 0 ? 9 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random());
    case 3:
      return random();
    case 4:
      return static_cast<double>(random()) / static_cast<double>(random() | 1);
    case 5:
      return *Json::number(std::to_string(random()) + std::to_string(random() | 1) + "1");
    case 6:
      return text();
    case 7: {
      Json out = Json::array();
      for (auto n = random() % 6; n > 0; --n) out.push_back(random_value(random, depth - 1));
      return out;
    }
    default: {
      Json out = Json::object();
      for (auto n = random() % 24; n > 0; --n) out.set(text(), random_value(random, depth - 1));
      return out;
    }
  }
}

TEST(JsonParse, WhatWasPrintedReadsBackAsTheSameValueAndPrintsTheSame) {
  const std::uint64_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2'000; ++i) {
    const Json value = random_value(random, 4);
    const std::string text = print_json(value);
    auto back = parse_json(text);
    ASSERT_TRUE(back) << text;
    ASSERT_EQ(*back, value) << text;
    ASSERT_EQ(print_json(*back), text);
    ASSERT_EQ(*parse_json(pretty_json(value)), value);
  }
}

TEST(JsonParse, GarbageGivesAValueOrAnErrorWithAPlace) {
  const std::uint64_t seed = 815;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr std::string_view kLikely = "{}[]\":,\\u0123dDeE+-.truefalsn \n\xc3\xa9\xff";
  for (int i = 0; i < 100'000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) {
      c = random() % 8 == 0 ? static_cast<char>(random()) : kLikely[random() % kLikely.size()];
    }
    auto value = parse_json(text);
    if (value) {
      ASSERT_EQ(*parse_json(print_json(*value)), *value) << text;
    } else {
      ASSERT_EQ(value.error().message().find("line "), 0u) << text;
    }
  }
}

TEST(JsonParse, EveryCutOfADocumentIsAnErrorAndEveryFlippedByteIsSurvived) {
  const std::string text =
      R"({"a":[1,-2.5e3,"text with \n and \u00e9",{"k":null}],"longer key than inline":true})";
  ASSERT_TRUE(parse_json(text));
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_FALSE(parse_json(std::string_view(text).substr(0, cut)));
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[cut] = static_cast<char>(byte);
      auto value = parse_json(changed);
      if (value) ASSERT_TRUE(is_utf8(print_json(*value)));
    }
  }
}

}  // namespace
}  // namespace tug
