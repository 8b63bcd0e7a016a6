#include "tug/io/workspace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "store/testing.h"
#include "tug/core/rng.h"

namespace tug {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A root with some files, beside a folder with a secret.
class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() {
    fs::create_directories(root_ + "/src/deep");
    fs::create_directories(outside_);
    write(root_ + "/readme.txt", "hello");
    write(root_ + "/src/a.cpp", "int a;\n");
    write(root_ + "/src/deep/b.cpp", "int b;\n");
    write(outside_ + "/secret", "SECRET");
    workspace_ = open_workspace(root_).value();
  }

  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  Result<std::string> contents(std::string_view path) const {
    auto file = workspace_->open(path);
    if (!file) return Failure(file.error());
    std::string text;
    for (;;) {
      const Result<bool> more = (*file)->read(text, 3);
      if (!more) return Failure(more.error());
      if (!*more) return text;
    }
  }
  std::vector<std::string> walked(std::string_view path, WalkReport* report = nullptr) const {
    std::vector<std::string> seen;
    const auto done = workspace_->walk(path,
                                       [&](const Entry& entry) {
                                         seen.push_back(entry.path);
                                         return Workspace::Walk::on;
                                       },
                                       {});
    EXPECT_TRUE(done) << done.error().message();
    if (report != nullptr && done) *report = *done;
    return seen;
  }

  TempFolder temp_;
  std::string root_ = temp_.path() + "/root";
  std::string outside_ = temp_.path() + "/outside";
  std::shared_ptr<const Workspace> workspace_;
};

TEST_F(WorkspaceTest, PathsAreNamedRelativeToTheRoot) {
  const std::pair<std::string, std::string> table[] = {
      {".", "."},
      {"./src//a.cpp", "src/a.cpp"},
      {"src/", "src"},
      {"src/deep/../a.cpp", "src/a.cpp"},
      {"src/..", "."},
      {root_, "."},
      {root_ + "/src/a.cpp", "src/a.cpp"},
      {"~", "~"},
      {"...", "..."},
  };
  for (const auto& [given, named] : table) EXPECT_EQ(workspace_->relative(given).value(), named);
}

TEST_F(WorkspaceTest, PathsThatLeadOutAreDenied) {
  for (const std::string& path :
       {std::string(".."), std::string("src/../../outside/secret"), std::string("/etc/passwd"),
        root_ + "x/a", root_ + "/../outside/secret", std::string("/")}) {
    ASSERT_FALSE(workspace_->relative(path)) << path;
    EXPECT_EQ(workspace_->relative(path).error().kind(), ErrorKind::denied) << path;
    EXPECT_EQ(contents(path).error().kind(), ErrorKind::denied) << path;
    EXPECT_EQ(workspace_->info(path).error().kind(), ErrorKind::denied) << path;
    EXPECT_EQ(workspace_->list(path, 10).error().kind(), ErrorKind::denied) << path;
  }
}

TEST_F(WorkspaceTest, PathsThatAreNoPathsAreInvalid) {
  for (const std::string& path :
       {std::string(), std::string("a\0b", 3), std::string(5000, 'a'), std::string(300, 'a')}) {
    const auto opened = contents(path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind(), ErrorKind::invalid);
    EXPECT_LT(opened.error().message().size(), 500u);
  }
}

TEST_F(WorkspaceTest, AnAbsolutePathMayUseTheNameTheRootWasGivenBy) {
  fs::create_symlink(root_, temp_.path() + "/alias");
  const auto aliased = open_workspace(temp_.path() + "/alias/").value();
  EXPECT_EQ(aliased->relative(temp_.path() + "/alias/src").value(), "src");
  EXPECT_EQ(aliased->relative(root_ + "/src").value(), "src");
  EXPECT_EQ(aliased->root(), fs::canonical(root_).string());
}

TEST_F(WorkspaceTest, AFileIsReadToItsEnd) {
  EXPECT_EQ(contents("readme.txt").value(), "hello");
  EXPECT_EQ(contents(root_ + "/src/deep/b.cpp").value(), "int b;\n");
  EXPECT_EQ(workspace_->open("readme.txt").value()->info().size, 5u);
}

TEST_F(WorkspaceTest, LinksThatStayInsideAreFollowedAndOthersDenied) {
  fs::create_symlink("../readme.txt", root_ + "/src/up");
  fs::create_symlink("src", root_ + "/folder");
  fs::create_symlink("folder/up", root_ + "/chain");
  EXPECT_EQ(contents("src/up").value(), "hello");
  EXPECT_EQ(contents("folder/a.cpp").value(), "int a;\n");
  EXPECT_EQ(contents("chain").value(), "hello");

  fs::create_symlink("../outside/secret", root_ + "/out");
  fs::create_symlink(outside_, root_ + "/outfolder");
  fs::create_symlink("out", root_ + "/chain_out");
  fs::create_symlink("loop", root_ + "/loop");
  fs::create_symlink(root_ + "/readme.txt", root_ + "/absolute");
  for (const char* path : {"out", "outfolder/secret", "chain_out", "loop", "absolute"}) {
    const auto text = contents(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().kind(), ErrorKind::denied) << path;
  }
  EXPECT_EQ(workspace_->list("outfolder", 10).error().kind(), ErrorKind::denied);
}

TEST_F(WorkspaceTest, MagicLinksOfProcAreNotFollowed) {
  const auto all = open_workspace("/").value();
  EXPECT_EQ(all->open("proc/self/root/etc/passwd").error().kind(), ErrorKind::denied);
  EXPECT_EQ(all->open("proc/self/fd/0").error().kind(), ErrorKind::denied);
}

TEST_F(WorkspaceTest, DotsAfterALinkGoBackInThePathAsWritten) {
  fs::create_symlink("src/deep", root_ + "/short");
  EXPECT_EQ(contents("short/../readme.txt").value(), "hello");
}

TEST_F(WorkspaceTest, ARealPathNamesWhatIsOpened) {
  fs::create_symlink("../readme.txt", root_ + "/src/up");
  fs::create_symlink("src", root_ + "/folder");
  fs::create_symlink("folder/up", root_ + "/chain");
  fs::create_symlink("src/new", root_ + "/dangling");
  fs::create_symlink(".", root_ + "/here");
  const std::pair<std::string, std::string> table[] = {
      {".", "."},
      {"here", "."},
      {"./src//a.cpp", "src/a.cpp"},
      {root_ + "/src/a.cpp", "src/a.cpp"},
      {"folder/deep/b.cpp", "src/deep/b.cpp"},
      {"here/folder/here/../a.cpp", "src/a.cpp"},
      {"src/up", "readme.txt"},
      {"chain", "readme.txt"},
      {"folder/new/er", "src/new/er"},
      {"dangling", "src/new"},
      {"dangling/x", "src/new/x"},
      {"readme.txt/below", "readme.txt/below"},
  };
  for (const auto& [path, real] : table) {
    const auto found = workspace_->real_path(path);
    ASSERT_TRUE(found) << path << ": " << found.error().message();
    EXPECT_EQ(*found, real) << path;
  }
  fs::create_symlink("../outside/secret", root_ + "/out");
  fs::create_symlink("src/../../outside/x", root_ + "/dangling_out");
  fs::create_symlink("loop", root_ + "/loop");
  fs::create_symlink(root_ + "/readme.txt", root_ + "/absolute");
  for (const char* path : {"out", "dangling_out", "loop", "loop/x", "absolute", "..", "/etc"}) {
    const auto found = workspace_->real_path(path);
    ASSERT_FALSE(found) << path << " " << *found;
    EXPECT_EQ(found.error().kind(), ErrorKind::denied) << path;
  }
  EXPECT_EQ(workspace_->real_path("").error().kind(), ErrorKind::invalid);
}

TEST_F(WorkspaceTest, InfoTellsNothingThereFromNotAllowed) {
  fs::create_symlink("nowhere", root_ + "/dangling");
  EXPECT_EQ(workspace_->info("missing").value(), std::nullopt);
  EXPECT_EQ(workspace_->info("readme.txt/below").value(), std::nullopt);
  EXPECT_EQ(workspace_->info("dangling").value(), std::nullopt);
  EXPECT_EQ(workspace_->info("src").value()->kind, EntryKind::folder);
  EXPECT_EQ(workspace_->info("readme.txt").value()->size, 5u);
}

TEST_F(WorkspaceTest, WhatIsNoFileIsNotOpenedAndNothingHangs) {
  ASSERT_EQ(mkfifo((root_ + "/fifo").c_str(), 0600), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, (root_ + "/sock").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const auto& [path, what] : {std::pair{"fifo", "a FIFO"},
                                   {"sock", "a socket"},
                                   {"src", "a folder"},
                                   {"missing", "there is no 'missing'"}}) {
    const auto text = contents(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().kind(), ErrorKind::invalid);
    EXPECT_THAT(text.error().message(), HasSubstr(what));
    EXPECT_THAT(text.error().message(), HasSubstr(path));
  }
  close(listener);
  const auto devices = open_workspace("/dev").value();
  EXPECT_THAT(devices->open("null").error().message(), HasSubstr("a device"));
}

TEST_F(WorkspaceTest, UnreadableFilesAndFoldersAreDeniedAndWalkedAround) {
  fs::create_directory(root_ + "/closed");
  write(root_ + "/closed/x", "x");
  write(root_ + "/locked", "x");
  chmod((root_ + "/locked").c_str(), 0);
  chmod((root_ + "/closed").c_str(), 0);
  chmod(temp_.path().c_str(), 0755);
  // The superuser may read everything; as somebody else this thread may not.
  const int user = setfsuid(65534);
  const auto locked = contents("locked");
  const auto closed = workspace_->list("closed", 10);
  WalkReport report;
  const auto seen = walked(".", &report);
  setfsuid(static_cast<uid_t>(user));
  chmod((root_ + "/closed").c_str(), 0700);

  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().kind(), ErrorKind::denied);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().kind(), ErrorKind::denied);
  EXPECT_EQ(report, (WalkReport{1, "'closed' may not be read by this user"}));
  EXPECT_THAT(seen, ElementsAre("closed", "locked", "readme.txt", "src", "src/a.cpp", "src/deep",
                                "src/deep/b.cpp"));
}

TEST_F(WorkspaceTest, AListIsSortedAndShowsLinksAsLinks) {
  fs::create_symlink("../outside", root_ + "/away");
  const auto entries = workspace_->list(".", 10).value();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].path, "away");
  EXPECT_EQ(entries[0].info.kind, EntryKind::link);
  EXPECT_EQ(entries[1].path, "readme.txt");
  EXPECT_EQ(entries[1].info.size, 5u);
  EXPECT_EQ(entries[2].path, "src");
  EXPECT_EQ(entries[2].info.kind, EntryKind::folder);
}

TEST_F(WorkspaceTest, AListRefusesMoreThanAskedForAndWhatIsNoFolder) {
  EXPECT_EQ(workspace_->list(".", 1).error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(workspace_->list(".", 2).value().size(), 2u);
  EXPECT_THAT(workspace_->list("readme.txt", 9).error().message(), HasSubstr("is not a folder"));
  EXPECT_THAT(workspace_->list("none", 9).error().message(), HasSubstr("there is no 'none'"));
}

TEST_F(WorkspaceTest, AWalkDoesNotEnterLinks) {
  fs::create_symlink("..", root_ + "/src/around");
  fs::create_symlink("../outside", root_ + "/out");
  EXPECT_THAT(walked("."), ElementsAre("out", "readme.txt", "src", "src/a.cpp", "src/around",
                                       "src/deep", "src/deep/b.cpp"));
}

TEST_F(WorkspaceTest, AWalkMayBeginAtALinkThatStaysInside) {
  fs::create_symlink("src", root_ + "/link");
  EXPECT_THAT(walked("link"), ElementsAre("link/a.cpp", "link/deep", "link/deep/b.cpp"));
}

TEST_F(WorkspaceTest, AVisitorSkipsAFolderAndStopsAWalk) {
  std::vector<std::string> seen;
  const auto visit = [&](const Entry& entry) {
    seen.push_back(entry.path);
    if (entry.path == "src/deep") return Workspace::Walk::skip;
    return entry.path == "stop" ? Workspace::Walk::stop : Workspace::Walk::on;
  };
  write(root_ + "/stop", "");
  write(root_ + "/zzz", "");
  ASSERT_TRUE(workspace_->walk(".", visit, {}));
  EXPECT_THAT(seen, ElementsAre("readme.txt", "src", "src/a.cpp", "src/deep", "stop"));
}

TEST_F(WorkspaceTest, AWalkEndsWhenItIsStopped) {
  std::stop_source source;
  std::size_t seen = 0;
  const auto visit = [&](const Entry&) {
    ++seen;
    source.request_stop();
    return Workspace::Walk::on;
  };
  const auto done = workspace_->walk(".", visit, source.get_token());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::cancelled);
  EXPECT_EQ(seen, 1u);
}

TEST_F(WorkspaceTest, AWalkLeavesOutWhatIsTooDeepOrGone) {
  std::string deep = root_ + "/tree";
  for (int i = 0; i < 200; ++i) deep += "/d";
  fs::create_directories(deep);
  WalkReport report;
  const auto seen = walked("tree", &report);
  EXPECT_EQ(seen.size(), kMaxWalkDepth + 1);
  EXPECT_EQ(report.not_read, 1u);

  const auto visit = [&](const Entry& entry) {
    if (entry.path == "src") fs::remove_all(root_ + "/src");
    return entry.path == "tree" ? Workspace::Walk::skip : Workspace::Walk::on;
  };
  EXPECT_EQ(workspace_->walk(".", visit, {}).value(), WalkReport{});
}

TEST_F(WorkspaceTest, NamesOfAnyBytesAreListed) {
  write(root_ + "/src/line\nbreak", "x");
  write(root_ + "/src/bad\xff", "y");
  EXPECT_EQ(contents("src/line\nbreak").value(), "x");
  EXPECT_EQ(contents("src/bad\xff").value(), "y");
  EXPECT_EQ(workspace_->list("src", 10).value().size(), 4u);
  EXPECT_THAT(workspace_->open("no\n\x1b[2Jpe").error().message(), HasSubstr("no\\n\\u001b[2Jpe"));
}

TEST_F(WorkspaceTest, AnyYearIsATime) {
  const timespec far[] = {{0, UTIME_OMIT}, {1L << 33, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (root_ + "/readme.txt").c_str(), far, 0), 0);
  EXPECT_TRUE(workspace_->info("readme.txt").value());
}

TEST_F(WorkspaceTest, ARootThatIsNoFolderIsRefused) {
  EXPECT_EQ(open_workspace(root_ + "/readme.txt").error().kind(), ErrorKind::invalid);
  EXPECT_EQ(open_workspace(root_ + "/missing").error().kind(), ErrorKind::invalid);
  EXPECT_EQ(open_workspace("").error().kind(), ErrorKind::invalid);
}

// Paths put together from parts that lead in, out and around.
TEST_F(WorkspaceTest, NoPathOutOfPartsLeadsToTheSecret) {
  write(outside_ + "/elsewhere", "");
  fs::create_symlink("../outside", root_ + "/out");
  fs::create_symlink("../../outside", root_ + "/src/out");
  fs::create_symlink(outside_, root_ + "/absolute");
  fs::create_symlink("src", root_ + "/in");
  fs::create_symlink("..", root_ + "/src/up");
  fs::create_symlink(".", root_ + "/here");
  fs::create_symlink("out/secret", root_ + "/chain");
  fs::create_symlink("/proc/self/root", root_ + "/magic");
  fs::create_symlink("loop", root_ + "/loop");
  const std::vector<std::string> parts = {
      "..",   ".",    "",      "src",        "deep",   "out",   "absolute", "in",       "up",
      "here", "loop", "chain", "magic",      "secret", "a.cpp", "outside",  root_,      outside_,
      "root", "/",    "~",     "readme.txt", "...",    "..\\",  "%2e%2e",   "\xc0\xae", "proc"};
  constexpr std::uint64_t kSeed = 20260203;
  RecordProperty("seed", std::to_string(kSeed));
  Rng rng(kSeed);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string path = parts[rng.below(parts.size())];
    for (std::uint64_t more = rng.below(6); more > 0; --more) {
      path += "/" + parts[rng.below(parts.size())];
    }
    const auto text = contents(path);
    read += text ? 1 : 0;
    if (text) {
      ASSERT_NE(*text, "SECRET") << path;
      const auto real = workspace_->real_path(path);
      ASSERT_TRUE(real) << path;
      ASSERT_EQ(fs::canonical(root_ + "/" + *real), root_ + "/" + *real) << path;
      ASSERT_EQ(contents(*real).value(), *text) << path;
    }
    const auto entries = workspace_->list(path, 100);
    if (!entries) continue;
    for (const Entry& entry : *entries) ASSERT_FALSE(entry.path.ends_with("elsewhere")) << path;
  }
  EXPECT_GT(read, 100);
}

// One thread swaps a folder and a link that leads out, by rename; another opens through the name.
TEST_F(WorkspaceTest, NoRaceOfRenamesLeadsToTheSecret) {
  fs::create_directory(root_ + "/folder");
  write(root_ + "/folder/secret", "harmless");
  write(outside_ + "/elsewhere", "");
  fs::create_symlink("../outside", root_ + "/link");
  const std::string folder = root_ + "/folder";
  const std::string link = root_ + "/link";
  std::atomic<std::uint64_t> swaps = 0;
  std::jthread racer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE) == 0)
        ++swaps;
    }
  });
  constexpr int kTries = 30'000;
  constexpr int kMostTries = 3'000'000;  // on a machine that is too busy to race
  int harmless = 0;
  int denied = 0;
  for (int i = 0; i < kTries || (i < kMostTries && (harmless == 0 || denied == 0)); ++i) {
    const auto text = contents("folder/secret");
    if (text) {
      ASSERT_EQ(*text, "harmless");
      ++harmless;
    } else {
      denied += text.error().kind() == ErrorKind::denied ? 1 : 0;
    }
    if (i % 64 == 0) {
      for (const std::string& path : walked(".")) ASSERT_FALSE(path.ends_with("elsewhere"));
    }
  }
  racer.request_stop();
  racer.join();
  EXPECT_GT(harmless, 0);
  EXPECT_GT(denied, 0);
  EXPECT_GT(swaps, 0u);
}

}  // namespace
}  // namespace tug
