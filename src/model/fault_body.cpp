#include "model/fault_body.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "model/stated_duration.h"
#include "tug/core/json.h"
#include "tug/core/utf8.h"

namespace tug::detail {
namespace {

constexpr std::size_t kMaxParsed = 256 << 10;
constexpr std::size_t kMaxText = 16 << 10;
constexpr std::size_t kMaxCodes = 32;
constexpr int kMaxLevels = 3;         // of JSON inside a string
constexpr int kMaxWrapped = 6;        // of objects inside each other
constexpr std::size_t kMaxLists = 8;  // items of a list that are looked at

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::span<const Json> first_items(const Json& list) noexcept {
  const auto items = list.items();
  return items.first(std::min(items.size(), kMaxLists));
}

// Words that every error of an API has, so that they say nothing.
bool is_envelope(std::string_view code) noexcept {
  return code == "error" || code == "response.failed" || code == "response" || code == "failed";
}

bool looks_like_html(std::string_view body) {
  const std::size_t begin = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos || body[begin] != '<') return false;
  const std::string head = lower(body.substr(begin, 64));
  for (const std::string_view tag : {"<!doctype", "<html", "<head", "<body", "<?xml", "<!--"}) {
    if (head.starts_with(tag)) return true;
  }
  return false;
}

std::string title_of(std::string_view html) {
  html = html.substr(0, kMaxText);
  const std::string small = lower(html);
  std::size_t begin = small.find("<title");
  if (begin != std::string::npos) begin = small.find('>', begin);
  if (begin == std::string::npos) return "";
  const std::size_t end = small.find("</title", begin);
  if (end == std::string::npos) return "";
  return repair_utf8(html.substr(begin + 1, end - begin - 1));
}

class Reader {
 public:
  explicit Reader(FaultBody& out) noexcept : out_(out) {}

  void read(const Json& json, int wrapped, int level) {
    if (wrapped > kMaxWrapped) return;
    if (json.is_array()) {
      for (const Json& item : first_items(json)) read(item, wrapped + 1, level);
      return;
    }
    if (json.is_string()) {
      say(json.as_string(), level);
      return;
    }
    if (!json.is_object()) return;
    take_codes(json);
    take_numbers(json);
    for (const std::string_view key : {"error", "response", "errors", "detail", "innererror"})
      read(json[key], wrapped + 1, level);
    for (const std::string_view key : {"message", "Message", "msg", "error_description"})
      say(json[key].as_string(), level);
    take_details(json["details"]);
    take_metadata(json["metadata"], wrapped, level);
  }

  // Text, and JSON where it holds some.
  void say(std::string_view text, int level) {
    if (text.empty()) return;
    if (out_.text.size() < kMaxText) {
      if (!out_.text.empty()) out_.text += '\n';
      out_.text += clip_utf8(text, kMaxText);
    }
    const std::size_t begin = text.find('{');
    const std::size_t end = text.rfind('}');
    if (level < kMaxLevels && begin != std::string_view::npos && end != std::string_view::npos &&
        begin < end) {
      auto inner = parse_json(text.substr(begin, end - begin + 1));
      if (inner && inner->is_object()) {
        const std::string before = std::exchange(out_.message, "");
        read(*inner, 0, level + 1);
        if (!out_.message.empty()) return;
        out_.message = before;
      }
    }
    if (out_.message.empty()) out_.message = clip_utf8(text, kMaxText);
  }

 private:
  void take_code(const Json& code) {
    if (out_.status == 0) {
      std::int64_t number = code.as_int().value_or(0);
      const std::string_view digits = code.as_string();
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (number >= 400 && number < 600) out_.status = static_cast<int>(number);
    }
    const std::string_view text = clip_utf8(code.as_string(), 100);
    if (text.empty() || out_.codes.size() >= kMaxCodes) return;
    std::string small = lower(text);
    if (is_envelope(small)) return;
    if (out_.code.empty()) out_.code = text;
    // "com.amazon.coral#ThrottlingException", "aws.x.ThrottlingException:http://.."
    if (const std::size_t hash = small.rfind('#'); hash != std::string::npos)
      small.erase(0, hash + 1);
    out_.codes.push_back(std::move(small));
  }

  void take_codes(const Json& json) {
    for (const std::string_view key : {"code", "type", "status", "error_code", "error_type",
                                       "provider_code", "__type", "reason"})
      take_code(json[key]);
    if (out_.request_id.empty()) out_.request_id = clip_utf8(json["request_id"].as_string(), 200);
  }

  void take_numbers(const Json& json) {
    // llama.cpp
    if (const auto prompt = json["n_prompt_tokens"].as_int()) out_.prompt_tokens = *prompt;
    if (const auto window = json["n_ctx"].as_int()) out_.window = *window;
    for (const auto& [key, unit] : {std::pair("retry_after_ms", 1.0),
                                    {"retry_after", 1000.0},
                                    {"resets_in_seconds", 1000.0}}) {
      const auto number = json[key].as_double();
      if (!out_.wait_ms && number) out_.wait_ms = clamped_ms(*number * unit);
    }
  }

  // Google's typed details, and Anthropic's object.
  void take_details(const Json& details) {
    if (details.is_object()) take_codes(details);
    for (const Json& detail : first_items(details)) {
      if (detail.is_object()) take_codes_of_detail(detail);
    }
  }
  void take_codes_of_detail(const Json& detail) {
    take_code(detail["reason"]);
    const std::string_view delay = detail["retryDelay"].as_string();
    if (!delay.empty()) {
      if (const auto wait = parse_stated_duration(delay)) out_.wait_ms = wait;
    }
    for (const Json& violation : first_items(detail["violations"])) {
      const std::string id = lower(violation["quotaId"].as_string());
      if (id.find("perday") != std::string::npos) out_.quota_of_day = true;
    }
  }

  // OpenRouter: the provider's own words, as text.
  void take_metadata(const Json& metadata, int wrapped, int level) {
    if (!metadata.is_object()) return;
    take_codes(metadata);
    const Json& raw = metadata["raw"];
    const std::string before = std::exchange(out_.message, "");
    read(raw, wrapped + 1, level);
    if (out_.message.empty()) out_.message = before;
  }

  FaultBody& out_;
};

}  // namespace

FaultBody read_fault_body(std::string_view body) {
  FaultBody out;
  if (looks_like_html(body)) {
    out.is_html = true;
    out.message = title_of(body);
    return out;
  }
  Reader reader(out);
  if (body.size() <= kMaxParsed) {
    if (auto json = parse_json(body); json && (json->is_object() || json->is_array())) {
      reader.read(*json, 0, 0);
      if (out.message.empty() && out.code.empty()) out.message = clip_utf8(body, kMaxText);
      return out;
    }
  }
  reader.say(repair_utf8(body.substr(0, kMaxText)), 0);
  return out;
}

}  // namespace tug::detail
