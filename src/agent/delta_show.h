// What is shown of an answer while it comes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/attempt.h"
#include "agent/run_tree.h"
#include "tug/model/model.h"

namespace tug {

// Shows deltas to whoever watches, and keeps the bytes for the case that we do not live to see the
// end. Of a structured answer it also shows how far it has come.
class DeltaShow final : public DeltaObserver {
 public:
  DeltaShow(LiveRun& run, Received& received) noexcept : run_(run), received_(received) {}
  void on_delta(const ModelEvent& event) override;

 private:
  void count(const ModelEvent& event) noexcept;
  std::uint32_t place_of(std::uint32_t index);
  void show_output(const ModelEvent& event);

  LiveRun& run_;
  Received& received_;
  std::vector<std::uint32_t> calls_;  // by their index, in the order in which they came
  std::string answer_;                // of a structured answer, as far as it has come
  std::size_t looked_at_ = 0;         // how much of it was there when it was last read
  Json shown_;                        // what was shown last
  bool is_final_ = false;             // the call that is coming is final_result
};

}  // namespace tug
