// Finding lines in one file's text.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"

namespace tug {

struct FoundLine {
  std::size_t number = 0;
  std::string text;  // cut around the match
};

struct FoundLines {
  std::vector<FoundLine> shown;
  std::size_t total = 0;
};

struct QueryOptions {
  bool regex = false;
  bool case_sensitive = true;
};

// A query over lines. Time is linear in the text and memory is capped, whatever the query. A value
// that may be used by one thread at a time.
class LineSearch {
 public:
  // `invalid` for a query that is empty, too long, has a line feed or is no regular expression.
  static Result<LineSearch> compile(std::string_view query, QueryOptions options);

  // Every line that matches is counted, the first `most` are kept. Ends early when stopped.
  FoundLines find(std::string_view text, std::size_t most, std::size_t max_line_chars,
                  const std::stop_token& stop) const;

 private:
  explicit LineSearch(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
  std::unique_ptr<re2::RE2> regex_;
};

// Smart case: a capital letter in the query means it.
bool has_capital(std::string_view query);

inline constexpr std::size_t kMaxQueryBytes = 4'096;

}  // namespace tug
