#include "model/openai_chat/wire.h"

namespace tug::chat {
namespace {

constexpr int kMaxMissed = 8;
// What OpenAI and Mistral fill chunks up with, so that their lengths give nothing away.
constexpr std::string_view kPaddings[] = {R"("obfuscation":")", R"("p":")"};

// Characters that stand for themselves inside a JSON string.
bool is_plain(std::string_view text) noexcept {
  unsigned char bad = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bad |= static_cast<unsigned char>(byte < 0x20 || byte > 0x7E || c == '"' || c == '\\');
  }
  return bad == 0;
}

// Where the string that begins at `at`, behind its quote, ends.
std::size_t end_of_string(std::string_view data, std::size_t at) noexcept {
  while (at < data.size() && data[at] != '"') at += data[at] == '\\' ? 2 : 1;
  return at < data.size() ? at : std::string_view::npos;
}

}  // namespace

void DeltaTemplate::learn(std::string_view data, std::string_view key, std::string_view text,
                          Kind kind, std::size_t call) {
  kind_ = Kind::none;
  if (missed_ >= kMaxMissed) return;
  ++missed_;
  // Quotes inside a string are escaped, so this cannot stand in one: once in the data is once as a
  // member.
  std::string member = "\"" + std::string(key) + "\":\"";
  std::size_t at = data.find(member);
  if (at == std::string_view::npos) {
    member.insert(member.size() - 1, " ");
    at = data.find(member);
  }
  if (at == std::string_view::npos) return;
  const std::size_t begin = at + member.size();
  const std::size_t end = end_of_string(data, begin);
  if (end == std::string_view::npos || data.find(member, end) != std::string_view::npos) return;
  const Result<Json> value = parse_json(data.substr(begin - 1, end - begin + 2));
  if (!value || value->as_string() != text) return;
  before_ = data.substr(0, begin);
  after_ = data.substr(end);
  padding_end_.reset();
  for (const std::string_view padding : kPaddings) {
    const std::size_t pad = after_.find(padding);
    if (pad == std::string::npos) continue;
    const std::size_t pad_end = end_of_string(after_, pad + padding.size());
    if (pad_end == std::string_view::npos) continue;
    padding_end_ = after_.substr(pad_end);
    after_.resize(pad + padding.size());
    break;
  }
  kind_ = kind;
  call_ = call;
}

DeltaTemplate::Hit DeltaTemplate::match(std::string_view data) {
  if (kind_ == Kind::none || !data.starts_with(before_)) return {};
  data.remove_prefix(before_.size() - 1);  // the string, from its quote on
  std::size_t end = 0;
  if (padding_end_) {
    end = end_of_string(data, 1);
    if (end == std::string_view::npos || !data.substr(end).starts_with(after_)) return {};
    std::string_view padding = data.substr(end + after_.size());
    if (!padding.ends_with(*padding_end_)) return {};
    padding.remove_suffix(padding_end_->size());
    if (!is_plain(padding)) return {};
  } else {
    if (data.size() < 1 + after_.size() || !data.ends_with(after_)) return {};
    end = data.size() - after_.size();
  }
  const std::string_view raw = data.substr(1, end - 1);
  if (is_plain(raw)) {
    missed_ = 0;
    return {kind_, call_, std::string(raw)};
  }
  const Result<Json> value = parse_json(data.substr(0, end + 1));
  if (!value || !value->is_string()) return {};
  missed_ = 0;
  return {kind_, call_, std::string(value->as_string())};
}

}  // namespace tug::chat
