// Signals end a run so that it can go on, and processes share one journal.
#include <signal.h>
#include <sys/resource.h>

#include <memory>

#include "journey.h"

namespace tug::journey {
namespace {

class Interrupted : public Journey {
 protected:
  std::unique_ptr<Running> start(const std::string& model,
                                 Running::Face face = Running::Face::pipes) {
    auto running = std::make_unique<Running>(
        place(), std::vector<std::string>{"run", "-o", "stream-json", "-m", model, "go"}, face);
    EXPECT_TRUE(running->wait_for("\"model.started\""));
    return running;
  }
  std::string endless() {
    return script("endless.jsonl",
                  {R"({"text":"never","delay_ms":60000})", R"({"text":"went on"})"});
  }
  void expect_goes_on() {
    const Ran ran = tug({"resume", "--last", "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const Json result = parse_json(ran.out).value();
    EXPECT_EQ(result["text"], Json("went on"));
    EXPECT_EQ(result["status"], Json("completed"));
    const Json runs = parse_json(tug({"runs", "--json"}).out).value();
    EXPECT_EQ(runs.size(), 1u) << "it went on under its own id";
    EXPECT_EQ(parse_json(tug({"replay", "last", "--json"}).out).value(), result);
  }
};

TEST_F(Interrupted, SigintCancelsAndSaves) {
  auto running = start(endless());
  running->send(SIGINT);
  const Ran ran = running->wait();
  EXPECT_EQ(ran.exit, 130);
  EXPECT_TRUE(has(ran.err, "tug resume "));
  EXPECT_EQ(lines(ran.out).back()["kind"], Json("run.cancelled"));
  EXPECT_EQ(last_run()["status"], Json("cancelled"));
  expect_goes_on();
}

TEST_F(Interrupted, SigtermFinishesTheStepInHandAndPauses) {
  file("notes.txt", "a\n");
  auto running = start(script(
      "s.jsonl",
      {R"({"text":"let me look","delay_ms":300,"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})",
       R"({"text":"went on"})"}));
  running->send(SIGTERM);
  const Ran ran = running->wait();
  EXPECT_EQ(ran.exit, 8);
  const Json last = lines(ran.out).back();
  EXPECT_EQ(last["kind"], Json("run.paused"));
  EXPECT_EQ(last["data"]["reason"], Json("shutdown"));
  EXPECT_EQ(last_run()["status"], Json("parked"));
  expect_goes_on();
}

TEST_F(Interrupted, AKilledProcessLeavesARunThatGoesOn) {
  auto running = start(endless());
  EXPECT_EQ(last_run()["alive"], Json(true));
  const Ran denied = tug({"resume", "--last"});
  EXPECT_NE(denied.exit, 0) << "it has an owner that lives";
  running->send(SIGKILL);
  EXPECT_EQ(running->wait().exit, 128 + SIGKILL);
  EXPECT_EQ(last_run()["alive"], Json(false));
  EXPECT_TRUE(has(tug({"runs"}).out, "crashed"));
  expect_goes_on();
}

TEST_F(Interrupted, AnotherProcessSeesHowFarARunHasCome) {
  file("notes.txt", "a\n");
  auto running = start(script(
      "s.jsonl",
      {R"({"usage":{"input_tokens":3,"output_tokens":2},"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})",
       R"({"text":"never","delay_ms":60000})"}));
  ASSERT_TRUE(running->wait_for("\"turn\":2"));
  const Json row = last_run();
  EXPECT_EQ(row["status"], Json("running"));
  EXPECT_EQ(row["model_calls"], Json(1));
  EXPECT_EQ(row["tool_calls"], Json(1));
  EXPECT_EQ(row["usage"]["total_tokens"], Json(5));
  EXPECT_NE(row["updated"], row["created"]);
  const Json progress = parse_json(tug({"show", "last", "--json"}).out).value()["progress"];
  EXPECT_EQ(progress["status"], Json("running"));
  EXPECT_EQ(progress["phase"], Json("model"));
  EXPECT_EQ(progress["turn"], Json(2));
  EXPECT_EQ(progress["counts"]["attempts"], Json(2));
  EXPECT_EQ(progress["updated"], row["updated"]);
  running->send(SIGKILL);
  running->wait();
  EXPECT_EQ(last_run()["model_calls"], Json(1)) << "a crashed one keeps what it came to";
}

TEST_F(Interrupted, ATerminalThatGoesAwayCancelsAndSaves) {
  auto running = start(endless(), Running::Face::terminal);
  running->hang_up();
  EXPECT_NE(running->wait().exit, 0);
  EXPECT_EQ(last_run()["status"], Json("cancelled"));
  expect_goes_on();
}

TEST_F(Interrupted, ASignalThatIsIgnoredFromTheStartStaysIgnored) {
  signal(SIGHUP, SIG_IGN);  // as nohup does
  auto running = start(script("s.jsonl", {R"({"text":"still here","delay_ms":300})"}));
  signal(SIGHUP, SIG_DFL);
  running->send(SIGHUP);
  EXPECT_EQ(running->wait().exit, 0);
}

TEST_F(Interrupted, ASecondSigintQuitsAtOnce) {
  auto running = start(endless());
  running->send(SIGINT);
  running->send(SIGINT);
  EXPECT_EQ(running->wait().exit, 130);
  expect_goes_on();
}

TEST_F(Interrupted, AFileThatMayNotGrowIsAnErrorAndNoSignal) {
  const std::string model = script("s.jsonl", {R"({"text":"hello"})"});
  rlimit usual = {};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit small = {20'000, usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Ran ran = tug({"run", "-m", model, "go"});
  setrlimit(RLIMIT_FSIZE, &usual);
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "File too large"));
}

TEST_F(Interrupted, ManyProcessesShareOneJournal) {
  const std::string model = script("s.jsonl", {R"({"text":"one of many"})"});
  constexpr std::size_t kRuns = 8;
  for (std::size_t i = 0; i < kRuns; ++i) {
    Running first(place(), {"run", "-m", model, "left"});
    Running second(place(), {"run", "-m", model, "right"});
    EXPECT_EQ(first.wait().out, "one of many\n");
    EXPECT_EQ(second.wait().out, "one of many\n");
  }
  const Json runs = parse_json(tug({"runs", "--json", "--limit", "100"}).out).value();
  EXPECT_EQ(runs.size(), 2 * kRuns);
  for (const Json& run : runs.items()) {
    EXPECT_EQ(run["status"], Json("completed"));
    EXPECT_EQ(tug({"replay", std::string(run["run_id"].as_string())}).exit, 0);
  }
  EXPECT_EQ(tug({"doctor"}).exit, 0);
}

}  // namespace
}  // namespace tug::journey
