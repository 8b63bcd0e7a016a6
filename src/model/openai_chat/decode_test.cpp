// What Chat Completions servers send, read back. Rows are those of the table of provider faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>

#include "model/openai_chat/wire.h"
#include "model/wire_testing.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

using testing::WireCase;

// The providers of goldens are the first words of their names.
WireCase asked_of(std::string_view golden) {
  WireCase asked;
  asked.provider.name = std::string(golden.substr(0, golden.find_first_of("_.")));
  if (asked.provider.name == "deepseek") asked.provider.quirks = {"reasoning_content"};
  asked.profile.provider = asked.provider.name;
  asked.profile.name = "m";
  return asked;
}

std::vector<std::string> said(std::string_view stream, const WireCase& asked = asked_of("test")) {
  return testing::decode_stream(openai_chat_dialect(), asked.call(), {stream});
}

std::vector<std::string> replied(std::string_view body) {
  const WireCase asked = asked_of("test");
  return testing::decode_reply(openai_chat_dialect(), asked.call(false), body);
}

std::string golden(std::string_view name) {
  return testing::read_golden_file(std::string(TUG_SOURCE_DIR) + "/tests/wire/openai_chat/" +
                                   std::string(name));
}

std::string event(std::string_view json) { return "data: " + std::string(json) + "\n\n"; }
std::string delta(std::string_view members, std::string_view finish = "null") {
  return event(R"({"id":"c","model":"m","choices":[{"index":0,"delta":{)" + std::string(members) +
               R"(},"finish_reason":)" + std::string(finish) + "}]}");
}
std::string in_quotes(std::string_view text) {
  std::string out;
  print_json_string(text, out);
  return out;
}
std::string fragment(int index, std::string_view id, std::string_view name,
                     std::string_view arguments) {
  std::string out = R"({"index":)" + std::to_string(index);
  if (!id.empty()) out += ",\"id\":" + in_quotes(id);
  out += ",\"function\":{";
  if (!name.empty()) out += "\"name\":" + in_quotes(name) + ",";
  return out + "\"arguments\":" + in_quotes(arguments) + "}}";
}
std::string call(const std::string& fragments, std::string_view finish = "null") {
  return delta("\"tool_calls\":[" + fragments + "]", finish);
}

using Lines = std::vector<std::string>;
constexpr std::string_view kNoUsage = "  usage in=0 out=0 read=0 write=0 reasoning=0";

bool has_ended(std::string_view bytes) {
  static const std::regex kEnd(R"re("finish_reason"\s*:\s*"[^"]+")re");
  return std::regex_search(bytes.begin(), bytes.end(), kEnd);
}

// Rows 8, 13, 14, 18, 19 and more: what is in the files.
TEST(ChatDecode, GoldensSayTheSameHoweverSplitAndNeverFinishWhenCut) {
  const std::vector<testing::Golden> all = testing::goldens_of("openai_chat");
  ASSERT_GT(all.size(), 25u);
  for (const testing::Golden& golden : all)
    testing::check_golden(openai_chat_dialect(), asked_of(golden.name), golden, has_ended);
}

// Row 13.
TEST(ChatDecode, FramesAreReadByTheStandard) {
  const Lines lines = said(golden("framing.sse"));
  const Lines expected = {"text:one",
                          "text: two",
                          "text: three",
                          "turn stop",
                          "  text:one two three",
                          std::string(kNoUsage),
                          "  model m",
                          "  response c-1"};
  EXPECT_EQ(lines, expected);
}

// Row 14.
TEST(ChatDecode, ACharacterMayBeSplitBetweenReads) {
  const std::string stream = delta("\"content\":\"\xF0\x9F\x98\x80\"") + delta("", "\"stop\"");
  const std::size_t at = stream.find('\xF0');
  const WireCase asked = asked_of("test");
  for (std::size_t cut = at; cut < at + 4; ++cut) {
    const std::string_view bytes = stream;
    const Lines lines = testing::decode_stream(openai_chat_dialect(), asked.call(),
                                               {bytes.substr(0, cut), bytes.substr(cut)});
    EXPECT_EQ(lines[0], "text:\xF0\x9F\x98\x80");
  }
}

// Row 15.
TEST(ChatDecode, InvalidUtf8IsReplacedAndNothingBreaks) {
  const std::uint32_t seed = 20261115;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string junk;
    for (int j = 0; j < 8; ++j) {
      const char byte = static_cast<char>(random() & 0xFF);
      if (byte != '"' && byte != '\\' && static_cast<unsigned char>(byte) >= 0x20) junk += byte;
    }
    const Lines lines = said(delta("\"content\":\"<" + junk + ">\"") + delta("", "\"stop\""));
    ASSERT_EQ(lines[0], "text:<" + testing::visible(repair_utf8(junk)) + ">");
    ASSERT_EQ(lines[1], "turn stop");
  }
}

// Row 16.
TEST(ChatDecode, ALoneSurrogateBecomesTheReplacementCharacter) {
  const Lines lines = said(delta(R"("content":"a\ud83d")") + delta(R"("content":"\ude00b")") +
                           delta(R"("content":"\ud83d\ude00")", "\"stop\""));
  EXPECT_EQ(lines[0], "text:a\xEF\xBF\xBD");
  EXPECT_EQ(lines[1],
            "text:\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(lines[2], "text:\xF0\x9F\x98\x80");
}

// Row 17.
TEST(ChatDecode, WhatAnErrorQuotesIsCutBetweenCharacters) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string page(shift, '<');
    for (int i = 0; i < 100; ++i) page += "\xF0\x9F\x98\x80";
    const WireCase asked = asked_of("test");
    std::vector<ModelEvent> out;
    const Result<void> read = openai_chat_dialect().decoder(asked.call(false))->on_reply(page, out);
    ASSERT_FALSE(read);
    EXPECT_TRUE(is_utf8(read.error().message()));
    EXPECT_LT(read.error().message().size(), 300u);
    EXPECT_EQ(fault_of(read.error()), Fault::not_an_answer);
  }
}

// Row 18.
TEST(ChatDecode, ChunksWithoutChoicesAreSkippedAndTheirUsageIsKept) {
  const std::string text = delta("\"content\":\"hi\"");
  const std::string stop = delta("", "\"stop\"");
  for (const std::string_view choices :
       {"", R"(,"choices":null)", R"(,"choices":[])", R"(,"choices":[null])",
        R"(,"choices":[{"delta":null}])", R"(,"choices":[{"index":0,"delta":{}}])"}) {
    const std::string odd = event(R"({"id":"c","usage":{"prompt_tokens":3,"completion_tokens":2})" +
                                  std::string(choices) + "}");
    const Lines expected = {"text:hi",   "turn stop",
                            "  text:hi", "  usage in=3 out=2 read=0 write=0 reasoning=0",
                            "  model m", "  response c"};
    EXPECT_EQ(said(text + stop + odd + event("[DONE]")), expected) << choices;
    EXPECT_EQ(said(text + stop + odd), expected) << choices;
    Lines before = said(odd + text + stop);
    EXPECT_EQ(before.front(), "usage in=3 out=2 read=0 write=0 reasoning=0") << choices;
    before.erase(before.begin());
    EXPECT_EQ(before, expected) << choices;
  }
}

// Row 19.
TEST(ChatDecode, AFinishReasonIsAnEndWithoutDone) {
  EXPECT_EQ(said(delta("\"content\":\"hi\"", "\"stop\""))[1], "turn stop");
}

TEST(ChatDecode, AMessageInAStreamIsTakenOnceOnly) {
  const std::string whole = event(
      R"({"id":"c","model":"m","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]})");
  EXPECT_EQ(said(whole)[2], "  text:hi");
  EXPECT_EQ(said(delta("\"content\":\"hi\"") + whole)[2], "  text:hi");
}

// Row 8: a gateway closes its own stream in good order when the one behind it broke.
TEST(ChatDecode, DoneWithoutAFinishReasonIsACutStream) {
  const Lines expected = {"text:hi", "error stream_cut"};
  EXPECT_EQ(said(delta("\"content\":\"hi\"") + event("[DONE]")), expected);
  EXPECT_EQ(said(""), Lines{"error stream_cut"});
}

// Row 21.
TEST(ChatDecode, CallsThatLengthCutKeepTheirFinish) {
  const Lines lines = said(call(fragment(0, "a", "write", R"({"text":"half)"), "\"length\""));
  EXPECT_EQ(lines[1], "turn length");
  EXPECT_EQ(lines[2], R"(  call a write {"text":"half)");
}

// Row 22.
TEST(ChatDecode, CutArgumentsAreNeverRepairedWhateverTheFinishSays) {
  const Lines lines = said(call(fragment(0, "a", "write", R"({"text":"half)"), "\"tool_calls\""));
  EXPECT_EQ(lines[1], "turn tool_calls");
  EXPECT_EQ(lines[2], R"(  call a write {"text":"half)");
}

// Row 24.
TEST(ChatDecode, NoArgumentsAreAnEmptyObject) {
  EXPECT_EQ(said(call(fragment(0, "a", "now", ""), "\"tool_calls\""))[2], "  call a now {}");
}

// Row 25: what they mean is for the schema to say.
TEST(ChatDecode, DoublyEncodedArgumentsStayTheTextThatCame) {
  EXPECT_EQ(said(call(fragment(0, "a", "f", R"("{\"x\":1}")"), "\"tool_calls\""))[2],
            R"(  call a f "{\"x\":1}")");
}

// Rows 26 and 27: the provider's id is kept beside ours, whatever it is.
TEST(ChatDecode, IdsThatClashOrAreMissingLeaveCallsApart) {
  const Lines lines =
      said(call(fragment(0, "call_0", "f", "{}") + "," + fragment(1, "call_0", "g", "{}") + "," +
                    fragment(2, "", "h", "{}"),
                "\"tool_calls\""));
  const Lines calls(lines.begin() + 4, lines.begin() + 7);
  EXPECT_EQ(calls, (Lines{"  call call_0 f {}", "  call call_0 g {}", "  call  h {}"}));
}

// Row 28.
TEST(ChatDecode, FragmentsOfCallsMayComeInAnyOrderAmongEachOther) {
  std::vector<int> order = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  int permutations = 0;
  do {
    int seen[3] = {};
    std::string stream;
    for (const int index : order) {
      const std::string pieces[] = {"{\"i\":", std::to_string(index), "}"};
      const int piece = seen[index]++;
      const std::string id = piece == 0 ? "id" + std::to_string(index) : "";
      stream += call(fragment(index, id, piece == 0 ? "f" : "", pieces[piece]));
    }
    Lines lines = said(stream + delta("", "\"tool_calls\""));
    Lines calls;
    std::ranges::copy_if(lines, std::back_inserter(calls),
                         [](const std::string& line) { return line.starts_with("  call "); });
    std::ranges::sort(calls);
    const Lines expected = {"  call id0 f {\"i\":0}", "  call id1 f {\"i\":1}",
                            "  call id2 f {\"i\":2}"};
    ASSERT_EQ(calls, expected);
    ++permutations;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(permutations, 1680);
}

// Row 28.
TEST(ChatDecode, AFragmentOfNoKnownCallIsAMalformedCall) {
  const Lines lines =
      said(call(fragment(0, "a", "f", "{}")) + call(fragment(5, "", "", "{}"), "\"tool_calls\""));
  EXPECT_EQ(lines.back(), "error malformed_call");
}

// Row 40.
TEST(ChatDecode, RefusalsAndFiltersAreToldAsSuch) {
  EXPECT_EQ(said(delta("\"content\":\"Su\"") + delta("", "\"content_filter\""))[1], "turn refusal");
  EXPECT_EQ(said(delta("\"refusal\":\"No.\"", "\"stop\"")),
            (Lines{"text:No.", "turn refusal", "  text:No.", std::string(kNoUsage), "  model m",
                   "  response c"}));
  EXPECT_EQ(replied(golden("openai_refusal_whole.json"))[0], "turn refusal");
}

// Row 48.
TEST(ChatDecode, HostileJsonIsNoAnswer) {
  std::string deep = R"({"choices":)";
  deep.append(1'000'000, '[');
  EXPECT_EQ(said(event(deep)), Lines{"error not_an_answer"});
  EXPECT_EQ(replied(deep), Lines{"error not_an_answer"});
  EXPECT_EQ(said(event("{\"choices\":[")), Lines{"error not_an_answer"});
  EXPECT_EQ(said(event("[1]")), Lines{"error not_an_answer"});
  EXPECT_EQ(said(golden("odd_numbers.sse"))[1], "text:!");  // the last of two members
}

// Row 49.
TEST(ChatDecode, TheFirstEndWinsAndTheRestIsIgnored) {
  const Lines lines = said(golden("two_ends.sse"));
  EXPECT_EQ(lines[1], "turn stop");
  EXPECT_EQ(lines[2], "  text:one");
  EXPECT_EQ(std::ranges::count_if(lines, testing::is_turn_line), 1);
}

// Row 50.
TEST(ChatDecode, UsageMayBeMissingNegativeOrFall) {
  const std::string stop = delta("\"content\":\"x\"", "\"stop\"");
  const auto used = [&](std::string_view usage) {
    return said(stop + event(R"({"choices":[],"usage":)" + std::string(usage) + "}"))[3];
  };
  EXPECT_EQ(said(stop)[3], kNoUsage);
  EXPECT_EQ(used("null"), kNoUsage);
  EXPECT_EQ(used("7"), kNoUsage);
  EXPECT_EQ(used(R"({"prompt_tokens":-3,"completion_tokens":"x","total_tokens":null})"), kNoUsage);
  const Lines falling = said(golden("usage_goes_down.sse"));
  EXPECT_EQ(std::ranges::count(falling, "  usage in=10 out=5 read=0 write=0 reasoning=0"), 1);
}

// Row 51.
TEST(ChatDecode, ChunksOfAnotherAnswerAreRefused) {
  const std::string first = delta("\"content\":\"mine\"");
  const std::string other =
      event(R"({"id":"d","model":"n","choices":[{"index":0,"delta":{"content":"yours"}}]})");
  EXPECT_EQ(said(first + other), (Lines{"text:mine", "error not_an_answer"}));
  const std::string renamed = event(
      R"({"id":"d","model":"m","choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"stop"}]})");
  const Lines lines = said(first + renamed);
  EXPECT_EQ(lines[3], "  text:mine!");
  EXPECT_EQ(lines.back(), "  note the answer changed its id as it came: c, then d");
}

TEST(ChatDecode, AnErrorInsideAStreamEndsItAndIsClassified) {
  const std::string text = delta("\"content\":\"Hel\"");
  for (
      const std::string& failure :
      {event(
           R"({"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]})"),
       event(R"({"error":"upstream"})"),
       event(R"({"object":"error","message":"upstream","code":502})"),
       "event: error\n" + event(R"({"message":"upstream"})"),
       event(R"({"choices":[{"index":0,"error":{"code":502,"message":"upstream"}}]})"),
       delta("", "\"error\""), delta("", "\"insufficient_system_resource\"")}) {
    const Lines lines = said(text + failure + text + delta("", "\"stop\""));
    ASSERT_EQ(lines.size(), 2u) << failure;
    EXPECT_TRUE(lines[1].starts_with("error ")) << failure;
  }
  EXPECT_EQ(replied(R"({"error":{"message":"no"}})").size(), 1u);
}

TEST(ChatDecode, AWebPageIsNoAnswer) {
  EXPECT_EQ(replied("<!DOCTYPE html><html>Sign in</html>"), Lines{"error not_an_answer"});
  EXPECT_EQ(replied(R"({"detail":"not here"})"), Lines{"error not_an_answer"});
  EXPECT_EQ(said("data: <html>\n\n"), Lines{"error not_an_answer"});
}

TEST(ChatDecode, AnAnswerThatHoldsTooManyCallsIsRefused) {
  std::string stream;
  for (std::size_t i = 0; i <= kMaxCallsOfAnAnswer; ++i)
    stream += call(fragment(static_cast<int>(i), "", "f", "{}"));
  EXPECT_EQ(said(stream).back(), "error response_too_large");
}

TEST(ChatDecode, WhatIsKeptOfAStreamIsTheReplyInOnePiece) {
  const WireCase asked = asked_of("test");
  const auto decoder = openai_chat_dialect().decoder(asked.call());
  std::vector<ModelEvent> out;
  const auto take = [&](std::string_view data) {
    ASSERT_TRUE(decoder->on_event("message", data, out));
  };
  take(
      R"({"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"reasoning":"Hm"}}]})");
  take(R"({"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]})");
  take(
      R"({"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})");
  take(R"({"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}})");
  take("[DONE]");
  const auto& turn = std::get<ModelTurn>(out.back());
  EXPECT_EQ(
      print_json(turn.raw),
      R"({"id":"c","object":"chat.completion","created":1,"model":"m",)"
      R"("usage":{"prompt_tokens":1,"completion_tokens":2},"choices":[{"index":0,"message":)"
      R"({"role":"assistant","content":"a","reasoning":"Hm","tool_calls":[{"id":"x","type":"function",)"
      R"("function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})");
}

// Most deltas are read without parsing; one that has something else in it every time never is.
TEST(ChatDecode, DeltasReadByTheirShapeSayWhatParsingSays) {
  const std::uint32_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> words = {
      "a", "\"", "\\", "\n", "\xC3\xA9", "", "}]}\"", "\\u", "{\"", ",\"content\":\"", "\x01"};
  std::string alike;
  std::string padded;
  std::string unlike;
  for (int i = 0; i < 3000; ++i) {
    const std::string text =
        in_quotes(words[random() % words.size()] + words[random() % words.size()]);
    std::string members;
    switch (random() % 16) {
      case 0:
        members = "\"reasoning_content\":" + text;
        break;
      case 1:
        members = R"("tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}])";
        break;
      case 2:
      case 3:
        members = R"("tool_calls":[{"index":0,"function":{"arguments":)" + text + "}}]";
        break;
      case 4:
        members = "\"content\":" + text + ",\"reasoning_content\":" + text;
        break;
      default:
        members = "\"content\":" + text;
        break;
    }
    if (i == 0) members = R"("tool_calls":[{"index":0,"function":{"name":"f"}}])";
    const std::string chunk = R"({"id":"c","choices":[{"index":0,"delta":{)" + members + "}}]";
    alike += event(chunk + "}");
    padded += event(chunk + ",\"obfuscation\":\"" + std::string(random() % 9, 'x') + "\"}");
    unlike += event(chunk + ",\"nonce\":" + std::to_string(random()) + "}");
  }
  const std::string stop = delta("", "\"stop\"");
  EXPECT_EQ(said(alike + stop), said(unlike + stop));
  EXPECT_EQ(said(padded + stop), said(unlike + stop));
}

}  // namespace
}  // namespace tug
