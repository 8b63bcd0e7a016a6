#include "tools/files/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tug/core/nearest.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::int64_t kRoomForNotes = 1000;
constexpr std::size_t kMaxNeighbours = 5'000;
constexpr std::size_t kSniffed = 8192;

struct Split {
  std::string folder;
  std::string name;
};

Split split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Refused not_found(const Workspace& workspace, const std::string& path) {
  Split at = split(path);
  for (;;) {
    const auto folder = workspace.info(at.folder);
    if (folder && *folder && (*folder)->kind == EntryKind::folder) break;
    if (at.folder == ".") break;
    at = split(at.folder);
  }
  std::string text = "there is no '" + short_path(path) + "'";
  const auto entries = workspace.list(at.folder, kMaxNeighbours);
  if (entries) {
    std::vector<std::string_view> names;
    for (const Entry& entry : *entries) names.push_back(path_below(at.folder, entry.path));
    const std::string_view near = nearest_name(at.name, names);
    if (!near.empty()) {
      const std::string meant =
          at.folder == "." ? std::string(near) : at.folder + "/" + std::string(near);
      text += "; did you mean '" + short_path(meant) + "'?";
    }
  }
  text += " (list '" + short_path(at.folder) + "' to see what is there";
  text += path.starts_with('~') ? "; ~ is not expanded)" : ")";
  return ToolResult::error(std::move(text), "NotFound");
}

}  // namespace

CappedLines::CappedLines(std::int64_t max_chars)
    : room_(static_cast<std::size_t>(
          std::max({max_chars - kRoomForNotes, max_chars / 2, std::int64_t{0}}))) {}

bool CappedLines::add(std::string_view line) {
  const std::size_t size = count_code_points(line) + 1;
  if (full_ || size > room_) {
    full_ = true;
    return false;
  }
  room_ -= size;
  text_ += line;
  text_ += '\n';
  return true;
}

std::expected<Place, Refused> find_place(const Workspace& workspace, std::string_view path) {
  auto normal = workspace.relative(path);
  if (!normal) return std::unexpected(refused(normal.error()));
  const auto info = workspace.info(*normal);
  if (!info) return std::unexpected(refused(info.error()));
  if (!*info) return std::unexpected(not_found(workspace, *normal));
  return Place{*std::move(normal), **info};
}

Refused refused(const Error& error, std::string_view error_type) {
  return ToolResult::error(to_string(error), error_type);
}

Refused refused(const Error& error) {
  if (error.kind() == ErrorKind::denied || error.kind() == ErrorKind::invalid) {
    return refused(error, "PathValidationError");
  }
  if (error.kind() == ErrorKind::exhausted) return refused(error, "TooLarge");
  return Failure(error);
}

Refused not_a_file(const Place& place) {
  const bool folder = place.info.kind == EntryKind::folder;
  return ToolResult::error(
      fmt::format("'{}' is {} ({})", short_path(place.path),
                  folder ? "a folder" : "a FIFO, a socket or a device",
                  folder ? "use list to see what is in it" : "name a regular file"),
      "NotAFile");
}

Refused not_a_folder(const Place& place) {
  return ToolResult::error(
      fmt::format("'{}' is not a folder (name the folder it lies in: '{}')", short_path(place.path),
                  short_path(split(place.path).folder)),
      "NotAFolder");
}

Refused out_of_range(std::string_view argument, std::int64_t value, std::int64_t low,
                     std::int64_t high) {
  return ToolResult::error(
      fmt::format("{} is {} (give a number from {} to {})", argument, value, low, high),
      "InvalidArguments");
}

std::string shown_path(std::string_view path) { return terminal_text(path); }

std::string short_path(std::string_view path) {
  const std::string_view clipped = clip_utf8(path, 300);
  return terminal_text(clipped) + (clipped.size() < path.size() ? ".." : "");
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string shown_size(std::uint64_t bytes) {
  if (bytes < 10'000) return counted(bytes, "byte", "bytes");
  const auto size = static_cast<double>(bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", size / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", size / 1e6);
  return fmt::format("{:.1f} GB", size / 1e9);
}

std::string_view path_below(std::string_view folder, std::string_view path) {
  return folder == "." ? path : path.substr(std::min(folder.size() + 1, path.size()));
}

bool looks_binary(std::string_view start) {
  return start.substr(0, kSniffed).find('\0') != std::string_view::npos;
}

}  // namespace tug
