// A file line by line, with caps on everything: a line without end, a file without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "tug/core/error.h"
#include "tug/io/workspace.h"

namespace tug {

struct Line {
  std::string text;       // without its end; the first bytes of a long line
  std::uint64_t cut = 0;  // bytes that were left out
  bool crlf = false;
};

class LineReader {
 public:
  enum class Got : std::uint8_t { line, end, limit };

  // Reads at most `max_bytes` of the file.
  LineReader(FileReader& file, std::uint64_t max_bytes, std::stop_token stop)
      : file_(file), max_bytes_(max_bytes), stop_(std::move(stop)) {}

  // The next line, keeping `keep` bytes of it. `limit`: it lies beyond what may be read.
  // `cancelled` once stopped.
  Result<Got> next(Line& line, std::size_t keep);
  // Whether the file begins like a binary one; ask before the first line.
  Result<bool> binary();
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  Result<Got> fill();

  FileReader& file_;
  std::uint64_t max_bytes_;
  std::stop_token stop_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace tug
