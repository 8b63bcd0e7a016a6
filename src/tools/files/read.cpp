#include <fmt/format.h>

#include <algorithm>

#include "core/try.h"
#include "tools/files/answer.h"
#include "tools/files/files.h"
#include "tools/files/line_reader.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kMaxLineBytes = 2'000;
// A range is looked for no further than this.
constexpr std::uint64_t kMaxScanned = 1u << 30;
constexpr std::int64_t kMaxLine = 1'000'000'000'000;

struct Page {
  explicit Page(std::int64_t max_chars) : lines(max_chars) {}
  CappedLines lines;
  std::int64_t returned = 0;
  std::int64_t seen = 0;  // lines of the file
  std::optional<std::int64_t> total;
  bool cut_lines = false;
  bool crlf = false;
  bool beyond = false;  // the reader's cap came first
};

Result<void> fill(Page& page, const ReadArgs& args, LineReader& lines, std::uint64_t counted_bytes,
                  const FileToolLimits& limits) {
  const std::size_t line_bytes = std::min(
      kMaxLineBytes, static_cast<std::size_t>(std::max<std::int64_t>(limits.max_chars / 8, 1)));
  Line line;
  bool over = false;
  for (;;) {
    // One line more than is shown tells whether there are more.
    const std::int64_t last = args.offset - 1 + page.returned;
    if (over && page.seen > last && lines.bytes_read() > counted_bytes) return {};
    const bool wanted = !over && page.seen + 1 >= args.offset;
    TUG_TRY(got, lines.next(line, wanted ? line_bytes : 0));
    if (got == LineReader::Got::end) page.total = page.seen;
    if (got == LineReader::Got::limit) page.beyond = true;
    if (got != LineReader::Got::line) return {};
    ++page.seen;
    if (!wanted) continue;
    std::string_view bytes = line.text;
    // The cap may have cut a code point in two.
    if (line.cut > 0) bytes = clip_utf8(bytes, bytes.size() - 1);
    std::string text = repair_utf8(bytes);
    if (line.cut > 0) {
      text += fmt::format(" [.. {} more bytes in this line]",
                          line.cut + (line.text.size() - bytes.size()));
    }
    if (!page.lines.add(fmt::format("{}\t{}", page.seen, text))) {
      over = true;
      continue;
    }
    page.cut_lines |= line.cut > 0;
    page.crlf |= line.crlf;
    over = ++page.returned == args.limit.value_or(kMaxLine);
  }
}

std::string header(const Page& page, const ReadArgs& args, const Place& place) {
  const std::string name = short_path(place.path);
  if (page.returned == 0) return fmt::format("[{}: empty file]\n", name);
  const std::int64_t last = args.offset - 1 + page.returned;
  std::string text = fmt::format("[{}: lines {}-{}", name, args.offset + 0, last);
  if (page.total) {
    text += fmt::format(" of {}", *page.total);
    if (*page.total > last) {
      text += fmt::format(
          "; {}, go on with offset={}",
          counted(static_cast<std::size_t>(*page.total - last), "more line", "more lines"),
          last + 1);
    }
  } else {
    text += fmt::format(" of {}; more lines follow, go on with offset={}",
                        shown_size(place.info.size), last + 1);
  }
  if (page.crlf) text += "; lines end in CRLF";
  return text + "]\n";
}

}  // namespace

Result<ToolResult> read_file(const ReadArgs& args, const Workspace& workspace,
                             const FileToolLimits& limits, const std::stop_token& stop) {
  if (args.offset < 1 || args.offset > kMaxLine) {
    return out_of_range("offset", args.offset, 1, kMaxLine);
  }
  if (args.limit && (*args.limit < 1 || *args.limit > kMaxLine)) {
    return out_of_range("limit", *args.limit, 1, kMaxLine);
  }
  auto place = find_place(workspace, args.path);
  if (!place) return std::move(place).error();
  if (place->info.kind != EntryKind::file) return not_a_file(*place);
  const std::string name = short_path(place->path);
  const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(limits.max_read_bytes, 1));
  const auto too_large = [&](std::string_view size) {
    return ToolResult::error(
        fmt::format("'{}' {}; whole files are read up to {} (give offset and limit for a range of "
                    "lines, or use search)",
                    name, size, shown_size(whole)),
        "TooLarge");
  };
  if (place->info.size > whole && !args.limit) {
    return too_large("has " + shown_size(place->info.size));
  }

  auto file = workspace.open(place->path);
  if (!file) return refused(file.error());
  place->info = (*file)->info();
  // What /proc gives has no size before it is read: one byte more than may be shown tells.
  LineReader lines(**file, args.limit ? kMaxScanned : whole + 1, stop);
  TUG_TRY(binary, lines.binary());
  if (binary) {
    return ToolResult::error(fmt::format("'{}' is a binary file of {} (only text can be read)",
                                         name, shown_size(place->info.size)),
                             "NotText");
  }
  Page page(limits.max_chars);
  const std::uint64_t counted_bytes = place->info.size > whole ? 0 : whole;
  TUG_TRY(filled, fill(page, args, lines, counted_bytes, limits));
  if (!args.limit && lines.bytes_read() > whole) {
    return too_large("has more than " + shown_size(whole));
  }
  if (page.total && args.offset > std::max<std::int64_t>(*page.total, 1)) {
    return ToolResult::error(
        fmt::format("'{}' has {}, offset {} lies beyond its end", name,
                    counted(static_cast<std::size_t>(*page.total), "line", "lines"),
                    args.offset + 0),
        "InvalidArguments");
  }
  if (page.beyond && page.returned == 0) {
    return ToolResult::error(
        fmt::format("line {} of '{}' was not found within its first {} (use search)",
                    args.offset + 0, name, shown_size(kMaxScanned)),
        "TooLarge");
  }
  ToolResult result = ToolResult::text(header(page, args, *place) + page.lines.text());
  result.metadata = Json::object({
      {"path", Json(place->path)},
      {"total_lines", page.total ? Json(*page.total) : Json()},
      {"returned_lines", page.returned},
      {"size_bytes", place->info.size},
      {"truncated", page.lines.full() || page.cut_lines},
  });
  return result;
}

}  // namespace tug
