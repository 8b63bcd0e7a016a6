#include "front_matter.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "command.h"
#include "core/try.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

struct Member;
struct Node {
  enum class Kind : std::uint8_t { scalar, list, map };
  Kind kind = Kind::scalar;
  std::size_t line = 0;  // of the front matter, from 0
  Json scalar;
  std::vector<Member> members;  // of a list without names
};
struct Member {
  std::string name;
  Node node;
};

// What YAML 1.2 makes of a scalar that is not quoted.
Json resolved(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return Json();
  if (text == "true" || text == "True" || text == "TRUE") return Json(true);
  if (text == "false" || text == "False" || text == "FALSE") return Json(false);
  if (auto number = Json::number(text)) return *std::move(number);
  return Json(text);
}

// Builds a tree from the parser's events, so that nothing is ever expanded: an anchor is refused
// where it stands. After the first fault it only listens.
class Builder final : public YAML::EventHandler {
 public:
  struct Fault {
    std::size_t line;
    std::string what;
  };
  const std::optional<Fault>& fault() const { return fault_; }
  Node& root() { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (allowed(mark, "", anchor)) put({.line = line_of(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(line_of(mark), "an alias (*name)");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!allowed(mark, tag, anchor)) return;
    const bool text = tag == "!" || tag == kText;
    put({.line = line_of(mark), .scalar = text ? Json(value) : resolved(value)}, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (allowed(mark, tag, anchor)) open({.kind = Node::Kind::list, .line = line_of(mark)});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (allowed(mark, tag, anchor)) open({.kind = Node::Kind::map, .line = line_of(mark)});
  }
  void OnMapEnd() override { close(); }

 private:
  static constexpr const char* kText = "tag:yaml.org,2002:str";
  struct Level {
    Node node;
    std::optional<std::string> key;  // of a map: whose value comes next
    std::size_t key_line = 0;
  };

  static std::size_t line_of(const YAML::Mark& mark) {
    return mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line);
  }
  void refuse(std::size_t line, std::string what) {
    if (!fault_) fault_ = Fault{line, std::move(what)};
  }
  bool allowed(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(line_of(mark), "an anchor (&name)");
    const bool usual = tag.empty() || tag == "?" || tag == "!" || tag == kText;
    if (!usual) refuse(line_of(mark), "the tag " + tag);
    if (++nodes_ > kMaxYamlNodes)
      refuse(line_of(mark), "more than " + std::to_string(kMaxYamlNodes) + " values");
    return !fault_;
  }
  void open(Node node) {
    if (levels_.size() >= kMaxYamlDepth)
      return refuse(node.line, "more than " + std::to_string(kMaxYamlDepth) + " levels");
    if (!levels_.empty() && levels_.back().node.kind == Node::Kind::map && !levels_.back().key)
      return refuse(node.line, "a key that is not a text");
    levels_.push_back({.node = std::move(node)});
  }
  void close() {
    if (fault_ || levels_.empty()) return;
    Node node = std::move(levels_.back().node);
    levels_.pop_back();
    put(std::move(node));
  }
  void put(Node node, const std::string& text = {}) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == Node::Kind::list) {
      level.node.members.push_back({"", std::move(node)});
    } else if (level.key) {
      node.line = level.key_line;
      level.node.members.push_back({*std::move(level.key), std::move(node)});
      level.key.reset();
    } else {
      begin_member(level, node.line, text);
    }
  }
  void begin_member(Level& level, std::size_t line, const std::string& key) {
    const bool twice = std::ranges::any_of(
        level.node.members, [&](const Member& member) { return member.name == key; });
    if (twice) return refuse(line, "the key \"" + key + "\" twice");
    level.key = key;
    level.key_line = line;
  }

  Node root_;
  std::vector<Level> levels_;
  std::size_t nodes_ = 0;
  std::optional<Fault> fault_;
};

Json to_json(const Node& node) {
  if (node.kind == Node::Kind::scalar) return node.scalar;
  Json value = node.kind == Node::Kind::list ? Json::array() : Json::object();
  for (const auto& [name, member] : node.members) {
    if (node.kind == Node::Kind::list) {
      value.push_back(to_json(member));
    } else {
      value.set(name, to_json(member));
    }
  }
  return value;
}

struct Flattened {
  const std::function<bool(std::string_view key)>& whole;
  std::vector<ConfigEntry> entries;

  void add(const Node& node, const std::string& key) {
    if (node.kind == Node::Kind::map && !whole(key) && (!node.members.empty() || key.empty())) {
      for (const auto& [name, member] : node.members)
        add(member, (key.empty() ? "" : key + ".") + as_name(name));
      return;
    }
    const bool rows = node.kind == Node::Kind::list && !node.members.empty() &&
                      std::ranges::all_of(node.members, [](const Member& member) {
                        return member.node.kind == Node::Kind::map;
                      });
    if (!rows) {
      // The first line of the file is the one with the dashes.
      entries.push_back({key, to_json(node), node.line + 2});
      return;
    }
    std::size_t place = 0;
    for (const auto& [name, row] : node.members)
      add(row, key + "[" + std::to_string(place++) + "]");
  }
};

bool is_fence(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
    line.remove_suffix(1);
  return line == "---";
}

struct Parts {
  std::string_view yaml;
  std::string_view body;
};
Result<Parts> split(const std::string& path, std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const std::size_t first = text.find('\n');
  if (!is_fence(text.substr(0, first))) {
    return fail(ErrorKind::invalid, path + ":1: there is no front matter",
                "begin the file with a line ---, then keys such as description: .., then a line "
                "---, then the words for the agent");
  }
  const std::size_t start = first == text.npos ? text.size() : first + 1;
  for (std::size_t at = start; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_fence(text.substr(at, end - at))) {
      return Parts{text.substr(start, at - start), text.substr(std::min(end + 1, text.size()))};
    }
    at = end + 1;
  }
  return fail(ErrorKind::invalid, path + ":1: the front matter does not end",
              "close it with a line ---");
}

std::string_view trimmed(std::string_view text) {
  while (true) {  // whole blank lines, so that an indented first line keeps its indent
    const std::size_t end = text.find('\n');
    if (end == text.npos || text.substr(0, end).find_first_not_of(" \t\r") != text.npos) break;
    text.remove_prefix(end + 1);
  }
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == text.npos ? std::string_view() : text.substr(0, last + 1);
}

Failure fault_at(const std::string& path, std::size_t line, const std::string& what) {
  return fail(ErrorKind::invalid, path + ":" + std::to_string(line + 2) + ": " + what,
              "write the front matter as plain YAML: keys, texts, numbers and lists");
}

Result<Node> parse_yaml(const std::string& path, std::string_view yaml) {
  return guarded(path, [&]() -> Result<Node> {
    std::istringstream stream{std::string(yaml)};
    Builder builder;
    try {
      YAML::Parser parser(stream);
      if (!parser.HandleNextDocument(builder)) return Node{.kind = Node::Kind::map};
      if (builder.fault())
        return fault_at(path, builder.fault()->line, "it has " + builder.fault()->what);
      Builder more;
      if (parser.HandleNextDocument(more)) return fault_at(path, 0, "it has several documents");
    } catch (const YAML::Exception& error) {
      if (builder.fault())
        return fault_at(path, builder.fault()->line, "it has " + builder.fault()->what);
      const int line = error.mark.is_null() ? 0 : std::max(error.mark.line, 0);
      return fault_at(path, static_cast<std::size_t>(line), error.msg);
    }
    Node& root = builder.root();
    if (root.kind == Node::Kind::scalar && root.scalar.is_null())
      return Node{.kind = Node::Kind::map};
    if (root.kind != Node::Kind::map) return fault_at(path, root.line, "expected keys and values");
    return std::move(root);
  });
}

}  // namespace

Result<FrontMatter> read_front_matter(const std::string& path,
                                      const std::function<bool(std::string_view key)>& whole) {
  TUG_TRY(text, read_input(path, kMaxFrontMatter));
  if (!is_utf8(text))
    return fail(ErrorKind::invalid, path + ": it is not UTF-8 text", "save it as UTF-8");
  TUG_TRY(parts, split(path, text));
  TUG_TRY(root, parse_yaml(path, parts.yaml));
  Flattened flattened{whole, {}};
  flattened.add(root, "");
  return FrontMatter{std::move(flattened.entries), std::string(trimmed(parts.body))};
}

}  // namespace tug::cli
