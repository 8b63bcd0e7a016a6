#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/try.h"
#include "tug/model/script.h"

namespace tug {
namespace {

constexpr std::size_t kMaxScriptBytes = 64 << 20;
constexpr std::string_view kFix = "name a JSONL file of turns: script/PATH";

class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

Failure refused(const std::string& path, std::string_view why) {
  return fail(ErrorKind::invalid, "the script " + path + " " + std::string(why), std::string(kFix));
}

Failure failed(const std::string& path, int error) {
  return refused(path, "cannot be read: " + std::string(std::strerror(error)));
}

// A FIFO without a writer must not hang us, and a device must not be drained: only regular files
// are read.
Result<std::string> read_script(const std::string& path) {
  if (path.empty()) return refused("\"\"", "has no path");
  if (path.contains('\0')) return refused("path", "holds a NUL byte");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return failed(path, errno);
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return failed(path, errno);
  if (S_ISDIR(about.st_mode)) return refused(path, "is a folder");
  if (!S_ISREG(about.st_mode)) return refused(path, "is not a regular file");
  std::string text;
  if (about.st_size > 0 && static_cast<std::size_t>(about.st_size) <= kMaxScriptBytes)
    text.reserve(static_cast<std::size_t>(about.st_size) + 1);
  char block[64 * 1024];
  while (true) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, errno);
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > kMaxScriptBytes) return refused(path, "is larger than 64 MB");
  }
}

}  // namespace

Result<ModelPtr> load_script_model(std::string_view path) {
  const std::string name(path);
  TUG_TRY(text, read_script(name));
  TUG_TRY(turns, parse_script(text, name));
  return make_script_model(std::move(turns), ModelProfile{.provider = "script", .name = name});
}

}  // namespace tug
