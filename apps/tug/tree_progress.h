// The runs below the root that are under way: what each of them does now, folded from events.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tug/core/cost.h"
#include "tug/core/ids.h"
#include "tug/journal/event.h"

namespace tug::cli {

// A value. Every text it gives is harmless on a terminal.
class TreeProgress {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  void on_event(const Event& event, Moment now);

  // One line a run, those below it after it, in the order they began:
  // "  scout 4k2m9x  read 3s  turn 2  1.2k tokens  $0.0012", tokens and cost with those of its own
  // runs. Of more than `most` the last line says how many are left out.
  std::vector<std::string> lines(Moment now, std::size_t columns, std::size_t most) const;

 private:
  struct Node {
    std::string agent;
    RunId parent;
    std::uint32_t depth = 1;
    std::uint32_t turn = 0;
    std::int64_t tokens = 0;
    Cost cost;
    bool asks_model = false;
    bool paused = false;
    std::map<std::string, std::string> calls;    // tools that run now, by call id
    std::map<std::string, std::string> waiting;  // for approval
    Moment since{};                              // of what it does now
  };
  Node* find(const RunId& id);
  void begin(const Event& event, Moment now);
  void spend(const Event& event);
  static std::string line_of(const RunId& id, const Node& node, Moment now);

  std::map<RunId, Node> nodes_;  // live ones; ids sort in the order they were made
};

}  // namespace tug::cli
