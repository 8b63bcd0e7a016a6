#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/offline/answers.h"
#include "model/offline/wording.h"
#include "model/speech.h"
#include "tug/core/window.h"
#include "tug/model/offline.h"

namespace tug {
namespace {

constexpr std::size_t kMostTurns = 60;
constexpr std::size_t kLongestRequest = 4000;
constexpr std::string_view kName = "demo";

struct Request {
  std::size_t at = 0;  // its place in the transcript
  std::string words;
  std::string attached;  // what came behind a blank line
  bool found = false;
};

Request newest_request(const Transcript& transcript) {
  Request request;
  for (std::size_t i = transcript.size(); i-- > 0;) {
    if (transcript[i]->role() != Role::user || transcript[i]->is_note()) continue;
    request.words = transcript[i]->text();
    if (request.words.empty()) continue;
    request.at = i;
    request.found = true;
    break;
  }
  const std::size_t start =
      std::min(request.words.find_first_not_of(" \t\r\n"), request.words.size());
  request.words.erase(0, start);
  if (const std::size_t gap = request.words.find("\n\n"); gap != std::string::npos) {
    request.attached = request.words.substr(gap + 2);
    request.words.resize(gap);
  }
  return request;
}

struct Words {
  std::string text;
  std::vector<ToolCall> calls;
};

Words plan(const ModelRequest& request) {
  const Request asked = newest_request(request.transcript);
  if (!asked.found) return {"Nobody has asked me anything yet. " + abilities(), {}};
  if (asked.words.size() > kLongestRequest)
    return {"That request is longer than I can read. " + abilities(), {}};
  const std::vector<Wish> wishes = read_wishes(asked.words);
  if (wishes.empty()) return {"That request is empty. " + abilities(), {}};

  Errands errands(request, asked.at);
  std::string said;
  std::vector<std::string> waiting;
  bool unknown = false;
  for (const Wish& wish : wishes) {
    unknown = unknown || wish.kind == WishKind::unknown;
    if (auto ready = answer(wish, errands, asked.attached)) {
      if (!said.empty()) said += "\n\n";
      said += *ready;
    } else {
      waiting.push_back(doing(wish));
    }
  }
  if (!errands.open().empty() && errands.turns() < kMostTurns) {
    std::string text = errands.turns() == 0 ? "I am going to " + joined(waiting) + "."
                                            : "I have to look further to finish this.";
    return {std::move(text), errands.open()};
  }
  if (!waiting.empty()) {
    if (!said.empty()) said += "\n\n";
    said += "I gave up after " + std::to_string(errands.turns()) + " rounds of tool calls.";
  }
  if (unknown) said += "\n\n" + abilities();
  return {std::move(said), {}};
}

// What a provider would have counted, more or less.
Usage usage_of(const ModelRequest& request, const Message& said) {
  std::size_t sent = request.system ? request.system->size() : 0;
  for (const MessagePtr& message : request.transcript.messages()) sent += message->size();
  if (request.tools) {
    for (const auto& spec : *request.tools)
      sent += spec->name.size() + spec->description.size() + print_json(spec->parameters).size();
  }
  return Usage{.input_tokens = estimate_tokens(sent),
               .output_tokens = estimate_tokens(said.size())};
}

class OfflineModel final : public Model {
 public:
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    auto speech = std::make_shared<Speech>();
    speech->turn = plan_offline(request);
    speech->cuts = cut_by_word(speech->turn.message->text());
    return make_speech_stream(std::move(speech), std::move(until));
  }

 private:
  ModelProfile profile_{.provider = "offline",
                        .name = std::string(kName),
                        .context_tokens = 32768,
                        .max_output_tokens = 4096,
                        .price = Price{.input = 0, .output = 0}};
};

}  // namespace

ModelTurn plan_offline(const ModelRequest& request) {
  Words words = plan(request);
  const Finish finish = words.calls.empty() ? Finish::stop : Finish::tool_calls;
  std::vector<Part> parts;
  parts.emplace_back(TextPart{std::move(words.text)});
  for (ToolCall& call : words.calls) parts.emplace_back(std::move(call));
  MessagePtr message = Message::make(Role::assistant, std::move(parts));
  const Usage usage = usage_of(request, *message);
  return ModelTurn{
      .message = std::move(message), .finish = finish, .usage = usage, .model = std::string(kName)};
}

ModelPtr make_offline_model() { return std::make_shared<OfflineModel>(); }

}  // namespace tug
