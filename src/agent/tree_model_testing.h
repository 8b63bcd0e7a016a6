// The model of random trees: says anything that a model may say, drawn anew for every request.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/tree_world_testing.h"
#include "tug/core/wait.h"
#include "tug/model/script.h"

namespace tug {

// What a run at this depth is asked: it is how the model knows where it is.
inline std::string tree_prompt(std::uint32_t depth, std::string_view what) {
  return "@" + std::to_string(depth) + " " + std::string(what);
}

class TreeModel final : public Model {
 public:
  explicit TreeModel(TreeWorld& world) : world_(world) {
    profile_.price = Price{.input = 1'000'000, .output = 2'000'000};
  }
  const ModelProfile& profile() const noexcept override { return profile_; }

  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    expect_legal(request.transcript);
    Rng rng((world_.seed * 31 + world_.processes) * 1'000'003 + ++asked_);
    return std::make_unique<Stream>(world_, draw(rng, request), std::move(until));
  }

 private:
  struct Said {
    std::chrono::milliseconds delay{};
    int error = 0;  // a status
    bool throws = false;
    ModelTurn turn;
  };

  class Stream final : public ModelStream {
   public:
    Stream(TreeWorld& world, Said said, Until until)
        : world_(world), said_(std::move(said)), until_(std::move(until)) {
      ++world_.streams;
    }
    ~Stream() override { --world_.streams; }

    Task<Result<std::optional<ModelEvent>>> next() override {
      std::optional<ModelEvent> event;
      if (std::exchange(over_, true)) co_return event;
      const Woken woken = co_await sleep_for(said_.delay, until_);
      if (woken != Woken::ready) co_return Failure(wait_error(woken, until_, "an answer"));
      if (said_.throws) throw std::runtime_error("the model broke");
      if (said_.error) {
        co_return Failure(provider_error({.provider = "test", .name = "tree"}, said_.error,
                                         "not today", std::nullopt));
      }
      event = std::move(said_.turn);
      co_return event;
    }

   private:
    TreeWorld& world_;
    Said said_;
    Until until_;
    bool over_ = false;
  };

  struct Place {
    std::uint32_t depth = 0;
    std::size_t turns = 0;                // since the run was asked
    std::vector<std::string> background;  // runs it was told of
  };

  static Place place_of(const Transcript& transcript) {
    Place place;
    for (const MessagePtr& message : transcript.messages()) {
      const std::string text = message->text();
      if (message->role() == Role::user && text.starts_with("@")) {
        place = {.depth = static_cast<std::uint32_t>(std::atoi(text.c_str() + 1))};
      }
      place.turns += message->role() == Role::assistant;
      for (const ToolResult* result : message->tool_results()) {
        if (result->tool != "subagent" || !result->content.starts_with("Started")) continue;
        place.background.emplace_back(result->metadata["child_run_id"].as_string());
      }
    }
    return place;
  }

  Said draw(Rng& rng, const ModelRequest& request) {
    const Place place = place_of(request.transcript);
    Said said;
    if (rng.below(3)) said.delay = std::chrono::milliseconds(rng.below(120));
    if (!world_.quiet) {
      if (rng.below(16) == 0) said.error = 503;
      if (rng.below(60) == 0) said.error = 401;
      said.throws = rng.below(120) == 0;
    }
    ModelTurn& turn = said.turn;
    if (rng.below(8)) {
      turn.usage = {.input_tokens = static_cast<std::int64_t>(rng.below(400)),
                    .output_tokens = static_cast<std::int64_t>(rng.below(200))};
    }
    if (rng.below(10) == 0) {
      turn.cost = rng.below(3) ? Cost::known(static_cast<std::int64_t>(rng.below(900'000)),
                                             CostSource::provider)
                               : Cost::unknown();
    }
    std::vector<Part> parts;
    if (rng.below(10)) parts.push_back(TextPart{"words " + std::to_string(rng.below(100))});
    const bool done = world_.quiet || place.turns >= 5 || rng.below(7 - place.turns) == 0;
    if (!done) {
      turn.finish = Finish::tool_calls;
      for (std::size_t n = how_many(rng); n > 0; --n) {
        if (auto call = draw_call(rng, request, place)) parts.push_back(*std::move(call));
      }
    } else if (has(request, "final_result")) {
      parts.push_back(call_of(
          "final_result", rng.below(5) ? Json::object({{"n", 1}}) : Json::object({{"n", "x"}})));
    }
    if (!world_.quiet && rng.below(40) == 0) {
      static constexpr Finish kOther[] = {Finish::length, Finish::pause, Finish::refusal};
      turn.finish = kOther[rng.below(std::size(kOther))];
    }
    if (parts.empty()) parts.push_back(TextPart{world_.quiet || rng.below(4) ? "done" : ""});
    turn.message = Message::make(Role::assistant, std::move(parts));
    return said;
  }

  static std::size_t how_many(Rng& rng) {
    return rng.below(6) ? 1 + rng.below(3) : 1 + rng.below(kWidest);
  }

  static bool has(const ModelRequest& request, std::string_view name) {
    if (!request.tools) return false;
    return std::ranges::any_of(*request.tools,
                               [&](const auto& spec) { return spec->name == name; });
  }

  static ToolCall call_of(std::string tool, const Json& args) {
    return {.provider_id = "p", .tool = std::move(tool), .arguments = print_json(args)};
  }

  std::optional<ToolCall> draw_call(Rng& rng, const ModelRequest& request, const Place& place) {
    if (rng.below(30) == 0) return call_of("ghost", Json::object());
    if (rng.below(30) == 0) return ToolCall{.provider_id = "p", .tool = "look", .arguments = "{no"};
    const auto& specs = *request.tools;
    if (specs.empty()) return std::nullopt;
    const bool grows = place.depth < kDeepest && world_.may_grow() && rng.below(5) < 3;
    for (int tries = 0; tries < 20; ++tries) {
      const ToolSpec& spec = *specs[rng.below(specs.size())];
      const TreeTool* tool = find_tree_tool(spec.name);
      const bool growing = spec.agent || (tool && runs_agents(tool->deed));
      if (growing != grows || spec.name == "final_result") continue;
      const bool ends = tool && (tool->deed == Deed::throws || tool->deed == Deed::finishes ||
                                 tool->deed == Deed::interrupts);
      if (ends && rng.below(3)) continue;
      if (growing) ++world_.runs;
      return call_of(spec.name, arguments(rng, spec, tool, place));
    }
    return std::nullopt;
  }

  static Json arguments(Rng& rng, const ToolSpec& spec, const TreeTool* tool, const Place& place) {
    const std::string what = rng.below(3) ? "work " + std::to_string(rng.below(50)) : "work";
    if (tool) {
      Json args = Json::object({{"text", rng.below(3) ? what : std::string(kBig)}});
      if (rng.below(2)) args.set("ms", rng.below(200));
      return args;
    }
    if (spec.name == "subagent_runs") return look_after(rng, place);
    const std::string prompt = tree_prompt(place.depth + 1, what);
    if (spec.name != "subagent") return Json::object({{"input", prompt}});
    Json args = Json::object({{"task", prompt}});
    if (rng.below(2)) args.set("agent", "a" + std::to_string(rng.below(5)));
    if (rng.below(2)) args.set("background", true);
    return args;
  }

  static Json look_after(Rng& rng, const Place& place) {
    static constexpr const char* kActions[] = {"list",   "poll",   "wait",  "wait",
                                               "cancel", "inject", "pause", "resume"};
    Json args = Json::object({{"action", kActions[rng.below(std::size(kActions))]}});
    if (rng.below(8)) args.set("text", "psst");
    const auto& runs = place.background;
    if (!runs.empty()) args.set("run", runs[rng.below(runs.size())]);
    return args;
  }

  TreeWorld& world_;
  ModelProfile profile_{.provider = "test", .name = "tree", .max_output_tokens = 300};
  std::uint64_t asked_ = 0;
};

}  // namespace tug
