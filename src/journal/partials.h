// The bytes of unfinished model streams, gathered until they are worth a write. Loop thread only.
#pragma once

#include <string>
#include <vector>

#include "tug/journal/record_store.h"

namespace tug {

inline constexpr std::size_t kPartialBytes = 64 * 1024;
inline constexpr Duration kPartialDelay = std::chrono::milliseconds(250);

class Partials {
 public:
  // True when a call has gathered enough to be written now.
  bool add(const CallId& call, std::string_view bytes) {
    Stream& stream = at(call);
    stream.gathered.append(bytes);
    return stream.gathered.size() >= kPartialBytes;
  }
  bool gathering() const noexcept {
    for (const Stream& stream : streams_) {
      if (!stream.gathered.empty()) return true;
    }
    return false;
  }
  void take(std::vector<Partial>& out) {
    for (Stream& stream : streams_) {
      if (stream.gathered.empty()) continue;
      out.push_back({stream.call, stream.written++, std::move(stream.gathered)});
      stream.gathered.clear();
    }
  }
  // True when something of this call may be in the store.
  bool drop(const CallId& call) {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].call != call) continue;
      const bool written = streams_[i].written > 0;
      streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
      return written;
    }
    return true;  // of a segment before this one
  }

 private:
  struct Stream {
    CallId call;
    std::uint32_t written = 0;
    std::string gathered;
  };
  Stream& at(const CallId& call) {
    for (Stream& stream : streams_) {
      if (stream.call == call) return stream;
    }
    return streams_.emplace_back(Stream{call});
  }

  std::vector<Stream> streams_;
};

}  // namespace tug
