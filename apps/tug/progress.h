// What a run is doing, folded from its events, in words for a person.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tug/core/cost.h"
#include "tug/journal/event.h"

namespace tug::cli {

enum class Below : bool { hidden, shown };  // the runs below the root

// A value. Every text it gives is harmless on a terminal.
class Progress {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  void on_event(const Event& event, Moment now);

  // "| script/a.jsonl  turn 2  read 3s  [##--------] 1.2k/32k  $0.0012", at most `columns` wide.
  std::string line(Moment now, std::size_t columns) const;

  // "* read README.md (12 lines, 3 ms)" for an event that ends a call, for a hook that failed, and
  // for a run below the root that begins or ends. The call of an agent has no line where its run
  // has some.
  std::optional<std::string> call_line(const Event& event, Below below) const;

 private:
  struct Call {
    std::string tool;
    std::string subject;  // the first text among its arguments
    Moment since;
    bool of_root = true;
    bool runs = false;  // an agent: its run says what becomes of it
  };
  void on_window(const Json& window);

  std::string model_;
  std::uint32_t turn_ = 0;
  std::map<std::string, Call> calls_;  // that run now, by call id
  std::map<std::string, Call> ended_;  // the last one to end, for its line
  std::int64_t used_tokens_ = 0;
  std::int64_t max_tokens_ = 0;
  Cost cost_;
  std::optional<Moment> since_;
};

}  // namespace tug::cli
