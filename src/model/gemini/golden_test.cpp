// Streams and replies of Gemini under tests/wire/gemini, whole, in pieces and cut.
#include "model/dialect_testing.h"

namespace tug::testing {
namespace {

WireCase golden_case() {
  WireCase asked;
  asked.profile = {.provider = "gemini", .name = "gemini-3.5-flash"};
  asked.provider = {.name = "gemini", .api = Api::gemini};
  return asked;
}

TEST(GeminiGolden, EveryStreamGivesTheSameEventsHoweverItIsCut) {
  const auto ended = [](std::string_view bytes) {
    return bytes.find(R"("finishReason":")") != bytes.npos ||
           bytes.find(R"("blockReason":")") != bytes.npos;
  };
  const WireCase asked = golden_case();
  const std::vector<Golden> goldens = goldens_of("gemini");
  EXPECT_GE(goldens.size(), 17u);
  for (const Golden& golden : goldens) check_golden(gemini_dialect(), asked, golden, ended);
}

TEST(GeminiGolden, ARawReplyIsPutTogetherFromAStream) {
  const WireCase asked = golden_case();
  const ModelTurn turn = turn_of(
      gemini_dialect(), asked,
      {R"({"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}],"responseId":"r"})",
       R"({"candidates":[{"content":{"parts":[{"text":".","thought":true}]}}],"responseId":"r"})",
       R"({"candidates":[{"content":{"parts":[{"text":"A"}]}}],"responseId":"r"})",
       R"({"candidates":[{"content":{"parts":[{"text":"B"},{"functionCall":{"name":"f"}}]},)"
       R"("finishReason":"STOP","avgLogprobs":-1}],"responseId":"r"})"});
  EXPECT_EQ(turn.raw, json_of(R"({"candidates":[{"content":{"role":"model","parts":[
    {"text":"Hm.","thought":true},{"text":"AB"},{"functionCall":{"name":"f"}}]},
    "finishReason":"STOP","avgLogprobs":-1}],"responseId":"r"})"));
}

}  // namespace
}  // namespace tug::testing
