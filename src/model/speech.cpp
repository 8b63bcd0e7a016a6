#include "model/speech.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tug/core/utf8.h"

namespace tug {
namespace {

class SpeechStream final : public ModelStream {
 public:
  SpeechStream(std::shared_ptr<const Speech> speech, Until until) noexcept
      : speech_(std::move(speech)), until_(std::move(until)) {}

  Task<Result<std::optional<ModelEvent>>> next() override {
    Woken woken = Woken::ready;
    if (const Duration wait = due(); wait.count() > 0) woken = co_await sleep_for(wait, until_);
    co_return say(woken);
  }

 private:
  // Out of line: what it builds does not belong into a frame that waits.
  [[gnu::noinline]] Result<std::optional<ModelEvent>> say(Woken woken) {
    if (woken != Woken::ready) {
      stage_ = Stage::over;
      return Failure(wait_error(woken, until_, "the model"));
    }
    if (stage_ == Stage::over) return std::optional<ModelEvent>();
    if (std::optional<ModelEvent> delta = next_delta()) return delta;
    stage_ = Stage::over;
    if (speech_->error) return Failure(*speech_->error);
    return std::optional<ModelEvent>(speech_->turn);
  }

  enum class Stage : std::uint8_t { first, parts, over };

  // What to wait before this event, once.
  Duration due() noexcept {
    if (stage_ == Stage::first) {
      stage_ = Stage::parts;
      return speech_->before;
    }
    return stage_ == Stage::parts && said_ > 0 ? speech_->between : Duration{};
  }

  std::optional<ModelEvent> next_delta() {
    if (!speech_->turn.message) return std::nullopt;
    const std::vector<Part>& parts = speech_->turn.message->parts();
    while (part_ < parts.size()) {
      const Part& part = parts[part_];
      if (const auto* text = std::get_if<TextPart>(&part)) {
        if (auto piece = next_piece(text->text)) return piece;
      } else if (const auto* reasoning = std::get_if<ReasoningPart>(&part)) {
        ++part_;
        return ReasoningDelta{reasoning->text};
      } else if (const auto* call = std::get_if<ToolCall>(&part)) {
        ++part_;
        return ToolCallDelta{calls_++, call->provider_id, call->tool, call->arguments};
      } else {
        ++part_;
      }
    }
    return std::nullopt;
  }

  std::optional<ModelEvent> next_piece(const std::string& text) {
    const std::vector<std::uint32_t>& cuts = speech_->cuts;
    const std::size_t end = cut_ < cuts.size() ? cuts[cut_++] : text.size();
    if (said_ >= text.size()) {
      ++part_;
      said_ = 0;
      return std::nullopt;
    }
    const std::size_t from = std::exchange(said_, end);
    if (end >= text.size()) {
      ++part_;
      said_ = 0;
    }
    return TextDelta{text.substr(from, end - from)};
  }

  std::shared_ptr<const Speech> speech_;
  Until until_;
  Stage stage_ = Stage::first;
  std::size_t part_ = 0;
  std::size_t said_ = 0;  // of the text part under way
  std::size_t cut_ = 0;
  std::uint32_t calls_ = 0;
};

}  // namespace

std::unique_ptr<ModelStream> make_speech_stream(std::shared_ptr<const Speech> speech, Until until) {
  return std::make_unique<SpeechStream>(std::move(speech), std::move(until));
}

std::vector<std::uint32_t> cut_evenly(std::string_view text, std::uint32_t pieces) {
  const std::size_t characters = count_code_points(text);
  const std::size_t wanted = std::min<std::size_t>(pieces, characters);
  std::vector<std::uint32_t> ends;
  if (wanted < 2) return ends;
  ends.reserve(wanted);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (!starts) continue;
    if (seen > 0 && seen == (ends.size() + 1) * characters / wanted)
      ends.push_back(static_cast<std::uint32_t>(i));
    ++seen;
  }
  ends.push_back(static_cast<std::uint32_t>(text.size()));
  return ends;
}

std::vector<std::uint32_t> cut_by_size(std::string_view text, std::size_t bytes) {
  std::vector<std::uint32_t> ends;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = clip_utf8(text.substr(at), std::max<std::size_t>(bytes, 1)).size();
    while (length == 0 ||
           (at + length < text.size() &&
            (static_cast<unsigned char>(text[at + length]) & 0xc0) == 0x80 && length < 4)) {
      ++length;
    }
    at += std::min(length, text.size() - at);
    ends.push_back(static_cast<std::uint32_t>(at));
  }
  return ends;
}

std::vector<std::uint32_t> cut_by_word(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\t'; };
  std::vector<std::uint32_t> ends;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (blank(text[i - 1]) && !blank(text[i])) ends.push_back(static_cast<std::uint32_t>(i));
  }
  if (!text.empty()) ends.push_back(static_cast<std::uint32_t>(text.size()));
  return ends;
}

}  // namespace tug
