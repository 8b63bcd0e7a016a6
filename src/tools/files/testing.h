// A root folder for the tests of the file tools.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "store/testing.h"
#include "tools/files/files.h"

namespace tug {

class TestRoot {
 public:
  TestRoot() {
    std::filesystem::create_directory(path());
    workspace_ = open_workspace(path()).value();
  }

  std::string path(std::string_view below = "") const {
    return temp_.path() + "/root" + (below.empty() ? "" : "/") + std::string(below);
  }
  std::string outside(std::string_view name) const {
    return temp_.path() + "/" + std::string(name);
  }

  // Missing folders are made.
  void write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void make_folder(std::string_view name) const { std::filesystem::create_directories(path(name)); }

  const Workspace& workspace() const { return *workspace_; }
  const std::shared_ptr<const Workspace>& shared() const { return workspace_; }

 private:
  TempFolder temp_;
  std::shared_ptr<const Workspace> workspace_;
};

inline std::string error_type(const Result<ToolResult>& result) {
  return std::string(result.value().metadata["error_type"].as_string());
}

}  // namespace tug
