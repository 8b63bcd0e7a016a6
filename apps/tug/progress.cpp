#include "progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

std::string thousands(std::int64_t tokens) {
  if (tokens < 1000) return std::to_string(tokens);
  char text[32];
  const double value = static_cast<double>(tokens) / 1000;
  std::snprintf(text, sizeof text, value < 10 ? "%.1fk" : "%.0fk", value);
  return text;
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

std::string clip_columns(std::string text, std::size_t columns) {
  if (count_code_points(text) <= columns) return text;
  std::size_t bytes = 0;
  for (std::size_t points = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xc0) != 0x80;
    if (begins && points++ == columns) break;
  }
  text.resize(bytes);
  return text;
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
                      subject_of(event.data["arguments"]), now};
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
  if (!calls_.empty()) {
    const Call& call = calls_.begin()->second;
    text += "  " + call.tool;
    if (calls_.size() > 1) text += " and " + std::to_string(calls_.size() - 1) + " more";
    text += " " + std::to_string(seconds(call.since, now)) + "s";
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

std::optional<std::string> Progress::call_line(const Event& event) const {
  const Json& data = event.data;
  const std::string tool = terminal_text(clip_utf8(data["tool"].as_string(), kSubject));
  switch (event.kind) {
    case Kind::tool_completed:
    case Kind::tool_failed:
    case Kind::tool_outcome_unknown: {
      const auto ended = ended_.find(std::string(data["call_id"].as_string()));
      std::string line = "* " + tool;
      if (ended != ended_.end() && !ended->second.subject.empty())
        line += " " + ended->second.subject;
      const std::int64_t lines = lines_of(data["output"].as_string());
      line += " (" + std::to_string(lines) + (lines == 1 ? " line, " : " lines, ") +
              std::to_string(data["duration_ms"].as_int().value_or(0)) + " ms)";
      if (event.kind != Kind::tool_completed) line += " failed";
      return line;
    }
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
