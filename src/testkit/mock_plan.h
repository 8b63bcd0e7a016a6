// What the mock provider does about one request: a head, then bytes with pauses before them. Pure;
// the server and the client of the simulation act on the same plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/time.h"
#include "tug/io/http.h"
#include "tug/testkit/mock_provider.h"

namespace tug {

struct MockWrite {
  Duration wait{};  // before it
  std::string bytes;
};

// How the connection is left when everything was written.
enum class MockEnd : std::uint8_t {
  whole,  // the reply is complete, the connection stays
  close,  // it breaks off
  reset,  // the same with RST
  stall,  // nothing more ever comes
  pings,  // `ping` comes again and again
};

enum class MockCoding : std::uint8_t { plain, broken_gzip, zeros };

struct MockPlan {
  bool answered = true;  // false: not even a head comes
  int status = 200;
  std::vector<HttpHeader> headers;  // without those that frame the body
  bool streamed = false;            // sent in chunks, as it comes
  Duration wait{};                  // before the head
  std::vector<MockWrite> writes;
  MockEnd end = MockEnd::whole;
  MockWrite ping;
  // What the bytes are to a reader that decodes them.
  MockCoding coding = MockCoding::plain;
  std::size_t zeros = 0;

  std::size_t body_bytes() const noexcept;
};

// `number` of the request, from 1: what ids are made of. The calls of `reply` have theirs.
MockPlan plan_reply(const MockRequest& request, const MockReply& reply, std::uint64_t number);

// --- what each API's answers look like

// One answer to be put into words.
struct MockVoice {
  const MockRequest& request;
  const MockReply& reply;
  std::string model;
  std::string number;
};

// The JSON of a whole answer.
std::string mock_chat_reply(const MockVoice& voice);
std::string mock_responses_reply(const MockVoice& voice);
std::string mock_anthropic_reply(const MockVoice& voice);
std::string mock_gemini_reply(const MockVoice& voice);
// The events of a streamed one, each with its blank line.
std::vector<std::string> mock_chat_events(const MockVoice& voice);
std::vector<std::string> mock_responses_events(const MockVoice& voice);
std::vector<std::string> mock_anthropic_events(const MockVoice& voice);
std::vector<std::string> mock_gemini_events(const MockVoice& voice);
// Vectors for the texts of the request, in the shape of OpenAI or of Ollama.
std::string mock_embeddings(const MockVoice& voice);

// --- what they share

// `count` pieces, cut between code points; fewer when the text is short, one for an empty text.
std::vector<std::string_view> mock_pieces(std::string_view text, std::size_t count);
// Arguments where the API has an object; what is no JSON stays a string.
Json mock_arguments(std::string_view text);
// A signature for reasoning: the same text, the same signature.
std::string mock_signature(std::string_view text);
std::string mock_event(std::string_view name, const Json& data);  // no name: data only

// A gzip stream that expands to `zeros` zero bytes, about a thousand times its size.
std::string gzip_of_zeros(std::size_t zeros);

}  // namespace tug
