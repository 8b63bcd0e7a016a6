#include "agent/output_plan.h"

#include "core/try.h"
#include "tug/core/extract_json.h"

namespace tug {
namespace {

constexpr std::size_t kMaxShownViolations = 8;

OutputMode usual_mode(const ModelProfile& model) {
  if (model.structured) return OutputMode::native;
  return model.tools ? OutputMode::tool : OutputMode::prompted;
}

bool is_object_schema(const Json& schema) { return schema["type"].as_string() == "object"; }

// Any text is an answer.
bool is_any_text(const Json& schema) {
  for (const auto& member : schema.members()) {
    if (member.key() != "type" && member.key() != "title" && member.key() != "description") {
      return false;
    }
  }
  return schema["type"].as_string() == "string";
}

// References lead from the root of a schema. Those to definitions stay as they are, for these stay
// there; all others lead to what has moved below "value".
Json moved_down(const Json& schema) {
  if (schema.is_array()) {
    Json items = Json::array();
    for (const Json& item : schema.items()) items.push_back(moved_down(item));
    return items;
  }
  if (!schema.is_object()) return schema;
  Json made = Json::object();
  for (const auto& member : schema.members()) {
    const std::string_view key = member.key();
    const std::string_view to = member.value.as_string();
    const bool moves = key == "$ref" && (to == "#" || to.starts_with("#/")) &&
                       !to.starts_with("#/$defs/") && !to.starts_with("#/definitions/");
    if (moves) {
      made.set(key, "#/properties/value" + std::string(to.substr(1)));
    } else if (key == "const" || key == "enum" || key == "default" || key == "examples") {
      made.set(key, member.value);
    } else {
      made.set(key, moved_down(member.value));
    }
  }
  return made;
}

Json wrapped(const Json& schema) {
  // One with an id is the root of its own references wherever it stands.
  const bool is_named = schema["$id"].is_string();
  Json inner = is_named ? schema : moved_down(schema);
  Json outer = Json::object({{"type", "object"}});
  for (const char* definitions : {"$defs", "definitions"}) {
    if (const Json* kept = is_named ? nullptr : inner.find(definitions)) {
      outer.set(definitions, *kept);
      inner.erase(definitions);
    }
  }
  outer.set("properties", Json::object({{"value", std::move(inner)}}));
  outer.set("required", Json::array({"value"}));
  outer.set("additionalProperties", false);
  return outer;
}

// Every object lists all its properties as required and takes no other; there is one at least.
bool is_strict(const Json& schema, bool& seen) {
  if (schema.is_array()) {
    for (const Json& item : schema.items()) {
      if (!is_strict(item, seen)) return false;
    }
    return true;
  }
  if (!schema.is_object()) return true;
  if (is_object_schema(schema)) {
    seen = true;
    const Json& properties = schema["properties"];
    if (schema["additionalProperties"] != Json(false)) return false;
    if (schema["required"].size() != properties.size()) return false;
  }
  for (const auto& member : schema.members()) {
    if (!is_strict(member.value, seen)) return false;
  }
  return true;
}

Failure cannot(const ModelProfile& model, std::string_view what) {
  return fail(ErrorKind::invalid, "output_mode: " + model.id() + " cannot " + std::string(what),
              "use the mode `auto`, or another model");
}

}  // namespace

Result<OutputPlanPtr> plan_output(const Json& schema, OutputMode mode, const ModelProfile& model) {
  auto compiled = Schema::compile(schema);
  if (!compiled) return Failure(compiled.error().within("output_schema"));
  if (mode == OutputMode::automatic) mode = usual_mode(model);
  if (is_any_text(schema)) mode = OutputMode::text;
  if (mode == OutputMode::text && !is_any_text(schema)) {
    return fail(ErrorKind::invalid, "output_mode: text serves no schema but {\"type\": \"string\"}",
                "use the mode `auto`");
  }
  if (mode == OutputMode::native && !model.structured) {
    return cannot(model, "be told a schema");
  }
  if (mode == OutputMode::tool && !model.tools) return cannot(model, "call tools");
  auto plan = std::make_shared<OutputPlan>(
      OutputPlan{.mode = mode, .schema = *std::move(compiled), .wrapped = false});
  const bool needs_object = mode == OutputMode::native || mode == OutputMode::tool;
  plan->wrapped = needs_object && !is_object_schema(schema);
  const Json asked = plan->wrapped ? wrapped(schema) : schema;
  if (mode == OutputMode::native) {
    bool seen = false;
    const bool strict = is_strict(asked, seen) && seen;
    plan->format = std::make_shared<const OutputFormat>(
        OutputFormat{.name = std::string(kFinalResult), .schema = asked, .strict = strict});
  } else if (mode == OutputMode::tool) {
    plan->tool = std::make_shared<const ToolSpec>(
        ToolSpec{.name = std::string(kFinalResult),
                 .description = "Gives the final answer and ends the work. Call it exactly once, "
                                "alone, when everything else is done.",
                 .parameters = asked,
                 .effect = Effect::pure});
  } else if (mode == OutputMode::prompted) {
    plan->instructions =
        "Your final answer must be one JSON value, without any other text, that fits this JSON "
        "Schema:\n" +
        print_json(asked);
  }
  return OutputPlanPtr(std::move(plan));
}

bool can_serve(const OutputPlan& plan, const ModelProfile& model) {
  if (plan.mode == OutputMode::native) return model.structured;
  return plan.mode != OutputMode::tool || model.tools;
}

Result<Json> read_answer(const OutputPlan& plan, std::string_view text) {
  if (plan.mode == OutputMode::text) return Json(text);
  TUG_TRY(extracted, extract_json(text));
  Json value = std::move(extracted.value);
  if (plan.wrapped) {
    const Json* inner = value.find("value");
    if (!inner) {
      return fail(ErrorKind::invalid, "the answer must be an object with the one key \"value\"");
    }
    Json unwrapped = *inner;
    value = std::move(unwrapped);
  }
  if (plan.schema.valid(value)) return value;
  auto violations = plan.schema.check(value);
  if (!violations) return Failure(violations.error());
  std::string wrong = "the answer does not fit its schema:";
  for (std::size_t i = 0; i < violations->size() && i < kMaxShownViolations; ++i) {
    wrong += "\n- " + to_string((*violations)[i]);
  }
  return fail(ErrorKind::invalid, std::move(wrong));
}

}  // namespace tug
