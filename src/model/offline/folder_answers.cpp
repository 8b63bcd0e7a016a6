#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/offline/answers.h"
#include "model/offline/wording.h"

namespace tug {
namespace {

struct Listing {
  std::string path = ".";
  std::string pattern;
};
std::vector<Listing> listings(const Wish& wish) {
  std::vector<Listing> out;
  for (const std::string& target : wish.targets) {
    if (!is_pattern(target)) {
      out.push_back({target, ""});
      continue;
    }
    const std::size_t slash = target.substr(0, target.find_first_of("*?[")).rfind('/');
    if (slash == std::string::npos) {
      out.push_back({".", target});
    } else {
      out.push_back({target.substr(0, slash), target.substr(slash + 1)});
    }
  }
  if (out.empty()) out.emplace_back();
  return out;
}

Json list_arguments(const Listing& listing, bool recursive) {
  Json arguments = Json::object({{"path", listing.path}});
  if (!listing.pattern.empty()) arguments.set("glob", listing.pattern);
  if (recursive || listing.pattern.contains("**")) arguments.set("recursive", true);
  return arguments;
}

// How many of them, as the tool says or as its lines show.
struct Entries {
  std::int64_t files = 0;
  std::int64_t folders = 0;
};
Entries entries_in(const ToolResult& result) {
  const std::optional<std::int64_t> files = result.metadata["files"].as_int();
  const std::optional<std::int64_t> folders = result.metadata["folders"].as_int();
  if (files && folders) return {*files, *folders};
  Entries seen;
  for (const std::string& line : split(result.content)) {
    if (line.empty()) continue;
    ++(line.substr(0, line.find_first_of("\t ")).ends_with('/') ? seen.folders : seen.files);
  }
  if (const auto total = result.metadata["total"].as_int()) seen.files = *total - seen.folders;
  return seen;
}

template <class Say>
Answer each_listing(const Wish& wish, Errands& errands, Say say) {
  if (!errands.can("list"))
    return fmt::format("I cannot {}: this run has no tool `list`.", doing(wish));
  std::string out;
  bool waits = false;
  for (const Listing& listing : listings(wish)) {
    const ToolResult* result = errands.ask("list", list_arguments(listing, wish.recursive));
    waits = waits || !result;
    if (!result) continue;
    out += '\n';
    out += result->is_error() ? fmt::format("I could not list {}:{}", place(listing.path),
                                            excerpt(result->content))
                              : say(listing, *result);
  }
  if (waits) return std::nullopt;
  return lead_out(std::move(out));
}

}  // namespace

Answer answer_list(const Wish& wish, Errands& errands) {
  return each_listing(wish, errands, [](const Listing& listing, const ToolResult& result) {
    const Entries entries = entries_in(result);
    const std::string shown = excerpt(result.content);
    if (!listing.pattern.empty()) {
      const std::int64_t count = entries.files + entries.folders;
      return fmt::format("{} in {} {} {}{}{}", counted(count, "name"), place(listing.path),
                         count == 1 ? "matches" : "match", listing.pattern, count > 0 ? ":" : ".",
                         count > 0 ? shown : "");
    }
    return fmt::format("{} holds {} and {}:{}", listing.path == "." ? "This folder" : listing.path,
                       counted(entries.folders, "folder"), counted(entries.files, "file"), shown);
  });
}

Answer answer_entries(const Wish& wish, Errands& errands) {
  const bool folders = wish.kind == WishKind::count_folders;
  return each_listing(wish, errands, [&](const Listing& listing, const ToolResult& result) {
    const Entries entries = entries_in(result);
    const std::int64_t count = folders ? entries.folders : entries.files;
    std::string out = fmt::format(
        "There {} {} {} {}", count == 1 ? "is" : "are", counted(count, folders ? "folder" : "file"),
        wish.recursive ? "in and below" : "directly in", place(listing.path));
    if (!listing.pattern.empty()) {
      out += fmt::format(" that {} {}", count == 1 ? "matches" : "match", listing.pattern);
    }
    return out + ".";
  });
}

Answer answer_search(const Wish& wish, Errands& errands) {
  if (wish.text.empty()) return "Tell me what to search for: search for \"TODO\" in src.";
  if (!errands.can("search")) return "I cannot search: this run has no tool `search`.";
  std::vector<std::string> places = wish.targets;
  if (places.empty()) places.push_back(".");
  std::string out;
  bool waits = false;
  for (const std::string& path : places) {
    Json arguments = Json::object({{"query", wish.text}});
    if (path != ".") arguments.set("path", path);
    const ToolResult* result = errands.ask("search", arguments);
    waits = waits || !result;
    if (!result) continue;
    const auto matches = result->metadata["matches"].as_int();
    const auto files = result->metadata["files"].as_int();
    out += '\n';
    if (result->is_error()) {
      out += fmt::format("I could not search {}:{}", place(path), excerpt(result->content));
    } else if (matches == 0) {
      out += fmt::format("\"{}\" does not occur in {}.", wish.text, place(path));
    } else {
      out += fmt::format("\"{}\" in {}", wish.text, place(path));
      if (matches && files)
        out += fmt::format(": {} match{} in {}", *matches, *matches == 1 ? "" : "es",
                           counted(*files, "file"));
      out += excerpt(result->content);
    }
  }
  if (waits) return std::nullopt;
  return lead_out(std::move(out));
}

}  // namespace tug
