// What the tests of single dialects share: a case to change, and what is sent or read of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/wire_testing.h"

namespace tug::testing {

inline Json json_of(std::string_view text) {
  Result<Json> json = parse_json(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

inline std::shared_ptr<const ToolSpec> tool_of(std::string name, std::string_view schema) {
  return std::make_shared<const ToolSpec>(
      ToolSpec{.name = std::move(name), .description = "Does it.", .parameters = json_of(schema)});
}

inline void give_tools(WireCase& asked, const Dialect& dialect, ToolSpecs tools) {
  asked.request.tools = std::make_shared<const ToolSpecs>(std::move(tools));
  asked.tools = std::make_shared<const std::string>(
      dialect.encode_tools(*asked.request.tools, asked.profile, asked.provider));
}

inline void say(WireCase& asked, MessagePtr message) {
  asked.request.transcript = *Transcript::of({std::move(message)});
}

inline EncodedCall encoded(const Dialect& dialect, const WireCase& asked, bool stream = true) {
  Result<EncodedCall> call = dialect.encode(asked.call(stream));
  EXPECT_TRUE(call) << (call ? "" : to_string(call.error()));
  return call ? *std::move(call) : EncodedCall();
}
inline Json body_of(const Dialect& dialect, const WireCase& asked) {
  return json_of(encoded(dialect, asked).body.joined());
}

// A stream of these events, each `data:` alone.
inline std::string stream_of(const std::vector<std::string>& events) {
  std::string bytes;
  for (const std::string& event : events) bytes += "data: " + event + "\n\n";
  return bytes;
}
inline std::vector<std::string> lines_of(const Dialect& dialect, const WireCase& asked,
                                         const std::vector<std::string>& events) {
  return decode_stream(dialect, asked.call(), {stream_of(events)});
}

// The closing turn of a stream; a failed test where there is none.
inline ModelTurn turn_of(const Dialect& dialect, const WireCase& asked,
                         const std::vector<std::string>& events) {
  const WireCall call = asked.call();
  const std::unique_ptr<Decoder> decoder = dialect.decoder(call);
  std::vector<ModelEvent> out;
  for (const std::string& event : events) {
    const Result<void> taken = decoder->on_event("message", event, out);
    EXPECT_TRUE(taken) << (taken ? "" : to_string(taken.error()));
  }
  const Result<void> ended = decoder->on_end(out);
  EXPECT_TRUE(ended) << (ended ? "" : to_string(ended.error()));
  auto* turn = out.empty() ? nullptr : std::get_if<ModelTurn>(&out.back());
  EXPECT_TRUE(turn) << "no turn came";
  return turn ? std::move(*turn) : ModelTurn{.message = Message::assistant("")};
}

// What a stream fails with.
inline Error error_of(const Dialect& dialect, const WireCase& asked,
                      const std::vector<std::string>& events) {
  const WireCall call = asked.call();
  const std::unique_ptr<Decoder> decoder = dialect.decoder(call);
  std::vector<ModelEvent> out;
  for (const std::string& event : events) {
    if (Result<void> taken = decoder->on_event("message", event, out); !taken)
      return std::move(taken).error();
  }
  if (Result<void> ended = decoder->on_end(out); !ended) return std::move(ended).error();
  ADD_FAILURE() << "nothing failed";
  return Error(ErrorKind::internal, "nothing failed");
}

// The turn as it will stand in the next request: with ids of ours.
inline MessagePtr appended(const ModelTurn& turn) {
  Transcript transcript;
  Result<MessagePtr> message = transcript.append_turn(turn.message, 1);
  EXPECT_TRUE(message);
  return message ? *message : turn.message;
}

}  // namespace tug::testing
