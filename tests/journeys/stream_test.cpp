// stream-json: the lines, their order, and a reader that goes away.
#include <signal.h>

#include "journey.h"

namespace tug::journey {
namespace {

class StreamJson : public Journey {
 protected:
  StreamJson() {
    file("notes.txt", "a\nb\n");
    model_ = script(
        "s.jsonl",
        {R"({"text":"let me look","chunks":3,"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})",
         R"({"text":"two lines","chunks":2})"});
  }
  std::vector<Json> stream(const std::string& kinds) {
    const Ran ran = tug({"run", "-o", "stream-json", "--stream", kinds, "-m", model_, "go"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return lines(ran.out);
  }
  static std::vector<std::string> kinds_of(const std::vector<Json>& events) {
    std::vector<std::string> kinds;
    for (const Json& event : events) kinds.emplace_back(event["kind"].as_string());
    return kinds;
  }

  std::string model_;
};

TEST_F(StreamJson, RecordsAreGapFreeAndTheLastLineCarriesTheResult) {
  const Ran ran = tug({"run", "-o", "stream-json", "-m", model_, "go"});
  EXPECT_EQ(ran.exit, 0);
  const auto events = lines(ran.out);
  EXPECT_EQ(events[0], Json::object({{"kind", "stream"},
                                     {"schema", 1},
                                     {"run_id", events[1]["root_run_id"]},
                                     {"from_seq", 1}}));
  std::int64_t seq = 0, live = 0, deltas = 0;
  for (std::size_t i = 1; i < events.size(); ++i) {
    const Json& event = events[i];
    if (const auto count = event["live"].as_int()) {
      EXPECT_EQ(event["seq"].as_int(), seq);
      EXPECT_EQ(*count, ++live);
      deltas += event["kind"] == Json("model.delta");
    } else {
      EXPECT_EQ(event["seq"].as_int(), ++seq);
      live = 0;
    }
    for (const char* key : {"ts", "run_id", "parent_run_id", "parent_call_id", "root_run_id",
                            "thread_id", "depth", "agent", "turn", "data"}) {
      EXPECT_TRUE(event.contains(key)) << key;
    }
  }
  EXPECT_GE(deltas, 5);
  EXPECT_EQ(events.back()["kind"], Json("run.completed"));
  const Json& result = events.back()["data"]["result"];
  EXPECT_EQ(result["text"], Json("two lines"));
  EXPECT_EQ(result, parse_json(tug({"replay", "last", "--json"}).out).value());
}

TEST_F(StreamJson, KindsAreChosen) {
  EXPECT_EQ(kinds_of(stream("final")), (std::vector<std::string>{"stream", "run.completed"}));
  EXPECT_EQ(
      kinds_of(stream("tools")),
      (std::vector<std::string>{"stream", "tool.started", "tool.completed", "run.completed"}));
  EXPECT_EQ(
      kinds_of(stream("updates")),
      (std::vector<std::string>{"stream", "model.completed", "model.completed", "run.completed"}))
      << "one per turn";
  for (const std::string& kind : kinds_of(stream("messages"))) {
    EXPECT_TRUE(kind.starts_with("model.") || kind == "stream" || kind == "run.completed") << kind;
  }
  EXPECT_EQ(kinds_of(stream("tools,updates")),
            (std::vector<std::string>{"stream", "model.completed", "tool.started", "tool.completed",
                                      "model.completed", "run.completed"}));
  EXPECT_EQ(kinds_of(stream("final,events")), kinds_of(stream("events")));
  const auto whole = stream("events");
  EXPECT_FALSE(whole[0].contains("gaps"));
  EXPECT_EQ(stream("messages")[0]["gaps"], Json(true)) << "records are left out";
  const Ran wrong = tug({"run", "-o", "stream-json", "--stream", "message", "-m", model_, "go"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_TRUE(has(wrong.err, "did you mean \"messages\"?"));
  EXPECT_EQ(tug({"run", "--stream", "tools", "-m", model_, "go"}).exit, 2) << "of no other format";
}

TEST_F(StreamJson, AnErrorBeforeTheRunIsAnObjectToo) {
  const Ran ran = tug({"run", "-o", "stream-json", "-m", "script/nowhere", "go"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(parse_json(ran.out).value()["error"]["kind"], Json("invalid"));
}

TEST_F(StreamJson, AReaderThatGoesAwayCancelsTheRunWhichCanGoOn) {
  const std::string model = script(
      "slow.jsonl",
      {R"({"text":"abcdefghij","chunks":10,"chunk_delay_ms":200})", R"({"text":"went on"})"});
  Running running(place(), {"run", "-o", "stream-json", "-m", model, "go"});
  ASSERT_TRUE(running.wait_for("model.delta"));
  running.close_stdout();
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(has(ran.err, "stdout: Broken pipe, so the run was cancelled"));
  EXPECT_TRUE(has(ran.err, "tug resume "));
  EXPECT_EQ(last_run()["status"], Json("cancelled"));
  EXPECT_EQ(tug({"resume", "--last"}).out, "went on\n");
  EXPECT_EQ(tug({"replay", "last"}).out, "went on\n");
}

TEST_F(StreamJson, AResumedStreamStartsAtItsFirstRecord) {
  const std::string model =
      script("slow.jsonl", {R"({"text":"never","delay_ms":60000})", R"({"text":"went on"})"});
  Running running(place(), {"run", "-o", "stream-json", "-m", model, "go"});
  ASSERT_TRUE(running.wait_for("model.started"));
  running.send(SIGINT);
  const auto before = lines(running.wait().out);
  EXPECT_EQ(before.back()["kind"], Json("run.cancelled"));
  const auto after = lines(tug({"resume", "--last", "-o", "stream-json"}).out);
  EXPECT_EQ(after[0]["from_seq"].as_int(), *before.back()["seq"].as_int() + 1);
  EXPECT_EQ(after[1]["kind"], Json("run.resumed"));
  EXPECT_EQ(after[1]["seq"], after[0]["from_seq"]);
  EXPECT_EQ(after.back()["data"]["result"]["text"], Json("went on"));
}

}  // namespace
}  // namespace tug::journey
