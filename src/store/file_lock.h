// The lock that keeps commits and checkpoints of all processes apart.
//
// Two bytes of one file: a turnstile and the lock itself. A commit passes the turnstile and holds
// the lock shared; a checkpoint holds the turnstile, so that no new commit comes in, and takes the
// lock alone once the commits in hand are done. Without the turnstile a steady stream of commits
// would starve every checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "tug/core/error.h"

namespace tug {

class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  static Result<FileLock> open(const std::string& path);

  // `overloaded` when it cannot be had within about `wait_ms`.
  Result<void> lock_shared(std::uint32_t wait_ms);
  Result<void> lock_alone(std::uint32_t wait_ms);
  void unlock() noexcept;

 private:
  explicit FileLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  // 0, or the errno of the last try; EAGAIN when it was taken until the end.
  int take(short type, long byte, std::uint32_t wait_ms) const noexcept;
  Failure refused(int reason, const char* by) const;
  void give(long byte) const noexcept;

  int fd_ = -1;
  std::string path_;
};

// Holds a lock while it lives.
class Locked {
 public:
  explicit Locked(FileLock& lock) noexcept : lock_(lock) {}
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  FileLock& lock_;
};

}  // namespace tug
