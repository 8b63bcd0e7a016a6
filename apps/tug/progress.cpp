#include "progress.h"

#include <algorithm>
#include <cmath>

#include "amounts.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

constexpr std::size_t kSubject = 60;
constexpr std::size_t kReason = 400;

std::string subject_of(const Json& arguments) {
  for (const Json::Member& member : arguments.members()) {
    if (member.value.is_string() && !member.value.as_string().empty())
      return terminal_text(clip_utf8(member.value.as_string(), kSubject));
  }
  return {};
}

std::string bar(std::int64_t used, std::int64_t most) {
  constexpr std::int64_t kCells = 10;
  const double share = most > 0 ? static_cast<double>(used) / static_cast<double>(most) : 0;
  const auto full = static_cast<std::int64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * kCells));
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kCells - full), '-') + "]";
}

std::int64_t lines_of(std::string_view text) {
  const auto breaks = std::count(text.begin(), text.end(), '\n');
  return breaks + (!text.empty() && text.back() != '\n');
}

std::int64_t seconds(Progress::Moment from, Progress::Moment to) {
  return std::chrono::duration_cast<std::chrono::seconds>(to - from).count();
}

// "> scout 4k2m9x: find the tests" and "< scout 4k2m9x end_turn (2 turns, 1.2k tokens, 35 ms)".
std::string run_line(const Event& event) {
  const std::string who = terminal_text(clip_utf8(event.who->agent, kSubject)) + " " +
                          terminal_text(short_id(event.who->run_id));
  const Json& data = event.data;
  if (event.kind == Kind::run_started || event.kind == Kind::run_resumed) {
    const std::string_view prompt = data["prompt"].as_string();
    const std::string_view line = prompt.substr(0, prompt.find('\n'));
    if (event.kind == Kind::run_resumed) return "> " + who + " goes on";
    return "> " + who + ": " + terminal_text(clip_utf8(line, kSubject));
  }
  const Json& result = data["result"];
  std::string text = "< " + who + " " + terminal_text(data["stop_reason"].as_string()) + " (" +
                     counted(result["model_calls"].as_int().value_or(0), "turn") + ", " +
                     thousands(result["usage"]["total_tokens"].as_int().value_or(0)) + " tokens, ";
  if (auto cost = JsonForm<Cost>::read(result["cost"]); cost && cost->nanos() > 0)
    text += to_string(*cost) + ", ";
  return text + duration(result["duration_ms"].as_int().value_or(0)) + ")";
}

}  // namespace

void Progress::on_window(const Json& window) {
  if (const auto tokens = window["prompt_tokens"].as_int()) used_tokens_ = *tokens;
  if (const auto tokens = window["max_tokens"].as_int()) max_tokens_ = *tokens;
}

void Progress::on_event(const Event& event, Moment now) {
  if (!since_) since_ = now;
  const bool root = event.who && event.who->depth == 0;
  const std::string call(event.data["call_id"].as_string());
  switch (event.kind) {
    case Kind::run_started:
    case Kind::run_resumed:
    case Kind::model_started:
      if (!root) break;
      if (const std::string_view model = event.data["model"].as_string(); !model.empty())
        model_ = terminal_text(clip_utf8(model, kSubject));
      turn_ = std::max(turn_, event.turn);
      on_window(event.data["context"]);
      break;
    case Kind::context_window:
      if (root) on_window(event.data);
      break;
    case Kind::model_completed:
      if (auto cost = JsonForm<Cost>::read(event.data["cost"]); cost) cost_ += *cost;
      if (const auto tokens = event.data["usage"]["input_tokens"].as_int(); root && tokens > 0)
        used_tokens_ = *tokens;
      break;
    case Kind::tool_started:
      calls_[call] = {terminal_text(clip_utf8(event.data["tool"].as_string(), kSubject)),
                      subject_of(event.data["arguments"]), now, root};
      break;
    case Kind::subagent_started:
      if (const auto agent = calls_.find(call); agent != calls_.end()) agent->second.runs = true;
      break;
    case Kind::tool_completed:
    case Kind::tool_failed:
    case Kind::tool_outcome_unknown:
      ended_.clear();
      if (auto ended = calls_.extract(call)) ended_.insert(std::move(ended));
      break;
    default:
      break;
  }
}

std::string Progress::line(Moment now, std::size_t columns) const {
  constexpr std::string_view kSpinner = "|/-\\";
  const auto ticks = since_ ? (now - *since_) / std::chrono::milliseconds(100) : 0;
  std::string text(1, kSpinner[static_cast<std::size_t>(ticks) % kSpinner.size()]);
  text += " " + model_;
  if (turn_ > 0) text += "  turn " + std::to_string(turn_);
  const Call* first = nullptr;
  std::size_t own = 0;
  for (const auto& [id, call] : calls_) {
    if (!call.of_root) continue;
    if (own++ == 0) first = &call;
  }
  if (first) {
    text += "  " + first->tool;
    if (own > 1) text += " and " + std::to_string(own - 1) + " more";
    text += " " + std::to_string(seconds(first->since, now)) + "s";
  } else if (since_) {
    text += "  " + std::to_string(seconds(*since_, now)) + "s";
  }
  if (max_tokens_ > 0) {
    text += "  " + bar(used_tokens_, max_tokens_) + " " + thousands(used_tokens_) + "/" +
            thousands(max_tokens_);
  }
  if (cost_.nanos() > 0) text += "  " + to_string(cost_);
  return clip_columns(std::move(text), columns);
}

std::optional<std::string> Progress::call_line(const Event& event, Below below) const {
  const Json& data = event.data;
  const std::string tool = terminal_text(clip_utf8(data["tool"].as_string(), kSubject));
  switch (event.kind) {
    case Kind::tool_completed:
    case Kind::tool_failed:
    case Kind::tool_outcome_unknown: {
      const auto ended = ended_.find(std::string(data["call_id"].as_string()));
      if (ended != ended_.end() && ended->second.runs && below == Below::shown) return std::nullopt;
      std::string line = "* " + tool;
      if (ended != ended_.end() && !ended->second.subject.empty())
        line += " " + ended->second.subject;
      const std::int64_t lines = lines_of(data["output"].as_string());
      line += " (" + std::to_string(lines) + (lines == 1 ? " line, " : " lines, ") +
              std::to_string(data["duration_ms"].as_int().value_or(0)) + " ms)";
      if (event.kind != Kind::tool_completed) line += " failed";
      return line;
    }
    case Kind::run_started:
    case Kind::run_resumed:
    case Kind::run_completed:
    case Kind::run_failed:
    case Kind::run_cancelled:
    case Kind::run_paused:
      if (!event.who || event.who->depth == 0) return std::nullopt;
      return run_line(event);
    case Kind::tool_unknown:
      return "* " + tool + ": there is no such tool";
    case Kind::tool_invalid_args:
      return "* " + tool + ": its arguments are not valid";
    case Kind::hook_failed:
      return "* hook " + terminal_text(clip_utf8(data["hook"].as_string(), kSubject)) +
             " failed: " + terminal_text(clip_utf8(data["error"].as_string(), kReason));
    case Kind::tool_denied:
      return "* " + tool + ": denied";
    default:
      return std::nullopt;
  }
}

}  // namespace tug::cli
