#include "tug/core/tool.h"

namespace tug {

std::string_view name_of(Effect effect) noexcept {
  switch (effect) {
    case Effect::pure:
      return "pure";
    case Effect::idempotent:
      return "idempotent";
    case Effect::probed:
      return "probed";
    case Effect::at_most_once:
      return "at_most_once";
  }
  return "at_most_once";
}

std::string_view name_of(OnError policy) noexcept {
  switch (policy) {
    case OnError::tell_model:
      return "tell_model";
    case OnError::fail_run:
      return "fail_run";
    case OnError::say:
      return "say";
  }
  return "";
}

std::string_view name_of(Visibility visibility) noexcept {
  switch (visibility) {
    case Visibility::model:
      return "model";
    case Visibility::code:
      return "code";
    case Visibility::hidden:
      return "hidden";
  }
  return "hidden";
}

ToolResult ToolResult::text(std::string content) { return {.content = std::move(content)}; }

ToolResult ToolResult::json(const Json& value) { return {.content = print_json(value)}; }

ToolResult ToolResult::error(std::string content, std::string_view error_type) {
  return {.ok = false,
          .content = std::move(content),
          .metadata = Json::object({{"error_type", Json(error_type)}})};
}

}  // namespace tug
