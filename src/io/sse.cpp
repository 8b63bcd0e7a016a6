#include "tug/io/sse.h"

namespace tug {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

}  // namespace

SseFramer::SseFramer(std::size_t max_event_bytes) noexcept : max_(max_event_bytes) {}

Failure SseFramer::too_large() {
  dead_ = true;
  return fail(ErrorKind::exhausted,
              "an event of the stream is larger than " + std::to_string(max_) + " bytes");
}

Result<void> SseFramer::feed(std::string_view bytes,
                             const std::function<Result<void>(const SseEvent&)>& on_event) {
  if (dead_ || bytes.empty()) return {};
  if (after_cr_) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      carry_ += bytes;
      if (carry_.size() + data_.size() > max_) return too_large();
      return {};
    }
    std::string_view line = bytes.substr(0, end);
    if (!carry_.empty()) {
      carry_ += line;
      line = carry_;
    }
    const bool cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (cr) {
      if (bytes.empty()) {
        after_cr_ = true;
      } else if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
      }
    }
    Result<void> taken = take_line(line, on_event);
    carry_.clear();
    if (!taken) {
      dead_ = true;
      return taken;
    }
  }
  return {};
}

Result<void> SseFramer::end(const std::function<Result<void>(const SseEvent&)>& on_event) {
  if (dead_) return {};
  dead_ = true;
  carry_.clear();
  return dispatch(on_event);
}

Result<void> SseFramer::take_line(std::string_view line,
                                  const std::function<Result<void>(const SseEvent&)>& on_event) {
  if (first_) {
    first_ = false;
    if (line.starts_with(kBom)) line.remove_prefix(kBom.size());
  }
  if (line.empty()) return dispatch(on_event);
  const std::size_t colon = line.find(':');
  if (colon == 0) return {};
  const std::string_view field = line.substr(0, colon);
  std::string_view value;
  if (colon != std::string_view::npos) {
    value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
  }
  if (field == "data") {
    if (has_data_) data_ += '\n';
    has_data_ = true;
    data_ += value;
    if (data_.size() > max_) return too_large();
  } else if (field == "event") {
    name_ = value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  }
  return {};
}

Result<void> SseFramer::dispatch(const std::function<Result<void>(const SseEvent&)>& on_event) {
  if (!has_data_) {
    name_.clear();
    return {};
  }
  Result<void> done = on_event({name_.empty() ? "message" : std::string_view(name_), data_, id_});
  data_.clear();
  name_.clear();
  has_data_ = false;
  return done;
}

}  // namespace tug
