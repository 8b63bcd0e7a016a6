#include "tug/io/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/try.h"
#include "io/rooted_open.h"

namespace tug {
namespace {

constexpr int kReopens = 8;
constexpr int kMaxLinks = 40;  // in one path, as the kernel
constexpr std::int64_t kMaxSeconds = 9'000'000'000;
constexpr std::uint64_t kFolderFlags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

FileInfo info_of(const struct stat& status) {
  FileInfo info;
  info.kind = S_ISREG(status.st_mode)   ? EntryKind::file
              : S_ISDIR(status.st_mode) ? EntryKind::folder
              : S_ISLNK(status.st_mode) ? EntryKind::link
                                        : EntryKind::other;
  info.size = status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  // A file may claim any year; a Time ends in 2262.
  info.modified = Time(std::chrono::seconds(std::clamp<std::int64_t>(status.st_mtim.tv_sec,
                                                                     -kMaxSeconds, kMaxSeconds)) +
                       std::chrono::nanoseconds(status.st_mtim.tv_nsec));
  return info;
}

std::string_view name_of_type(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a file";
}

std::string joined(std::string_view folder, std::string_view name) {
  if (folder == ".") return std::string(name);
  std::string path(folder);
  path += '/';
  return path.append(name);
}

class RootedReader final : public FileReader {
 public:
  RootedReader(Descriptor file, FileInfo info, std::string path)
      : file_(std::move(file)), info_(info), path_(std::move(path)) {}

  const FileInfo& info() const noexcept override { return info_; }

  Result<bool> read(std::string& out, std::size_t most) override {
    const std::size_t before = out.size();
    out.resize(before + most);
    ssize_t got;
    do {
      got = ::read(file_.get(), out.data() + before, most);
    } while (got < 0 && errno == EINTR);
    const int reason = errno;
    out.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got >= 0) return got > 0;
    if (reason == EAGAIN) {
      return fail(ErrorKind::invalid, quoted_path(path_) + " has no data to read at present",
                  "read a file that is stored on disk");
    }
    return refusal(path_, reason);
  }

 private:
  Descriptor file_;
  FileInfo info_;
  std::string path_;
};

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { closedir(folder); }
};

// Reads an open folder; `path` is what the entries are named below.
Result<std::vector<Entry>> entries_of(Descriptor folder, std::string_view path, std::size_t most,
                                      const std::stop_token& stop) {
  const std::unique_ptr<DIR, CloseFolder> stream(fdopendir(folder.get()));
  if (!stream) return refusal(path, errno);
  const int fd = folder.release();
  std::vector<Entry> entries;
  for (;;) {
    errno = 0;
    const dirent* found = readdir(stream.get());
    if (found == nullptr) {
      // A folder that is removed while we read it simply ends.
      if (errno != 0 && errno != ENOENT) return refusal(path, errno);
      break;
    }
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while listing a folder");
    struct stat status = {};
    FileInfo info{.kind = EntryKind::other};
    if (fstatat(fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      info = info_of(status);
    } else if (errno == ENOENT) {
      continue;
    }
    if (entries.size() == most) {
      return fail(ErrorKind::exhausted,
                  quoted_path(path) + " has more than " + std::to_string(most) + " entries",
                  "look at a folder below it");
    }
    entries.push_back({joined(path, name), info});
  }
  std::ranges::sort(entries, {}, &Entry::path);
  return entries;
}

// The names of a path in front of `rest`, whose next one is its last.
void push_names(std::vector<std::string>& rest, std::string_view path) {
  const std::size_t from = rest.size();
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!name.empty() && name != ".") rest.emplace_back(name);
  }
  std::reverse(rest.begin() + static_cast<std::ptrdiff_t>(from), rest.end());
}

std::string path_of(const std::vector<std::string>& names) {
  std::string path = ".";
  for (const std::string& name : names) path = joined(path, name);
  return path;
}

class RootedFolder final : public Workspace {
 public:
  RootedFolder(Descriptor root, std::string given, std::string real)
      : root_(std::move(root)), given_(std::move(given)), real_(std::move(real)) {}

  const std::string& root() const noexcept override { return real_; }

  Result<std::string> relative(std::string_view path) const override {
    if (path.empty()) {
      return fail(ErrorKind::invalid, "the path is empty", "\".\" is the root folder");
    }
    if (path.size() > kMaxPath) {
      return fail(ErrorKind::invalid, quoted_path(path) + " is too long",
                  "paths have at most " + std::to_string(kMaxPath) + " bytes");
    }
    if (path.find('\0') != path.npos) {
      return fail(ErrorKind::invalid, quoted_path(path) + " holds a NUL byte", "remove it");
    }
    std::string_view rest = path;
    if (path.starts_with('/') && !below(given_, rest) && !below(real_, rest)) {
      return leads_out(path);
    }
    std::vector<std::string_view> names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      const std::string_view name = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (name.empty() || name == ".") continue;
      if (name != "..") {
        names.push_back(name);
      } else if (names.empty()) {
        return leads_out(path);
      } else {
        names.pop_back();
      }
    }
    std::string normal = ".";
    for (const std::string_view name : names) normal = joined(normal, name);
    return normal;
  }

  // Name by name: what is asked of the kernel as a whole would be known only through /proc.
  Result<std::string> real_path(std::string_view path) const override {
    TUG_TRY(normal, relative(path));
    std::vector<std::string> names;  // of the real path so far
    std::vector<std::string> rest;   // still to be looked at, the next one last
    push_names(rest, normal);
    int links = 0;
    bool missing = false;
    while (!rest.empty()) {
      std::string name = std::move(rest.back());
      rest.pop_back();
      if (name == "..") {
        if (names.empty()) return leads_out(path);
        if (missing) return refusal(normal, ENOENT);
        names.pop_back();
        continue;
      }
      names.push_back(std::move(name));
      if (missing) continue;
      const std::string at = path_of(names);
      const Descriptor found = open_beneath(root_.get(), at, O_PATH | O_NOFOLLOW, Links::refuse);
      struct stat status = {};
      if (!found || fstat(found.get(), &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) return refusal(normal, errno);
        missing = true;
        continue;
      }
      if (!S_ISLNK(status.st_mode)) continue;
      if (++links > kMaxLinks) return refusal(normal, ELOOP);
      std::string target(kMaxPath + 1, '\0');
      const ssize_t length = readlinkat(found.get(), "", target.data(), target.size());
      if (length < 0) return refusal(normal, errno);
      target.resize(static_cast<std::size_t>(length));
      if (target.starts_with('/')) return refusal(normal, EXDEV);
      names.pop_back();
      push_names(rest, target);
    }
    return path_of(names);
  }

  Result<std::optional<FileInfo>> info(std::string_view path) const override {
    TUG_TRY(normal, relative(path));
    const Descriptor found = open_beneath(root_.get(), normal, O_PATH);
    struct stat status = {};
    if (found && fstat(found.get(), &status) == 0) return info_of(status);
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return refusal(normal, errno);
  }

  // Opening a device or a FIFO can do something by itself, so the kind is looked at before; the
  // second look makes sure that it is the same file which was opened.
  Result<std::unique_ptr<FileReader>> open(std::string_view path) const override {
    TUG_TRY(normal, relative(path));
    for (int tried = 0; tried < kReopens; ++tried) {
      const Descriptor seen = open_beneath(root_.get(), normal, O_PATH);
      struct stat before = {};
      if (!seen || fstat(seen.get(), &before) != 0) return refusal(normal, errno);
      if (!S_ISREG(before.st_mode)) {
        return fail(ErrorKind::invalid,
                    quoted_path(normal) + " is " + std::string(name_of_type(before.st_mode)),
                    S_ISDIR(before.st_mode) ? "list it" : "name a regular file");
      }
      Descriptor file = open_beneath(root_.get(), normal, O_RDONLY | O_NONBLOCK | O_NOCTTY);
      struct stat after = {};
      if (!file || fstat(file.get(), &after) != 0) {
        if (errno == ENXIO) continue;  // a socket took its place
        return refusal(normal, errno);
      }
      if (before.st_dev != after.st_dev || before.st_ino != after.st_ino) continue;
      return std::make_unique<RootedReader>(std::move(file), info_of(after), std::move(normal));
    }
    return refusal(normal, EAGAIN);
  }

  Result<std::vector<Entry>> list(std::string_view path, std::size_t most) const override {
    TUG_TRY(normal, relative(path));
    TUG_TRY(folder, open_folder(normal));
    return entries_of(std::move(folder), normal, most, {});
  }

  Result<WalkReport> walk(std::string_view path, const std::function<Walk(const Entry&)>& visit,
                          const std::stop_token& stop) const override;

 private:
  // Takes the root's name off an absolute path.
  static bool below(std::string_view root, std::string_view& path) {
    if (root == "/") return true;
    if (!path.starts_with(root)) return false;
    if (path.size() > root.size() && path[root.size()] != '/') return false;
    path.remove_prefix(root.size());
    return true;
  }

  Failure leads_out(std::string_view path) const {
    return fail(ErrorKind::denied,
                quoted_path(path) + " leads out of the root folder " + quoted_path(real_),
                "name a path below the root, relative to it",
                Denied{std::string(path), "the root folder"});
  }

  Result<Descriptor> open_folder(const std::string& path) const {
    Descriptor folder = open_beneath(root_.get(), path, kFolderFlags);
    if (folder) return folder;
    if (errno != ENOTDIR) return refusal(path, errno);
    struct stat status = {};
    const Descriptor found = open_beneath(root_.get(), path, O_PATH);
    if (!found || fstat(found.get(), &status) != 0) return refusal(path, errno);
    return fail(ErrorKind::invalid, quoted_path(path) + " is not a folder", "name its folder");
  }

  Descriptor root_;
  std::string given_;
  std::string real_;
};

// Folders are opened by their path below the first one, not from their parent's descriptor: a deep
// tree costs no descriptors. RESOLVE_NO_SYMLINKS keeps out what was swapped for a link meanwhile.
Result<WalkReport> RootedFolder::walk(std::string_view path,
                                      const std::function<Walk(const Entry&)>& visit,
                                      const std::stop_token& stop) const {
  struct Level {
    std::vector<Entry> entries;
    std::size_t next = 0;
  };
  TUG_TRY(start, relative(path));
  TUG_TRY(top, open_folder(start));
  WalkReport report;
  std::vector<Level> levels;
  const auto enter = [&](Descriptor folder, const std::string& name) -> Result<void> {
    auto entries = entries_of(std::move(folder), name, kMaxFolderEntries, stop);
    if (entries) {
      levels.push_back({*std::move(entries)});
      return {};
    }
    return Failure(std::move(entries).error());
  };
  const auto leave_out = [&report](std::string reason) {
    if (report.not_read++ == 0) report.first = std::move(reason);
  };
  TUG_TRY(first, enter(open_beneath(top.get(), ".", kFolderFlags), start));

  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.entries.size()) {
      levels.pop_back();
      continue;
    }
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while walking a folder");
    const Entry entry = std::move(level.entries[level.next++]);
    const Walk answer = visit(entry);
    if (answer == Walk::stop) break;
    if (entry.info.kind != EntryKind::folder || answer == Walk::skip) continue;
    if (levels.size() > kMaxWalkDepth) {
      leave_out(quoted_path(entry.path) + " lies too deep");
      continue;
    }
    const std::string below = start == "." ? entry.path : std::string(entry.path, start.size() + 1);
    Descriptor folder = open_beneath(top.get(), below, kFolderFlags, Links::refuse);
    if (!folder) {
      const bool gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
      if (!gone) leave_out(refusal(entry.path, errno).error().message());
      continue;
    }
    const Result<void> entered = enter(std::move(folder), entry.path);
    if (entered) continue;
    if (entered.error().kind() == ErrorKind::cancelled) return Failure(entered.error());
    leave_out(entered.error().message());
  }
  return report;
}

}  // namespace

Result<std::shared_ptr<const Workspace>> open_workspace(const std::string& root) {
  if (root.empty() || root.find('\0') != root.npos) {
    return fail(ErrorKind::invalid, "the root folder has no usable name: " + quoted_path(root),
                "name a folder, \".\" for this one");
  }
  Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    return fail(ErrorKind::invalid,
                "the root folder cannot be opened: " + refusal(root, errno).error().message(),
                "name a folder that is there");
  }
  if (!open_beneath(folder.get(), ".", O_PATH)) {
    return fail(ErrorKind::unsupported,
                "this kernel has no openat2, so no folder can be kept apart",
                "use Linux 5.6 or newer, and a sandbox that lets openat2 through");
  }
  std::error_code failed;
  std::filesystem::path given = std::filesystem::absolute(root, failed).lexically_normal();
  const std::filesystem::path real = std::filesystem::canonical(root, failed);
  if (failed) {
    return fail(ErrorKind::invalid, quoted_path(root) + ": " + failed.message(),
                "name a folder that is there");
  }
  if (!given.has_filename() && given.has_relative_path()) given = given.parent_path();
  return std::make_shared<RootedFolder>(std::move(folder), given.string(), real.string());
}

}  // namespace tug
