#include "tools/files/line_reader.h"

#include <algorithm>

#include "core/try.h"
#include "tools/files/answer.h"

namespace tug {
namespace {

constexpr std::size_t kChunk = 64 * 1024;

}  // namespace

Result<LineReader::Got> LineReader::fill() {
  if (stop_.stop_requested()) return fail(ErrorKind::cancelled, "stopped while reading a file");
  if (bytes_read_ >= max_bytes_) return Got::limit;
  buffer_.clear();
  at_ = 0;
  const auto most = std::min<std::uint64_t>(kChunk, max_bytes_ - bytes_read_);
  TUG_TRY(more, file_.read(buffer_, static_cast<std::size_t>(most)));
  bytes_read_ += buffer_.size();
  return more ? Got::line : Got::end;
}

Result<bool> LineReader::binary() {
  TUG_TRY(got, fill());
  return looks_binary(buffer_);
}

Result<LineReader::Got> LineReader::next(Line& line, std::size_t keep) {
  line.text.clear();
  line.cut = 0;
  line.crlf = false;
  for (bool begun = false;; begun = true) {
    if (at_ == buffer_.size()) {
      TUG_TRY(got, fill());
      if (got == Got::end && begun) return Got::line;
      if (got != Got::line) return got;
    }
    const std::size_t end = std::min(buffer_.find('\n', at_), buffer_.size());
    const std::size_t kept = std::min(end - at_, keep - line.text.size());
    line.text.append(buffer_, at_, kept);
    line.cut += end - at_ - kept;
    at_ = end;
    if (end == buffer_.size()) continue;
    ++at_;
    if (line.cut == 0 && line.text.ends_with('\r')) {
      line.text.pop_back();
      line.crlf = true;
    }
    return Got::line;
  }
}

}  // namespace tug
