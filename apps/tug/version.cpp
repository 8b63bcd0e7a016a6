#include "tug/version.h"

#include "commands.h"

namespace tug::cli {
namespace {

int version(const Options& options) {
  if (!options.json()) {
    print("tug " + std::string(kVersion) + "\n");
    return ok;
  }
  const BuildInfo build = build_info();
  print(print_json(Json::object({{"version", kVersion},
                                 {"compiler", build.compiler},
                                 {"sqlite", build.sqlite},
                                 {"openssl", build.openssl},
                                 {"journal_format", build.journal_format},
                                 {"event_schema", build.event_schema}})) +
        "\n");
  return ok;
}

}  // namespace

Command version_command(Options& options) {
  return {.name = "version",
          .summary = "Print the version",
          .flags = common_flags(options),
          .run = [&options] { return version(options); }};
}

}  // namespace tug::cli
