#include <algorithm>
#include <charconv>

#include "model/dialect.h"

namespace tug {
namespace {

// `count` digits of base 36, most significant first.
void add_base36(std::uint64_t value, std::size_t count, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const std::size_t end = out.size() + count;
  out.resize(end, '0');
  for (std::size_t i = end; value > 0 && i > end - count; value /= 36)
    out[--i] = kDigits[value % 36];
}

}  // namespace

std::string wire_id(const CallId& call) {
  const std::string_view text = call.text();
  std::uint64_t seq = 0;
  std::uint64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, seq);
  if (first.ec == std::errc() && first.ptr != end) std::from_chars(first.ptr + 1, end, index);
  std::string id = "c";
  add_base36(seq, 6, id);
  add_base36(index, 2, id);
  return id;
}

std::string thinking_text(const ReasoningPart& part) {
  if (part.text.empty()) return "";
  return "<thinking>\n" + part.text + "\n</thinking>";
}

void add_members(const Json& options, std::string& out) {
  for (const Json::Member& option : options.members()) {
    print_json(option.name, out);
    out += ':';
    print_json(option.value, out);
    out += ',';
  }
}

Result<Json> parse_wire(std::string_view text) {
  constexpr std::size_t kMostLists = 200'000;
  return parse_json(text, {.max_depth = kMaxJsonDepth, .max_lists = kMostLists});
}

std::int64_t count_of(const Json& json, std::string_view key) noexcept {
  return std::max<std::int64_t>(json[key].as_int().value_or(0), 0);
}

}  // namespace tug
