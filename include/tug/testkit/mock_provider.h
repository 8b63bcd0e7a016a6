// A provider that says what it was told to, in the bytes of its API: for tests of whatever asks
// models over HTTP.
//
// It speaks all four dialects, streamed and whole, on real sockets (serve) or on a simulated loop
// with no sockets at all (http_client). What it is asked is written down, checked against the API's
// own rules (every call answered, ids unique, roles known), and compared with the request before
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/core/time.h"
#include "tug/core/usage.h"
#include "tug/core/wire_profile.h"
#include "tug/io/http.h"

namespace tug {

struct MockCall {
  std::string name;
  std::string arguments;  // as it stands on the wire
  std::string id;         // "call_<n>" when empty
};

// What goes wrong with one reply.
enum class MockFault : std::uint8_t {
  none,
  refuse_connection,  // close before the request is read: a new connection, or one that is kept
  close_unanswered,   // read the request, then close
  reset_unanswered,   // the same with RST
  cut_stream,         // close after `cut_after` bytes of the body
  stall,              // send `cut_after` bytes, then nothing
  pings_only,         // comments or pings for ever, no event
  garbage_gzip,       // Content-Encoding: gzip, and it is none
  bomb,               // a small gzip of `cut_after` zero bytes
  html,               // 200 with text/html
};

struct MockReply {
  static Usage some_usage() noexcept {
    Usage usage;
    usage.input_tokens = 10;
    usage.output_tokens = 5;
    return usage;
  }

  // The answer.
  std::string text;
  std::string reasoning;
  std::vector<MockCall> calls;
  Usage usage = some_usage();
  bool no_usage = false;
  std::string finish;  // the API's own word; empty: what fits
  std::string model;   // as the reply names it; empty: as asked
  // How it comes.
  std::size_t chunks = 1;         // deltas of the text
  std::vector<std::size_t> cuts;  // byte offsets of the body where a write ends
  std::size_t write_bytes = 0;    // or: at most so many a write; 0: one write an event
  Duration delay{};               // before the head
  Duration between{};             // two writes
  // Instead of an answer.
  int status = 200;
  std::string body;  // raw; with 200 and a stream this is the whole SSE text
  std::vector<std::pair<std::string, std::string>> headers;  // added to the reply's
  MockFault fault = MockFault::none;
  std::size_t cut_after = 0;
  std::optional<std::string> error_event;  // an error inside the stream, after the text
};

// One request as it came.
struct MockRequest {
  std::string method;
  std::string path;
  std::vector<HttpHeader> headers;
  std::string body;
  Json json;
  Api api = Api::openai_chat;
  bool stream = false;
  std::uint64_t connection = 0;  // which one it came on, from 1
  Instant at{};                  // when it was there
  // Byte for byte, up to the closing brackets, cache marks left out. True for the first request of
  // a conversation: no other asked the same model and began with the same message.
  bool extends_previous = false;
  std::size_t extends = 0;          // the longest request that it extends, from 1; 0: none
  std::vector<std::string> faults;  // rules of the API that it breaks
};

class MockProvider {
 public:
  virtual ~MockProvider() = default;
  // Answers in order; the last one is said again when they are used up. Without any, vectors are
  // given out and everything else is answered 400. Any thread.
  virtual void reply(MockReply reply) = 0;
  // Instead: asked for every request, on the server's thread or on the loop of the client.
  virtual void reply_with(std::function<MockReply(const MockRequest&)> answer) = 0;

  virtual std::vector<MockRequest> requests() const = 0;
  virtual std::size_t connections() const = 0;  // ever accepted
  virtual std::size_t aborted() const = 0;      // replies whose reader went away

  // On 127.0.0.1, any port; "http://127.0.0.1:PORT". Real sockets, a thread of its own.
  virtual Result<std::string> serve() = 0;
  virtual void stop() = 0;
  // The base URL for an API: with "/v1" for those of OpenAI.
  virtual std::string base_url(Api api) const = 0;

  // A client that reaches this provider, whatever the host of the URL, on any loop, in its time.
  virtual HttpClientPtr http_client() = 0;
};
std::shared_ptr<MockProvider> make_mock_provider();

}  // namespace tug
