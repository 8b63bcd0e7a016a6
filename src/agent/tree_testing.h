// What tests of whole trees share: scripts with a part for each agent, a second process on the same
// journal, and questions about what the journal has.
#pragma once

#include <algorithm>
#include <map>

#include "agent/cases_testing.h"
#include "agent/probe_testing.h"
#include "tug/io/engine.h"

namespace tug {

// A turn for runs of that agent alone.
inline ScriptTurn by(std::string agent, ScriptTurn turn) {
  turn.agent = std::move(agent);
  return turn;
}
inline ScriptTurn after_ms(std::int64_t delay, ScriptTurn turn) {
  turn.delay_ms = delay;
  return turn;
}
inline ScriptTurn asks(std::string agent, std::string input) {
  return testkit::calls(std::move(agent), print_json(Json::object({{"input", input}})));
}

// A run that may end with open calls: Rig::run takes those for a mistake.
inline RunResult run_on(Rig& rig, std::string prompt, RunOptions options = {}) {
  options.observers.push_back(rig.seen);
  return rig.harness->start(std::move(prompt), std::move(options)).wait();
}
inline Run start_on(Rig& rig, std::string prompt, RunOptions options = {}) {
  options.observers.push_back(rig.seen);
  return rig.harness->start(std::move(prompt), std::move(options));
}
inline RunResult resume_on(Rig& rig, const RunResult& from, std::string prompt = {},
                           RunOptions options = {}) {
  options.observers.push_back(rig.seen);
  return rig.harness->resume(from.root, std::move(prompt), std::move(options)).wait();
}

// Another process: an engine, ids and models of its own on the journal of the first.
inline Rig beside(const Rig& first, const ModelPtr& model, HarnessOptions options = {}) {
  Rig next(model, 2);
  next.store = first.store;
  options.model = model->profile().id();
  options.seed = 8;
  options.engine = next.engine;
  options.store = next.store;
  options.models = next.models;
  next.harness = std::make_unique<Harness>(std::move(options));
  return next;
}

// What a task comes to on the rig's loop.
template <class T>
T on_loop(Rig& rig, Task<T> task) {
  auto ended = rig.engine->run(rig.engine->loop(0), std::move(task));
  EXPECT_TRUE(ended) << to_string(ended.error());
  return *std::move(ended);
}

inline FoldedRoot folded(Rig& rig, const RunId& root) {
  auto read = fold_root(*rig.store, root);
  EXPECT_TRUE(read) << to_string(read.error());
  return read ? *std::move(read) : FoldedRoot{};
}

// The run of that agent, the newest where there are several.
inline RunId run_of(const SeenEvents& seen, std::string_view agent) {
  RunId found;
  for (const Event& event : seen.events) {
    if (event.kind == Kind::run_started && event.who->agent == agent) found = event.who->run_id;
  }
  return found;
}

// "agent kind" of these kinds, in order.
inline Trace told_of(const SeenEvents& seen, std::initializer_list<Kind> kinds) {
  Trace found;
  for (const Event& event : seen.events) {
    if (std::ranges::find(kinds, event.kind) == kinds.end()) continue;
    found.push_back(event.who->agent + " " + std::string(event.name()));
  }
  return found;
}

// Records of one root come with every seq once.
inline void expect_gap_free(const SeenEvents& seen, Seq first = 1) {
  Seq next = first;
  for (const Event& event : seen.events) {
    if (event.live == 0) {
      EXPECT_EQ(event.seq, next++) << event.name();
    }
  }
}

// Texts of a request, one for each message; results in brackets.
inline Trace texts_of(const Transcript& transcript) {
  Trace texts;
  for (const MessagePtr& message : transcript.messages()) {
    std::string text = message->text();
    for (const ToolCall* call : message->tool_calls()) text += "(" + call->tool + ")";
    for (const ToolResult* result : message->tool_results()) text += "[" + result->content + "]";
    texts.push_back(std::move(text));
  }
  return texts;
}

inline Trace tools_of(const ModelRequest& request) {
  Trace names;
  if (!request.tools) return names;
  for (const auto& spec : *request.tools) names.push_back(spec->name);
  return names;
}

struct Span {
  std::int64_t ms = 0;
};

// Sleeps in virtual time, and heeds a cancel.
inline void give_nap(Rig& rig) {
  rig.harness->tool("nap", "Sleeps",
                    [](const Context& ctx, const Span& span) -> Task<Result<std::string>> {
                      const Until until{.cancel = ctx.cancel()};
                      const Woken woken =
                          co_await sleep_for(std::chrono::milliseconds(span.ms), until);
                      if (woken != Woken::ready)
                        co_return Failure(wait_error(woken, until, "a nap"));
                      co_return "rested";
                    },
                    {.effect = Effect::pure});
}
inline ScriptTurn naps(std::int64_t ms) {
  return testkit::calls("nap", print_json(Json::object({{"ms", ms}})));
}

}  // namespace tug
