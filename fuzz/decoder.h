// A dialect's decoder, fed with a stream and with a reply of any bytes.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz/check.h"
#include "model/dialect.h"
#include "tug/core/utf8.h"
#include "tug/io/sse.h"

namespace tug::fuzz {

struct Asked {
  ModelRequest request;
  ModelProfile profile;
  ProviderConfig provider;
  WireCall call(bool stream) const { return {request, profile, provider, stream, nullptr}; }
};

inline Asked asked(Api api) {
  Asked asked;
  asked.profile = {.provider = "p", .name = "m", .vision = true, .reasoning = true};
  asked.provider.name = "p";
  asked.provider.api = api;
  return asked;
}

struct Decoded {
  std::vector<ModelEvent> events;
  bool failed = false;
};

inline Decoded decode_stream(const Dialect& dialect, const Asked& asked, std::string_view bytes,
                             std::size_t piece) {
  const WireCall call = asked.call(true);
  const std::unique_ptr<Decoder> decoder = dialect.decoder(call);
  Decoded decoded;
  SseFramer framer;
  const auto take = [&](const SseEvent& event) {
    return decoder->on_event(event.name, event.data, decoded.events);
  };
  for (; !bytes.empty() && !decoded.failed; bytes.remove_prefix(std::min(piece, bytes.size())))
    decoded.failed = !framer.feed(bytes.substr(0, piece), take);
  if (!decoded.failed) decoded.failed = !framer.end(take);
  if (!decoded.failed) decoded.failed = !decoder->on_end(decoded.events);
  return decoded;
}

inline Decoded decode_reply(const Dialect& dialect, const Asked& asked, std::string_view bytes) {
  const WireCall call = asked.call(false);
  const std::unique_ptr<Decoder> decoder = dialect.decoder(call);
  Decoded decoded;
  decoded.failed = !decoder->on_reply(bytes, decoded.events);
  if (!decoded.failed) decoded.failed = !decoder->on_end(decoded.events);
  return decoded;
}

inline const ModelTurn* turn_in(const Decoded& decoded) {
  const ModelTurn* turn = nullptr;
  for (const ModelEvent& event : decoded.events) {
    must(!turn, "nothing comes behind the turn");
    turn = std::get_if<ModelTurn>(&event);
  }
  must(decoded.failed || turn, "an answer that did not fail has a turn");
  return turn;
}

// What was said can be sent back: the request is one JSON document.
inline void check_turn(const Dialect& dialect, Asked asked, const ModelTurn& turn) {
  must(turn.message != nullptr, "a turn has a message");
  must(turn.usage.input_tokens >= 0 && turn.usage.output_tokens >= 0, "usage is not negative");
  for (const Part& part : turn.message->parts()) {
    const auto* text = std::get_if<TextPart>(&part);
    must(!text || is_utf8(text->text), "text is well-formed");
  }
  Transcript& transcript = asked.request.transcript;
  must(transcript.append_user(Message::user("Go.")).has_value(), "a question can be asked");
  const auto appended = transcript.append_turn(turn.message, 1);
  if (!appended) return;
  if (transcript.has_open_calls())
    must(transcript.close_open("stopped").has_value(), "calls can be closed");
  const WireCall call = asked.call(true);
  const auto encoded = dialect.encode(call);
  if (!encoded) return;
  // Numbers, depth: what we write we can read, unless it was nested deeper than is read.
  const std::string body = encoded->body.joined();
  must(is_utf8(body), "a request is well-formed UTF-8");
  must(parse_json(body, {.max_depth = 2 * kMaxJsonDepth + 16}).has_value(), "a request is JSON");
}

inline void check(const Dialect& dialect, const Asked& asked, std::string_view bytes) {
  const Decoded whole =
      decode_stream(dialect, asked, bytes, std::max<std::size_t>(bytes.size(), 1));
  const Decoded single = decode_stream(dialect, asked, bytes, 1);
  must(whole.failed == single.failed && whole.events.size() == single.events.size(),
       "byte by byte it says the same");
  if (const ModelTurn* turn = turn_in(whole)) check_turn(dialect, asked, *turn);
  const Decoded reply = decode_reply(dialect, asked, bytes);
  if (const ModelTurn* turn = turn_in(reply)) check_turn(dialect, asked, *turn);
}

}  // namespace tug::fuzz
