#include "core/schema_compile.h"
#include "core/schema_metaschema.h"
#include "core/try.h"
#include "core/uri.h"

namespace tug::detail {

Result<void> SchemaCompiler::link() {
  // Finding a target may compile more schemas, with references of their own.
  for (std::size_t next = 0; next < pending_.size(); ++next) {
    const PendingRef ref = pending_[next];
    TUG_TRY(linked, link_one(ref));
  }
  return refuse_circles();
}

namespace {

Failure leads_nowhere(const SchemaNode& from, std::string_view keyword, std::string_view text,
                      std::string_view why, std::string fix = {}) {
  std::string message = "schema at " + shown_location(from) + ": \"" + std::string(keyword) +
                        "\" names " + shown_value(Json(text)) + ", " + std::string(why);
  return fail(ErrorKind::invalid, std::move(message), std::move(fix));
}

}  // namespace

Result<void> SchemaCompiler::link_one(const PendingRef& ref) {
  const auto [uri, fragment] = split_fragment(ref.target);
  TUG_TRY(resource, find_resource(ref, uri));
  const auto decoded = percent_decoded(fragment.value_or(""));
  if (!decoded) return leads_nowhere(*ref.from, ref.keyword, ref.text, "which has a broken '%'");

  Reference found;
  if (decoded->empty() || decoded->starts_with('/')) {
    TUG_TRY(target, find_pointer_target(ref, resource, *decoded));
    found.target = target;
  } else {
    const SchemaResource& place = program_.resources[resource];
    const auto named = place.anchors.find(*decoded);
    if (named == place.anchors.end()) {
      return leads_nowhere(*ref.from, ref.keyword, ref.text, "but there is no such anchor");
    }
    found.target = named->second;
    // Only a reference that lands on a dynamic anchor is looked up again while checking.
    const auto number = anchor_numbers_.find(*decoded);
    if (number != anchor_numbers_.end() && place.dynamic_anchors.contains(number->second)) {
      found.anchor = number->second;
    }
  }
  if (ref.keyword == "$ref") {
    ref.from->logic->ref = found.target;
  } else {
    ref.from->logic->dynamic_ref = found;
  }
  return {};
}

Result<std::uint32_t> SchemaCompiler::find_resource(const PendingRef& ref, std::string_view uri) {
  if (const auto found = by_uri_.find(std::string(uri)); found != by_uri_.end()) {
    return found->second;
  }
  const std::string_view text = metaschema_text(uri);
  if (text.empty()) {
    return leads_nowhere(
        *ref.from, ref.keyword, ref.text,
        "which is not in this document; remote references are not fetched",
        "put the schema under \"$defs\" with \"$id\": \"" + std::string(uri) + "\"");
  }
  TUG_TRY(document, parse_json(text));
  TUG_TRY(node, add_document(std::move(document), uri));
  return node->resource;
}

Result<SchemaNode*> SchemaCompiler::find_pointer_target(const PendingRef& ref,
                                                        std::uint32_t resource,
                                                        std::string_view pointer) {
  const Json* place = program_.resources[resource].root;
  std::string path = location_of(*program_.resources[resource].node);
  while (!pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string_view step = pointer.substr(0, end);
    place = find_pointer(*place, step);
    if (place == nullptr) {
      return leads_nowhere(*ref.from, ref.keyword, ref.text,
                           "but there is nothing at " + path + std::string(step));
    }
    path += step;
    pointer.remove_prefix(end);
    if (const SchemaNode* passed = known(place, resource)) resource = passed->resource;
  }
  if (SchemaNode* node = known(place, resource)) return node;
  // A place that no keyword of ours leads to: `definitions`, an unknown keyword.
  TUG_TRY(node, add_node(*place, nullptr, std::move(path), resource));
  return node;
}

namespace {

// What is applied to the same value: a circle of these would never end. Dynamic references are
// known only while checking, and are caught there.
void add_in_place(const SchemaNode& node, std::vector<const SchemaNode*>& out) {
  const auto add = [&](const SchemaNode* next) {
    if (next != nullptr) out.push_back(next);
  };
  if (node.logic) {
    const LogicRules& logic = *node.logic;
    for (const auto* list : {&logic.all_of, &logic.any_of, &logic.one_of}) {
      for (const SchemaNode* next : *list) add(next);
    }
    for (const SchemaNode* next : {logic.none_of, logic.condition, logic.then, logic.otherwise}) {
      add(next);
    }
    add(logic.ref);
    if (!logic.dynamic_ref.anchor) add(logic.dynamic_ref.target);
  }
  if (node.object) {
    for (const auto& [key, next] : node.object->schema_with) add(next);
  }
}

}  // namespace

Result<void> SchemaCompiler::refuse_circles() const {
  enum class State : std::uint8_t { fresh, open, done };
  std::vector<State> states(program_.nodes.size(), State::fresh);
  struct Step {
    const SchemaNode* node;
    std::vector<const SchemaNode*> next;
  };
  std::vector<Step> stack;
  for (const SchemaNode& start : program_.nodes) {
    if (states[start.index] != State::fresh) continue;
    stack.push_back({&start, {}});
    add_in_place(start, stack.back().next);
    states[start.index] = State::open;
    while (!stack.empty()) {
      Step& top = stack.back();
      if (top.next.empty()) {
        states[top.node->index] = State::done;
        stack.pop_back();
        continue;
      }
      const SchemaNode* next = top.next.back();
      top.next.pop_back();
      if (states[next->index] == State::open) {
        return fail(ErrorKind::invalid,
                    "schema at " + shown_location(*next) +
                        " refers to itself without looking deeper into the value (by way of " +
                        shown_location(*top.node) + ")",
                    "put \"properties\" or \"items\" between the reference and its target");
      }
      if (states[next->index] == State::done) continue;
      states[next->index] = State::open;
      stack.push_back({next, {}});
      add_in_place(*next, stack.back().next);
    }
  }
  return {};
}

}  // namespace tug::detail
