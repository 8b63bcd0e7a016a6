#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "commands.h"
#include "tug/core/terminal_text.h"
#include "tug/store/record_stores.h"
#include "tug/version.h"

namespace tug::cli {
namespace {

constexpr std::size_t kVerified = 1000;  // runs, the newest

struct Finding {
  std::string name;
  std::string state;  // ok | note | bad
  std::string text;
  std::string fix;
};

Finding program() {
  const BuildInfo build = build_info();
  return {"tug", "ok", std::string(kVersion) + ", " + build.compiler + ", OpenSSL " + build.openssl,
          ""};
}

Finding machine() {
  utsname system = {};
  uname(&system);
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  return {"machine", "ok",
          std::string(system.sysname) + " " + system.release + ", " +
              std::to_string(std::thread::hardware_concurrency()) + " cores, " +
              std::to_string(files.rlim_cur) + " open files",
          ""};
}

// Versions before 3.51.3 can damage a log that is reset beside a commit. The journal never lets the
// two meet.
Finding sqlite() {
  const std::string version = build_info().sqlite;
  int number[3] = {};
  if (std::sscanf(version.c_str(), "%d.%d.%d", &number[0], &number[1], &number[2]) != 3) {
    return {"sqlite", "note", version, "its version cannot be read"};
  }
  const int value = number[0] * 1'000'000 + number[1] * 1000 + number[2];
  if (value >= 3'051'003) return {"sqlite", "ok", version, ""};
  return {"sqlite", "note",
          version +
              " has the log-reset fault of versions before 3.51.3; journal.lock keeps the journal "
              "clear of it",
          "do not let other programs write to journal.db"};
}

Finding unusable_state(const std::string& path, const std::string& what) {
  return {"state", "bad", path + ": " + what,
          "make it a folder of this user, or name another --state-dir"};
}

// The nearest folder above `path` that is there.
std::string existing_parent(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path parent = std::filesystem::absolute(path, ignored);
  while (parent.has_relative_path() && access(parent.c_str(), F_OK) != 0)
    parent = parent.parent_path();
  return parent;
}

// What the first run would find, without making anything.
std::optional<Finding> not_there_yet(const std::string& folder) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode)) return unusable_state(folder, "it is not a folder");
    if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
      return unusable_state(folder, std::strerror(errno));
    const bool empty = access((folder + "/journal.db").c_str(), F_OK) != 0 &&
                       access((folder + "/journal.db-wal").c_str(), F_OK) != 0;
    if (!empty) return std::nullopt;
    return Finding{"state", "ok", folder + " has no journal yet; the first run makes it", ""};
  }
  if (errno != ENOENT) return unusable_state(folder, std::strerror(errno));
  if (lstat(folder.c_str(), &status) == 0)
    return unusable_state(folder, "it is a link that leads nowhere");
  const std::string parent = existing_parent(folder);
  if (stat(parent.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      access(parent.c_str(), W_OK | X_OK) != 0) {
    return unusable_state(folder, "it is not there and cannot be made in " + parent);
  }
  return Finding{"state", "ok", folder + " is not there yet; the first run makes it", ""};
}

Finding state(const std::string& folder) {
  if (auto early = not_there_yet(folder)) return *early;
  auto store = open_sqlite_record_store(folder);
  if (!store) return {"state", "bad", store.error().message(), store.error().fix()};
  if (auto whole = (*store)->check_integrity(); !whole) {
    return {"state", "bad", whole.error().message(), whole.error().fix()};
  }
  auto roots = (*store)->list(kVerified + 1);
  if (!roots) return {"state", "bad", roots.error().message(), roots.error().fix()};
  const bool more = roots->size() > kVerified;
  if (more) roots->resize(kVerified);
  std::vector<RunId> holding;
  for (const RootInfo& root : *roots) {
    if (auto verified = verify_root(**store, root.who->run_id, &holding); !verified) {
      return {"state", "bad", verified.error().message(), verified.error().fix()};
    }
  }
  return {"state", "ok",
          folder + ", the chains of " + (more ? "the newest " : "all ") +
              std::to_string(roots->size()) + " runs hold",
          ""};
}

Finding space(const std::string& state_folder) {
  const std::string folder = existing_parent(state_folder);
  struct statvfs disk = {};
  if (statvfs(folder.c_str(), &disk) != 0) return {"disk", "note", folder + " cannot be asked", ""};
  const std::uint64_t megabytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize >> 20;
  const std::string text = std::to_string(megabytes) + " MB free for " + folder;
  if (megabytes < 64) return {"disk", "bad", text, "free space, or name another --state-dir"};
  return {"disk", megabytes < 1024 ? "note" : "ok", text, ""};
}

int doctor(const Options& options) {
  std::vector<Finding> findings = {program(), machine(), sqlite()};
  if (auto folder = state_folder(options); folder) {
    findings.push_back(state(*folder));
    findings.push_back(space(*folder));
  } else {
    findings.push_back({"state", "bad", folder.error().message(), folder.error().fix()});
  }
  bool bad = false;
  Json list = Json::array();
  std::string text;
  for (const Finding& finding : findings) {
    bad |= finding.state == "bad";
    list.push_back(Json::object({{"check", finding.name},
                                 {"state", finding.state},
                                 {"text", finding.text},
                                 {"fix", finding.fix.empty() ? Json() : Json(finding.fix)}}));
    const std::string mark = finding.state == "ok"     ? "ok  "
                             : finding.state == "note" ? "note"
                                                       : "BAD ";
    text += mark + "  " + finding.name + std::string(9 - finding.name.size(), ' ') + finding.text +
            "\n";
    if (!finding.fix.empty()) text += "               " + finding.fix + "\n";
  }
  if (options.json()) {
    print(print_json(Json::object({{"ok", !bad}, {"checks", std::move(list)}})) + "\n");
  } else {
    print(text);
  }
  return bad ? unusable : ok;
}

}  // namespace

Command doctor_command(Options& options) {
  return {.name = "doctor",
          .summary = "Check this machine and the state folder",
          .flags = common_flags(options),
          .run = [&options] { return doctor(options); }};
}

}  // namespace tug::cli
