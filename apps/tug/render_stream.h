// Events as lines on stdout: `stream-json`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tug/agent/stream.h"
#include "tug/core/error.h"
#include "tug/journal/sink.h"

namespace tug::cli {

// "messages,tools"; empty is everything but the steps of middleware, which come only when `events`
// is named. `invalid`, with the nearest, for a word that is none.
struct StreamChoice {
  StreamOptions options;
  bool steps = false;
};
Result<StreamChoice> stream_choice(std::string_view text);

// Writes {"kind":"stream",..} before the first event, then one event a line. One thread at a time;
// `gone` is called once when stdout takes no more.
class StreamLines final : public Sink {
 public:
  StreamLines(StreamChoice choice, std::function<void()> gone)
      : choice_(choice), gone_(std::move(gone)) {}

  void on_event(const Event& event) override;
  bool wants_steps() const noexcept override { return choice_.steps; }

  bool ended() const noexcept { return ended_; }  // the root's last event is out
  int broken() const noexcept { return broken_; }

 private:
  const StreamChoice choice_;
  std::function<void()> gone_;
  std::string line_;
  bool opened_ = false;
  bool ended_ = false;
  int broken_ = 0;
};

// {"kind":"stream","schema":1,"run_id":..,"from_seq":N}, and "gaps":true where records are left
// out.
std::string stream_opening(std::string_view run_id, Seq from_seq, const StreamOptions& options);

}  // namespace tug::cli
