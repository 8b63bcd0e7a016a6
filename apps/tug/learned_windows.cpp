#include "learned_windows.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "tug/core/json.h"
#include "tug/journal/event.h"

namespace tug::cli {
namespace {

constexpr const char* kFile = "/windows.json";
constexpr std::size_t kMostBytes = 1 << 20;

Json read_windows(const std::string& folder) {
  std::ifstream file(folder + kFile, std::ios::binary);
  std::string text;
  text.resize(kMostBytes);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto json = parse_json(text);
  return json && json->is_object() ? *json : Json::object();
}

class WindowKeeper final : public Sink {
 public:
  explicit WindowKeeper(std::string folder) : folder_(std::move(folder)) {}

  void on_event(const Event& event) override {
    if (event.kind != Kind::context_window) return;
    if (event.data["source"].as_string() != "learned") return;
    Json windows = read_windows(folder_);
    windows.set(event.data["model"].as_string(), event.data["max_tokens"]);
    const std::string fresh = folder_ + kFile + "." + std::to_string(getpid());
    std::ofstream file(fresh, std::ios::binary);
    file << print_json(windows) << "\n";
    file.close();
    if (!file || std::rename(fresh.c_str(), (folder_ + kFile).c_str()) != 0) unlink(fresh.c_str());
  }

 private:
  const std::string folder_;
};

}  // namespace

void remember_windows(Models& models, const std::string& folder) {
  const Json windows = read_windows(folder);
  for (const Json::Member& window : windows.members()) {
    const std::int64_t tokens = window.value.as_int().value_or(0);
    if (tokens > 0) models.learn_window(window.key(), tokens);
  }
}

std::shared_ptr<Sink> make_window_keeper(std::string folder) {
  return std::make_shared<WindowKeeper>(std::move(folder));
}

}  // namespace tug::cli
