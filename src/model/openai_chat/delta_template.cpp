#include "model/openai_chat/wire.h"

namespace tug::chat {
namespace {

constexpr int kMaxMissed = 8;

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
  kind_ = kind;
  call_ = call;
}

DeltaTemplate::Hit DeltaTemplate::match(std::string_view data) {
  if (kind_ == Kind::none || data.size() < before_.size() + after_.size() ||
      !data.starts_with(before_) || !data.ends_with(after_))
    return {};
  const std::size_t size = data.size() - before_.size() - after_.size();
  const std::string_view raw = data.substr(before_.size(), size);
  if (is_plain(raw)) {
    missed_ = 0;
    return {kind_, call_, std::string(raw)};
  }
  const Result<Json> value = parse_json(data.substr(before_.size() - 1, size + 2));
  if (!value || !value->is_string()) return {};
  missed_ = 0;
  return {kind_, call_, std::string(value->as_string())};
}

}  // namespace tug::chat
