// Events as lines on stdout: `stream-json`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tug/journal/sink.h"

namespace tug::cli {

// Which events are shown. The root's last event always is, and so is the line that opens the
// stream.
struct StreamKinds {
  bool messages = true;  // model.*
  bool tools = true;     // tool.*
  bool updates = true;   // every other record
  bool live = true;      // every other live event

  bool shows(const Event& event) const noexcept;
};
// "messages,tools"; empty is all of them. `invalid`, with the nearest, for a word that is none.
Result<StreamKinds> stream_kinds(std::string_view text);

// Writes {"kind":"stream",..} before the first event, then one event a line. One thread at a time;
// `gone` is called once when stdout takes no more.
class StreamLines final : public Sink {
 public:
  StreamLines(StreamKinds kinds, std::function<void()> gone)
      : kinds_(kinds), gone_(std::move(gone)) {}

  void on_event(const Event& event) override;

  bool ended() const noexcept { return ended_; }  // the root's last event is out
  int broken() const noexcept { return broken_; }

 private:
  const StreamKinds kinds_;
  std::function<void()> gone_;
  std::string line_;
  bool opened_ = false;
  bool ended_ = false;
  int broken_ = 0;
};

// {"kind":"stream","schema":1,"run_id":..,"from_seq":N}
std::string stream_opening(std::string_view run_id, Seq from_seq);

}  // namespace tug::cli
