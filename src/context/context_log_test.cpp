#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "context/testing.h"

namespace tug {
namespace {

class RecordingReporter final : public Reporter,
                                public std::enable_shared_from_this<RecordingReporter> {
 public:
  Result<std::shared_ptr<Sink>> open(const RunId& root) override {
    opened.push_back(root.text());
    if (refuses) return fail(ErrorKind::denied, "no");
    return std::make_shared<Heard>(shared_from_this());
  }
  struct Heard final : Sink {
    explicit Heard(std::shared_ptr<RecordingReporter> to) : reporter(std::move(to)) {}
    void on_event(const Event& event) override {
      reporter->heard.emplace_back(event.data["text"].as_string());
    }
    std::shared_ptr<RecordingReporter> reporter;
  };
  std::vector<std::string> opened;
  std::vector<std::string> heard;
  bool refuses = false;
};

class ContextLog : public ContextTest {
 protected:
  std::shared_ptr<RecordingReporter> mine = std::make_shared<RecordingReporter>();
  ServicesPtr with_mine = services().reporter("mine", mine).build();
};

TEST_F(ContextLog, AnEntryIsARecordFromInfoUpAndLiveBelow) {
  const Context root = grow();
  ASSERT_TRUE(root.configure_log({.level = LogLevel::trace}));
  log->listens = true;
  root.log({.type = "metric", .tag = "app", .level = LogLevel::info, .text = "up", .data = 5});
  root.log({.level = LogLevel::debug, .text = "down"});
  ASSERT_EQ(log->records.size(), 1u);
  EXPECT_EQ(log->records[0].kind, Kind::log);
  EXPECT_EQ(
      log->records[0].data,
      Json::object(
          {{"type", "metric"}, {"tag", "app"}, {"level", "info"}, {"text", "up"}, {"data", 5}}));
  ASSERT_EQ(log->live.size(), 1u);
  EXPECT_EQ(log->live[0].data["text"], Json("down"));
  EXPECT_EQ(root.tail().entries.size(), 2u);
}

TEST_F(ContextLog, WhoSpeaksIsStampedAndNeverTaken) {
  loop.advance(std::chrono::seconds(3));
  const Context root = grow();
  const Context child = run_below(root);
  child.log({.text = "x", .root = RunId("forged"), .run = RunId("forged"), .node = 99});
  EXPECT_EQ(root.tail().entries, (std::vector<LogEntry>{{.text = "x",
                                                         .root = RunId("run-1"),
                                                         .run = RunId("run-2"),
                                                         .node = 1,
                                                         .ts = Time(std::chrono::seconds(3))}}));
}

TEST_F(ContextLog, TailFiltersByTagTypeAndNumber) {
  const Context root = grow();
  for (int i = 0; i < 6; ++i) {
    root.log(
        {.type = i % 2 ? "odd" : "even", .tag = i < 3 ? "low" : "high", .text = std::to_string(i)});
  }
  const auto texts = [&](TailFilter filter) {
    std::string all;
    for (const LogEntry& entry : root.tail(filter).entries) all += entry.text;
    return all;
  };
  EXPECT_EQ(texts({}), "012345");
  EXPECT_EQ(texts({.tag = "low"}), "012");
  EXPECT_EQ(texts({.types = {"odd"}}), "135");
  EXPECT_EQ(texts({.types = {"odd", "even"}, .last = 2}), "45");
  EXPECT_EQ(texts({.tag = "high", .types = {"even"}, .last = 9}), "4");
  EXPECT_EQ(texts({.last = 0}), "");
}

TEST_F(ContextLog, LevelAndScopeDecideWhatIsKept) {
  const Context root = grow();
  root.log({.level = LogLevel::debug, .text = "too low"});
  ASSERT_TRUE(root.configure_log({.level = LogLevel::warning, .scope = {{"app"}}}));
  root.log({.tag = "app", .level = LogLevel::info, .text = "too low"});
  root.log({.tag = "other", .text = "out of scope"});
  root.log({.tag = "app", .level = LogLevel::warning, .text = "kept"});
  ASSERT_TRUE(root.configure_log({.scope = {{}}}));
  root.log({.tag = "other", .text = "kept too"});
  ASSERT_EQ(root.tail().entries.size(), 2u);
  EXPECT_EQ(root.tail().entries[0].text, "kept");
  EXPECT_EQ(log->records.size(), 2u);
}

TEST_F(ContextLog, ConfiguringReturnsTheSettingsAndReadsWhenNothingIsGiven) {
  const Context root = grow({.services = with_mine});
  EXPECT_EQ(*root.configure_log(), LogSettings{});
  ASSERT_TRUE(root.configure_log({.level = LogLevel::debug, .scope = {{"a"}}, .reporter = "mine"}));
  EXPECT_EQ(*root.configure_log(), (LogSettings{LogLevel::debug, {"a"}, {"mine"}}));
  EXPECT_EQ(to_json(*root.configure_log()),
            *parse_json(R"({"level":"debug","scope":["a"],"reporters":["mine"]})"));
  EXPECT_EQ(*below(root).configure_log(), *root.configure_log()) << "one log per root";
  EXPECT_EQ(*grow({.services = with_mine}).configure_log(), LogSettings{});
}

TEST_F(ContextLog, AReporterHearsLogEntriesAndNothingElse) {
  const Context root = grow({.services = with_mine});
  root.log("before");
  ASSERT_TRUE(root.configure_log({.reporter = "mine"}));
  ASSERT_TRUE(root.configure_log({.reporter = "mine"}));
  root.log("after");
  root.emit("event", Json());
  EXPECT_EQ(mine->heard, std::vector<std::string>{"after"});
  EXPECT_EQ(mine->opened, std::vector<std::string>{"run-1"});
}

TEST_F(ContextLog, AReporterNobodyRegisteredIsNamed) {
  const Context root = grow({.services = with_mine});
  const auto result = root.configure_log({.reporter = "nobody"});
  ASSERT_FALSE(result);
  EXPECT_EQ(to_string(result.error()),
            "no reporter is called \"nobody\" (known are console, mine; others are put into the "
            "services)");
  mine->refuses = true;
  EXPECT_EQ(root.configure_log({.reporter = "mine"}).error().kind(), ErrorKind::denied);
  EXPECT_TRUE(root.configure_log()->reporters.empty());
}

TEST_F(ContextLog, ADefaultReporterThatCannotBeOpenedIsToldInTheTail) {
  mine->refuses = true;
  const Context root =
      grow({.services =
                services().reporter("mine", mine).log({.reporters = {"mine", "nobody"}}).build()});
  root.log("hi");
  const Tail tail = root.tail({.types = {"reporter"}});
  ASSERT_EQ(tail.entries.size(), 2u) << "once, not with every entry";
  EXPECT_EQ(tail.entries[0].text, "no");
  EXPECT_EQ(tail.entries[1].text.substr(0, 31), "no reporter is called \"nobody\" ");
  EXPECT_TRUE(root.configure_log()->reporters.empty());
}

TEST_F(ContextLog, GlobalSettingsHoldForRootsThatHaveNotChosen) {
  const Context one = grow({.services = with_mine});
  const Context two = grow({.services = with_mine,
                            .log = std::make_shared<RememberingLog>(
                                Lineage{.run_id = RunId("run-2"), .root_run_id = RunId("run-2")})});
  ASSERT_TRUE(two.configure_log({.level = LogLevel::error}));
  const auto global =
      one.configure_log({.level = LogLevel::debug, .reporter = "mine", .global = true});
  ASSERT_TRUE(global);
  EXPECT_EQ(*global, (LogSettings{LogLevel::debug, {}, {"mine"}}));
  EXPECT_EQ(one.configure_log()->level, LogLevel::debug);
  EXPECT_EQ(*two.configure_log(), (LogSettings{LogLevel::error, {}, {"mine"}}));
  const Context later = grow({.services = with_mine});
  EXPECT_EQ(*later.configure_log(), (LogSettings{LogLevel::debug, {}, {"mine"}}));
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ContextLog, TheConsoleWritesOneLinePerEntry) {
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  const Context root = grow({.services = services()
                                             .reporter("console", make_console_reporter(out))
                                             .log({.reporters = {"console"}})
                                             .build()});
  root.log({.text = "first", .data = Json::object({{"n", 1}})});
  root.log("second");
  std::string text(200, '\0');
  std::rewind(out);
  text.resize(std::fread(text.data(), 1, text.size(), out));
  std::fclose(out);
  EXPECT_EQ(text,
            "1970-01-01T00:00:00.000Z error user: first {\"n\":1}\n"
            "1970-01-01T00:00:00.000Z error user: second\n");
}

TEST_F(ContextLog, TheJsonLinesReporterAppendsWholeEvents) {
  const std::string path = testing::TempDir() + "tug_context_log_" +
                           std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".jsonl";
  std::filesystem::remove(path);
  const auto jsonl = services().reporter("jsonl", make_jsonl_reporter(path)).build();
  for (int i = 0; i < 2; ++i) {
    const Context root = grow({.services = jsonl});
    ASSERT_TRUE(root.configure_log({.reporter = "jsonl"}));
    root.log("line " + std::to_string(i));
    log->sinks.clear();
  }
  const std::string text = contents_of(path);
  const std::size_t cut = text.find('\n');
  auto first = parse_json(text.substr(0, cut));
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)["kind"], Json("log"));
  EXPECT_EQ((*first)["data"]["text"], Json("line 0"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::remove(path);

  const auto nowhere =
      services().reporter("jsonl", make_jsonl_reporter("/no/such/folder/x")).build();
  EXPECT_EQ(error_of(grow({.services = nowhere}).configure_log({.reporter = "jsonl"})),
            "log file /no/such/folder/x: No such file or directory");
}

TEST(LogLevel, NamesReadBack) {
  for (LogLevel level :
       {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error}) {
    EXPECT_EQ(log_level_from(name_of(level)), level);
  }
  EXPECT_EQ(log_level_from("loud"), std::nullopt);
}

}  // namespace
}  // namespace tug
