#include "tug/core/boundary.h"

#include "core/try.h"

namespace tug {
namespace {

constexpr BoundaryType kTypes[] = {BoundaryType::compact, BoundaryType::microcompact,
                                   BoundaryType::snip};

}  // namespace

std::string_view name_of(BoundaryType type) noexcept {
  switch (type) {
    case BoundaryType::compact:
      return "compact";
    case BoundaryType::microcompact:
      return "microcompact";
    case BoundaryType::snip:
      return "snip";
  }
  return "compact";
}

bool operator==(const Boundary& a, const Boundary& b) noexcept {
  if (a.type != b.type || a.from != b.from || a.to != b.to || a.before_tokens != b.before_tokens ||
      a.after_tokens != b.after_tokens || a.reason != b.reason ||
      a.replacement.size() != b.replacement.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.replacement.size(); ++i) {
    if (!(*a.replacement[i] == *b.replacement[i])) return false;
  }
  return true;
}

Json to_json(const Boundary& boundary) {
  Json replacement = Json::array();
  for (const MessagePtr& message : boundary.replacement) replacement.push_back(to_json(*message));
  return Json::object({{"type", name_of(boundary.type)},
                       {"covers", Json::object({{"from", boundary.from}, {"to", boundary.to}})},
                       {"replacement", std::move(replacement)},
                       {"before_tokens", boundary.before_tokens},
                       {"after_tokens", boundary.after_tokens},
                       {"reason", boundary.reason}});
}

Result<Boundary> boundary_from_json(const Json& json) {
  Boundary boundary;
  bool known = false;
  for (BoundaryType type : kTypes) {
    if (json["type"].as_string() != name_of(type)) continue;
    boundary.type = type;
    known = true;
  }
  const auto from = json["covers"]["from"].as_uint();
  const auto to = json["covers"]["to"].as_uint();
  if (!known || !from || !to) {
    return fail(ErrorKind::invalid,
                "a boundary needs a known \"type\" and \"covers\" {from, to}, in message indexes");
  }
  boundary.from = *from;
  boundary.to = *to;
  for (const Json& item : json["replacement"].items()) {
    TUG_TRY(message, message_from_json(item));
    boundary.replacement.push_back(std::move(message));
  }
  boundary.before_tokens = json["before_tokens"].as_int().value_or(0);
  boundary.after_tokens = json["after_tokens"].as_int().value_or(0);
  boundary.reason = std::string(json["reason"].as_string());
  return boundary;
}

}  // namespace tug
