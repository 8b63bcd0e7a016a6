#include "core/schema_compile.h"

#include "core/schema_metaschema.h"
#include "core/schema_validate.h"
#include "core/try.h"
#include "core/uri.h"

namespace tug::detail {

namespace {

constexpr std::size_t kMaxSchemaDepth = 256;

bool is_anchor(std::string_view name) noexcept {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (letter) continue;
    if (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.')) return false;
  }
  return !name.empty();
}

// No more than `room` values with short texts, to a small depth.
bool is_small(const Json& value, std::size_t& room, int depth) {
  if (room == 0 || depth == 0 || value.as_string().size() > kPreviewBytes ||
      value.big_number().size() > kPreviewBytes) {
    return false;
  }
  --room;
  for (const Json& item : value.items()) {
    if (!is_small(item, room, depth - 1)) return false;
  }
  for (const Json::Member& member : value.members()) {
    if (!is_small(member.name, room, depth) || !is_small(member.value, room, depth - 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string location_of(const SchemaNode& node) {
  std::string out = node.path;
  for (const SchemaNode* up = node.parent; up != nullptr; up = up->parent) {
    out.insert(0, up->path);
  }
  return out;
}

std::string shown_location(const SchemaNode& node) {
  std::string out = location_of(node);
  return out.empty() ? "(root)" : out;
}

std::string shown_value(const Json& value) {
  // Enough of a long string or list to know it by; the whole is never printed.
  if (value.is_string()) return shown_text(value.as_string());
  if (value.is_number()) return clipped(print_json(value), kPreviewBytes);
  std::size_t room = 24;
  if (!is_small(value, room, 4)) {
    return (value.is_array() ? "an array of " : "an object of ") + std::to_string(value.size()) +
           (value.is_array() ? " items" : " keys");
  }
  return clipped(print_json(value), kPreviewBytes);
}

Failure malformed(const SchemaNode& node, std::string_view key, std::string_view what,
                  const Json& got) {
  return fail(ErrorKind::invalid, "schema at " + shown_location(node) + ": \"" + std::string(key) +
                                      "\" must be " + std::string(what) + ", got " +
                                      shown_value(got));
}

Result<std::shared_ptr<const SchemaProgram>> SchemaCompiler::compile(const Json& schema,
                                                                     SchemaOptions options) {
  auto program = std::make_shared<SchemaProgram>();
  program->options = options;
  SchemaCompiler compiler(*program);
  TUG_TRY(root, compiler.add_document(schema, ""));
  program->root = root;
  TUG_TRY(linked, compiler.link());
  return std::shared_ptr<const SchemaProgram>(std::move(program));
}

Result<SchemaNode*> SchemaCompiler::add_document(Json document, std::string_view uri) {
  const Json& root = program_.documents.emplace_back(std::move(document));
  const auto resource = static_cast<std::uint32_t>(program_.resources.size());
  program_.resources.push_back({std::string(uri), &root, nullptr, {}, {}});
  TUG_TRY(node, add_node(root, nullptr, uri.empty() ? "" : std::string(uri) + "#", resource));
  by_uri_.emplace(program_.resources[resource].uri, resource);
  return node;
}

SchemaNode* SchemaCompiler::known(const Json* place, std::uint32_t resource) const {
  const auto found = known_.find({place, resource});
  return found == known_.end() ? nullptr : found->second;
}

Result<SchemaNode*> SchemaCompiler::add_node(const Json& schema, const SchemaNode* parent,
                                             std::string path, std::uint32_t resource) {
  // Compiled before: a reference came first, or the same value stands in two places.
  if (SchemaNode* again = known(&schema, resource)) return again;
  SchemaNode& node = program_.nodes.emplace_back();
  node.parent = parent;
  node.path = std::move(path);
  node.index = static_cast<std::uint32_t>(program_.nodes.size() - 1);
  node.resource = resource;
  known_[{&schema, resource}] = &node;
  if (program_.resources[resource].root == &schema) program_.resources[resource].node = &node;
  if (schema.is_bool()) {
    node.kind = schema.as_bool() ? SchemaNode::Kind::anything : SchemaNode::Kind::nothing;
    return &node;
  }
  if (!schema.is_object()) {
    return fail(ErrorKind::invalid, "schema at " + shown_location(node) +
                                        " must be an object or a boolean, got " +
                                        shown_value(schema));
  }
  if (depth_ == kMaxSchemaDepth) {
    return fail(ErrorKind::invalid, "schema at " + shown_location(node) +
                                        " is nested deeper than " +
                                        std::to_string(kMaxSchemaDepth) + " schemas");
  }
  ++depth_;
  TUG_TRY(identified, identify(node, schema));
  known_[{&schema, node.resource}] = &node;
  for (const Json::Member& member : schema.members()) {
    TUG_TRY(read, read_keyword(node, member.key(), member.value));
  }
  --depth_;
  const bool has_rules = node.types != 0 || node.value || node.number || node.string ||
                         node.array || node.object || node.logic;
  node.kind = has_rules ? SchemaNode::Kind::rules : SchemaNode::Kind::anything;
  return &node;
}

Result<const SchemaNode*> SchemaCompiler::child(SchemaNode& parent, std::string_view path,
                                                const Json& schema) {
  TUG_TRY(node, add_node(schema, &parent, "/" + std::string(path), parent.resource));
  return node;
}

Result<void> SchemaCompiler::identify(SchemaNode& node, const Json& schema) {
  TUG_TRY(dialect, check_dialect(node, schema));
  if (const Json* id = schema.find("$id")) {
    TUG_TRY(read, read_id(node, schema, *id));
  }
  for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
    if (const Json* name = schema.find(keyword)) {
      TUG_TRY(added, add_anchor(node, keyword, *name));
    }
  }
  return {};
}

Result<void> SchemaCompiler::check_dialect(const SchemaNode& node, const Json& schema) {
  const Json* dialect = schema.find("$schema");
  if (dialect == nullptr) return {};
  if (!dialect->is_string()) return malformed(node, "$schema", "a string", *dialect);
  std::string_view uri = dialect->as_string();
  if (uri.ends_with('#')) uri.remove_suffix(1);
  if (uri == kDialect) return {};
  return fail(ErrorKind::unsupported,
              "schema at " + shown_location(node) + ": \"$schema\" names " + shown_value(*dialect) +
                  ", only draft 2020-12 is supported",
              "drop \"$schema\" or name \"" + std::string(kDialect) + "\"");
}

Result<void> SchemaCompiler::read_id(SchemaNode& node, const Json& schema, const Json& id) {
  if (!id.is_string()) return malformed(node, "$id", "a string", id);
  const auto [before, fragment] = split_fragment(id.as_string());
  if (fragment && !fragment->empty()) {
    return malformed(node, "$id", "a URI reference without a fragment (use \"$anchor\")", id);
  }
  std::string uri = resolve_uri(program_.resources[node.resource].uri, before);
  SchemaResource& outer = program_.resources[node.resource];
  if (outer.root == &schema) {
    outer.uri = std::move(uri);
    by_uri_.emplace(outer.uri, node.resource);
    return {};
  }
  if (uri == outer.uri) return {};
  const auto resource = static_cast<std::uint32_t>(program_.resources.size());
  const auto [taken, fresh] = by_uri_.emplace(uri, resource);
  if (!fresh) {
    return fail(ErrorKind::invalid, "schema at " + shown_location(node) + ": \"$id\" " +
                                        shown_value(id) + " was used before, at " +
                                        shown_location(*program_.resources[taken->second].node));
  }
  program_.resources.push_back({std::move(uri), &schema, &node, {}, {}});
  node.resource = resource;
  return {};
}

Result<void> SchemaCompiler::add_anchor(SchemaNode& node, std::string_view keyword,
                                        const Json& name) {
  if (!name.is_string() || !is_anchor(name.as_string())) {
    return malformed(node, keyword, "a name (a letter or '_', then letters, digits, '-', '_', '.')",
                     name);
  }
  SchemaResource& resource = program_.resources[node.resource];
  const std::string text(name.as_string());
  const auto [taken, fresh] = resource.anchors.emplace(text, &node);
  if (!fresh && taken->second != &node) {
    return fail(ErrorKind::invalid, "schema at " + shown_location(node) + ": anchor " +
                                        shown_value(name) + " was used before, at " +
                                        shown_location(*taken->second));
  }
  if (keyword == "$dynamicAnchor") {
    const auto number = static_cast<std::uint32_t>(anchor_numbers_.size());
    resource.dynamic_anchors.emplace(anchor_numbers_.emplace(text, number).first->second, &node);
  }
  return {};
}

}  // namespace tug::detail
