#include "approval_prompt.h"
#include "amounts.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "approval_text.h"
#include "command.h"
#include "core/try.h"
#include "drive.h"
#include "editor.h"
#include "terminal_mode.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

constexpr int kTick = 50;               // milliseconds
constexpr int kTicksBetweenLooks = 10;  // at what still waits
constexpr int kRestOfSequence = 30;     // milliseconds in which a terminal sends one key
constexpr std::size_t kMaxReason = 2000;

bool readable(int timeout) {
  pollfd polled = {STDIN_FILENO, POLLIN, 0};
  return poll(&polled, 1, timeout) > 0;
}

// Nothing when there is no more input.
std::optional<char> read_byte() {
  char byte = 0;
  while (true) {
    const ssize_t got = read(STDIN_FILENO, &byte, 1);
    if (got == 1) return byte;
    if (got == 0 || errno != EINTR) return std::nullopt;
  }
}

// After an escape: the key itself, unless it begins what an arrow, a function key or Alt sends.
// That is taken off the input.
bool is_escape_key() {
  if (!readable(kRestOfSequence)) return true;
  const std::optional<char> kind = read_byte();
  if (!kind || *kind == '\x1b') return true;
  if (*kind != '[' && *kind != 'O') return false;
  while (readable(kRestOfSequence)) {
    const std::optional<char> byte = read_byte();
    if (!byte || (*byte >= '@' && *byte <= '~')) break;
  }
  return false;
}

std::string shown(const Error& error) {
  std::string text = "  " + terminal_text(error.message());
  if (!error.fix().empty()) text += "\n  " + terminal_text(error.fix());
  return text;
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

}  // namespace

struct ApprovalPrompt::Question {
  PendingApproval call;
  std::size_t more = 0;           // calls that wait besides
  std::optional<Json> arguments;  // edited
  bool whole = true;              // it is shown whole
  bool answered = false;

  const Json& to_run() const { return arguments ? *arguments : call.arguments; }
};

void ApprovalPrompt::say(const std::string& text) {
  status_.write_past([&] {
    write_all(STDERR_FILENO, text + "\n");
    return Cursor::line_start;
  });
}

void ApprovalPrompt::say_within(const std::string& text) {
  status_.write_past([&] {
    write_all(STDERR_FILENO, text);
    return Cursor::within_line;
  });
}

bool ApprovalPrompt::is_gone(const PendingApproval& call) const {
  if (run_.ended()) return true;
  const std::vector<PendingApproval> pending = run_.pending();
  return std::ranges::none_of(pending, [&](const PendingApproval& other) {
    return other.run == call.run && other.call == call.call && other.digest == call.digest;
  });
}

void ApprovalPrompt::ask() {
  while (!run_.ended()) {
    const std::vector<PendingApproval> pending = run_.pending();
    if (pending.empty()) return;
    ask_about(pending.front(), pending.size() - 1);
  }
}

void ApprovalPrompt::ask_about(const PendingApproval& call, std::size_t more) {
  if (covered_by_grant(call)) return;
  Question question{.call = call, .more = more};
  question.whole = shown_arguments(call.arguments).size() <= kMaxShownCall;
  show(question);
  while (!question.answered) answer(question, read_key(question));
}

// One that waited already when its tool was allowed for the session.
bool ApprovalPrompt::covered_by_grant(const PendingApproval& call) {
  if (std::ranges::find(granted_, call.tool) == granted_.end()) return false;
  Decision decision = Decision::approve(call.call);
  decision.scope = GrantScope::tree;
  decision.run = call.run;
  decision.digest = call.digest;
  return run_.approve({std::move(decision)}).has_value();
}

void ApprovalPrompt::show(const Question& question) {
  const PendingApproval& call = question.call;
  std::string text = "-- " + terminal_text(call.tool) + " needs your approval";
  if (question.more > 0) text += " (" + std::to_string(question.more) + " more wait)";
  if (call.run != run_.id()) {
    text += "\n  agent   " + terminal_text(call.agent) + " (run " +
            terminal_text(short_id(call.run)) + ")";
  }
  text += "\n  folder  " + terminal_text(folder_);
  if (!call.reason.empty()) text += "\n  why     " + terminal_text(call.reason);
  const std::string arguments = shown_arguments(question.to_run());
  if (question.whole) {
    text += question.arguments ? "\n  arguments, edited by you\n" : "\n  arguments\n";
    text += indented(arguments);
    if (const std::string warning = warning_about(question.to_run()); !warning.empty())
      text += "\n  careful: " + warning;
  } else {
    text += "\n  its arguments have " + std::to_string(arguments.size()) +
            " bytes: too much to be shown whole, so it can only be refused";
  }
  status_.write_question(text);
}

void ApprovalPrompt::answer(Question& question, Key key) {
  const auto approved = [&](GrantScope scope) {
    Decision decision = Decision::approve(question.call.call);
    decision.arguments = question.arguments;
    decision.scope = scope;
    return decision;
  };
  switch (key) {
    case Key::yes:
      say("yes, once");
      return decide(question, approved(GrantScope::once));
    case Key::always:
      say("yes, every call of " + terminal_text(question.call.tool) + " in this session");
      return decide(question, approved(GrantScope::tree));
    case Key::no: {
      say_within("no\n  why, for the model (Enter for no reason): ");
      std::string reason = read_reason();
      return decide(question, Decision::deny(question.call.call, std::move(reason)));
    }
    case Key::edit:
      say("edit");
      return edit(question);
    case Key::stop:
      say("stop");
      run_.cancel("stopped at an approval");
      question.answered = true;
      return;
    case Key::gone:
      say(run_.ended() ? "" : "decided elsewhere");
      question.answered = true;
      return;
  }
}

void ApprovalPrompt::decide(Question& question, Decision decision) {
  decision.run = question.call.run;
  decision.digest = question.call.digest;
  const bool always = decision.scope != GrantScope::once;
  const Result<void> decided = run_.approve({std::move(decision)});
  if (decided) {
    if (always) granted_.push_back(question.call.tool);
    question.answered = true;
    return;
  }
  say(shown(decided.error()));
  question.answered = is_gone(question.call);
}

void ApprovalPrompt::edit(Question& question) {
  const std::string before = pretty_json(question.to_run()) + "\n";
  Result<std::string> text = "";
  // The terminal is the editor's: nothing may be drawn meanwhile.
  status_.write_past([&] {
    text = edit_text(before, ".json");
    return Cursor::line_start;
  });
  if (!text) return say(shown(text.error()));
  Result<Json> json = parse_json(*text);
  if (!json) return say(shown(json.error().within("the arguments")));
  if (!json->is_object()) return say("  the arguments are not an object of JSON");
  if (*json == question.to_run()) return say("  nothing was changed");
  if (shown_arguments(*json).size() > kMaxShownCall)
    return say("  the arguments are too large to be shown");
  question.arguments = *std::move(json);
  question.whole = true;
  show(question);
}

ApprovalPrompt::Key ApprovalPrompt::read_key(const Question& question) {
  if (is_gone(question.call)) return Key::gone;
  const KeyMode mode;
  const std::string choices = question.whole
                                  ? "  [y] once  [a] this session  [n] no  [e] edit  [Esc] stop: "
                                  : "  [n] no  [Esc] stop: ";
  say_within(choices);
  for (int ticks = 1;; ++ticks) {
    if (!readable(kTick)) {
      if (run_.ended()) return Key::gone;
      if (ticks % kTicksBetweenLooks == 0 && is_gone(question.call)) return Key::gone;
      mode.keep();
      continue;
    }
    const std::optional<char> byte = read_byte();
    if (!byte) return Key::stop;
    switch (*byte) {
      case 'y':
      case 'Y':
        if (question.whole) return Key::yes;
        break;
      case 'a':
      case 'A':
        if (question.whole) return Key::always;
        break;
      case 'e':
      case 'E':
        if (question.whole) return Key::edit;
        break;
      case 'n':
      case 'N':
        return Key::no;
      case '\x1b':
        if (is_escape_key()) return Key::stop;
        break;
      default:
        break;
    }
  }
}

std::string ApprovalPrompt::read_reason() {
  std::string line;
  while (true) {
    if (!readable(kTick)) {
      if (run_.ended()) break;
      continue;
    }
    const std::optional<char> byte = read_byte();
    if (!byte || *byte == '\n') break;
    if (line.size() < kMaxReason) line += *byte;
  }
  status_.write_past([] { return Cursor::line_start; });
  return repair_utf8(line);
}

}  // namespace tug::cli
