// Server-sent events, framed to the letter of the standard: UTF-8 BOM, LF, CRLF and CR, comments,
// fields with and without a colon, several `data` lines, no final blank line.
//
// Bytes may be cut anywhere. Pure; one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug {

// Views into the framer or into the bytes it was fed; valid inside the call.
struct SseEvent {
  std::string_view name;  // "message" when the stream says nothing
  std::string_view data;  // lines joined by "\n"
  std::string_view id;    // the last one the stream set
};

class SseFramer {
 public:
  inline static constexpr std::size_t kMaxEventBytes = 16 << 20;
  explicit SseFramer(std::size_t max_event_bytes = kMaxEventBytes) noexcept;

  // Calls `on_event` for each event that ends in `bytes`. An event without data is none. Stops with
  // what `on_event` answers when that is a failure. `exhausted` for an event (or a line) that is
  // too large; then the framer is done.
  Result<void> feed(std::string_view bytes,
                    const std::function<Result<void>(const SseEvent&)>& on_event);
  // The stream is over. By the standard an event without its blank line is dropped; servers that
  // leave the last one out are many, so it is given away when its last line is complete.
  Result<void> end(const std::function<Result<void>(const SseEvent&)>& on_event);

 private:
  Result<void> take_line(std::string_view line,
                         const std::function<Result<void>(const SseEvent&)>& on_event);
  Result<void> dispatch(const std::function<Result<void>(const SseEvent&)>& on_event);
  Failure too_large();

  const std::size_t max_;
  std::string carry_;  // the beginning of a line
  std::string data_;
  std::string name_;
  std::string id_;
  bool has_data_ = false;
  bool first_ = true;      // nothing was read yet: a BOM may come
  bool after_cr_ = false;  // a LF that comes now belongs to the line before
  bool dead_ = false;
};

}  // namespace tug
