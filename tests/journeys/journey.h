// What every journey starts from: an empty home with a folder to work in.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "tug/core/json.h"

namespace tug::journey {

class Journey : public ::testing::Test {
 protected:
  Journey() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tug-journey-XXXXXX").string();
    home_ = mkdtemp(pattern.data());
    work_ = home_ + "/work";
    std::filesystem::create_directory(work_);
  }
  ~Journey() override { std::filesystem::remove_all(home_); }

  Place place() const { return {home_, work_, environment_}; }
  Ran tug(const std::vector<std::string>& arguments, const std::string& input = "") {
    return run_tug(place(), arguments, input);
  }
  // A file in the working folder; its whole path.
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = work_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  // What a file of the working folder holds; nothing when it is not there.
  std::optional<std::string> read_file(const std::string& name) const {
    std::ifstream stream(work_ + "/" + name);
    if (!stream) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  // A model that says these turns.
  std::string script(const std::string& name, const std::vector<std::string>& turns) {
    std::string text;
    for (const std::string& turn : turns) text += turn + "\n";
    return "script/" + file(name, text);
  }
  static std::vector<Json> lines(const std::string& text) {
    std::vector<Json> list;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      list.push_back(parse_json(text.substr(at, end - at)).value());
      if (end == text.npos) break;
      at = end + 1;
    }
    return list;
  }

  // What a run with stream-json told: its events, and the result that the last one carries.
  struct Told {
    int exit;
    std::string err;
    Json result;
    std::vector<Json> events;

    // The data of those of a kind.
    std::vector<Json> of(std::string_view kind) const {
      std::vector<Json> some;
      for (const Json& event : events) {
        if (event["kind"].as_string() == kind) some.push_back(event["data"]);
      }
      return some;
    }
  };
  static Told told_by(const Ran& ran) {
    Told told{ran.exit, ran.err, {}, lines(ran.out)};
    if (!told.events.empty()) told.result = told.events.back()["data"]["result"];
    return told;
  }
  Json last_run() { return parse_json(tug({"runs", "--json", "--limit", "1"}).out).value()[0]; }

  std::string home_;
  std::string work_;
  std::vector<std::string> environment_;
};

// The text names this; for messages that people read.
inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

}  // namespace tug::journey
