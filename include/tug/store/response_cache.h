// Kept answers: the digest of a request to the bytes of its answer.
//
// What goes wrong here never fails a run: a cache that cannot be read has nothing, one that cannot
// be written keeps nothing. Any thread; calls return at once or read one row of a local file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tug/core/digest.h"
#include "tug/core/error.h"
#include "tug/core/time.h"

namespace tug {

struct CacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evicted = 0;
  std::uint64_t failed = 0;  // reads and writes that did not work
  std::size_t entries = 0;
  std::size_t bytes = 0;
};

struct CacheBounds {
  std::size_t entries = 1024;
  std::size_t bytes = 64 << 20;  // the newest entry is kept whatever its size
};

class ResponseCache {
 public:
  virtual ~ResponseCache() = default;
  // Nothing for what is not there, has expired, or is not what was written.
  virtual std::optional<std::string> get(const Digest& key, Time now) = 0;
  // `ttl` zero: for ever.
  virtual void put(const Digest& key, std::string bytes, Duration ttl, Time now) = 0;
  virtual void clear() = 0;
  virtual CacheStats stats() const = 0;
};

// Least recently used goes first.
std::shared_ptr<ResponseCache> make_memory_response_cache(CacheBounds bounds = {});
// Shared by processes. `invalid` for a file that is not one of ours.
Result<std::shared_ptr<ResponseCache>> open_response_cache(const std::filesystem::path& file,
                                                           CacheBounds bounds = {});

}  // namespace tug
