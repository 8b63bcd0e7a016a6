#include "settings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/try.h"
#include "tug/core/nearest.h"
#include "tug/tools/permissions.h"

namespace tug::cli {
namespace {

using Shape = KeyInfo::Shape;

constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kUint32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kCount = "a whole number from 0";
constexpr std::string_view kAtLeastOne = "a whole number from 1";

constexpr std::string_view kPatterns = "a list of \"tool\" or \"tool(glob)\"";
constexpr std::string_view kMilliseconds = "milliseconds, up to a day";
constexpr std::string_view kPerMillion = "dollars per million tokens";
constexpr std::string_view kHookEvents =
    "run_start|user_prompt_submit|before_tool_call|after_tool_call|before_subagent_run|"
    "after_subagent_run|limit_reached|run_end";
constexpr std::string_view kApis = "openai-chat|openai-responses|anthropic|gemini";
constexpr std::string_view kAddress = "an address that begins with http:// or https://";
constexpr std::string_view kVariable = "the name of a variable, such as MY_API_KEY";
constexpr std::string_view kOutputModes = "auto|text|native|tool|prompted";
constexpr std::int64_t kDay = 24 * 60 * 60 * 1000;
constexpr std::int64_t kMostAmount = 1'000'000'000;

constexpr std::array kKeys = {
    KeyInfo{"model", Shape::text, "\"PROVIDER/NAME\""},
    KeyInfo{"fallback_models", Shape::words, "a list of \"PROVIDER/NAME\""},
    KeyInfo{"base_url", Shape::address, kAddress},
    KeyInfo{"api_key_env", Shape::variable, kVariable},
    KeyInfo{"system_prompt", Shape::text, "a string"},
    KeyInfo{"append_system_prompt", Shape::text, "a string"},
    KeyInfo{"tools", Shape::words, "a list of tool names"},
    KeyInfo{"tool_execution", Shape::choice, "\"auto\" or \"sequential\"", 0, 0, "auto|sequential"},
    KeyInfo{"limits.max_turns", Shape::count, kCount, 0, kMany},
    KeyInfo{"limits.max_tool_calls", Shape::count, kCount, 0, kMany},
    KeyInfo{"limits.max_tokens", Shape::count, kCount, 0, kMany},
    KeyInfo{"limits.max_cost", Shape::amount, "dollars, from 0", 0, kMostAmount},
    KeyInfo{"limits.max_time", Shape::amount, "seconds, from 0", 0, kMostAmount},
    KeyInfo{"limits.max_depth", Shape::count, kCount, 0, kUint32},
    KeyInfo{"limits.max_concurrency", Shape::count, kAtLeastOne, 1, kUint32},
    KeyInfo{"limits.retries", Shape::count, kCount, 0, kUint32 - 1},
    KeyInfo{"limits.output_retries", Shape::count, kCount, 0, kUint32},
    KeyInfo{"limits.tool_retries", Shape::count, kCount, 0, kUint32},
    KeyInfo{"output.mode", Shape::choice, "\"auto\", \"native\", \"tool\" or \"prompted\"", 0, 0,
            "auto|native|tool|prompted"},
    KeyInfo{"output.retries", Shape::count, kCount, 0, kUint32},
    KeyInfo{"retry.attempts", Shape::count, kAtLeastOne, 1, kUint32},
    KeyInfo{"retry.initial_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"retry.multiplier", Shape::amount, "a number from 1 to 100", 1, 100},
    KeyInfo{"retry.max_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"retry.max_wait_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"retry.jitter", Shape::amount, "a share from 0 to 1", 0, 1},
    KeyInfo{"http.connect_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"http.first_byte_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"http.first_event_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"http.idle_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"http.byte_idle_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"http.total_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"http.proxy", Shape::text, "the address of a proxy, or \"none\"", 0, 0, {}, true},
    KeyInfo{"cache.responses", Shape::choice, "\"off\", \"memory\" or \"sqlite\"", 0, 0,
            "off|memory|sqlite"},
    KeyInfo{"cache.ttl", Shape::amount, "seconds, from 0", 0, kMostAmount},
    KeyInfo{"cache.protect_prefix", Shape::on_off, "true or false"},
    KeyInfo{"providers.*.api", Shape::choice, "an API", 0, 0, kApis},
    KeyInfo{"providers.*.base_url", Shape::address, kAddress},
    KeyInfo{"providers.*.key_env", Shape::variable, kVariable},
    KeyInfo{"providers.*.key_cmd", Shape::text, "a shell command", 0, 0, {}, true},
    KeyInfo{"providers.*.key_file", Shape::text, "a file that only you can read"},
    KeyInfo{"providers.*.key_header", Shape::text, "the name of a header"},
    KeyInfo{"providers.*.needs_key", Shape::on_off, "true or false"},
    KeyInfo{"providers.*.headers", Shape::texts, "a table of strings", 0, 0, {}, true},
    KeyInfo{"providers.*.api_version", Shape::text, "a string"},
    KeyInfo{"providers.*.quirks", Shape::words, "a list of words"},
    KeyInfo{"providers.*.options", Shape::table, "a table"},
    KeyInfo{"providers.*.thread_header", Shape::text, "the name of a header"},
    KeyInfo{"providers.*.thread_field", Shape::text, "the name of a member"},
    KeyInfo{"providers.*.thread_salt", Shape::text, "a string", 0, 0, {}, true},
    KeyInfo{"providers.*.chain_responses", Shape::on_off, "true or false"},
    KeyInfo{"providers.*.cache_ttl", Shape::choice, "how long a cache lasts", 0, 0,
            "5m|1h|24h|in_memory"},
    KeyInfo{"providers.*.connect_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"providers.*.first_byte_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"providers.*.first_event_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"providers.*.idle_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"providers.*.byte_idle_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"providers.*.total_ms", Shape::count, kMilliseconds, 0, kDay},
    KeyInfo{"providers.*.requests_per_minute", Shape::count, kCount, 0, kMostAmount},
    KeyInfo{"providers.*.tokens_per_minute", Shape::count, kCount, 0, kMany},
    KeyInfo{"permissions.mode", Shape::choice,
            "\"ask\", \"accept-edits\", \"read-only\" or \"yolo\"", 0, 0,
            "ask|accept-edits|read-only|yolo"},
    KeyInfo{"permissions.allow", Shape::patterns, kPatterns},
    KeyInfo{"permissions.ask", Shape::patterns, kPatterns},
    KeyInfo{"permissions.deny", Shape::patterns, kPatterns},
    KeyInfo{"permissions.hold", Shape::choice, "\"batch\" or \"call\"", 0, 0, "batch|call"},
    KeyInfo{"permissions.on_ask", Shape::choice, "\"park\" or \"deny\"", 0, 0, "park|deny"},
    KeyInfo{"workspace.root", Shape::text, "a folder"},
    KeyInfo{"hooks[].event", Shape::choice, "an event of a run", 0, 0, kHookEvents},
    KeyInfo{"hooks[].command", Shape::text, "a shell command"},
    KeyInfo{"hooks[].tools", Shape::words, "a list of tool names"},
    KeyInfo{"hooks[].agents", Shape::words, "a list of agent names"},
    KeyInfo{"hooks[].strict", Shape::on_off, "true or false"},
    KeyInfo{"hooks[].timeout", Shape::amount, "seconds, up to a day", 0, kDay / 1000},
    KeyInfo{"steering.allow", Shape::words, "a list of commands, such as \"pause\""},
    KeyInfo{"subagents.enabled", Shape::on_off, "true or false"},
    KeyInfo{"subagents.background", Shape::on_off, "true or false"},
    KeyInfo{"agents[].name", Shape::text, "a string"},
    KeyInfo{"agents[].description", Shape::text, "a string"},
    KeyInfo{"agents[].model", Shape::text, "\"PROVIDER/NAME\""},
    KeyInfo{"agents[].fallback_models", Shape::words, "a list of \"PROVIDER/NAME\""},
    KeyInfo{"agents[].system_prompt", Shape::text, "a string"},
    KeyInfo{"agents[].tools", Shape::words, "\"inherit\" or a list of tool names", 0, 0, "inherit"},
    KeyInfo{"agents[].subagents", Shape::words, "\"inherit\" or a list of agent names", 0, 0,
            "inherit"},
    KeyInfo{"agents[].limits.max_turns", Shape::count, kCount, 0, kMany},
    KeyInfo{"agents[].limits.max_tool_calls", Shape::count, kCount, 0, kMany},
    KeyInfo{"agents[].limits.max_tokens", Shape::count, kCount, 0, kMany},
    KeyInfo{"agents[].limits.max_cost", Shape::amount, "dollars, from 0", 0, kMostAmount},
    KeyInfo{"agents[].limits.max_time", Shape::amount, "seconds, from 0", 0, kMostAmount},
    KeyInfo{"agents[].limits.max_depth", Shape::count, kCount, 0, kUint32},
    KeyInfo{"agents[].limits.max_concurrency", Shape::count, kAtLeastOne, 1, kUint32},
    KeyInfo{"agents[].limits.retries", Shape::count, kCount, 0, kUint32 - 1},
    KeyInfo{"agents[].limits.output_retries", Shape::count, kCount, 0, kUint32},
    KeyInfo{"agents[].limits.tool_retries", Shape::count, kCount, 0, kUint32},
    KeyInfo{"agents[].output_schema", Shape::schema, "a JSON Schema, or the name of its file"},
    KeyInfo{"agents[].output_mode", Shape::choice, "a way to get an answer", 0, 0, kOutputModes},
    KeyInfo{"agents[].steering", Shape::words, "a list of commands, such as \"cancel\""},
    KeyInfo{"agents[].fork", Shape::on_off, "true or false"},
    KeyInfo{"agents[].inherit_mcp_servers", Shape::on_off, "true or false"},
    KeyInfo{"agents[].mcp_servers", Shape::words, "a list of server names"},
    KeyInfo{"agents[].hooks[].event", Shape::choice, "an event of a run", 0, 0, kHookEvents},
    KeyInfo{"agents[].hooks[].command", Shape::text, "a shell command"},
    KeyInfo{"agents[].hooks[].tools", Shape::words, "a list of tool names"},
    KeyInfo{"agents[].hooks[].agents", Shape::words, "a list of agent names"},
    KeyInfo{"agents[].hooks[].strict", Shape::on_off, "true or false"},
    KeyInfo{"agents[].hooks[].timeout", Shape::amount, "seconds, up to a day", 0, kDay / 1000},
    KeyInfo{"models[].provider", Shape::text, "a string"},
    KeyInfo{"models[].id", Shape::text, "a string"},
    KeyInfo{"models[].context", Shape::count, kAtLeastOne, 1, kMany},
    KeyInfo{"models[].max_output", Shape::count, kAtLeastOne, 1, kMany},
    KeyInfo{"models[].price.in", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.out", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.cache_read", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.cache_write", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.cache_write_1h", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.tiers[].above", Shape::count, kCount, 0, kMany},
    KeyInfo{"models[].price.tiers[].in", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.tiers[].out", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.tiers[].cache_read", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].price.tiers[].cache_write", Shape::amount, kPerMillion, 0, kMostAmount},
    KeyInfo{"models[].api", Shape::choice, "an API", 0, 0, kApis},
    KeyInfo{"models[].caps", Shape::words, "a list of what it can do, such as \"tools\""},
    KeyInfo{"models[].efforts", Shape::words, "a list of efforts, such as \"low\""},
    KeyInfo{"models[].drop_params", Shape::words, "a list of parameters, such as \"temperature\""},
    KeyInfo{"models[].quirks", Shape::words, "a list of words"},
    KeyInfo{"models[].status", Shape::choice, "a status", 0, 0,
            "active|preview|deprecated|retired"},
};

// What stands before a name of the user's own.
constexpr std::string_view kNamed = "providers.";

// "providers.mine.api" as "providers.*.api"; a name with a dot has quotes around it.
std::string without_name(std::string plain) {
  if (!plain.starts_with(kNamed)) return plain;
  const bool quoted = plain.compare(kNamed.size(), 1, "'") == 0;
  const std::size_t close = quoted ? plain.find('\'', kNamed.size() + 1) : kNamed.size();
  const std::size_t dot = close == plain.npos ? plain.npos : plain.find('.', close);
  return std::string(kNamed) + "*" + (dot == plain.npos ? "" : plain.substr(dot));
}

// "agents[3].hooks[1].event" as "agents[].hooks[].event".
std::string without_places(std::string_view key) {
  std::string plain;
  bool within = false;
  for (char c : key) {
    within = c == '[' || (within && c != ']');
    if (!within || c == '[') plain += c;
  }
  return without_name(std::move(plain));
}

bool is_address(std::string_view text) {
  const std::size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  const bool plain = std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == '@'; });
  return scheme > 0 && plain && text.size() > scheme && text[scheme] != '/' && text.size() < 2048;
}

bool is_variable(std::string_view text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
  return plain && !text.empty() && (text[0] < '0' || text[0] > '9') && text.size() <= 128;
}

Failure not_expected(const KeyInfo& info, std::string_view got) {
  return fail(ErrorKind::invalid,
              "expected " + std::string(info.expects) + ", got " + std::string(got));
}

std::string shown(const Json& value) {
  std::string text = print_json(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::vector<std::string_view> choices_of(const KeyInfo& info) {
  std::vector<std::string_view> choices;
  for (std::string_view rest = info.choices; !rest.empty();) {
    const std::size_t bar = rest.find('|');
    choices.push_back(rest.substr(0, bar));
    rest = bar == rest.npos ? std::string_view() : rest.substr(bar + 1);
  }
  return choices;
}

// That ends a word; one between the parentheses of a pattern does not.
std::size_t next_comma(const KeyInfo& info, std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (info.shape == Shape::patterns) open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && open <= 0) return i;
  }
  return text.npos;
}

Result<Json> check_choice(const KeyInfo& info, const Json& value) {
  const auto choices = choices_of(info);
  if (value.is_string() && std::ranges::find(choices, value.as_string()) != choices.end())
    return value;
  const std::string nearest(nearest_name(value.as_string(), choices));
  std::string all;
  for (std::string_view choice : choices) all += (all.empty() ? "" : ", ") + std::string(choice);
  return fail(ErrorKind::invalid, "expected " + std::string(info.expects) + ", got " + shown(value),
              nearest.empty() ? "take one of " + all : "did you mean \"" + nearest + "\"?");
}

}  // namespace

std::span<const KeyInfo> config_keys() { return kKeys; }

bool is_section(std::string_view given) {
  const std::string key = without_places(given);
  return std::ranges::any_of(kKeys, [&](const KeyInfo& info) {
    return info.key.starts_with(key) && info.key.substr(key.size()).starts_with('.');
  });
}

const KeyInfo* find_key(std::string_view key) {
  const std::string plain = without_places(key);
  for (const KeyInfo& info : kKeys) {
    if (info.key == plain) return &info;
  }
  return nullptr;
}

std::string nearest_key(std::string_view key, std::string_view row) {
  const std::string plain_row = without_places(row);
  std::vector<std::string_view> known;
  for (const KeyInfo& info : kKeys) {
    if (info.key.starts_with(plain_row)) known.push_back(info.key.substr(plain_row.size()));
  }
  const std::string plain = without_places(key.substr(row.size()));
  std::string_view nearest = nearest_name(plain, known);
  if (nearest.empty()) {  // the right word at the wrong level
    const std::string last = plain.substr(plain.rfind('.') + 1);
    nearest = nearest_name(last, known);
  }
  if (nearest.empty() && !row.empty()) {
    std::string all;
    for (std::string_view each : known) all += (all.empty() ? "" : ", ") + std::string(each);
    return "the keys are " + all;
  }
  if (nearest.empty()) return "`tug config explain` lists the keys";
  return "did you mean \"" + std::string(nearest) + "\"?";
}

bool is_row_list(std::string_view key) {
  const std::string rows = without_places(key) + "[].";
  return std::ranges::any_of(kKeys,
                             [&](const KeyInfo& info) { return info.key.starts_with(rows); });
}

std::optional<Twin> twin_of(std::string_view key) {
  if (key == "limits.retries") return Twin{"retry.attempts", 1};
  if (key == "retry.attempts") return Twin{"limits.retries", -1};
  if (key == "limits.output_retries") return Twin{"output.retries"};
  if (key == "output.retries") return Twin{"limits.output_retries"};
  return std::nullopt;
}

Result<Json> check_value(const KeyInfo& info, const Json& value) {
  switch (info.shape) {
    case Shape::text:
      if (value.is_string()) return value;
      break;
    case Shape::choice:
      return check_choice(info, value);
    case Shape::on_off:
      if (value.is_bool()) return value;
      break;
    case Shape::count: {
      const auto number = value.as_int();
      if (number && *number >= info.least && *number <= info.most) return Json(*number);
      break;
    }
    case Shape::amount: {
      const auto number = value.as_double();
      const bool fits = number && *number >= static_cast<double>(info.least) &&
                        *number <= static_cast<double>(info.most);
      if (fits) return value;
      break;
    }
    case Shape::schema:
      if (value.is_object() || value.is_string()) return value;
      break;
    case Shape::address:
      if (is_address(value.as_string())) return value;
      // A password may stand in it.
      return not_expected(info, value.as_string().contains('@') ? "one with an @" : shown(value));
    case Shape::variable:
      if (is_variable(value.as_string())) return value;
      return not_expected(info, "something else");
    case Shape::texts: {
      bool fine = value.is_object();
      for (const Json::Member& member : value.members()) fine &= member.value.is_string();
      if (fine) return value;
      break;
    }
    case Shape::table:
      if (value.is_object()) return value;
      break;
    case Shape::words: {
      if (value.is_string() && !info.choices.empty() && value.as_string() == info.choices)
        return value;
      bool fine = value.is_array();
      for (const Json& item : value.items()) fine &= item.is_string() && !item.as_string().empty();
      if (fine) return value;
      break;
    }
    case Shape::patterns: {
      bool fine = value.is_array();
      for (const Json& item : value.items()) {
        fine &= item.is_string();
        if (!item.is_string()) break;
        TUG_TRY(readable, check_pattern(item.as_string()));
      }
      if (fine) return value;
      break;
    }
  }
  return not_expected(info, info.secret ? "something else" : shown(value));
}

Result<Json> value_from_text(const KeyInfo& info, std::string_view text) {
  const bool instead = info.shape == Shape::words && !info.choices.empty() && text == info.choices;
  const bool plain = info.shape == Shape::text || info.shape == Shape::choice ||
                     info.shape == Shape::schema || info.shape == Shape::address ||
                     info.shape == Shape::variable;
  if (plain || instead) return check_value(info, Json(text));
  if (info.shape == Shape::words || info.shape == Shape::patterns) {
    Json list = Json::array();
    if (text == "none") return list;
    while (true) {
      const std::size_t comma = next_comma(info, text);
      std::string_view word = text.substr(0, comma);
      while (word.starts_with(' ')) word.remove_prefix(1);
      while (word.ends_with(' ')) word.remove_suffix(1);
      if (word.empty()) return not_expected(info, "an empty name");
      list.push_back(word);
      if (comma == text.npos) return check_value(info, list);
      text.remove_prefix(comma + 1);
    }
  }
  if (info.shape == Shape::on_off) {
    if (text == "true" || text == "false") return Json(text == "true");
    return not_expected(info, "\"" + std::string(text.substr(0, 60)) + "\"");
  }
  auto number = Json::number(text);
  if (!number) return not_expected(info, "\"" + std::string(text.substr(0, 60)) + "\"");
  return check_value(info, *number);
}

std::string variable_of(std::string_view key) {
  std::string name = "TUG_";
  for (char c : key) {
    if (c == '.') {
      name += "__";
    } else {
      name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return name;
}

}  // namespace tug::cli
