#include "render_stream.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "command.h"
#include "tug/core/nearest.h"
#include "tug/version.h"

namespace tug::cli {

Result<StreamChoice> stream_choice(std::string_view text) {
  StreamChoice choice;
  if (text.empty()) return choice;
  StreamModes modes;
  const std::array<std::pair<std::string_view, bool*>, 5> words = {{
      {"messages", &modes.messages},
      {"tools", &modes.tools},
      {"updates", &modes.updates},
      {"events", &modes.events},
      {"final", &modes.final},
  }};
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto known = std::ranges::find(words, word, [](const auto& pair) { return pair.first; });
    if (known == words.end()) {
      std::vector<std::string_view> names;
      for (const auto& [name, mode] : words) names.push_back(name);
      const std::string nearest(nearest_name(word, names));
      return fail(ErrorKind::invalid,
                  "--stream: \"" + std::string(word) +
                      "\" is not one of messages, tools, updates, events, final",
                  nearest.empty() ? "take one of them" : "did you mean \"" + nearest + "\"?");
    }
    *known->second = true;
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  choice.options.modes = modes;
  choice.steps = modes.events;
  return choice;
}

std::string stream_opening(std::string_view run_id, Seq from_seq, const StreamOptions& options) {
  Json opening = Json::object({{"kind", "stream"},
                               {"schema", build_info().event_schema},
                               {"run_id", run_id},
                               {"from_seq", from_seq}});
  if (!options.whole()) opening.set("gaps", true);
  return print_json(opening) + "\n";
}

void StreamLines::on_event(const Event& event) {
  if (broken_) return;
  line_.clear();
  const RunId root = event.who ? event.who->root_run_id : RunId();
  if (!opened_) {
    opened_ = true;
    const Seq first = event.live > 0 ? event.seq + 1 : event.seq;
    line_ = stream_opening(root.text(), first, choice_.options);
  }
  const bool last = event.who && event.who->run_id == root && ends_segment(event.kind);
  if (shows(choice_.options, event, root)) {
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
