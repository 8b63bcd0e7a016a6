// A Markdown file with YAML between two lines of "---" before its text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config_entry.h"
#include "tug/core/error.h"

namespace tug::cli {

struct FrontMatter {
  std::vector<ConfigEntry> entries;  // as of a TOML file: dotted keys, numbered rows
  std::string body;                  // without blank lines before and after it
};

// A mapping whose key is `whole` stays one value. Plain scalars are null, true, false, numbers or
// text as YAML 1.2 has them, quoted ones are text. `invalid`, naming file and line, for a file
// without front matter, for what is not YAML, for anchors, aliases and tags of one's own (no file
// can say a thing twice and grow), for a key that is there twice, for more than kMaxYamlDepth
// levels or kMaxYamlNodes values, and for more than kMaxFrontMatter bytes or bytes that are not
// UTF-8.
inline constexpr std::size_t kMaxFrontMatter = 1u << 20;
inline constexpr std::size_t kMaxYamlDepth = 32;
inline constexpr std::size_t kMaxYamlNodes = 10'000;
Result<FrontMatter> read_front_matter(const std::string& path,
                                      const std::function<bool(std::string_view key)>& whole);

}  // namespace tug::cli
