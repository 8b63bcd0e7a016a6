#include "drive.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stop_token>

#include "amounts.h"
#include "approval_prompt.h"
#include "approval_text.h"
#include "render_stream.h"
#include "render_text.h"
#include "signals.h"
#include "status_line.h"
#include "stored_run.h"
#include "tug/core/terminal_text.h"
#include "tug/io/engine.h"
#include "tug/journal/queued_sink.h"

namespace tug::cli {
namespace {

StatusLine::Look look_of(const Options& options, const OutputFlags& output) {
  const bool lines_there = options.stream() && isatty(STDOUT_FILENO);
  if (output.quiet || lines_there || !may_draw_status()) return StatusLine::Look::hidden;
  return output.color == "never" ? StatusLine::Look::plain : StatusLine::Look::dim;
}

std::string way_on(const Session& session, const RunResult& result) {
  if (!session.kept) return "nothing was kept (--no-session), so it cannot be resumed";
  const std::string id = short_id(result.root);
  if (!result.pending.empty()) return "`tug approve " + id + "` decides, and goes on";
  return "`tug resume " + id + "` goes on";
}

// Calls that wait, and how to decide about them.
void tell_pending(const Session& session, const RunResult& result) {
  if (session.output.quiet && session.kept) return;
  const std::size_t count = result.pending.size();
  notice(count == 1 ? "a call waits for approval"
                    : std::to_string(count) + " calls wait for approval");
  std::string text = pending_list(result.pending);
  const std::string approve = "`tug approve " + short_id(result.root);
  if (session.kept) {
    text += "  " + approve + "` lets " + (count == 1 ? "it" : "them") + " run, " + approve +
            " --deny` refuses " + (count == 1 ? "it" : "them; --call ID decides about one") + "\n";
  } else {
    text += "  " + way_on(session, result) + "\n";
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// What a person should know about the ending, on stderr.
void tell_ending(const Options& options, const Session& session, const RunResult& result) {
  if (result.stop == StopReason::end_turn && !result.error) return;
  if (!result.pending.empty() && !options.json()) return tell_pending(session, result);
  std::string line(name_of(result.stop));
  std::string fix;
  if (result.error) {
    line = result.error->message();
    fix = result.error->fix();
  }
  const bool by_hook = result.stop == StopReason::cancelled_by_hook && result.error;
  if (by_hook && fix.empty()) fix = way_on(session, result);
  if (!by_hook && (result.status == RunStatus::cancelled || result.status == RunStatus::parked)) {
    line = result.status == RunStatus::cancelled ? "cancelled" : "paused";
    fix = way_on(session, result);
    if (session.output.quiet && session.kept) return;
  }
  notice(line);
  if (!fix.empty()) std::fprintf(stderr, "  %s\n", terminal_text(fix).c_str());
}

int reader_went(const Session& session, const RunResult& result, int reason) {
  notice("stdout: " + std::string(std::strerror(reason)) + ", so the run was cancelled");
  if (result.status != RunStatus::completed)
    std::fprintf(stderr, "  %s\n", way_on(session, result).c_str());
  return failed;
}

void show_end_again(RecordStore& store, const RunId& root, StreamLines& lines) {
  std::optional<Event> end;
  const auto look = [&](const Event& event) {
    if (event.who && event.who->run_id == root && ends_segment(event.kind)) end = event;
  };
  if (for_each_event(store, root, look) && end) lines.on_event(*end);
}

// A call of the run or of one below it.
bool was_denied(const Session& session, const RunResult& result) {
  if (!result.denials.empty()) return true;
  const auto folded = fold_root(*session.store, result.root);
  return folded && std::ranges::any_of(folded->runs, [](const FoldedRun& run) {
           return !run.result.denials.empty();
         });
}

// What kept a run from starting is a matter of usage or configuration, unless it is our own.
int never_started(const Options& options, const RunResult& result) {
  switch (result.error->kind()) {
    case ErrorKind::cancelled:
      return report(options, *result.error, 130);
    case ErrorKind::internal:
    case ErrorKind::overloaded:
    case ErrorKind::exhausted:
      return report(options, *result.error, failed);
    default:
      return report(options, *result.error, unusable);
  }
}

// The events of a run as a person sees them go by: on the terminal, in the status line, as lines
// of -v. A hook that failed is told without -v, too.
struct Watch {
  StatusLine status;
  TerminalText text;
  bool streams_text;
  bool verbose;
  bool subagents;
  bool hooks;
  bool prompts;

  Watch(const Options& options, const Session& session)
      : status(look_of(options, session.output),
               session.output.no_subagents ? Below::hidden : Below::shown),
        text(status),
        streams_text(!options.json() && isatty(STDOUT_FILENO)),
        verbose(session.output.verbose && !session.output.quiet),
        subagents(!session.output.no_subagents),
        hooks(session.hooks && !session.output.quiet),
        prompts(session.prompts) {}

  bool wants_events() const {
    return status.shown() || streams_text || verbose || hooks || prompts;
  }
  // Whether calls may wait for approval now: a run that goes on may have waited before.
  bool may_ask(const Event& event) const {
    return prompts && (event.kind == Kind::approval_requested || event.kind == Kind::run_resumed);
  }

  void on_event(const Event& event) {
    status.on_event(event);
    if (streams_text) text.on_event(event);
    const bool below = event.who && event.who->depth > 0;
    const bool lines = verbose || (hooks && event.kind == Kind::hook_failed);
    if (!lines || (below && !subagents)) return;
    const std::size_t depth = event.who ? std::min(event.who->depth, 20u) : 0;
    if (auto line = status.call_line(event)) status.write_line(std::string(2 * depth, ' ') + *line);
  }
};

}  // namespace

int drive(const Options& options, Session& session,
          const std::function<Run(Harness& harness, RunOptions run)>& begin) {
  auto choice = stream_choice(session.output.stream);
  if (!choice) return report(options, choice.error(), unusable);
  choice->options.subagents = !session.output.no_subagents;
  if (!session.output.stream.empty() && !options.stream()) {
    return report(options,
                  Error(ErrorKind::invalid, "--stream chooses among the events of stream-json",
                        "add -o stream-json, or leave --stream out"),
                  unusable);
  }
  std::stop_source reader_gone;
  RunOptions run_options = session.options;
  run_options.cancel = reader_gone.get_token();
  auto lines = std::make_shared<StreamLines>(*choice, [&] { reader_gone.request_stop(); });
  std::shared_ptr<QueuedSink> queue;
  if (options.stream()) {
    queue = make_queued_sink(*session.engine, session.store, lines, {.name = "stdout"});
    run_options.observers.push_back(queue);
  }

  Watch watch(options, session);
  Run run = begin(*session.harness, std::move(run_options));
  RunResult result;
  {
    Signals signals(run);
    ApprovalPrompt prompt(run, watch.status, session.root);
    while (watch.wants_events()) {
      const std::vector<Event> events = run.next_events();
      if (events.empty()) break;
      for (const Event& event : events) watch.on_event(event);
      if (std::ranges::any_of(events, [&](const Event& event) { return watch.may_ask(event); }))
        prompt.ask();
      if (watch.text.broken()) reader_gone.request_stop();
    }
    result = run.wait();
    if (queue) queue->finish();
  }
  if (watch.streams_text) watch.text.finish(result);
  watch.status.close();

  const int broken = options.stream() ? lines->broken() : watch.text.broken();
  if (broken) return reader_went(session, result, broken);
  if (result.last_seq == 0 && result.error) return never_started(options, result);
  if (options.stream()) {
    // One that stays parked has told its end before.
    if (!lines->ended() && !result.error) show_end_again(*session.store, result.root, *lines);
    if (!lines->ended() && result.error) return report(options, *result.error, exit_code(result));
  } else if (options.json()) {
    print(print_json(to_json(result)) + "\n");
  } else if (!watch.streams_text) {
    print(final_text(result));
    std::fflush(stdout);
  }
  tell_ending(options, session, result);
  const int code = exit_code(result);
  return code == ok && session.fail_on_deny && was_denied(session, result) ? denied : code;
}

}  // namespace tug::cli
