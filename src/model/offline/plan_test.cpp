#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "model/testing.h"
#include "tug/core/utf8.h"
#include "tug/model/offline.h"

namespace tug {
namespace {

using Files = std::map<std::string, std::vector<std::string>>;

// The file tools as their contract says, over files that are only a map: 20 lines a page.
class Desk {
 public:
  explicit Desk(Files files, std::vector<std::string> tools = {"glob", "list", "read", "search"})
      : files_(std::move(files)) {
    auto specs = std::make_shared<ToolSpecs>();
    for (std::string& name : tools) {
      auto spec = std::make_shared<ToolSpec>();
      spec->name = std::move(name);
      specs->push_back(spec);
    }
    request_.tools = specs;
  }

  // Says it, answers the calls, and gives the final text. `calls` keeps what was called.
  std::string ask(std::string request) {
    EXPECT_TRUE(request_.transcript.append_user(Message::user(std::move(request))));
    calls.clear();
    for (int round = 0; round < 100; ++round) {
      ModelTurn turn = plan_offline(request_);
      first_words.push_back(turn.message->text());
      auto appended = request_.transcript.append_turn(turn.message, Seq{++seq_});
      if (!appended) {
        ADD_FAILURE() << to_string(appended.error());
        return "";
      }
      const auto made = (*appended)->tool_calls();
      EXPECT_EQ(turn.finish, made.empty() ? Finish::stop : Finish::tool_calls);
      if (made.empty()) return turn.message->text();
      std::vector<ToolResult> results;
      std::string line;
      for (const ToolCall* call : made) {
        line += (line.empty() ? "" : " ") + call->tool + call->arguments;
        ids.push_back(call->provider_id);
        ToolResult result = perform(call->tool, parse_json(call->arguments).value());
        result.call = call->id;
        results.push_back(std::move(result));
      }
      calls.push_back(line);
      EXPECT_TRUE(request_.transcript.append_results(std::move(results)));
    }
    ADD_FAILURE() << "it never ends";
    return "";
  }

  std::vector<std::string> calls;  // of one turn in one line
  std::vector<std::string> first_words;
  std::vector<std::string> ids;
  ModelRequest& request() { return request_; }
  std::function<ToolResult(std::string_view, const Json&)> instead;

 private:
  ToolResult perform(std::string_view tool, const Json& arguments) {
    if (instead) return instead(tool, arguments);
    if (tool == "read") return read(arguments);
    if (tool == "list") return list(arguments);
    if (tool == "glob") return glob(arguments);
    if (tool == "search") return search(arguments);
    return ToolResult::text("I did: " + std::string(arguments["input"].as_string()));
  }

  ToolResult read(const Json& arguments) {
    const std::string path(arguments["path"].as_string());
    const auto file = files_.find(path);
    if (file == files_.end())
      return ToolResult::error("there is no file " + path + "\nlook again", "NotFound");
    const auto& lines = file->second;
    if (lines.size() > 1000 && !arguments.contains("limit"))
      return ToolResult::error("'" + path + "' has 5 MB (give a limit)", "TooLarge");
    const auto first = static_cast<std::size_t>(arguments["offset"].as_int().value_or(1));
    std::string content = "[" + path + ": lines]\n";
    std::size_t shown = 0;
    for (std::size_t i = first; i <= lines.size() && shown < 20; ++i, ++shown)
      content += std::to_string(i) + "\t" + lines[i - 1] + "\n";
    ToolResult result = ToolResult::text(content);
    result.metadata =
        Json::object({{"path", path},
                      {"total_lines", lines.size() > 1000 ? Json() : Json(lines.size())},
                      {"returned_lines", shown},
                      {"truncated", shown < lines.size()}});
    return result;
  }
  ToolResult list(const Json& arguments) {
    std::string content = "[.: some files]\n";
    for (const auto& [path, lines] : files_) content += path + "\t12 B\n";
    ToolResult result = ToolResult::text(content);
    result.metadata = Json::object({{"path", arguments["path"]},
                                    {"total", files_.size() + 2},
                                    {"files", files_.size()},
                                    {"folders", 2}});
    return result;
  }
  ToolResult glob(const Json&) {
    std::string content =
        "[*.md in .: " + std::to_string(files_.size()) + " files, newest first]\n";
    for (const auto& [path, lines] : files_) content += path + "\n";
    return ToolResult::text(content);
  }
  ToolResult search(const Json& arguments) {
    ToolResult result = ToolResult::text("[\"TODO\" in .]\na.md\n  3: TODO this");
    const bool found = arguments["query"].as_string() == "TODO";
    result.metadata =
        Json::object({{"query", arguments["query"]}, {"matches", found ? 1 : 0}, {"files", 1}});
    return result;
  }

  Files files_;
  ModelRequest request_;
  std::uint64_t seq_ = 0;
};

std::vector<std::string> numbered(int count) {
  std::vector<std::string> lines;
  for (int i = 1; i <= count; ++i) lines.push_back("word" + std::to_string(i) + " two");
  return lines;
}

TEST(Offline, ListsAndCountsInOneBatchAndGivesTheRightNumbers) {
  Desk desk({{"README.md", numbered(45)}, {"a.txt", {"x"}}});
  EXPECT_EQ(desk.ask("list the files here and count the lines of README.md"),
            "This folder holds 2 folders and 2 files:\nREADME.md\t12 B\na.txt\t12 B\n\n"
            "README.md has 45 lines.");
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(list{"path":"."} read{"path":"README.md"})"}));
  EXPECT_EQ(desk.first_words[0],
            "I am going to list the files here and count the lines of README.md.");
}

TEST(Offline, ASecondRequestIsPlannedForItself) {
  Desk desk({{"a.md", {"one two", "three"}}});
  EXPECT_EQ(desk.ask("count the words of a.md"), "a.md has 3 words.");
  EXPECT_EQ(desk.ask("what is 6*7?"), "6*7 = 42");
  EXPECT_TRUE(desk.calls.empty());
  EXPECT_EQ(desk.ask("count the words of a.md"), "a.md has 3 words.");
  EXPECT_EQ(desk.calls.size(), 1u) << "what was read for another request may have changed";
  EXPECT_EQ(desk.ids, (std::vector<std::string>{"call_1", "call_2"}));
}

TEST(Offline, WordsAreCountedOverAllPages) {
  Desk desk({{"long.txt", numbered(45)}});
  EXPECT_EQ(desk.ask("count the words in long.txt"), "long.txt has 90 words.");
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(read{"path":"long.txt"})",
                                                  R"(read{"path":"long.txt","offset":21})",
                                                  R"(read{"path":"long.txt","offset":41})"}));
}

TEST(Offline, HeadingsAreAnOutlineWithoutCode) {
  Desk desk(
      {{"a.md", {"# Top", "text", "## Part ##", "```", "# not one", "```", "#hash", "### Deep"}},
       {"b.md", {"nothing"}},
       {"c.txt", {"# no"}}});
  EXPECT_EQ(desk.ask("summarise the headings of the files here"),
            "a.md has 3 headings:\n- Top\n  - Part\n    - Deep\nb.md has no headings.");
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(glob{"pattern":"*.md"})",
                                                  R"(read{"path":"a.md"} read{"path":"b.md"})"}));
}

TEST(Offline, CountsOverAPatternAreAddedUp) {
  Desk desk({{"a.md", numbered(3)}, {"b.md", numbered(4)}});
  EXPECT_EQ(desk.ask("count the lines of all markdown files"),
            "a.md has 3 lines.\nb.md has 4 lines.\nTogether: 7 lines in 2 files.");
}

TEST(Offline, ReadsSearchesAndCountsFiles) {
  Desk desk({{"a.md", {"first", "second"}}, {"empty", {}}});
  EXPECT_EQ(desk.ask("read a.md"), "a.md (2 lines):\nfirst\nsecond");
  EXPECT_EQ(desk.ask("count the lines of ./empty and empty").substr(0, 40),
            "I could not count the lines of ./empty: ");
  EXPECT_EQ(desk.ask("count the lines of \"empty\""), "empty has 0 lines.");
  EXPECT_EQ(desk.ask("search for TODO"),
            "\"TODO\" in this folder: 1 match in 1 file\na.md\n  3: TODO this");
  EXPECT_EQ(desk.ask("search for nothing in src"), "\"nothing\" does not occur in src.");
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(search{"query":"nothing","path":"src"})"}));
  EXPECT_EQ(desk.ask("how many files are here?"), "There are 2 files directly in this folder.");
  EXPECT_EQ(desk.ask("list *.md"), "4 names in this folder match *.md:\na.md\t12 B\nempty\t12 B");
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(list{"path":".","glob":"*.md"})"}));
  EXPECT_EQ(desk.ask("how many markdown files are in docs?"),
            "There are 2 files directly in docs that match *.md.");
  EXPECT_EQ(desk.ask("how many folders are in src?"), "There are 2 folders directly in src.");
}

TEST(Offline, OfALargeFileTheBeginningIsShownAndTheRestNotGuessed) {
  Desk desk({{"large.log", numbered(5000)}});
  const std::string said = desk.ask("read large.log");
  EXPECT_TRUE(said.starts_with("large.log is large; it begins with:\nword1 two\n")) << said;
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(read{"path":"large.log"})",
                                                  R"(read{"path":"large.log","limit":60})"}));
  EXPECT_EQ(desk.ask("count the lines of large.log"),
            "I could not count the lines of large.log: 'large.log' has 5 MB (give a limit)");
}

TEST(Offline, AFailedCallIsSaidAndTheRestStillDone) {
  Desk desk({{"a.md", numbered(2)}});
  EXPECT_EQ(desk.ask("count the lines of none.md and a.md"),
            "I could not count the lines of none.md: there is no file none.md\na.md has 2 lines.");
  EXPECT_EQ(desk.ask("read none.md"), "I could not read none.md: there is no file none.md");
}

TEST(Offline, AMissingToolIsSaid) {
  Desk desk({}, {});
  EXPECT_EQ(desk.ask("list the files"),
            "I cannot list the files here: this run has no tool `list`.");
  EXPECT_EQ(desk.ask("read a.md"),
            "I could not read a.md: I have no tool to read files in this run");
  EXPECT_EQ(desk.ask("search for x"), "I cannot search: this run has no tool `search`.");
  EXPECT_TRUE(desk.ask("headings of *.md").contains("I have no tool to find files in this run"));
  EXPECT_TRUE(desk.ask("ask bob to read a.md").contains("There is no agent bob"));
  desk.request().tools = nullptr;
  EXPECT_EQ(desk.ask("1+1"), "1+1 = 2");
}

TEST(Offline, SumsAreAnsweredAtOnceAndPlainly) {
  Desk desk({});
  EXPECT_EQ(desk.ask("what is 2^10 and 1/3"), "2^10 = 1024\n\n1/3 is about 0.333333333333");
  EXPECT_EQ(desk.ask("what is 1/0?"), "I cannot work out 1/0: that divides by zero.");
  EXPECT_EQ(desk.ask("calculate 2^500"),
            "I cannot work out 2^500: a number on the way has more than 38 digits.");
}

TEST(Offline, ATaskGoesToAnAgentOfTheRun) {
  Desk desk({}, {"reviewer"});
  EXPECT_EQ(desk.ask("ask reviewer to read README.md"), "reviewer says:\nI did: read README.md");
  EXPECT_EQ(desk.calls, (std::vector<std::string>{R"(reviewer{"input":"read README.md"})"}));
}

TEST(Offline, WhatItCannotDoItSaysWithExamples) {
  Desk desk({});
  const std::string said = desk.ask("write me a poem about dogs");
  EXPECT_TRUE(said.starts_with("I do not understand \"write me a poem about dogs\".")) << said;
  EXPECT_TRUE(said.contains("read README.md")) << said;
  EXPECT_TRUE(said.contains("-m PROVIDER/NAME")) << said;
  EXPECT_TRUE(desk.ask("hello").starts_with("Hello! I am a small planner"));
  EXPECT_TRUE(desk.ask("what can you do?").starts_with("I am a small planner"));
  EXPECT_TRUE(desk.ask(std::string(5000, 'x')).starts_with("That request is longer"));
  EXPECT_TRUE(desk.ask("???").starts_with("That request is empty."));
  EXPECT_TRUE(plan_offline({}).message->text().starts_with("Nobody has asked me anything yet."));
}

TEST(Offline, TextThatCameWithTheRequestIsWhatItIsAbout) {
  Desk desk({});
  EXPECT_EQ(desk.ask("count the words\n\none two\nthree four five\n"),
            "The text that came with the request has 5 words.");
  EXPECT_EQ(desk.ask("how many lines?\n\na\nb\nread x.md and list"),
            "The text that came with the request has 3 lines.");
  EXPECT_EQ(desk.ask("count the lines"),
            "To count the lines I need the name of a file, such as README.md.");
}

TEST(Offline, AToolThatNeverAnswersTheQuestionDoesNotKeepItBusyForEver) {
  Desk desk({});
  int page = 0;
  desk.instead = [&](std::string_view, const Json&) {
    ToolResult result = ToolResult::text(std::to_string(++page) + "\tx\n");
    result.metadata = Json::object({{"total_lines", 1'000'000'000}, {"returned_lines", 1}});
    return result;
  };
  EXPECT_EQ(desk.ask("count the words of endless"), "endless has at least 50 words.");
}

TEST(Offline, ResultsOfOtherToolsWithTheSameNamesAreReadAsTheyAre) {
  Desk desk({});
  desk.instead = [](std::string_view, const Json&) { return ToolResult::text("a\nb\nc"); };
  EXPECT_EQ(desk.ask("count the lines of f.txt"), "f.txt has 3 lines.");
  EXPECT_EQ(desk.ask("how many files are here"), "There are 3 files directly in this folder.");
}

TEST(Offline, StreamsWordByWordAndCountsTokens) {
  testing::Conversation talk(make_offline_model());
  talk.user("what is 6*7?");
  auto heard = talk.listen();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->lines,
            (std::vector<std::string>{"text:6*7 ", "text:= ", "text:42", "turn stop"}));
  auto turn = talk.ask();
  EXPECT_EQ(turn->usage, (Usage{.input_tokens = 3, .output_tokens = 2}));
  EXPECT_EQ(turn->model, "demo");
}

}  // namespace
}  // namespace tug
