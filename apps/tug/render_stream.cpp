#include "render_stream.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "command.h"
#include "tug/core/nearest.h"
#include "tug/version.h"

namespace tug::cli {
namespace {

bool is_last_of_root(const Event& event) {
  switch (event.kind) {
    case Kind::run_completed:
    case Kind::run_failed:
    case Kind::run_cancelled:
    case Kind::run_paused:
      return event.who && event.who->depth == 0;
    default:
      return false;
  }
}

}  // namespace

bool StreamKinds::shows(const Event& event) const noexcept {
  const std::string_view name = event.name();
  if (name.starts_with("model.")) return messages;
  if (name.starts_with("tool.")) return tools;
  return event.live > 0 ? live : updates;
}

Result<StreamKinds> stream_kinds(std::string_view text) {
  if (text.empty()) return StreamKinds{};
  StreamKinds kinds{false, false, false, false};
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (word == "messages") {
      kinds.messages = true;
    } else if (word == "tools") {
      kinds.tools = true;
    } else if (word == "updates") {
      kinds.updates = true;
    } else if (word == "events") {
      kinds = StreamKinds{};
    } else if (word != "final") {
      constexpr std::array<std::string_view, 5> kKnown = {"messages", "tools", "updates", "events",
                                                          "final"};
      const std::string nearest(nearest_name(word, kKnown));
      return fail(ErrorKind::invalid,
                  "--stream: \"" + std::string(word) +
                      "\" is not one of messages, tools, updates, events, final",
                  nearest.empty() ? "take one of them" : "did you mean \"" + nearest + "\"?");
    }
    if (comma == text.npos) return kinds;
    text.remove_prefix(comma + 1);
  }
}

std::string stream_opening(std::string_view run_id, Seq from_seq) {
  return print_json(Json::object({{"kind", "stream"},
                                  {"schema", build_info().event_schema},
                                  {"run_id", run_id},
                                  {"from_seq", from_seq}})) +
         "\n";
}

void StreamLines::on_event(const Event& event) {
  if (broken_) return;
  line_.clear();
  if (!opened_) {
    opened_ = true;
    const std::string_view root = event.who ? event.who->root_run_id.text() : std::string_view();
    line_ = stream_opening(root, event.live > 0 ? event.seq + 1 : event.seq);
  }
  const bool last = is_last_of_root(event);
  if (last || kinds_.shows(event)) {
    append_line(event, line_);
    line_ += '\n';
  }
  if (line_.empty()) return;
  line_ = for_stdout(std::move(line_));
  broken_ = write_all(STDOUT_FILENO, line_);
  if (broken_) gone_();
  if (last && !broken_) ended_ = true;
}

}  // namespace tug::cli
