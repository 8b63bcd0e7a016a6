#include "store/file_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tug {
namespace {

constexpr long kTurnstile = 0;
constexpr long kLock = 1;

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

Result<FileLock> FileLock::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) return FileLock(fd, path);
  if (errno == ENOSPC || errno == EDQUOT || errno == EMFILE || errno == ENFILE) {
    return fail(ErrorKind::exhausted, path + ": " + std::strerror(errno),
                "free what is short, then try again");
  }
  return fail(ErrorKind::denied, path + ": " + std::strerror(errno),
              "make it writable for this user, or name another --state-dir",
              Denied{path, "the file system"});
}

// Waits by asking again: a blocking wait would have no deadline, and a stopped process must not
// stop us.
int FileLock::take(short type, long byte, std::uint32_t wait_ms) const noexcept {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  for (std::uint32_t waited = 0, step = 1;; waited += step, step = std::min(step * 2, 16u)) {
    if (fcntl(fd_, F_OFD_SETLK, &range) == 0) return 0;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return errno;
    if (waited >= wait_ms) return EAGAIN;
    poll(nullptr, 0, static_cast<int>(step));
  }
}

Failure FileLock::refused(int reason, const char* by) const {
  if (reason == EAGAIN) {
    return fail(ErrorKind::overloaded, path_ + ": " + by,
                "try again; if it stays, look for a stopped tug process");
  }
  return fail(ErrorKind::internal, path_ + ": it cannot be locked: " + std::strerror(reason),
              "keep the state folder on a file system with locks, or name another --state-dir");
}

void FileLock::give(long byte) const noexcept {
  struct flock range = {};
  range.l_type = F_UNLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  fcntl(fd_, F_OFD_SETLK, &range);
}

Result<void> FileLock::lock_shared(std::uint32_t wait_ms) {
  int reason = take(F_RDLCK, kTurnstile, wait_ms);
  if (reason == 0) reason = take(F_RDLCK, kLock, wait_ms);
  give(kTurnstile);
  if (reason == 0) return {};
  return refused(reason, "another process holds the journal");
}

Result<void> FileLock::lock_alone(std::uint32_t wait_ms) {
  int reason = take(F_WRLCK, kTurnstile, wait_ms);
  if (reason == 0) reason = take(F_WRLCK, kLock, wait_ms);
  if (reason == 0) return {};
  give(kTurnstile);
  return refused(reason, "other processes are writing");
}

void FileLock::unlock() noexcept {
  give(kLock);
  give(kTurnstile);
}

}  // namespace tug
