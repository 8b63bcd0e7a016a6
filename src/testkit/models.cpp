#include "tug/testkit/models.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/script/script_model.h"
#include "model/speech.h"
#include "tug/core/digest.h"
#include "tug/core/window.h"

namespace tug::testkit {
namespace {

ModelProfile profile_of(std::string name) {
  return ModelProfile{.provider = "test", .name = std::move(name)};
}

// What is said is a function of the request.
class Echo final : public Model {
 public:
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    auto speech = std::make_shared<Speech>();
    const MessagePtr said = request.transcript.newest_said();
    std::string text = said ? newest(*said) : "";
    const std::int64_t tokens = estimate_tokens(text.size());
    speech->turn = ModelTurn{.message = Message::assistant(std::move(text)),
                             .usage = {.input_tokens = tokens, .output_tokens = tokens},
                             .model = profile_.name};
    return make_speech_stream(std::move(speech), std::move(until));
  }

 private:
  static std::string newest(const Message& message) {
    std::string text = message.text();
    for (const ToolResult* result : message.tool_results()) {
      if (!text.empty()) text += '\n';
      text += result->content;
    }
    return text;
  }

  ModelProfile profile_ = profile_of("echo");
};

// The same every time.
class Fixed final : public Model {
 public:
  Fixed(ModelProfile profile, Speech speech)
      : profile_(std::move(profile)), speech_(std::make_shared<Speech>(std::move(speech))) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest, Until until) override {
    return make_speech_stream(speech_, std::move(until));
  }

 private:
  ModelProfile profile_;
  std::shared_ptr<const Speech> speech_;
};

class Recording final : public RecordingModel {
 public:
  explicit Recording(ModelPtr model) : model_(std::move(model)) {}
  const ModelProfile& profile() const noexcept override { return model_->profile(); }
  Json reserve(const ModelRequest& request) const override { return model_->reserve(request); }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    requests_.push_back(request);
    return model_->ask(std::move(request), std::move(until));
  }
  const std::vector<ModelRequest>& requests() const noexcept override { return requests_; }

 private:
  ModelPtr model_;
  std::vector<ModelRequest> requests_;
};

// A root counts attempts by the name of the model: two scripts in one root need two names, and a
// resumed run must find the same one again.
std::string named_after(std::string_view kind, const std::vector<ScriptTurn>& turns) {
  std::string all;
  for (const ScriptTurn& turn : turns) {
    all += turn.text + '\0' + turn.reasoning + '\0';
    for (const ScriptCall& call : turn.tool_calls) all += call.name + '\0' + call.arguments + '\0';
    if (turn.error) all += std::to_string(turn.error->status) + turn.error->body;
    all += '\n';
  }
  return fmt::format("{}-{:08x}", kind, static_cast<std::uint32_t>(fingerprint_of(all).low));
}

}  // namespace

ScriptTurn says(std::string text) { return ScriptTurn{.text = std::move(text)}; }

ScriptTurn calls(std::string tool, std::string arguments) {
  return ScriptTurn{
      .tool_calls = {ScriptCall{.name = std::move(tool), .arguments = std::move(arguments)}}};
}

ScriptTurn calls(std::vector<ScriptCall> calls) {
  return ScriptTurn{.tool_calls = std::move(calls)};
}

ScriptTurn fails(int status, std::string body) {
  return ScriptTurn{.error = ScriptError{.status = status, .body = std::move(body)}};
}

ModelPtr scripted(std::vector<ScriptTurn> turns) {
  ModelProfile profile = profile_of(named_after("scripted", turns));
  return make_script_model(std::move(turns), std::move(profile));
}

ModelPtr cycling(std::vector<ScriptTurn> turns) {
  ModelProfile profile = profile_of(named_after("cycling", turns));
  return make_script_model(std::move(turns), std::move(profile), ScriptOrder::in_turn);
}

ModelPtr constant(std::string text) {
  ScriptTurn turn = says(std::move(text));
  turn.repeat = true;
  return make_script_model({std::move(turn)}, profile_of("constant"));
}

ModelPtr echo() { return std::make_shared<Echo>(); }

ModelPtr slow(Duration delay, ScriptTurn turn) {
  for (std::size_t i = 0; i < turn.tool_calls.size(); ++i) {
    if (turn.tool_calls[i].id.empty()) turn.tool_calls[i].id = "call_" + std::to_string(i + 1);
  }
  ModelProfile profile = profile_of("slow");
  Speech speech = speech_of(std::move(turn), profile);
  speech.before = delay;
  return std::make_shared<Fixed>(std::move(profile), std::move(speech));
}

ModelPtr streaming(std::string text, std::size_t piece, Duration delay) {
  ModelProfile profile = profile_of("streaming");
  Speech speech;
  speech.turn = ModelTurn{.message = Message::assistant(std::move(text)), .model = profile.name};
  speech.cuts = cut_by_size(speech.turn.message->text(), piece);
  speech.between = delay;
  return std::make_shared<Fixed>(std::move(profile), std::move(speech));
}

std::shared_ptr<RecordingModel> recording(ModelPtr model) {
  return std::make_shared<Recording>(std::move(model));
}

}  // namespace tug::testkit
