// What the tests of dialects share: golden streams, and requests that only grow.
//
// A golden is tests/wire/<dialect>/NAME.sse (a stream) or NAME.json (a reply in one piece): the
// bytes of a body as a provider sends them. NAME.expect beside it holds what becomes of them, one
// line per event:
//
//   text:Hello                       as line_of writes it, control bytes as \n and \xNN
//   call 0 call_a read_file {"pa
//   usage in=12 out=3
//   turn tool_calls                  the closing turn, then what it holds, indented
//     reasoning openrouter {"signature":"x"}:I should read it
//     text:Hello
//     call call_a read_file {"path":"a"}
//     usage in=12 out=3 read=8 write=0 reasoning=0 total=15
//     cost $0.0002 / model m / response r / nudge n / note n   where there is one
//   error stream_cut                 the class of a failure, which is always the last line
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dialect.h"
#include "model/testing.h"
#include "tug/io/sse.h"

namespace tug::testing {

struct Golden {
  std::string name;  // without folder and ending
  std::string bytes;
  std::string expect;
  bool stream = true;
};

// Who is asked and for what, owned, for a WireCall that refers to it.
struct WireCase {
  ModelRequest request;
  ModelProfile profile;
  ProviderConfig provider;
  std::shared_ptr<const std::string> tools;

  WireCall call(bool stream = true) const { return {request, profile, provider, stream, tools}; }
};

// Has the provider said that it is done, somewhere in these bytes? The bytes of a stream only.
using Ended = std::function<bool(std::string_view bytes)>;

inline std::string visible(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

inline std::string counts_of(const Usage& usage) {
  std::string out = "in=" + std::to_string(usage.input_tokens) +
                    " out=" + std::to_string(usage.output_tokens) +
                    " read=" + std::to_string(usage.cache_read_tokens) +
                    " write=" + std::to_string(usage.cache_write_tokens) +
                    " reasoning=" + std::to_string(usage.reasoning_tokens);
  if (usage.total_tokens) out += " total=" + std::to_string(*usage.total_tokens);
  return out;
}

inline std::string line_of_part(const Part& part) {
  struct Lines {
    std::string operator()(const TextPart& text) const { return "text:" + text.text; }
    std::string operator()(const MediaPart& media) const {
      return "media " + media.mime + " " + (media.bytes ? *media.bytes : media.url);
    }
    std::string operator()(const ReasoningPart& part) const {
      return "reasoning " + part.provider + (part.redacted ? " redacted " : " ") +
             print_json(part.opaque) + ":" + part.text;
    }
    std::string operator()(const ToolCall& call) const {
      return "call " + call.provider_id + " " + call.tool + " " + call.arguments;
    }
    std::string operator()(const ToolResult& result) const {
      return "result " + result.call.text() + " " + result.content;
    }
    std::string operator()(const ProviderBlock& block) const {
      return "block " + block.provider + " " + print_json(block.data);
    }
  };
  return std::visit(Lines{}, part);
}

// The lines of one event; of a turn, also those of what it holds.
inline void add_lines(const ModelEvent& event, std::vector<std::string>& lines) {
  if (const auto* usage = std::get_if<UsageDelta>(&event)) {
    lines.push_back("usage " + counts_of(usage->usage));
    return;
  }
  lines.push_back(visible(line_of(event)));
  const auto* turn = std::get_if<ModelTurn>(&event);
  if (!turn) return;
  const auto add = [&](std::string line) { lines.push_back("  " + visible(line)); };
  if (turn->message) {
    for (const Part& part : turn->message->parts()) add(line_of_part(part));
  }
  add("usage " + counts_of(turn->usage));
  if (turn->cost) add("cost " + to_string(*turn->cost));
  if (!turn->model.empty()) add("model " + turn->model);
  if (!turn->response_id.empty()) add("response " + turn->response_id);
  if (!turn->nudge.empty()) add("nudge " + turn->nudge);
  for (const std::string& note : turn->notes) add("note " + note);
}

inline std::string line_of(const Error& error) {
  const std::optional<Fault> fault = fault_of(error);
  return "error " + std::string(fault ? name_of(*fault) : name_of(error.kind()));
}

inline bool is_turn_line(const std::string& line) { return line.starts_with("turn "); }

// What becomes of bytes that come in these pieces: what the glue does, without a socket. An error
// ends it.
inline std::vector<std::string> decode_stream(const Dialect& dialect, const WireCall& call,
                                              const std::vector<std::string_view>& pieces) {
  const std::unique_ptr<Decoder> decoder = dialect.decoder(call);
  SseFramer framer;
  std::vector<ModelEvent> events;
  const auto take = [&](const SseEvent& event) {
    return decoder->on_event(event.name, event.data, events);
  };
  Result<void> done;
  for (const std::string_view piece : pieces) {
    if (done) done = framer.feed(piece, take);
  }
  if (done) done = framer.end(take);
  if (done) done = decoder->on_end(events);
  std::vector<std::string> lines;
  for (const ModelEvent& event : events) add_lines(event, lines);
  if (!done) lines.push_back(line_of(done.error()));
  return lines;
}

inline std::vector<std::string> decode_reply(const Dialect& dialect, const WireCall& call,
                                             std::string_view body) {
  const std::unique_ptr<Decoder> decoder = dialect.decoder(call);
  std::vector<ModelEvent> events;
  Result<void> done = decoder->on_reply(body, events);
  if (done) done = decoder->on_end(events);
  std::vector<std::string> lines;
  for (const ModelEvent& event : events) add_lines(event, lines);
  if (!done) lines.push_back(line_of(done.error()));
  return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

inline std::string read_golden_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// All goldens of a dialect, by name.
inline std::vector<Golden> goldens_of(std::string_view dialect) {
  const std::filesystem::path folder =
      std::filesystem::path(TUG_SOURCE_DIR) / "tests" / "wire" / dialect;
  std::vector<Golden> goldens;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".sse" && path.extension() != ".json") continue;
    std::filesystem::path expect = path;
    expect.replace_extension(".expect");
    goldens.push_back({path.stem().string(), read_golden_file(path), read_golden_file(expect),
                       path.extension() == ".sse"});
  }
  std::ranges::sort(goldens, {}, &Golden::name);
  return goldens;
}

// Compares with what is expected; what came instead is left where it can be copied from.
inline void expect_lines(const Golden& golden, const std::vector<std::string>& lines) {
  const std::string actual = joined(lines);
  if (actual == golden.expect) return;
  const std::string path = ::testing::TempDir() + golden.name + ".expect";
  std::ofstream(path, std::ios::binary) << actual;
  EXPECT_EQ(actual, golden.expect) << golden.name << ": what came is in " << path;
}

// Fed whole, byte by byte and in two at every byte, a golden gives the same events.
inline void check_splits(const Dialect& dialect, const WireCall& call, const Golden& golden,
                         const std::vector<std::string>& whole) {
  const std::string_view bytes = golden.bytes;
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
  EXPECT_EQ(decode_stream(dialect, call, single), whole) << golden.name << ", byte by byte";
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const auto lines = decode_stream(dialect, call, {bytes.substr(0, i), bytes.substr(i)});
    ASSERT_EQ(lines, whole) << golden.name << ", in two at byte " << i;
  }
}

// Cut at every byte it says a beginning of what the whole says, and never that it is finished
// unless the provider had said so.
inline void check_cuts(const Dialect& dialect, const WireCall& call, const Golden& golden,
                       const std::vector<std::string>& whole, const Ended& ended) {
  for (std::size_t cut = 0; cut < golden.bytes.size(); ++cut) {
    const std::string_view bytes = std::string_view(golden.bytes).substr(0, cut);
    std::vector<std::string> lines = decode_stream(dialect, call, {bytes});
    ASSERT_FALSE(lines.empty()) << golden.name << ", cut at byte " << cut << ": says nothing";
    const auto turn = std::ranges::find_if(lines, is_turn_line);
    if (turn != lines.end()) {
      ASSERT_TRUE(ended(bytes)) << golden.name << ", cut at byte " << cut << ": " << *turn;
    } else {
      ASSERT_TRUE(lines.back().starts_with("error ")) << golden.name << ", cut at byte " << cut;
    }
    const std::size_t deltas =
        turn != lines.end() ? static_cast<std::size_t>(turn - lines.begin()) : lines.size() - 1;
    ASSERT_LE(deltas, whole.size());
    for (std::size_t i = 0; i < deltas; ++i)
      ASSERT_EQ(lines[i], whole[i]) << golden.name << ", cut at byte " << cut;
  }
}

// All of the above for one golden.
inline void check_golden(const Dialect& dialect, const WireCase& asked, const Golden& golden,
                         const Ended& ended) {
  SCOPED_TRACE(golden.name);
  const WireCall call = asked.call(golden.stream);
  if (!golden.stream) {
    expect_lines(golden, decode_reply(dialect, call, golden.bytes));
    for (std::size_t cut = 0; cut + 1 < golden.bytes.size(); ++cut) {
      const std::string_view bytes = std::string_view(golden.bytes).substr(0, cut);
      // Only white space may be missing where it is whole nevertheless.
      if (golden.bytes.find_first_not_of(" \r\n", cut) == std::string::npos) continue;
      const auto lines = decode_reply(dialect, call, bytes);
      ASSERT_EQ(lines.size(), 1u) << golden.name << ", cut at byte " << cut << joined(lines);
      ASSERT_TRUE(lines[0].starts_with("error ")) << golden.name << ", cut at byte " << cut;
    }
    return;
  }
  const std::vector<std::string> whole = decode_stream(dialect, call, {golden.bytes});
  expect_lines(golden, whole);
  check_splits(dialect, call, golden, whole);
  check_cuts(dialect, call, golden, whole, ended);
}

// `later` begins with `earlier`, but for the `]}` that closes it.
inline ::testing::AssertionResult extends(const std::string& earlier, const std::string& later) {
  if (!earlier.ends_with("]}")) return ::testing::AssertionFailure() << "it ends otherwise";
  if (later.starts_with(std::string_view(earlier).substr(0, earlier.size() - 2)))
    return ::testing::AssertionSuccess();
  std::size_t same = 0;
  while (same < earlier.size() && same < later.size() && earlier[same] == later[same]) ++same;
  return ::testing::AssertionFailure()
         << "they part at byte " << same << " of " << earlier.size() << ":\n  "
         << earlier.substr(same, 80) << "\n  " << later.substr(same, 80);
}

// A conversation at each of its steps, each the one before and one message more: a question, two
// calls, their results, a note, a picture, an answer with reasoning, another question.
inline std::vector<Transcript> growing_conversation(const std::string& provider,
                                                    const Json& opaque = {}) {
  std::vector<Transcript> steps;
  Transcript said;
  const auto step = [&](auto&& appended) {
    EXPECT_TRUE(appended);
    steps.push_back(said);
  };
  step(said.append_user(Message::user("What is in a and b? \"quoted\" \xC3\xA9\n")));
  step(said.append_turn(
      Message::make(Role::assistant,
                    {ReasoningPart{"Two files.", provider, opaque, false}, TextPart{"I look."},
                     ToolCall{{}, "call_x", "read_file", "{\"path\":\"a\"}"},
                     ToolCall{{}, "call_y", "read_file", "{\"path\":\"b\"}"}}),
      7));
  const std::string first = make_call_id(7, 0).text();
  const std::string second = make_call_id(7, 1).text();
  step(said.append_results({ToolResult{CallId(first), "read_file", true, "alpha", {}},
                            ToolResult{CallId(second), "read_file", false, "no such file", {}}}));
  step(said.append_user(Message::note("You have 2 calls left.")));
  step(said.append_turn(Message::assistant("a holds alpha."), 12));
  step(said.append_user(Message::make(
      Role::user, {TextPart{"And this?"},
                   MediaPart{.mime = "image/png",
                             .name = "shot.png",
                             .bytes = std::make_shared<const std::string>("\x89PNG\r\n\x1a\n")}})));
  step(
      said.append_turn(Message::make(Role::assistant, {ToolCall{{}, "call_x", "look", "{}"}}), 15));
  step(said.append_results(
      {ToolResult{CallId(make_call_id(15, 0).text()), "look", true, "{\"seen\":true}", {}}}));
  step(said.append_user(Message::user("Thanks.")));
  return steps;
}

}  // namespace tug::testing
