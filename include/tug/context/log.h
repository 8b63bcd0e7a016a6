// What a run says to people: entries of its log, how much of it is kept, and who is told.
//
// Every root keeps its last entries in a ring (`ctx.tail`); the same entries are journal events of
// kind `log`, records from level info up, live below. Level and scope decide whether an entry is
// made at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/ids.h"
#include "tug/core/json.h"
#include "tug/core/time.h"

namespace tug {

class Sink;

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };
std::string_view name_of(LogLevel level) noexcept;
std::optional<LogLevel> log_level_from(std::string_view name) noexcept;

struct LogEntry {
  std::string type = "message";
  std::string tag = "user";
  LogLevel level = LogLevel::error;
  std::string text;
  Json data;
  // Stamped by the log; what the caller puts here is overwritten.
  RunId root;
  RunId run;
  std::uint32_t node = 0;
  Time ts{};

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

struct TailFilter {
  std::string tag;                 // empty: any
  std::vector<std::string> types;  // empty: any
  std::optional<std::size_t> last;
};

struct Tail {
  std::vector<LogEntry> entries;  // oldest first
  std::uint64_t dropped = 0;      // how many the ring has lost so far
};

// What is not given stays as it is; with nothing given, configuring only reads.
struct LogOptions {
  std::optional<LogLevel> level;                  // the least that is kept
  std::optional<std::vector<std::string>> scope;  // tags that are kept; empty: all
  std::string reporter;                           // switched on, besides those that are
  bool global = false;  // for all roots that have not chosen for themselves, now and later
};

struct LogSettings {
  LogLevel level = LogLevel::info;
  std::vector<std::string> scope;
  std::vector<std::string> reporters;

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};
Json to_json(const LogSettings& settings);

inline constexpr std::size_t kLogRing = 1024;

// Makes the sink behind a reporter's name, one for each root that switches it on. Any thread.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual Result<std::shared_ptr<Sink>> open(const RunId& root) = 0;
};
// A line for people per log entry, to `out` (not owned; stderr for the reporter "console").
std::shared_ptr<Reporter> make_console_reporter(std::FILE* out);
// The event as a line of JSON per log entry, appended to the file. Roots share it; lines stay
// whole.
std::shared_ptr<Reporter> make_jsonl_reporter(std::string path);

}  // namespace tug
