// Streams and replies of Anthropic under tests/wire/anthropic, whole, in pieces and cut.
#include "model/dialect_testing.h"

namespace tug::testing {
namespace {

WireCase golden_case() {
  WireCase asked;
  asked.profile = {.provider = "anthropic", .name = "claude-sonnet-5", .context_tokens = 200'000};
  asked.provider = {.name = "anthropic", .api = Api::anthropic};
  return asked;
}

TEST(AnthropicGolden, EveryStreamGivesTheSameEventsHoweverItIsCut) {
  const auto ended = [](std::string_view bytes) {
    return bytes.find(R"("type":"message_stop")") != bytes.npos;
  };
  const WireCase asked = golden_case();
  const std::vector<Golden> goldens = goldens_of("anthropic");
  EXPECT_GE(goldens.size(), 15u);
  for (const Golden& golden : goldens) check_golden(anthropic_dialect(), asked, golden, ended);
}

TEST(AnthropicGolden, ARawReplyIsPutTogetherFromAStream) {
  const WireCase asked = golden_case();
  const WireCall call = asked.call();
  std::vector<ModelEvent> out;
  for (const Golden& golden : goldens_of("anthropic")) {
    if (golden.name != "parallel_calls") continue;
    const auto decoder = anthropic_dialect().decoder(call);
    SseFramer framer;
    ASSERT_TRUE(framer.feed(golden.bytes, [&](const SseEvent& event) {
      return decoder->on_event(event.name, event.data, out);
    }));
  }
  ASSERT_FALSE(out.empty());
  const ModelTurn& turn = std::get<ModelTurn>(out.back());
  EXPECT_EQ(turn.raw["content"], json_of(R"([
    {"type":"thinking","thinking":"Two files are asked for.","signature":"EqQBCgIYAhIM+/9x=="},
    {"type":"text","text":"I look."},
    {"type":"tool_use","id":"toolu_a","name":"read_file","input":{"path":"a"}},
    {"type":"tool_use","id":"toolu_b","name":"read_file","input":{"path":"b"}}])"));
  EXPECT_EQ(turn.raw["id"], Json("msg_01"));
  EXPECT_EQ(turn.raw["stop_reason"], Json("tool_use"));
  EXPECT_EQ(turn.raw["usage"]["output_tokens"], Json(57));
  EXPECT_EQ(turn.raw["usage"]["cache_read_input_tokens"], Json(100));
}

}  // namespace
}  // namespace tug::testing
