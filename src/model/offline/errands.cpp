#include "model/offline/errands.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tug {
namespace {

constexpr std::size_t kMostPages = 50;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Numbered {
  std::int64_t number = 0;
  std::string_view text;
};

// "12<TAB>text".
std::optional<Numbered> numbered(std::string_view line) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  Numbered out;
  const auto [end, error] =
      std::from_chars(line.data() + start, line.data() + line.size(), out.number);
  if (error != std::errc() || end == line.data() + line.size() || *end != '\t') return std::nullopt;
  out.text = line.substr(static_cast<std::size_t>(end - line.data()) + 1);
  return out;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, std::min({text.find('\n'), text.size(), std::size_t{300}})));
}

struct Page {
  std::vector<std::string> lines;
  std::int64_t last = 0;  // the number of its last line
  std::optional<std::int64_t> total;
};

Page page_of(const ToolResult& result, std::int64_t first) {
  Page page;
  page.total = result.metadata["total_lines"].as_int();
  const std::vector<std::string_view> lines = lines_of(result.content);
  for (std::string_view line : lines) {
    if (auto found = numbered(line)) {
      page.lines.emplace_back(found->text);
      page.last = found->number;
    }
  }
  // A tool that does not number its lines: they are what it says.
  const bool plain = page.lines.empty() && !result.metadata.contains("returned_lines");
  if (plain) {
    page.lines.assign(lines.begin(), lines.end());
    page.last = first + static_cast<std::int64_t>(lines.size()) - 1;
  }
  return page;
}

std::optional<FileText> read_pages(Errands& errands, const std::string& path, std::size_t most) {
  FileText file;
  if (!errands.can("read")) {
    file.error = "I have no tool to read files in this run";
    return file;
  }
  std::int64_t next = 1;
  for (std::size_t pages = 0; pages < most; ++pages) {
    Json arguments = Json::object({{"path", path}});
    if (next > 1) arguments.set("offset", next);
    const ToolResult* result = errands.ask("read", arguments);
    if (!result) return std::nullopt;
    if (result->is_error()) {
      if (next == 1) file.error = first_line(result->content);
      file.too_large = result->metadata["error_type"] == Json("TooLarge");
      file.complete = false;
      return file;
    }
    Page page = page_of(*result, next);
    for (std::string& line : page.lines) file.lines.push_back(std::move(line));
    const std::int64_t seen = std::max(page.last, next - 1);
    file.total_known = page.total || !result->metadata.contains("total_lines");
    file.total = page.total.value_or(seen);
    file.complete = seen >= file.total && file.total_known;
    if (file.complete || page.lines.empty()) return file;
    next = seen + 1;
  }
  return file;
}

}  // namespace

Errands::Errands(const ModelRequest& request, std::size_t request_at)
    : tools_(request.tools), messages_(request.transcript.since(request_at)) {
  for (std::size_t i = 0; i < request_at; ++i)
    calls_before_ += request.transcript[i]->tool_calls().size();
  std::vector<const ToolCall*> calls;
  for (const MessagePtr& message : messages_) {
    const std::vector<const ToolCall*> made = message->tool_calls();
    if (!made.empty()) ++turns_;
    calls.insert(calls.end(), made.begin(), made.end());
    for (const ToolResult* result : message->tool_results()) {
      const auto call =
          std::ranges::find_if(calls, [&](const ToolCall* it) { return it->id == result->call; });
      if (call != calls.end()) done_.push_back({*call, result});
    }
  }
  calls_before_ += calls.size();
}

bool Errands::can(std::string_view tool) const noexcept {
  return tools_ &&
         std::ranges::any_of(*tools_, [&](const auto& spec) { return spec->name == tool; });
}

const ToolResult* Errands::ask(std::string_view tool, const Json& arguments) {
  std::string text = print_json(arguments);
  const auto same = [&](const ToolCall& call) {
    return call.tool == tool && call.arguments == text;
  };
  for (const Done& done : done_) {
    if (same(*done.call)) return done.result;
  }
  if (std::ranges::none_of(open_, same)) {
    open_.push_back(
        ToolCall{.provider_id = "call_" + std::to_string(calls_before_ + open_.size() + 1),
                 .tool = std::string(tool),
                 .arguments = std::move(text)});
  }
  return nullptr;
}

std::optional<FileText> read_whole(Errands& errands, const std::string& path) {
  return read_pages(errands, path, kMostPages);
}
std::optional<FileText> read_first(Errands& errands, const std::string& path) {
  return read_pages(errands, path, 1);
}

std::optional<FileText> read_start(Errands& errands, const std::string& path, std::size_t lines) {
  std::optional<FileText> file = read_first(errands, path);
  if (!file || !file->too_large) return file;
  const ToolResult* result = errands.ask("read", Json::object({{"path", path}, {"limit", lines}}));
  if (!result) return std::nullopt;
  if (result->is_error()) return file;
  Page page = page_of(*result, 1);
  return FileText{.lines = std::move(page.lines),
                  .total = page.total.value_or(page.last),
                  .total_known = page.total.has_value(),
                  .complete = false};
}

std::optional<FileNames> find_files(Errands& errands, const std::string& pattern,
                                    std::size_t most) {
  FileNames names;
  const ToolResult* result = nullptr;
  if (errands.can("glob")) {
    result = errands.ask("glob", Json::object({{"pattern", pattern}}));
  } else if (errands.can("list")) {
    const std::size_t slash = pattern.rfind('/');
    const bool deep = slash != std::string::npos;
    Json arguments = Json::object({{"path", deep ? pattern.substr(0, slash) : "."}});
    arguments.set("glob", deep ? pattern.substr(slash + 1) : pattern);
    result = errands.ask("list", arguments);
  } else {
    names.error = "I have no tool to find files in this run";
    return names;
  }
  if (!result) return std::nullopt;
  if (result->is_error()) {
    names.error = first_line(result->content);
    return names;
  }
  // Paths stand at the beginning of their lines; notes for people do not end like the pattern.
  const std::string_view ending = std::string_view(pattern).substr(pattern.find_last_of("*?]") + 1);
  for (std::string_view line : lines_of(result->content)) {
    for (std::string_view gap : {"\t", "  ", " ("}) line = line.substr(0, line.find(gap));
    if (line.empty() || line.ends_with('/') || line.ends_with(':') || !line.ends_with(ending))
      continue;
    if (ending.empty() && line.contains(' ')) continue;
    names.paths.emplace_back(line);
  }
  std::ranges::sort(names.paths);
  names.total = names.paths.size();
  if (const auto total = result->metadata["total"].as_uint(); total && errands.can("glob"))
    names.total = std::max<std::size_t>(names.total, *total);
  if (names.paths.size() > most) names.paths.resize(most);
  return names;
}

}  // namespace tug
