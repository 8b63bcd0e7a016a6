#include "tug/middleware/redaction.h"

#include <array>
#include <map>

#include "tug/model/delta_filter.h"

namespace tug {
namespace {

class Masker {
 public:
  Masker(const std::vector<std::string>& patterns, std::string_view mask) : mask_(mask) {
    words_.emplace_back(mask);
    for (const std::string& pattern : patterns) words_.push_back(pattern);
    std::erase(words_, "");
    for (const std::string& word : words_) begins_[static_cast<unsigned char>(word[0])] = true;
  }

  enum class More : bool { may_come, is_over };

  // Takes from the front of `text` what is settled, masked; leaves what more text may change.
  std::string take(std::string& text, More more) const {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
      if (!begins_[static_cast<unsigned char>(text[at])]) {
        out += text[at++];
        continue;
      }
      const std::string_view rest = std::string_view(text).substr(at);
      const std::string* found = nullptr;
      bool may_grow = false;
      for (const std::string& word : words_) {
        if (rest.starts_with(word)) {
          if (!found || word.size() > found->size()) found = &word;
        } else {
          may_grow = may_grow || std::string_view(word).starts_with(rest);
        }
      }
      if (may_grow && more == More::may_come) break;
      if (found) {
        out += mask_;
        at += found->size();
      } else {
        out += text[at++];
      }
    }
    text.erase(0, at);
    return out;
  }

 private:
  std::string mask_;
  std::vector<std::string> words_;  // the mask is a word that stands for itself
  std::array<bool, 256> begins_{};
};

using MaskerPtr = std::shared_ptr<const Masker>;
using More = Masker::More;

class MaskFilter final : public DeltaFilter {
 public:
  MaskFilter(MaskerPtr masker, bool arguments)
      : masker_(std::move(masker)), arguments_(arguments) {}

  void push(ModelEvent delta, std::vector<ModelEvent>& out) override {
    if (auto* text = std::get_if<TextDelta>(&delta)) {
      text->text = pass(text_, text->text);
    } else if (auto* thought = std::get_if<ReasoningDelta>(&delta)) {
      thought->text = pass(reasoning_, thought->text);
    } else if (auto* call = std::get_if<ToolCallDelta>(&delta); call && arguments_) {
      call->arguments = pass(calls_[call->index], call->arguments);
    }
    out.push_back(std::move(delta));
  }

  void flush(std::vector<ModelEvent>& out) override {
    out.emplace_back(ReasoningDelta{masker_->take(reasoning_, More::is_over)});
    out.emplace_back(TextDelta{masker_->take(text_, More::is_over)});
    for (auto& [index, kept] : calls_) {
      out.emplace_back(
          ToolCallDelta{.index = index, .arguments = masker_->take(kept, More::is_over)});
    }
  }

 private:
  std::string pass(std::string& kept, const std::string& more) const {
    kept += more;
    return masker_->take(kept, More::may_come);
  }

  MaskerPtr masker_;
  bool arguments_;
  std::string text_;
  std::string reasoning_;
  std::map<std::uint32_t, std::string> calls_;
};

Json masked(const Masker& masker, const Json& value) {
  if (value.is_string()) {
    std::string text(value.as_string());
    return Json(masker.take(text, More::is_over));
  }
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value.items()) list.push_back(masked(masker, item));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const Json::Member& member : value.members()) {
    object.set(member.key(), masked(masker, member.value));
  }
  return object;
}

class Redaction final : public Middleware {
 public:
  Redaction(const std::vector<std::string>& patterns, RedactionOptions options)
      : masker_(std::make_shared<const Masker>(patterns, options.mask)),
        arguments_(options.arguments) {}

  std::string name() const override { return "redaction"; }
  Around around() const noexcept override { return {.run = false}; }

  Task<Result<ModelTurn>> around_model(Context, ModelRequest request, NextModel& next) override {
    request.keep_raw = false;
    request.filters.push_back([masker = masker_, arguments = arguments_] {
      return std::make_unique<MaskFilter>(masker, arguments);
    });
    return next.run(std::move(request));
  }

  Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    if (result) {
      result->content = masker_->take(result->content, More::is_over);
      result->metadata = masked(*masker_, result->metadata);
    }
    co_return result;
  }

 private:
  MaskerPtr masker_;
  bool arguments_;
};

}  // namespace

std::string redacted(std::string_view text, const std::vector<std::string>& patterns,
                     std::string_view mask) {
  std::string rest(text);
  return Masker(patterns, mask).take(rest, More::is_over);
}

MiddlewarePtr make_redaction(std::vector<std::string> patterns, RedactionOptions options) {
  return std::make_shared<Redaction>(patterns, std::move(options));
}

}  // namespace tug
