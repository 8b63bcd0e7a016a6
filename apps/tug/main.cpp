// The wiring of the command: which words mean what. Each command is a file of its own.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "commands.h"
#include "tug/core/nearest.h"
#include "tug/version.h"

namespace {

using tug::cli::Options;

// Text that the user typed, made safe to show on a terminal.
std::string shown(const std::string& word) {
  std::string text;
  for (const char c : word) text += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return text;
}

int refuse(const std::string& message, const std::string& fix) {
  std::fprintf(stderr, "tug: %s\n  %s\n", message.c_str(), fix.c_str());
  return tug::cli::unusable;
}

void common(CLI::App& command, Options& options) {
  command.add_option("--state-dir", options.state_dir, "Where the journal lives")->type_name("DIR");
  command.add_option("-o,--output-format", options.format, "text, json or stream-json")
      ->check(CLI::IsMember({"text", "json", "stream-json"}))
      ->type_name("FORMAT");
  command.add_flag_callback(
      "--json", [&options] { options.format = "json"; }, "The same as -o json");
}

int unknown_word(const std::string& word, const std::vector<std::string>& commands) {
  const std::vector<std::string_view> known(commands.begin(), commands.end());
  const std::string nearest(tug::nearest_name(word, known));
  if (!nearest.empty()) {
    return refuse("there is no command \"" + shown(word) + "\"",
                  "did you mean \"" + nearest + "\"?");
  }
  return refuse("\"" + shown(word) + "\" is neither a command nor can this version run prompts",
                "`tug --help` lists the commands");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("tug: agents whose run is their log and whose knowledge is their context", "tug");
  app.set_version_flag("--version", "tug " + std::string(tug::kVersion));
  Options options;
  common(app, options);
  std::function<int()> chosen;  // runs once all words are understood

  auto* version = app.add_subcommand("version", "Print the version");
  common(*version, options);
  version->callback([&] { chosen = [&] { return tug::cli::version(options); }; });

  auto* doctor = app.add_subcommand("doctor", "Check this machine and the state folder");
  common(*doctor, options);
  doctor->callback([&] { chosen = [&] { return tug::cli::doctor(options); }; });

  tug::cli::SchemaCheck request;
  auto* schema = app.add_subcommand("schema", "JSON Schema (draft 2020-12)");
  schema->require_subcommand(1);
  auto* check = schema->add_subcommand(
      "check", "Validate JSON: 0 valid, 7 invalid, 2 unusable schema or data");
  common(*check, options);
  check->add_option("SCHEMA", request.schema, "A file, - for stdin, or the schema itself")
      ->required();
  check->add_option("DATA", request.data, "A file, or - for stdin")->required();
  check->add_flag("--all", request.all, "DATA is JSON lines; print one verdict a line");
  check->add_flag("--assert-format", request.assert_format, "Check `format` too");
  check->callback([&] { chosen = [&] { return tug::cli::schema_check(options, request); }; });

  std::vector<std::string> commands;
  for (const auto* command : app.get_subcommands([](CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    tug::cli::print(asked->help());
    return tug::cli::ok;
  } catch (const CLI::Success& said) {
    tug::cli::print(std::string(said.what()) + "\n");
    return tug::cli::ok;
  } catch (const CLI::ParseError& error) {
    return refuse(error.what(), "`tug --help` says what there is");
  }
  if (const auto extras = app.remaining(); !extras.empty()) {
    if (extras.front().starts_with("-")) {
      return refuse("there is no flag " + shown(extras.front()), "`tug --help` says what there is");
    }
    return unknown_word(extras.front(), commands);
  }
  if (!chosen) {
    std::fputs(app.help().c_str(), stderr);
    return tug::cli::unusable;
  }
  return chosen();
}
