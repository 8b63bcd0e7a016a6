// A model of one's own: whatever makes an answer of a conversation can be asked by a harness. What
// it takes is a profile, and a stream of what the answer adds, with the whole turn at its end.
#include <tug/tug.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

// Stands for what is yours: something that says one word at a time.
class Engine {
 public:
  explicit Engine(const std::string& prompt) : words_("I heard: " + prompt) {}
  std::optional<std::string> next_word() {
    std::string word;
    if (!(words_ >> word)) return std::nullopt;
    return (std::exchange(begun_, true) ? " " : "") + word;
  }

 private:
  std::istringstream words_;
  bool begun_ = false;
};

// --- from here on: all that a harness needs of it
class EngineStream final : public tug::ModelStream {
 public:
  using Next = std::optional<tug::ModelEvent>;
  explicit EngineStream(const std::string& prompt) : engine_(prompt) {}

  // Pulled until there is nothing; dropped when the run is cancelled.
  tug::Task<tug::Result<Next>> next() override {
    if (const std::optional<std::string> word = engine_.next_word()) {
      said_ += *word;
      co_return Next(tug::TextDelta{*word});
    }
    if (std::exchange(over_, true)) co_return Next();
    tug::ModelTurn turn;
    turn.message = tug::Message::assistant(said_);
    turn.usage.output_tokens = static_cast<std::int64_t>(said_.size()) / 4;
    co_return Next(std::move(turn));
  }

 private:
  Engine engine_;
  std::string said_;
  bool over_ = false;
};

class EngineModel final : public tug::Model {
 public:
  const tug::ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<tug::ModelStream> ask(tug::ModelRequest request, tug::Until) override {
    return std::make_unique<EngineStream>(request.transcript.back()->text());
  }

 private:
  tug::ModelProfile profile_{.provider = "mine", .name = "engine", .context_tokens = 8192};
};
// --- to here

int main() {
  tug::Harness harness{std::make_shared<EngineModel>()};
  const tug::RunResult result = harness.run("is anybody there?");
  std::printf("%s\n%lld tokens\n", result.text.c_str(),
              static_cast<long long>(result.usage.output_tokens));
  return result.ok() ? 0 : 1;
}
