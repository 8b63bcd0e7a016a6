#include "render_text.h"

#include <unistd.h>

#include "command.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {

void TerminalText::write(std::string text) {
  if (text.empty() || broken_) return;
  status_.write_past([&] {
    broken_ = write_all(STDOUT_FILENO, text);
    cursor_ = text.back() == '\n' ? Cursor::line_start : Cursor::within_line;
    return cursor_;
  });
}

void TerminalText::end_line() {
  write(harmless_.flush());
  if (cursor_ == Cursor::within_line) write("\n");
}

void TerminalText::on_event(const Event& event) {
  if (!event.who || event.who->depth != 0) return;
  switch (event.kind) {
    case Kind::model_delta:
      if (const std::string_view text = event.data["text"].as_string(); !text.empty()) {
        write(harmless_.push(text));
        streamed_ = true;
      }
      break;
    case Kind::model_completed:
      if (!streamed_) write(harmless_.push(event.data["text"].as_string()));
      end_line();
      streamed_ = false;
      last_words_ = event.data["text"].as_string();
      break;
    case Kind::model_failed:
      end_line();
      streamed_ = false;
      break;
    case Kind::retry_scheduled:
      status_.write_line("[retrying]");
      break;
    case Kind::model_fallback_selected:
      status_.write_line("[retrying with " +
                         terminal_text(clip_utf8(event.data["to"].as_string(), 200)) + "]");
      break;
    default:
      break;
  }
}

void TerminalText::finish(const RunResult& result) {
  end_line();
  if (result.output.is_null()) return;
  const auto words = parse_json(last_words_);
  if (words && *words == result.output) return;
  write(harmless_.push(final_text(result)));
  end_line();
}

std::string final_text(const RunResult& result) {
  if (!result.output.is_null()) return print_json(result.output) + "\n";
  if (result.text.empty()) return {};
  return result.text.ends_with('\n') ? result.text : result.text + "\n";
}

}  // namespace tug::cli
