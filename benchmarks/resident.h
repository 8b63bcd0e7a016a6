// What the process weighs.
#pragma once

#include <cstddef>
#include <cstdio>

namespace tug {

inline std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * 4096;
}

}  // namespace tug
