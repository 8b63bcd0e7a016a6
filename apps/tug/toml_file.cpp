#include "toml_file.h"

#include <toml++/toml.h>

#include <algorithm>

#include "command.h"
#include "core/try.h"

namespace tug::cli {
namespace {

Json to_json(const toml::node& node) {
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* number = node.as_integer()) return Json(number->get());
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* on = node.as_boolean()) return Json(on->get());
  if (const auto* list = node.as_array()) {
    Json items = Json::array();
    for (const toml::node& item : *list) items.push_back(to_json(item));
    return items;
  }
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object.set(key.str(), to_json(value));
    return object;
  }
  return Json("a date or time");
}

bool is_row_list(const toml::node& node) {
  const toml::array* list = node.as_array();
  return list && !list->empty() && list->is_homogeneous(toml::node_type::table);
}

struct Flattened {
  const std::function<bool(std::string_view key)>& whole;
  std::vector<ConfigEntry> entries;

  void add(const toml::node& node, const std::string& key) {
    const toml::table* table = node.as_table();
    if (table && (!table->empty() || key.empty()) && !whole(key)) {
      for (const auto& [name, value] : *table) {
        add(value, (key.empty() ? "" : key + ".") + as_name(name.str()));
      }
      return;
    }
    if (is_row_list(node)) {
      std::size_t place = 0;
      for (const toml::node& row : *node.as_array())
        add(row, key + "[" + std::to_string(place++) + "]");
      return;
    }
    entries.push_back({key, to_json(node), node.source().begin.line});
  }
};

// The parser bounds how deep values lie in each other, not how many names a dotted key has; each is
// a table, and tables are taken down by recursion. A key is on one line.
Result<void> check_dots(const std::string& path, std::string_view text) {
  constexpr std::ptrdiff_t kMostDots = 1000;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (std::ranges::count(line, '.') > kMostDots) {
      return fail(ErrorKind::invalid,
                  path + ":" + std::to_string(number) + ": more than " + std::to_string(kMostDots) +
                      " dots",
                  "write a long text over several lines, between \"\"\" and \"\"\"");
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace

std::string as_name(std::string_view name) {
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (!plain) return "'" + std::string(name) + "'";
  }
  return std::string(name);
}

Result<std::vector<ConfigEntry>> read_toml(const std::string& path,
                                           const std::function<bool(std::string_view key)>& whole) {
  TUG_TRY(text, read_input(path, kMaxToml));
  TUG_TRY(shallow, check_dots(path, text));
  return guarded(path, [&]() -> Result<std::vector<ConfigEntry>> {
    try {
      const toml::table table = toml::parse(text, path);
      Flattened flattened{whole, {}};
      flattened.add(table, "");
      return std::move(flattened.entries);
    } catch (const toml::parse_error& error) {
      const auto place = error.source().begin;
      return fail(ErrorKind::invalid,
                  path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                      ": " + std::string(error.description()),
                  "write it as TOML");
    }
  });
}

}  // namespace tug::cli
