// The wiring of the command: which words mean what. Each command is a file of its own.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "tug/core/nearest.h"
#include "tug/version.h"

namespace {

using tug::cli::Options;

// Whether the words ask for JSON, also when the rest of them is not understood.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    const std::string_view next(i + 1 < argc ? argv[i + 1] : "");
    if (word == "--json" || word == "--output-format=json" || word == "-ojson") return true;
    if ((word == "-o" || word == "--output-format") && next.find("json") != next.npos) return true;
  }
  return false;
}

int refuse(const Options& options, std::string message, std::string fix) {
  const tug::Error error(tug::ErrorKind::invalid, std::move(message), std::move(fix));
  return tug::cli::report(options, error, tug::cli::unusable);
}

void common(CLI::App& command, Options& options) {
  command.add_option("--state-dir", options.state_dir, "Where the journal lives")->type_name("DIR");
  command.add_option("-o,--output-format", options.format, "text, json or stream-json")
      ->check(CLI::IsMember({"text", "json", "stream-json"}))
      ->type_name("FORMAT");
  command.add_flag_callback(
      "--json", [&options] { options.format = "json"; }, "The same as -o json");
}

int unknown_word(const Options& options, const std::string& word,
                 const std::vector<std::string>& commands) {
  const std::vector<std::string_view> known(commands.begin(), commands.end());
  const std::string nearest(tug::nearest_name(word, known));
  if (!nearest.empty()) {
    return refuse(options, "there is no command \"" + word + "\"",
                  "did you mean \"" + nearest + "\"?");
  }
  return refuse(options, "\"" + word + "\" is neither a command nor can this version run prompts",
                "`tug --help` lists the commands");
}

int run(int argc, char** argv) {
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
  schema->allow_extras();
  common(*schema, options);
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
    return tug::cli::finish(tug::cli::ok);
  } catch (const CLI::Success& said) {
    tug::cli::print(std::string(said.what()) + "\n");
    return tug::cli::finish(tug::cli::ok);
  } catch (const CLI::ParseError& error) {
    if (wants_json(argc, argv)) options.format = "json";
    return refuse(options, error.what(), "`tug --help` says what there is");
  }
  if (const auto extras = app.remaining(); !extras.empty()) {
    if (extras.front().starts_with("-")) {
      return refuse(options, "there is no flag " + extras.front(),
                    "`tug --help` says what there is");
    }
    return unknown_word(options, extras.front(), commands);
  }
  if (schema->parsed() && !check->parsed()) {
    const auto words = schema->remaining();
    if (!words.empty()) return unknown_word(options, words.front(), {"check"});
    return refuse(options, "`tug schema` needs to know what to do",
                  "`tug schema check SCHEMA DATA`");
  }
  if (!chosen) {
    std::fputs(app.help().c_str(), stderr);
    return tug::cli::unusable;
  }
  return tug::cli::finish(chosen());
}

}  // namespace

int main(int argc, char** argv) {
  tug::cli::claim_standard_descriptors();
  auto code = tug::guarded("tug", [&] { return run(argc, argv); });
  if (code) return *code;
  return tug::cli::report({}, code.error(), tug::cli::failed);
}
