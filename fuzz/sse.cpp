// Event streams: the same events however the bytes are cut.
#include "tug/io/sse.h"

#include <vector>

#include "fuzz/check.h"

namespace tug::fuzz {
namespace {

constexpr std::size_t kMaxEvent = 4096;

struct Heard {
  std::vector<std::string> events;
  bool failed = false;
  friend bool operator==(const Heard&, const Heard&) = default;
};

Heard hear(std::string_view bytes, std::size_t piece) {
  Heard heard;
  SseFramer framer(kMaxEvent);
  const auto take = [&](const SseEvent& event) -> Result<void> {
    must(event.data.size() <= kMaxEvent, "an event is no larger than allowed");
    heard.events.push_back(std::string(event.name) + "\n" + std::string(event.id) + "\n" +
                           std::string(event.data));
    return {};
  };
  for (; !bytes.empty() && !heard.failed; bytes.remove_prefix(std::min(piece, bytes.size())))
    heard.failed = !framer.feed(bytes.substr(0, piece), take);
  if (!heard.failed) heard.failed = !framer.end(take);
  return heard;
}

}  // namespace
}  // namespace tug::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace tug::fuzz;
  const std::string_view bytes = view(data, size);
  const Heard whole = hear(bytes, std::max<std::size_t>(size, 1));
  const Heard single = hear(bytes, 1);
  // Where an event is too large, how much of it was there when that was seen is a matter of cuts.
  if (whole.failed || single.failed) return 0;
  must(whole == single, "byte by byte it says the same");
  must(whole == hear(bytes, 7), "in pieces of seven it says the same");
  return 0;
}
