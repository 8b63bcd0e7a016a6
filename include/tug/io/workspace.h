// A folder and what is below it, opened so that no path leads out.
//
// Every open goes through openat2 with RESOLVE_BENEATH from the root's descriptor: "..", absolute
// paths, links that point outside and races that swap a folder for a link while we walk all end in
// `denied`. Nothing here blocks on a FIFO or a device: only regular files and folders are opened.
// Paths are relative to the root, "/" between names; an absolute path below the root is taken
// as relative. Blocking; any thread (the worker pool).
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
  // Appends at most `most` bytes; false at the end.
  virtual Result<bool> read(std::string& out, std::size_t most) = 0;
};

class Workspace {
 public:
  virtual ~Workspace() = default;
  virtual const std::string& root() const noexcept = 0;  // absolute, for people

  // The path as the tools name it: relative, normalised, "." for the root. `denied` when it leads
  // out, `invalid` when it is empty, too long or holds a NUL.
  virtual Result<std::string> relative(std::string_view path) const = 0;
  virtual Result<FileInfo> info(std::string_view path) const = 0;
  // `invalid` for what is not there, is a folder, a FIFO, a device or a socket, naming the path and
  // what it is; `denied` for what leads out or may not be read.
  virtual Result<std::unique_ptr<FileReader>> open(std::string_view path) const = 0;
  // The entries of one folder, sorted by name; links are not followed. `exhausted` beyond `most`.
  virtual Result<std::vector<Entry>> list(std::string_view path, std::size_t most) const = 0;

  // Every entry below `path`, folders before what is in them, sorted within a folder. Links to
  // folders are not entered. `visit` answers whether to go on (for a folder: whether to enter it).
  enum class Walk : std::uint8_t { on, skip, stop };
  virtual Result<void> walk(std::string_view path, const std::function<Walk(const Entry&)>& visit,
                            const std::stop_token& stop) const = 0;
};

// `invalid` when the folder cannot be opened, `unsupported` on a kernel without openat2.
Result<std::shared_ptr<const Workspace>> open_workspace(const std::string& root);

}  // namespace tug
