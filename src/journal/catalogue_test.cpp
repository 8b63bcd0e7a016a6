#include "tug/journal/catalogue.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tug {
namespace {

TEST(Catalogue, EveryKindHasAMeaningAndASchemaForItsData) {
  for (Kind kind : all_kinds()) {
    const KindInfo* info = kind_info(kind);
    ASSERT_NE(info, nullptr) << name_of(kind);
    EXPECT_EQ(info->kind, kind);
    EXPECT_FALSE(info->meaning.empty()) << name_of(kind);
    EXPECT_GT(info->data["properties"].size(), 0u) << name_of(kind);
  }
  EXPECT_EQ(kind_info(Kind::other), nullptr);
}

TEST(Catalogue, TheMainFieldsOfTheContractAreThere) {
  const std::pair<Kind, std::vector<const char*>> table[] = {
      {Kind::run_started, {"prompt", "model", "root", "limits", "base"}},
      {Kind::model_started, {"call", "attempt", "model", "provider", "request_kind"}},
      {Kind::model_delta, {"call", "text", "reasoning", "tool_call"}},
      {Kind::model_completed,
       {"call", "model", "text", "tool_calls", "finish", "usage", "cost", "duration_ms"}},
      {Kind::model_failed, {"call", "attempt", "error"}},
      {Kind::retry_scheduled, {"call", "attempt", "delay_ms"}},
      {Kind::tool_started, {"call_id", "provider_call_id", "tool", "index", "arguments", "effect"}},
      {Kind::tool_completed,
       {"call_id", "tool", "index", "ok", "output", "metadata", "duration_ms"}},
      {Kind::tool_failed, {"call_id", "ok", "error_type", "retryable", "retry_kind"}},
      {Kind::tool_unknown, {"call_id", "tool", "arguments", "nearest"}},
      {Kind::tool_invalid_args, {"call_id", "tool", "arguments", "error"}},
      {Kind::tool_denied, {"call_id", "tool", "reason"}},
      {Kind::approval_requested, {"call_id", "tool", "arguments"}},
      {Kind::approval_decided, {"call_id", "approved", "reason"}},
      {Kind::limit_warning, {"limit", "remaining", "content"}},
      {Kind::limit_reached, {"limit", "max", "used"}},
      {Kind::usage_recorded, {"usage", "cost"}},
      {Kind::context_window,
       {"model", "max_tokens", "reserved_output_tokens", "prompt_tokens", "source", "owners"}},
      {Kind::context_trimmed, {"before_tokens", "after_tokens", "boundary", "covers"}},
      {Kind::context_recovered, {"decision", "reason", "attempt"}},
      {Kind::subagent_started, {"name", "child_run_id", "call_id"}},
      {Kind::steering_applied, {"command"}},
      {Kind::custom, {"name", "data"}},
  };
  for (const auto& [kind, fields] : table) {
    for (const char* field : fields) {
      EXPECT_TRUE(kind_info(kind)->data["properties"].contains(field))
          << name_of(kind) << " " << field;
    }
  }
}

TEST(Catalogue, TheDocumentIsWhatTheCodecSays) {
  std::ifstream file(TUG_SOURCE_DIR "/docs/events.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), events_markdown()) << "run tools/make_events_doc";
}

}  // namespace
}  // namespace tug
