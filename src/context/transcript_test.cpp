#include "tug/context/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "tug/core/rng.h"

namespace tug {
namespace {

MessagePtr say(std::string text) { return Message::user(std::move(text)); }

MessagePtr turn_with(std::vector<std::string> tools, std::string provider_id = "p") {
  std::vector<Part> parts{TextPart{"calling"}};
  for (std::string& tool : tools) {
    parts.push_back(
        ToolCall{.provider_id = provider_id, .tool = std::move(tool), .arguments = "{}"});
  }
  return Message::make(Role::assistant, std::move(parts));
}

ToolResult result_for(std::string call, std::string content = "ok") {
  ToolResult result = ToolResult::text(std::move(content));
  result.call = CallId(std::move(call));
  return result;
}

std::vector<std::string> ids_of(const Message& turn) {
  std::vector<std::string> ids;
  for (const ToolCall* call : turn.tool_calls()) ids.push_back(call->id.text());
  return ids;
}

std::vector<std::string> texts_of(const Transcript& transcript) {
  std::vector<std::string> texts;
  for (const MessagePtr& message : transcript.messages()) {
    const auto results = message->tool_results();
    texts.push_back(results.empty() ? message->text() : results.front()->content);
  }
  return texts;
}

template <class T>
std::string message_of(const Result<T>& result) {
  return result ? "no error" : result.error().message();
}

TEST(Transcript, FitsIntoTwentyFourBytes) { EXPECT_LE(sizeof(Transcript), 24u); }

TEST(Transcript, GivesEveryCallAnIdOfOurOwn) {
  Transcript transcript;
  auto turn = transcript.append_turn(turn_with({"read", "write"}, ""), 7);
  ASSERT_TRUE(turn);
  EXPECT_EQ(ids_of(**turn), (std::vector<std::string>{"7.0", "7.1"}));
  EXPECT_EQ(transcript.back(), *turn);
  EXPECT_EQ(transcript.open_calls().size(), 2u);
}

TEST(Transcript, KeepsAMessageWhoseIdsAreRightAlready) {
  Transcript first;
  const MessagePtr recorded = *first.append_turn(turn_with({"read"}), 7);
  Transcript folded;
  EXPECT_EQ(*folded.append_turn(recorded, 7), recorded);
}

TEST(Transcript, RefusesASeqThatWouldRepeatAnId) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_turn(turn_with({"read"}), 7));
  ASSERT_TRUE(transcript.append_results({result_for("7.0")}));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(transcript.append_user(say("words")));
  EXPECT_EQ(message_of(transcript.append_turn(turn_with({"read"}), 7)),
            "transcript: a turn at seq 7 after one at seq 7: call ids would repeat");
  EXPECT_FALSE(transcript.append_turn(turn_with({"read"}), 6));
  EXPECT_TRUE(transcript.append_turn(turn_with({"read"}), 8));
}

TEST(Transcript, PlacesResultsInCallOrder) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_turn(turn_with({"a", "b", "c"}), 1));
  auto message = transcript.append_results(
      {result_for("1.2", "third"), result_for("1.0", "first"), result_for("1.1", "second")});
  ASSERT_TRUE(message);
  std::vector<ToolResult> results;
  for (const ToolResult* result : (*message)->tool_results()) results.push_back(*result);
  ToolResult first = result_for("1.0", "first"), second = result_for("1.1", "second"),
             third = result_for("1.2", "third");
  first.tool = "a", second.tool = "b", third.tool = "c";
  EXPECT_EQ(results, (std::vector<ToolResult>{first, second, third}));
  EXPECT_FALSE(transcript.has_open_calls());
}

TEST(Transcript, ClosesExactlyTheOpenCalls) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_turn(turn_with({"a", "b"}), 1));
  const Transcript before = transcript;
  struct Case {
    std::vector<ToolResult> results;
    std::string error;
  };
  const Case cases[] = {
      {{}, "transcript: no result for call 1.0 (a)"},
      {{result_for("1.0")}, "transcript: no result for call 1.1 (b)"},
      {{result_for("1.0"), result_for("1.0")}, "transcript: two results for call 1.0 (a)"},
      {{result_for("1.0"), result_for("9.9")},
       "transcript: a result for call \"9.9\", which is not open"},
      {{result_for("1.0"), result_for("")},
       "transcript: a result for call \"\", which is not open"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(message_of(transcript.append_results(c.results)), c.error);
    EXPECT_EQ(transcript, before);
    EXPECT_TRUE(transcript.has_open_calls());
  }
  EXPECT_TRUE(transcript.append_results({result_for("1.1"), result_for("1.0")}));
  EXPECT_EQ(message_of(transcript.append_results({result_for("1.0")})),
            "transcript: results while no call is open");
}

TEST(Transcript, RefusesMessagesThatStandInTheWrongPlace) {
  Transcript transcript;
  EXPECT_FALSE(transcript.append_user(Message::assistant("hello")));
  EXPECT_FALSE(transcript.append_user(Message::results({result_for("1.0")})));
  EXPECT_FALSE(transcript.append_user(Message::make(Role::user, {ReasoningPart{.text = "hm"}})));
  EXPECT_FALSE(transcript.append_user(Message::make(Role::user, {ToolCall{.tool = "a"}})));
  EXPECT_FALSE(transcript.append_turn(say("hello"), 1));
  EXPECT_FALSE(transcript.append_turn(Message::make(Role::assistant, {result_for("1.0")}), 1));
  EXPECT_TRUE(transcript.empty());
  EXPECT_TRUE(transcript.append_user(Message::system("a notice")));
  ASSERT_TRUE(transcript.append_turn(turn_with({"a"}), 1));
  EXPECT_EQ(message_of(transcript.append_turn(Message::assistant("more"), 2)),
            "transcript: a turn while call 1.0 (a) is open");
}

TEST(Transcript, ASteeredMessageWaitsForTheResults) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_turn(turn_with({"a"}), 1));
  ASSERT_TRUE(transcript.append_user(say("stop that")));
  Transcript fork = transcript;
  ASSERT_TRUE(transcript.append_user(say("and this")));
  EXPECT_EQ(transcript.size(), 1u);
  EXPECT_EQ(transcript.pending().size(), 2u);
  EXPECT_EQ(fork.pending().size(), 1u);
  ASSERT_TRUE(transcript.append_results({result_for("1.0", "done")}));
  ASSERT_TRUE(fork.close_open("cancelled"));
  EXPECT_EQ(texts_of(transcript),
            (std::vector<std::string>{"calling", "done", "stop that", "and this"}));
  EXPECT_EQ(texts_of(fork), (std::vector<std::string>{"calling", "cancelled", "stop that"}));
  EXPECT_TRUE(transcript.pending().empty());
  EXPECT_TRUE(fork.pending().empty());
}

TEST(Transcript, CloseOpenAnswersWhatIsNotFinished) {
  Transcript transcript;
  EXPECT_EQ(*transcript.close_open("nothing is open"), nullptr);
  ASSERT_TRUE(transcript.append_turn(turn_with({"a", "b"}), 3));
  EXPECT_FALSE(transcript.close_open("cancelled", {result_for("4.0")}));
  auto message = transcript.close_open("cancelled by the user", {result_for("3.1", "done")});
  ASSERT_TRUE(message);
  ToolResult left = ToolResult::error("cancelled by the user", "Cancelled");
  left.call = CallId("3.0"), left.tool = "a";
  ToolResult done = result_for("3.1", "done");
  done.tool = "b";
  EXPECT_EQ(**message, *Message::results({left, done}));
  EXPECT_FALSE(transcript.has_open_calls());
}

TEST(Transcript, AForkGoesItsOwnWay) {
  Transcript one;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(one.append_user(say("m" + std::to_string(i))));
  Transcript two = one;
  ASSERT_TRUE(one.append_user(say("one")));
  ASSERT_TRUE(two.append_user(say("two")));
  ASSERT_TRUE(one.append_user(say("one again")));
  EXPECT_EQ(one.size(), 102u);
  EXPECT_EQ(two.size(), 101u);
  EXPECT_EQ(one[100]->text(), "one");
  EXPECT_EQ(one[101]->text(), "one again");
  EXPECT_EQ(two[100]->text(), "two");
  EXPECT_EQ(one[37], two[37]);  // the very same message
}

TEST(Transcript, ReadsForwardFromAnyPlace) {
  Transcript transcript;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(transcript.append_user(say(std::to_string(i))));
  for (std::size_t from : {0u, 1u, 63u, 64u, 65u, 128u, 199u, 200u, 500u}) {
    const Messages range = transcript.since(from);
    std::size_t index = from;
    for (const MessagePtr& message : range) {
      EXPECT_EQ(message->text(), std::to_string(index));
      EXPECT_EQ(range[index - from], message);
      EXPECT_EQ(transcript[index], message);
      ++index;
    }
    EXPECT_EQ(index, std::max<std::size_t>(from, 200));
    EXPECT_EQ(range.size(), index - from);
  }
}

TEST(Transcript, ARangeOutlivesAppendsToItsTranscript) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_user(say("first")));
  const Messages range = transcript.messages();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(transcript.append_user(say("more")));
  EXPECT_EQ(range.size(), 1u);
  EXPECT_EQ((*range.begin())->text(), "first");
}

TEST(Transcript, ALongHistoryIsFreedWithoutRecursion) {
  Transcript transcript;
  const MessagePtr message = say("again");
  for (int i = 0; i < 1'000'000; ++i) (void)transcript.append_user(message);
  EXPECT_EQ(transcript.size(), 1'000'000u);
  transcript = {};
  EXPECT_EQ(message.use_count(), 1);
}

Boundary covering(std::size_t from, std::size_t to, std::vector<MessagePtr> replacement = {}) {
  return {.type = BoundaryType::compact,
          .from = from,
          .to = to,
          .replacement = std::move(replacement),
          .before_tokens = 100,
          .after_tokens = 10,
          .reason = "too long"};
}

TEST(Transcript, ABoundaryCutsNoCallFromItsResult) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_user(say("go")));                       // 0
  ASSERT_TRUE(transcript.append_turn(turn_with({"a"}), 1));             // 1
  ASSERT_TRUE(transcript.append_results({result_for("1.0", "done")}));  // 2
  ASSERT_TRUE(transcript.append_turn(turn_with({"b"}), 2));             // 3, open
  struct Case {
    std::size_t from, to;
    std::string error;
  };
  const Case cases[] = {
      {0, 0, "transcript: boundary [0, 0) covers nothing of 4 messages"},
      {0, 5, "transcript: boundary [0, 5) covers nothing of 4 messages"},
      {2, 1, "transcript: boundary [2, 1) covers nothing of 4 messages"},
      {0, 2, "transcript: boundary [0, 2) would cut call 1.0 (a) from its result"},
      {2, 3, "transcript: boundary [2, 3) would cut call 1.0 (a) from its result"},
      {0, 4, "transcript: boundary [0, 4) would cut call 2.0 (b) from its result"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(message_of(transcript.append_boundary(covering(c.from, c.to))), c.error);
  }
  EXPECT_EQ(transcript.boundary_count(), 0u);
  EXPECT_TRUE(transcript.append_boundary(covering(0, 3, {Message::user("summary")})));
  EXPECT_EQ(transcript.boundary_count(), 1u);
}

TEST(Transcript, BoundariesNestOrStayClearOfEachOther) {
  Transcript transcript;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(transcript.append_user(say("m")));
  ASSERT_TRUE(transcript.append_boundary(covering(2, 5)));
  EXPECT_FALSE(transcript.append_boundary(covering(4, 7)));
  EXPECT_FALSE(transcript.append_boundary(covering(3, 4)));
  const Transcript fork = transcript;
  EXPECT_TRUE(transcript.append_boundary(covering(5, 7)));
  EXPECT_TRUE(transcript.append_boundary(covering(0, 8)));
  EXPECT_FALSE(transcript.append_boundary(covering(2, 5)));
  EXPECT_EQ(transcript.boundary_count(), 3u);
  EXPECT_EQ(fork.boundary_count(), 1u);
  EXPECT_EQ(*transcript.boundaries()[2], covering(0, 8));
}

TEST(Transcript, AReplacementIsALegalHistoryItself) {
  Transcript transcript;
  ASSERT_TRUE(transcript.append_user(say("go")));
  const MessagePtr turn = Message::make(
      Role::assistant, {ToolCall{.id = CallId("1.0"), .tool = "a"}, ToolCall{.id = CallId("1.1")}});
  const MessagePtr both = Message::results({result_for("1.0"), result_for("1.1")});
  const MessagePtr half = Message::results({result_for("1.0")});
  EXPECT_FALSE(transcript.append_boundary(covering(0, 1, {turn})));
  EXPECT_FALSE(transcript.append_boundary(covering(0, 1, {both})));
  EXPECT_FALSE(transcript.append_boundary(covering(0, 1, {turn, half})));
  EXPECT_FALSE(transcript.append_boundary(covering(0, 1, {turn, say("x"), both})));
  EXPECT_FALSE(transcript.append_boundary(covering(0, 1, {nullptr})));
  EXPECT_TRUE(transcript.append_boundary(covering(0, 1, {say("x"), turn, both, say("y")})));
}

// The same operations on a transcript and on plain vectors that are copied at every fork.
struct Model {
  std::vector<MessagePtr> messages;
  std::vector<MessagePtr> pending;
  std::vector<Boundary> boundaries;
  std::vector<std::string> open;
  Seq last = 0;

  void close(std::vector<ToolResult> results) {
    messages.push_back(Message::results(std::move(results)));
    for (MessagePtr& message : pending) messages.push_back(std::move(message));
    pending.clear();
    open.clear();
  }
};
struct Pair {
  Transcript real;
  Model model;
};

void compare(const Pair& pair) {
  ASSERT_EQ(pair.real.size(), pair.model.messages.size());
  std::size_t index = 0;
  for (const MessagePtr& message : pair.real.messages()) {
    ASSERT_EQ(*message, *pair.model.messages[index++]);
  }
  ASSERT_EQ(pair.real.pending(), pair.model.pending);
  ASSERT_EQ(pair.real.has_open_calls(), !pair.model.open.empty());
  const auto boundaries = pair.real.boundaries();
  ASSERT_EQ(boundaries.size(), pair.model.boundaries.size());
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    ASSERT_EQ(*boundaries[i], pair.model.boundaries[i]);
  }
  // Every call has exactly one result, in the next message.
  for (std::size_t i = 0; i < pair.real.size(); ++i) {
    const auto calls = pair.real[i]->tool_calls();
    if (calls.empty()) continue;
    if (i + 1 == pair.real.size()) {
      ASSERT_TRUE(pair.real.has_open_calls());
      continue;
    }
    const auto results = pair.real[i + 1]->tool_results();
    ASSERT_TRUE(std::ranges::equal(calls, results, {}, &ToolCall::id, &ToolResult::call));
  }
}

void step(Rng& rng, Pair& pair, int number) {
  Model& model = pair.model;
  switch (rng.below(6)) {
    case 0:
    case 1: {
      const MessagePtr message = say("m" + std::to_string(number));
      ASSERT_TRUE(pair.real.append_user(message));
      (model.open.empty() ? model.messages : model.pending).push_back(message);
      return;
    }
    case 2:
    case 3: {
      const std::size_t calls = rng.below(4);
      const Seq seq = model.last + 1 + rng.below(3);
      auto turn = pair.real.append_turn(turn_with(std::vector<std::string>(calls, "t")), seq);
      ASSERT_EQ(turn.has_value(), model.open.empty());
      if (!turn) return;
      model.messages.push_back(*turn);
      if (calls > 0) model.last = seq;
      for (std::size_t i = 0; i < calls; ++i) {
        model.open.push_back(std::to_string(seq) + "." + std::to_string(i));
      }
      return;
    }
    case 4: {
      std::vector<ToolResult> results;
      for (const std::string& call : model.open) {
        results.push_back(result_for(call, "r" + std::to_string(number)));
        results.back().tool = "t";
      }
      std::vector<ToolResult> shuffled = results;
      for (std::size_t i = shuffled.size(); i > 1; --i) {
        std::swap(shuffled[i - 1], shuffled[rng.below(i)]);
      }
      // Sometimes one too few: refused, and the same afterwards.
      if (!shuffled.empty() && rng.below(4) == 0) {
        shuffled.pop_back();
        ASSERT_FALSE(pair.real.append_results(shuffled));
        return;
      }
      ASSERT_EQ(pair.real.append_results(shuffled).has_value(), !model.open.empty());
      if (!model.open.empty()) model.close(std::move(results));
      return;
    }
    default: {
      Boundary boundary = covering(rng.below(model.messages.size() + 1),
                                   rng.below(model.messages.size() + 2), {say("summary")});
      if (pair.real.append_boundary(boundary)) model.boundaries.push_back(boundary);
      return;
    }
  }
}

TEST(Transcript, BehavesLikePlainCopiesUnderRandomForks) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<Pair> pairs(1);
    for (int i = 0; i < 1500; ++i) {
      const std::size_t chosen = rng.below(pairs.size());
      const auto act = rng.below(20);
      if (act == 0 && pairs.size() < 12) {
        pairs.push_back(pairs[chosen]);
      } else if (act == 1 && pairs.size() > 1) {
        pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(chosen));
      } else {
        step(rng, pairs[chosen], i);
        if (HasFatalFailure()) return;
      }
    }
    while (!pairs.empty()) {
      for (const Pair& pair : pairs) compare(pair);
      if (HasFatalFailure()) return;
      pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(rng.below(pairs.size())));
    }
  }
}

TEST(Transcript, ForksOnDifferentThreadsDoNotDisturbEachOther) {
  Transcript base;
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(base.append_user(say("base" + std::to_string(i))));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&base, &wrong, t] {
      for (int round = 0; round < 200; ++round) {
        Transcript mine = base;
        const MessagePtr word = say("t" + std::to_string(t));
        for (int i = 0; i < 100; ++i) (void)mine.append_user(word);
        const Transcript again = mine;
        std::size_t index = 0;
        for (const MessagePtr& message : again.messages()) {
          wrong[static_cast<std::size_t>(t)] += message != (index < 90 ? base[index] : word);
          ++index;
        }
        wrong[static_cast<std::size_t>(t)] += index != 190;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
  EXPECT_EQ(base.size(), 90u);
}

// Histories wander between threads: what one made another forks, continues and destroys.
TEST(Transcript, HistoriesMayWanderBetweenThreads) {
  struct Kept {
    Transcript real;
    std::vector<MessagePtr> copy;
  };
  std::mutex mutex;
  std::vector<Kept> shelf(6);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Rng rng(t + 1);
      const MessagePtr word = say("t" + std::to_string(t));
      for (int round = 0; round < 500; ++round) {
        Kept mine;
        {
          std::lock_guard lock(mutex);
          mine = shelf[rng.below(shelf.size())];
        }
        if (mine.copy.size() > 400) mine = {};
        for (std::uint64_t i = rng.below(40); i > 0; --i) {
          (void)mine.real.append_user(word);
          mine.copy.push_back(word);
        }
        wrong[t] += !std::ranges::equal(mine.real.messages(), mine.copy);
        std::lock_guard lock(mutex);
        shelf[rng.below(shelf.size())] = std::move(mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Transcript, WhatWasSaidBeforeAnOpenTurnIsATranscriptOfItsOwn) {
  for (int before : {1, 7, 8, 9, 72, 200}) {
    Transcript transcript;
    for (int i = 0; i < before; ++i) {
      ASSERT_TRUE(transcript.append_user(say("m" + std::to_string(i))));
    }
    const Transcript quiet = transcript;
    EXPECT_EQ(transcript.settled(), quiet);
    ASSERT_TRUE(transcript.append_turn(turn_with({"a"}), 7));
    ASSERT_TRUE(transcript.append_user(say("while it is open")));
    Transcript settled = transcript.settled();
    EXPECT_EQ(settled, quiet);
    ASSERT_TRUE(settled.append_user(say("the other way")));
    ASSERT_TRUE(transcript.append_results({result_for("7.0")}));
    EXPECT_EQ(texts_of(settled).back(), "the other way");
    EXPECT_EQ(settled.size(), before + 1u);
    EXPECT_EQ(texts_of(transcript).back(), "while it is open");
  }
}

}  // namespace
}  // namespace tug
