#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "tug/context/log.h"
#include "tug/core/terminal_text.h"
#include "tug/journal/sink.h"

namespace tug {
namespace {

// One write per line, so that lines of different roots and threads stay whole.
class Lines {
 public:
  explicit Lines(std::FILE* out) noexcept : out_(out) {}
  void write(std::string line) noexcept {
    line.push_back('\n');
    std::lock_guard lock(mutex_);
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
  }

 protected:
  std::FILE* out_;

 private:
  std::mutex mutex_;
};

class File final : public Lines {
 public:
  using Lines::Lines;
  ~File() { std::fclose(out_); }
};

class ConsoleSink final : public Sink {
 public:
  explicit ConsoleSink(std::shared_ptr<Lines> lines) noexcept : lines_(std::move(lines)) {}
  void on_event(const Event& event) override {
    const Json& data = event.data;
    std::string line = fmt::format("{} {} {}: {}", to_rfc3339(event.ts), data["level"].as_string(),
                                   terminal_text(data["tag"].as_string()),
                                   terminal_text(data["text"].as_string()));
    if (const Json* more = data.find("data")) line += " " + terminal_text(print_json(*more));
    lines_->write(std::move(line));
  }

 private:
  std::shared_ptr<Lines> lines_;
};

class JsonlSink final : public Sink {
 public:
  explicit JsonlSink(std::shared_ptr<Lines> lines) noexcept : lines_(std::move(lines)) {}
  void on_event(const Event& event) override { lines_->write(to_line(event)); }

 private:
  std::shared_ptr<Lines> lines_;
};

class ConsoleReporter final : public Reporter {
 public:
  explicit ConsoleReporter(std::FILE* out) : lines_(std::make_shared<Lines>(out)) {}
  Result<std::shared_ptr<Sink>> open(const RunId&) override {
    return std::make_shared<ConsoleSink>(lines_);
  }

 private:
  std::shared_ptr<Lines> lines_;
};

class JsonlReporter final : public Reporter {
 public:
  explicit JsonlReporter(std::string path) : path_(std::move(path)) {}
  Result<std::shared_ptr<Sink>> open(const RunId&) override {
    std::lock_guard lock(mutex_);
    if (!file_) {
      // Readable by its owner alone: a log repeats what the run has seen.
      const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
      std::FILE* out = fd < 0 ? nullptr : ::fdopen(fd, "a");
      if (!out) {
        const int why = errno;
        return fail(why == EACCES ? ErrorKind::denied : ErrorKind::invalid,
                    fmt::format("log file {}: {}", path_, std::strerror(why)),
                    "give the reporter jsonl a file in a folder that can be written");
      }
      file_ = std::make_shared<File>(out);
    }
    return std::make_shared<JsonlSink>(file_);
  }

 private:
  std::string path_;
  std::mutex mutex_;
  std::shared_ptr<File> file_;
};

}  // namespace

std::shared_ptr<Reporter> make_console_reporter(std::FILE* out) {
  return std::make_shared<ConsoleReporter>(out);
}

std::shared_ptr<Reporter> make_jsonl_reporter(std::string path) {
  return std::make_shared<JsonlReporter>(std::move(path));
}

}  // namespace tug
