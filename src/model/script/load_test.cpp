#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/testing.h"
#include "tug/model/script.h"

namespace tug {
namespace {

class ScriptLoad : public ::testing::Test {
 protected:
  ScriptLoad() {
    std::string name = std::filesystem::temp_directory_path() / "tug-script-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ScriptLoad() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, std::string_view text) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string refused(const std::string& path) {
    auto model = load_script_model(path);
    if (model) return "accepted";
    EXPECT_EQ(model.error().kind(), ErrorKind::invalid);
    EXPECT_FALSE(model.error().fix().empty());
    return model.error().message();
  }
  std::string folder_;
};

TEST_F(ScriptLoad, ReadsAFileAndNamesItself) {
  const std::string path = file("a.jsonl", "{\"text\":\"hi\"}\n");
  auto model = load_script_model(path);
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_EQ((*model)->profile().id(), "script/" + path);
  EXPECT_EQ(testing::Conversation(*model).text(), "hi");
}

TEST_F(ScriptLoad, WhatIsNotAReadableFileIsRefusedAtOnce) {
  EXPECT_TRUE(refused(folder_ + "/none.jsonl").contains("none.jsonl cannot be read: No such file"));
  EXPECT_EQ(refused(folder_), "the script " + folder_ + " is a folder");
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refused(fifo), "the script " + fifo + " is not a regular file");
  EXPECT_EQ(refused("/dev/zero"), "the script /dev/zero is not a regular file");
  EXPECT_EQ(refused(""), "the script \"\" has no path");
  EXPECT_EQ(refused(std::string("a\0b", 3)), "the script path holds a NUL byte");
}

TEST_F(ScriptLoad, AFileOver64MBIsRefused) {
  const std::string path = file("large.jsonl", "");
  std::filesystem::resize_file(path, (64u << 20) + 1);
  EXPECT_EQ(refused(path), "the script " + path + " is larger than 64 MB");
}

TEST_F(ScriptLoad, ABadLineIsFoundWhenTheFileIsLoaded) {
  const std::string path = file("bad.jsonl", "{\"text\":\"hi\"}\n{\"repeet\":true}\n");
  EXPECT_EQ(refused(path), path + ":2: \"repeet\" is not a key of a script line");
}

}  // namespace
}  // namespace tug
