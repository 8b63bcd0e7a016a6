#include "io/rooted_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

// The kernel answers EAGAIN when any rename on the machine crosses a ".." or a link that it is
// just resolving.
constexpr int kTries = 64;
constexpr std::size_t kMaxShown = 300;

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() noexcept { return std::exchange(fd_, -1); }

Descriptor open_beneath(int folder, const std::string& path, std::uint64_t flags,
                        Links links) noexcept {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  for (int tried = 0; tried < kTries; ++tried) {
    const long fd = syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return {};
}

std::string quoted_path(std::string_view path) {
  const std::string_view clipped = clip_utf8(path, kMaxShown);
  return "'" + terminal_text(clipped) + (clipped.size() < path.size() ? "..'" : "'");
}

Failure refusal(std::string_view path, int reason) {
  const std::string name = quoted_path(path);
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
      return fail(ErrorKind::invalid, "there is no " + name,
                  "list the folder to see what is there");
    case EXDEV:
      return fail(ErrorKind::denied, name + " leads out of the root folder",
                  "name a path below the root", Denied{std::string(path), "the root folder"});
    case ELOOP:
      return fail(ErrorKind::denied, name + " is a link that leads in a circle or out of reach",
                  "name the file itself", Denied{std::string(path), "the root folder"});
    case EACCES:
    case EPERM:
      return fail(ErrorKind::denied, name + " may not be read by this user",
                  "change its permissions, or name another path",
                  Denied{std::string(path), "the file system"});
    case ENAMETOOLONG:
      return fail(ErrorKind::invalid, name + " has a name that is too long",
                  "names have at most 255 bytes");
    case EAGAIN:
      return fail(ErrorKind::overloaded, name + " is being moved while it is opened", "try again");
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return fail(ErrorKind::exhausted, name + ": " + std::strerror(reason),
                  "free what is short, then try again");
    default:
      return fail(ErrorKind::internal, name + ": " + std::strerror(reason));
  }
}

}  // namespace tug
