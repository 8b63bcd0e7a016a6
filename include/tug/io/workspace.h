// A folder and what is below it, opened so that no path leads out.
//
// Every open goes through openat2 with RESOLVE_BENEATH from the root's descriptor: absolute paths,
// links that point outside and races that swap a folder for a link while we look all end in
// `denied`. Links that stay inside are followed. Nothing here blocks on a FIFO or a device: only
// regular files and folders are opened.
//
// Paths are relative to the root, "/" between names; an absolute path below the root is taken as
// relative. ".." goes back one name of the path as it is written, also where that name is a link,
// so that what a rule or a person reads is what is opened. "~" is a name like any other.
//
// Blocking; any thread (the worker pool). Two descriptors at most are held by one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/time.h"

namespace tug {

enum class EntryKind : std::uint8_t { file, folder, link, other };

struct FileInfo {
  EntryKind kind = EntryKind::file;
  std::uint64_t size = 0;
  Time modified{};
};

struct Entry {
  std::string path;  // relative to the root
  FileInfo info;
};

// An open regular file; reads go on from where the last ended.
class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual const FileInfo& info() const noexcept = 0;
  // Appends at most `most` bytes, at least one; false at the end.
  virtual Result<bool> read(std::string& out, std::size_t most) = 0;
};

// The folders that a walk could not look into: not readable, gone, too deep or too large.
struct WalkReport {
  std::size_t not_read = 0;
  std::string first;  // one of them, and why

  friend bool operator==(const WalkReport&, const WalkReport&) = default;
};

class Workspace {
 public:
  virtual ~Workspace() = default;
  virtual const std::string& root() const noexcept = 0;  // absolute, for people

  // The path as the tools name it: relative, normalised, "." for the root. `denied` when it leads
  // out, `invalid` when it is empty, too long or holds a NUL. Looks at the text only.
  virtual Result<std::string> relative(std::string_view path) const = 0;
  // The path of what it leads to, links followed, as `relative` names it; names that are not there
  // yet stand as they are. `denied` when it leads out or in a circle, `invalid` for what is no
  // path. For rules about paths: what a rule reads is what `open` opens, unless somebody moves it
  // meanwhile.
  virtual Result<std::string> real_path(std::string_view path) const = 0;
  // What the path leads to, links followed; nothing when there is nothing. `denied` when it leads
  // out or may not be looked at.
  virtual Result<std::optional<FileInfo>> info(std::string_view path) const = 0;
  // `invalid` for what is not there, is a folder, a FIFO, a device or a socket, naming the path and
  // what it is; `denied` for what leads out or may not be read; `overloaded` for what is swapped
  // for something else again and again while it is opened.
  virtual Result<std::unique_ptr<FileReader>> open(std::string_view path) const = 0;
  // The entries of one folder, sorted by name; links are not followed. `exhausted` beyond `most`.
  virtual Result<std::vector<Entry>> list(std::string_view path, std::size_t most) const = 0;

  // Every entry below `path`, folders before what is in them, sorted by name within a folder. Links
  // to folders are not entered. `visit` answers whether to go on (for a folder: whether to enter
  // it). What vanishes on the way is left out. `cancelled` once `stop` is requested.
  enum class Walk : std::uint8_t { on, skip, stop };
  virtual Result<WalkReport> walk(std::string_view path,
                                  const std::function<Walk(const Entry&)>& visit,
                                  const std::stop_token& stop) const = 0;
};

inline constexpr std::size_t kMaxPath = 4095;              // bytes
inline constexpr std::size_t kMaxWalkDepth = 128;          // folders below the one that is walked
inline constexpr std::size_t kMaxFolderEntries = 250'000;  // of one folder in a walk

// `invalid` when the folder cannot be opened, `unsupported` on a kernel without openat2.
Result<std::shared_ptr<const Workspace>> open_workspace(const std::string& root);

}  // namespace tug
