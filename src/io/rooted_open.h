// Opening below a folder, and what the kernel's refusals mean to a caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug {

// An open descriptor, closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept;

 private:
  int fd_ = -1;
};

enum class Links : std::uint8_t { follow_inside, refuse };

// openat2 below `folder`; never out of it, never through /proc's magic links. Empty, with errno
// set, when it is refused. Repeats what a rename elsewhere in the tree disturbed.
Descriptor open_beneath(int folder, const std::string& path, std::uint64_t flags,
                        Links links = Links::follow_inside) noexcept;

// Why `path` was refused, for people.
Failure refusal(std::string_view path, int reason);
// "'src/a.cpp'": safe to show, of bounded length.
std::string quoted_path(std::string_view path);

}  // namespace tug
