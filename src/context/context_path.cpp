// Any value of a context by dotted path.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "context/node.h"

namespace tug {
namespace {

using detail::ContextNode;

// "a.b.c" cut at its first dot.
struct Cut {
  std::string_view head;
  std::string_view rest;  // empty at the end of the path
};
Cut cut(std::string_view path) noexcept {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

// "a..b" and "a." name nothing, and would be lost in a walk that stops at an empty rest.
// A path deeper than JSON may be names nothing either.
bool is_well_formed(std::string_view path) noexcept {
  return !path.empty() && std::ranges::count(path, '.') < std::ptrdiff_t{kMaxJsonDepth} &&
         path.front() != '.' && path.back() != '.' && path.find("..") == std::string_view::npos;
}

std::optional<std::size_t> as_index(std::string_view text) noexcept {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return index;
}

Json read(Json value, std::string_view path) {
  while (!path.empty()) {
    const auto [head, rest] = cut(path);
    Json inner;
    if (value.is_array()) {
      if (const auto index = as_index(head)) inner = value[*index];
    } else {
      inner = value[head];
    }
    value = std::move(inner);
    path = rest;
  }
  return value;
}

std::string_view type_name(const Json& value) noexcept {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "a number",
                                         "a string", "a list",    "an object"};
  return kNames[static_cast<std::size_t>(value.type())];
}

// Writes at `path` below `value`; `full` is for the error. What is in the way is found before
// anything is made: below a value that was missing there is nothing to be in the way.
Result<void> write(Json& value, std::string_view path, Json&& leaf, std::string_view full) {
  if (path.empty()) {
    value = std::move(leaf);
    return {};
  }
  const auto [head, rest] = cut(path);
  if (value.is_array()) {
    const auto index = as_index(head);
    if (!index || *index > value.size()) {
      return fail(ErrorKind::invalid,
                  fmt::format("{}: \"{}\" is no place in a list of {}", full, head, value.size()));
    }
    Json item = value[*index];
    if (auto written = write(item, rest, std::move(leaf), full); !written) return written;
    const std::size_t size = std::max(value.size(), *index + 1);
    Json list = Json::array();
    list.reserve(size);
    for (std::size_t i = 0; i < size; ++i) list.push_back(i == *index ? item : value[i]);
    value = std::move(list);
    return {};
  }
  if (!value.is_object() && !value.is_null()) {
    return fail(ErrorKind::invalid,
                fmt::format("{}: cannot set \"{}\" of {}", full, head, type_name(value)),
                "set the whole value, or remove what is in the way");
  }
  return write(value.edit(head), rest, std::move(leaf), full);
}

Result<void> write_error(const Context& context, Json value) {
  if (value.is_null()) {
    context.set_error(std::nullopt);
    return {};
  }
  const Json& message = value.is_object() ? value["message"] : value;
  if (!message.is_string()) {
    return fail(ErrorKind::invalid, "locals.error must be null, a text or {kind, message, fix}");
  }
  ErrorKind kind = ErrorKind::internal;
  for (int i = 0; i <= static_cast<int>(ErrorKind::internal); ++i) {
    const auto known = static_cast<ErrorKind>(i);
    if (value["kind"].as_string() == name_of(known)) kind = known;
  }
  context.set_error(
      Error(kind, std::string(message.as_string()), std::string(value["fix"].as_string())));
  return {};
}

Result<void> write_local(const Context& context, ContextNode& node, std::string_view path,
                         Json value, std::string_view full) {
  const auto [key, rest] = cut(path);
  if (key == "history") {
    return fail(ErrorKind::invalid, "locals.history is only appended to", "use add_frame");
  }
  if (key == "error") {
    if (rest.empty()) return write_error(context, std::move(value));
    return fail(ErrorKind::invalid, "locals.error is set as a whole");
  }
  auto& locals = node.own_locals();
  if (key == "result") return write(locals.result, rest, std::move(value), full);
  return write(locals.values, path, std::move(value), full);
}

}  // namespace

Json ConstContext::get(std::string_view path) const {
  if (!is_well_formed(path)) return {};
  const auto [root, rest] = cut(path);
  if (root == "envelope") return read(detail::envelope_json(*node_), rest);
  if (root == "args") return read(node_->args, rest);
  if (root == "run") return read(detail::run_json(*node_), rest);
  if (root == "locals") return read(locals(), rest);
  if (root == "inherited" || root == "nonlocals") return read(inherited().values, rest);
  if (root == "metadata") return read(metadata(), rest);
  if (root == "configurable") return read(inherited().configurable, rest);
  if (root == "globals") {
    if (rest.empty()) return services().shared().all();
    const auto [key, inner] = cut(rest);
    return read(services().shared().get(key), inner);
  }
  return {};
}

Result<void> Context::set(std::string_view path, Json value) const {
  const auto [root, rest] = cut(path);
  if (!is_well_formed(path)) {
    return fail(ErrorKind::invalid, fmt::format("\"{}\" is not a dotted path", path));
  }
  constexpr std::string_view kWritable[] = {"locals",   "inherited",    "nonlocals",
                                            "metadata", "configurable", "globals"};
  if (std::ranges::find(kWritable, root) == std::end(kWritable)) {
    return fail(ErrorKind::invalid, fmt::format("{}: \"{}\" cannot be written", path, root),
                "writable are locals, inherited, metadata, configurable and globals");
  }
  if (rest.empty()) {
    return fail(ErrorKind::invalid, fmt::format("\"{}\" cannot be replaced as a whole", root),
                "name a member of it");
  }
  if (root == "locals") return write_local(*this, *node_, rest, std::move(value), path);
  if (root == "metadata") {
    return write(node_->own_locals().metadata, rest, std::move(value), path);
  }
  if (root == "globals") {
    const auto [key, inner] = cut(rest);
    Result<void> written;
    services().shared().update(
        key, [&](Json& kept) { written = write(kept, inner, std::move(value), path); });
    return written;
  }
  Inherited& inherited = node_->own_inherited().values;
  return write(root == "configurable" ? inherited.configurable : inherited.values, rest,
               std::move(value), path);
}

}  // namespace tug
