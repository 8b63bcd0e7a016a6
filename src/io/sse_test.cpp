#include "tug/io/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace tug {
namespace {

using Lines = std::vector<std::string>;

// Every event as "name|id|data"; "error" when the framer gave up.
Lines frame(const std::vector<std::string_view>& pieces, std::size_t max = 1 << 20,
            bool end = true) {
  SseFramer framer(max);
  Lines seen;
  const auto on_event = [&](const SseEvent& event) -> Result<void> {
    seen.push_back(std::string(event.name) + "|" + std::string(event.id) + "|" +
                   std::string(event.data));
    return {};
  };
  for (const std::string_view piece : pieces) {
    if (!framer.feed(piece, on_event)) seen.push_back("error");
  }
  if (end && !framer.end(on_event)) seen.push_back("error");
  return seen;
}

struct Case {
  const char* name;
  std::string_view stream;
  Lines events;
};

const Case kCases[] = {
    {"one line", "data: a\n\n", {"message||a"}},
    {"no space", "data:a\n\n", {"message||a"}},
    {"only one space goes", "data:  a \n\n", {"message|| a "}},
    {"several lines", "data: a\ndata:\ndata: b\n\n", {"message||a\n\nb"}},
    {"a field without a colon", "data\n\n", {"message||"}},
    {"two empty ones", "data\ndata\n\n", {"message||\n"}},
    {"names and ids", "event: x\nid: 7\ndata: a\n\ndata: b\n\n", {"x|7|a", "message|7|b"}},
    {"a comment", ": ping\n\n: OPENROUTER PROCESSING\ndata: a\n\n", {"message||a"}},
    {"unknown fields", "retry: 10\nfoo: bar\ndata: a\n\n", {"message||a"}},
    {"a name without data", "event: x\n\ndata: a\n\n", {"message||a"}},
    {"CRLF", "event: x\r\ndata: a\r\ndata: b\r\n\r\n", {"x||a\nb"}},
    {"CR", "event: x\rdata: a\r\rdata: b\r\r", {"x||a", "message||b"}},
    {"mixed ends", "data: a\r\ndata: b\rdata: c\n\r\n", {"message||a\nb\nc"}},
    {"a BOM",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     {"message||a"}},
    {"a BOM later is data",
     "data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     {"message||a"}},
    {"no blank line at the end", "data: a\n\ndata: b\n", {"message||a", "message||b"}},
    {"a line that does not end", "data: a\n\ndata: b", {"message||a"}},
    {"an id with a NUL stays out", std::string_view("id: a\0b\ndata: x\n\n", 17), {"message||x"}},
    {"UTF-8", "data: \xF0\x9F\x98\x80\n\n", {"message||\xF0\x9F\x98\x80"}},
    {"nothing", "", {}},
    {"blank lines", "\n\n\r\n\r\r", {}},
};

TEST(Sse, FollowsTheStandard) {
  for (const Case& each : kCases) EXPECT_EQ(frame({each.stream}), each.events) << each.name;
}

TEST(Sse, MayBeCutAtEveryByte) {
  for (const Case& each : kCases) {
    for (std::size_t cut = 0; cut <= each.stream.size(); ++cut) {
      EXPECT_EQ(frame({each.stream.substr(0, cut), each.stream.substr(cut)}), each.events)
          << each.name << " cut at " << cut;
    }
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < each.stream.size(); ++i) bytes.push_back(each.stream.substr(i, 1));
    EXPECT_EQ(frame(bytes), each.events) << each.name << " byte by byte";
  }
}

TEST(Sse, GivesUpOnAnEventThatIsTooLarge) {
  const std::string line = "data: " + std::string(100, 'x') + "\n";
  EXPECT_EQ(frame({line, "\n"}, 64), Lines{"error"});
  EXPECT_EQ(frame({std::string_view(line).substr(0, 80)}, 64), Lines{"error"});
  std::string many;
  for (int i = 0; i < 20; ++i) many += "data: 0123456789\n";
  EXPECT_EQ(frame({many}, 64), Lines{"error"});
  EXPECT_EQ(frame({line, "\n"}, 200), Lines{"message||" + std::string(100, 'x')});
}

TEST(Sse, StopsWhereItsReaderFails) {
  SseFramer framer;
  int seen = 0;
  const auto failing = [&](const SseEvent&) -> Result<void> {
    ++seen;
    return fail(ErrorKind::invalid, "no");
  };
  EXPECT_FALSE(framer.feed("data: a\n\ndata: b\n\n", failing));
  EXPECT_TRUE(framer.feed("data: c\n\n", failing));
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace tug
