#include "core/words.h"

#include "tug/core/json.h"
#include "tug/core/utf8.h"

namespace tug::detail {
namespace {

constexpr std::size_t kMaxQuoted = 60;

}  // namespace

std::string quoted(std::string_view text) {
  const std::string_view clipped = clip_utf8(text, kMaxQuoted);
  std::string out;
  if (clipped.size() == text.size()) {
    print_json_string(text, out);
  } else {
    print_json_string(std::string(clipped) + "...", out);
  }
  return out;
}

}  // namespace tug::detail
