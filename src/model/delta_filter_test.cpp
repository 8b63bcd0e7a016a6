#include "tug/model/delta_filter.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "model/testing.h"

namespace tug {
namespace {

using testing::FixedStream;
using testing::line_of;
using Step = FixedStream::Step;
using Lines = std::vector<std::string>;

// Puts another word in the place of `word`, in text, reasoning and arguments, wherever it is cut.
class Replace final : public DeltaFilter {
 public:
  Replace(std::string word, std::string with) : word_(std::move(word)), with_(std::move(with)) {}
  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    if (auto* text = std::get_if<TextDelta>(&delta)) {
      out.emplace_back(TextDelta{pass(text_, std::move(text->text))});
    } else if (auto* thought = std::get_if<ReasoningDelta>(&delta)) {
      out.emplace_back(ReasoningDelta{pass(reasoning_, std::move(thought->text))});
    } else if (auto* call = std::get_if<ToolCallDelta>(&delta)) {
      call->arguments = pass(calls_[call->index], std::move(call->arguments));
      out.push_back(std::move(delta));
    }
  }
  void flush(std::vector<ModelEvent>& out) override {
    out.emplace_back(ReasoningDelta{std::exchange(reasoning_, {})});
    out.emplace_back(TextDelta{std::exchange(text_, {})});
    for (auto& [index, kept] : calls_) out.emplace_back(ToolCallDelta{index, "", "", kept});
  }

 private:
  std::string pass(std::string& kept, std::string more) {
    kept += more;
    std::string out;
    for (std::size_t at = 0;;) {
      const std::size_t found = kept.find(word_, at);
      if (found != kept.npos) {
        out += kept.substr(at, found - at) + with_;
        at = found + word_.size();
        continue;
      }
      std::size_t hold = std::min(word_.size() - 1, kept.size() - at);
      while (!word_.starts_with(std::string_view(kept).substr(kept.size() - hold))) --hold;
      out += kept.substr(at, kept.size() - hold - at);
      kept.erase(0, kept.size() - hold);
      return out;
    }
  }

  std::string word_;
  std::string with_;
  std::string text_;
  std::string reasoning_;
  std::map<std::uint32_t, std::string> calls_;
};

template <class T>
class Drop final : public DeltaFilter {
 public:
  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    if (!std::holds_alternative<T>(delta)) out.push_back(std::move(delta));
  }
  void flush(std::vector<ModelEvent>&) override {}
};

class KeepAllBack final : public DeltaFilter {
 public:
  void push(ModelEvent delta, std::vector<ModelEvent>&) override {
    kept_.push_back(std::move(delta));
  }
  void flush(std::vector<ModelEvent>& out) override { out = std::move(kept_); }

 private:
  std::vector<ModelEvent> kept_;
};

class Throws final : public DeltaFilter {
 public:
  void push(ModelEvent, std::vector<ModelEvent>&) override { throw std::runtime_error("boom"); }
  void flush(std::vector<ModelEvent>&) override {}
};

template <class Filter, class... Args>
MakeDeltaFilter makes(Args... args) {
  return [=] { return std::make_unique<Filter>(args...); };
}
const MakeDeltaFilter kHide = makes<Replace>("secret", "***");

Step step(ModelEvent event) { return std::optional<ModelEvent>(std::move(event)); }

// Adds up what is shown.
struct Shown final : DeltaObserver {
  Lines lines;
  std::string text;
  std::string reasoning;
  std::map<std::uint32_t, std::string> calls;
  void on_delta(const ModelEvent& event) override {
    lines.push_back(line_of(event));
    if (auto* delta = std::get_if<TextDelta>(&event)) text += delta->text;
    if (auto* delta = std::get_if<ReasoningDelta>(&event)) reasoning += delta->text;
    if (auto* delta = std::get_if<ToolCallDelta>(&event)) calls[delta->index] += delta->arguments;
  }
};

Result<ModelTurn> through(std::vector<MakeDeltaFilter> filters, std::vector<Step> steps,
                          Shown* shown = nullptr) {
  auto engine = make_sim_engine();
  auto stream = filtered(std::make_unique<FixedStream>(std::move(steps)), filters);
  return engine->run(engine->loop(0), collect(*stream, shown));
}

std::string arguments_of(const Message& message) {
  std::string all;
  for (const ToolCall* call : message.tool_calls()) {
    all += call->provider_id + " " + call->tool + " " + call->arguments + ";";
  }
  return all;
}

MessagePtr message(std::vector<Part> parts) {
  return Message::make(Role::assistant, std::move(parts));
}

TEST(DeltaFilter, WithoutFiltersTheStreamIsItself) {
  auto stream = std::make_unique<FixedStream>(std::vector<Step>{});
  const ModelStream* same = stream.get();
  EXPECT_EQ(filtered(std::move(stream), {}).get(), same);
}

TEST(DeltaFilter, WhereverTheAnswerIsCutStreamAndTurnSayTheSame) {
  const std::string text = "a secret sec secrets\xc3\xa9 secre";
  const std::string wanted = "a *** sec ***s\xc3\xa9 secre";
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      const std::string pieces[] = {text.substr(0, a), text.substr(a, b - a), text.substr(b)};
      std::vector<Step> steps;
      for (const std::string& piece : pieces) {
        steps.push_back(step(TextDelta{piece}));
        steps.push_back(step(ReasoningDelta{piece}));
        steps.push_back(step(ToolCallDelta{3, "c3", "read", piece}));
      }
      const MessagePtr whole =
          message({ReasoningPart{.text = text}, TextPart{text},
                   ToolCall{.provider_id = "c3", .tool = "read", .arguments = text}});
      steps.push_back(step(ModelTurn{.message = whole, .finish = Finish::tool_calls}));
      Shown shown;
      auto turn = through({kHide}, steps, &shown);
      ASSERT_TRUE(turn) << to_string(turn.error());
      EXPECT_EQ(*turn->message,
                *message({ReasoningPart{.text = wanted}, TextPart{wanted},
                          ToolCall{.provider_id = "c3", .tool = "read", .arguments = wanted}}));
      EXPECT_EQ(shown.text, wanted);
      EXPECT_EQ(shown.reasoning, wanted);
      EXPECT_EQ(shown.calls[3], wanted);
      steps.pop_back();  // the same without a closing turn
      auto open = through({kHide}, steps);
      ASSERT_TRUE(open);
      EXPECT_EQ(*open->message, *turn->message);
    }
  }
}

TEST(DeltaFilter, FiltersWorkOneBehindTheOther) {
  Shown shown;
  auto turn = through(
      {makes<Replace>("secret", "hidden"), makes<KeepAllBack>(), makes<Replace>("hidden", "gone")},
      {step(TextDelta{"a sec"}), step(TextDelta{"ret b"})}, &shown);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->message->text(), "a gone b");
  EXPECT_EQ(shown.text, "a gone b");
}

TEST(DeltaFilter, AnAnswerWithoutDeltasGoesThroughToo) {
  Shown shown;
  auto turn = through({kHide},
                      {step(ModelTurn{.message = message({TextPart{"the secret"}}),
                                      .usage = {.input_tokens = 3},
                                      .model = "m",
                                      .raw = "raw secret"})},
                      &shown);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->message->text(), "the ***");
  EXPECT_EQ(shown.text, "the ***");
  EXPECT_EQ(turn->usage.input_tokens, 3);
  EXPECT_EQ(turn->model, "m");
  EXPECT_EQ(turn->raw, Json("raw secret"));
}

TEST(DeltaFilter, WhatATurnSaysBeyondItsDeltasIsShownAndFiltered) {
  Shown shown;
  auto turn = through(
      {kHide},
      {step(TextDelta{"the sec"}), step(ToolCallDelta{0, "c0", "read", "{"}),
       step(UsageDelta{{.output_tokens = 9}}),
       step(ModelTurn{
           .message = message({ReasoningPart{.text = "hm"}, TextPart{"the secret"},
                               ToolCall{.provider_id = "c0", .tool = "read", .arguments = "{}"},
                               ToolCall{.provider_id = "c1", .tool = "list", .arguments = "[]"}}),
           .finish = Finish::tool_calls})},
      &shown);
  ASSERT_TRUE(turn);
  EXPECT_EQ(shown.lines, (Lines{"text:the ", "call 0 c0 read {", "usage", "reasoning:hm",
                                "text:***", "call 0   }", "call 1 c1 list []"}));
  EXPECT_EQ(turn->message->text(), "the ***");
  EXPECT_EQ(arguments_of(*turn->message), "c0 read {};c1 list [];");
  EXPECT_EQ(turn->usage.output_tokens, 9);
}

TEST(DeltaFilter, ATurnThatIsNotWhatItsDeltasSaidCounts) {
  auto turn = through({kHide}, {step(TextDelta{"nonsense"}),
                                step(ModelTurn{.message = message({TextPart{"a secret"}})})});
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->message->text(), "a ***");
}

TEST(DeltaFilter, WhatIsDroppedIsInNeither) {
  const std::vector<Step> steps = {
      step(ReasoningDelta{"hm"}), step(TextDelta{"hi"}), step(ToolCallDelta{0, "c0", "read", "{}"}),
      step(ModelTurn{
          .message = message({ReasoningPart{.text = "hm"}, TextPart{"hi"},
                              ToolCall{.provider_id = "c0", .tool = "read", .arguments = "{}"}}),
          .finish = Finish::tool_calls})};
  Shown shown;
  auto silent = through({makes<Drop<ToolCallDelta>>()}, steps, &shown);
  EXPECT_EQ(*silent->message, *message({ReasoningPart{.text = "hm"}, TextPart{"hi"}}));
  EXPECT_EQ(silent->finish, Finish::stop);
  EXPECT_EQ(shown.lines, (Lines{"reasoning:hm", "text:hi"}));
  auto mute = through({makes<Drop<TextDelta>>(), makes<Drop<ReasoningDelta>>()}, steps);
  EXPECT_EQ(*mute->message,
            *message({ToolCall{.provider_id = "c0", .tool = "read", .arguments = "{}"}}));
  EXPECT_EQ(mute->finish, Finish::tool_calls);
  auto nothing = through({makes<Drop<TextDelta>>()}, {step(TextDelta{"hi"})});
  ASSERT_TRUE(nothing) << "a stream whose words were all dropped has spoken";
  EXPECT_EQ(*nothing->message, *message({}));
}

TEST(DeltaFilter, SignedReasoningPassesUnchangedOrNotAtAll) {
  const ReasoningPart clean{.text = "plain", .provider = "p", .opaque = "sig"};
  const ReasoningPart dirty{.text = "a secret", .provider = "p", .opaque = "sig"};
  const ReasoningPart sealed{.provider = "p", .opaque = "enc", .redacted = true};
  const auto kept = [](std::vector<Part> parts) {
    std::vector<Step> steps;
    for (const Part& part : parts) {
      if (auto* thought = std::get_if<ReasoningPart>(&part))
        steps.push_back(step(ReasoningDelta{thought->text}));
    }
    steps.push_back(step(ModelTurn{.message = message(std::move(parts))}));
    return through({kHide}, steps)->message;
  };
  EXPECT_EQ(*kept({clean, TextPart{"x"}}), *message({clean, TextPart{"x"}}));
  EXPECT_EQ(*kept({dirty, TextPart{"x"}}), *message({TextPart{"x"}}));
  EXPECT_EQ(*kept({sealed, TextPart{"a secret"}}), *message({sealed, TextPart{"a ***"}}));
}

TEST(DeltaFilter, PartsOfAProviderStayInTheirPlace) {
  const ProviderBlock search{.provider = "p", .data = Json::object({{"type", "search"}})};
  auto same = through(
      {kHide}, {step(ModelTurn{.message = message({TextPart{"one"}, search, TextPart{"two"}})})});
  EXPECT_EQ(*same->message, *message({TextPart{"one"}, search, TextPart{"two"}}));
  auto other = through(
      {kHide},
      {step(ModelTurn{.message = message({search, TextPart{"a sec"}, search, TextPart{"ret"}})})});
  EXPECT_EQ(*other->message, *message({search, TextPart{"a ***"}, search}));
}

TEST(DeltaFilter, FailuresAreTheStreamsAndAtOnce) {
  Shown shown;
  auto cut = through({makes<KeepAllBack>()},
                     {step(TextDelta{"hi"}), fail(ErrorKind::overloaded, "busy")}, &shown);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message(), "busy");
  EXPECT_EQ(shown.lines, Lines{});
  auto late = through({kHide}, {step(ModelTurn{.message = message({TextPart{"x"}})}),
                                fail(ErrorKind::denied, "no")});
  EXPECT_EQ(late.error().message(), "no");
  auto thrown = through({makes<Throws>()}, {step(TextDelta{"hi"})});
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().kind(), ErrorKind::internal);
  EXPECT_NE(thrown.error().message().find("boom"), std::string::npos);
  auto silent = through({kHide}, {});
  EXPECT_EQ(silent.error().kind(), ErrorKind::disconnected);
}

}  // namespace
}  // namespace tug
