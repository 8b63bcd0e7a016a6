#include "command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "tug/core/nearest.h"
#include "tug/version.h"

namespace tug::cli {
namespace {

constexpr std::string_view kAbout =
    "tug: agents whose run is their log and whose knowledge is their context";

int refuse(const Options& options, std::string message, std::string fix) {
  return report(options, Error(ErrorKind::invalid, std::move(message), std::move(fix)), unusable);
}

// Whether the words ask for JSON, also when the rest of them is not understood.
bool wants_json(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : "";
    if (word == "--") return false;
    if (word == "--json" || word.starts_with("-ojson") || word.starts_with("-ostream-json"))
      return true;
    if (word.starts_with("--output-format=") && word.find("json") != word.npos) return true;
    if ((word == "-o" || word == "--output-format") && next.find("json") != next.npos) return true;
  }
  return false;
}

const Command* find(std::span<const Command> commands, std::string_view name) {
  for (const Command& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::vector<std::string_view> names_of(std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

// The command that a single word was probably meant to be: the nearest within two edits.
std::string meant_command(std::string_view word, std::span<const Command> commands) {
  std::string nearest;
  std::size_t least = 3;
  for (const Command& command : commands) {
    const std::size_t away = edits_between(word, command.name);
    if (away < least && away < std::string_view(command.name).size()) {
      least = away;
      nearest = command.name;
    }
  }
  return nearest;
}

bool takes_value(std::span<const Command> commands, std::string_view word) {
  for (const Command& command : commands) {
    for (const Flag& flag : command.flags) {
      if (flag.positional() || !flag.value) continue;
      for (std::string_view spelling : flag.spellings()) {
        if (spelling == word) return true;
      }
    }
    if (takes_value(command.parts, word)) return true;
  }
  return false;
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The first word that is neither a flag nor the value of one.
std::size_t first_plain_word(std::span<const Command> commands,
                             const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") return i + 1 < words.size() ? i + 1 : kNone;
    if (!words[i].starts_with('-') || words[i] == "-") return i;
    if (takes_value(commands, words[i])) ++i;
  }
  return kNone;
}

std::string overview(std::span<const Command> commands) {
  std::string text = std::string(kAbout) +
                     "\n\nUsage: tug [FLAGS] PROMPT\n       tug COMMAND [FLAGS]\n\nCommands:\n";
  std::size_t widest = 0;
  for (const Command& command : commands)
    widest = std::max(widest, std::string_view(command.name).size());
  for (const Command& command : commands) {
    const std::string_view name = command.name;
    text += "  " + std::string(name) + std::string(widest + 2 - name.size(), ' ') +
            command.summary + "\n";
  }
  text +=
      "\n`tug COMMAND --help` says more; `tug PROMPT` is `tug run PROMPT`.\n\nExamples:\n"
      "  tug \"list the files here and count the lines of README.md\"\n"
      "  git diff | tug -m script/review.jsonl \"what changed?\"\n"
      "  tug runs\n";
  return text;
}

// One command as CLI11 sees it.
struct Parser {
  CLI::App app;

  Parser(const Command& command, const std::string& title) : app(command.summary, "tug " + title) {
    app.allow_extras();
    for (const Flag& flag : command.flags) add(flag);
    if (command.examples[0]) app.footer("Examples:\n" + std::string(command.examples));
  }

  void add(const Flag& flag) {
    if (auto* const* on = std::get_if<bool*>(&flag.target)) {
      app.add_flag(flag.names, **on, flag.help);
      return;
    }
    CLI::Option* option = nullptr;
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&flag.target)) {
      option = app.add_option(flag.names, **list, flag.help);
      option->allow_extra_args(false);
    } else if (auto* const* maybe = std::get_if<std::optional<std::string>*>(&flag.target)) {
      option = app.add_option_function<std::string>(
          flag.names, [to = *maybe](const std::string& given) { *to = given; }, flag.help);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      option = app.add_option(flag.names, *std::get<std::string*>(flag.target), flag.help);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    option->type_name(flag.positional() ? "" : flag.value);
    if (flag.required) option->required();
  }
};

std::string joined(const std::vector<const char*>& choices) {
  std::string text;
  for (const char* choice : choices) text += (text.empty() ? "" : ", ") + std::string(choice);
  return text;
}

// CLI11's own validator spells a choice with a list of numbers beside it; this one names the flag.
Result<void> check_choices(const Command& command) {
  for (const Flag& flag : command.flags) {
    auto* const* given = std::get_if<std::string*>(&flag.target);
    if (!given || flag.choices.empty() || (*given)->empty()) continue;
    const std::vector<std::string_view> known(flag.choices.begin(), flag.choices.end());
    if (std::find(known.begin(), known.end(), **given) != known.end()) continue;
    const std::string nearest(nearest_name(**given, known));
    return fail(ErrorKind::invalid,
                std::string(flag.spellings().back()) + ": \"" + **given + "\" is not one of " +
                    joined(flag.choices),
                nearest.empty() ? "take one of them" : "did you mean \"" + nearest + "\"?");
  }
  return {};
}

int unknown_words(const Options& options, const Command& command, const std::string& title,
                  const std::vector<std::string>& extras) {
  for (const std::string& word : extras) {
    if (!word.starts_with('-') || word == "-") continue;
    std::vector<std::string_view> known{"--help"};
    for (const Flag& flag : command.flags) {
      for (std::string_view spelling : flag.spellings()) {
        if (spelling.starts_with("--")) known.push_back(spelling);
      }
    }
    const std::string name = word.substr(0, word.find('='));
    const std::string nearest(nearest_name(name, known));
    return refuse(options, "`tug " + title + "` has no flag " + name,
                  nearest.empty() ? "`tug " + title + " --help` lists the flags"
                                  : "did you mean " + nearest + "?");
  }
  const bool prompts = std::any_of(command.flags.begin(), command.flags.end(), [](const Flag& f) {
    return f.positional() && std::string_view(f.names) == "PROMPT";
  });
  return refuse(
      options, "\"" + extras.front() + "\" is one word too many for `tug " + title + "`",
      prompts ? "put the prompt into quotes" : "`tug " + title + " --help` says what fits");
}

int run_one(const Command& command, const std::string& title, Options& options,
            std::vector<std::string> words) {
  Parser parser(command, title);
  const bool json = wants_json(words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    parser.app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    print(parser.app.help());
    return finish(ok);
  } catch (const CLI::ParseError& error) {
    if (json) options.format = "json";
    return refuse(options, error.what(), "`tug " + title + " --help` says what fits");
  }
  auto extras = parser.app.remaining();
  std::erase(extras, "--");  // CLI11 hands the mark back
  if (!extras.empty()) return unknown_words(options, command, title, extras);
  if (auto fine = check_choices(command); !fine) {
    options.format = json ? "json" : "text";
    return report(options, fine.error(), unusable);
  }
  return finish(command.run());
}

// `tug schema check ..`, `tug config path`
int run_part(const Command& command, Options& options, std::vector<std::string> words) {
  const std::size_t place = first_plain_word({&command, 1}, words);
  const bool asked = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  if (place == kNone && asked) {
    std::string text = std::string(command.summary) + "\n\n";
    for (const Command& part : command.parts)
      text += "  tug " + std::string(command.name) + " " + part.name + ": " + part.summary + "\n";
    if (command.run) text += "\n" + Parser(command, command.name).app.help();
    print(text);
    return finish(ok);
  }
  if (place == kNone && command.run)
    return run_one(command, command.name, options, std::move(words));
  if (wants_json(words)) options.format = "json";
  const auto known = names_of(command.parts);
  if (place == kNone) {
    return refuse(options, "`tug " + std::string(command.name) + "` needs to know what to do",
                  "`tug " + std::string(command.name) + " " + std::string(known.front()) + "`");
  }
  const std::string word = words[place];
  const Command* part = find(command.parts, word);
  if (!part) {
    const std::string nearest(nearest_name(word, known));
    return refuse(
        options, "there is no `tug " + std::string(command.name) + " " + word + "`",
        "did you mean \"" + (nearest.empty() ? std::string(known.front()) : nearest) + "\"?");
  }
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(place));
  return run_one(*part, std::string(command.name) + " " + part->name, options, std::move(words));
}

bool is_top_flag(const std::vector<std::string>& words, std::string_view a, std::string_view b) {
  return words.size() == 1 && (words[0] == a || words[0] == b);
}

}  // namespace

std::vector<std::string_view> Flag::spellings() const {
  std::vector<std::string_view> list;
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    list.push_back(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return list;
}

std::vector<Flag> operator+(std::vector<Flag> some, std::vector<Flag> more) {
  some.insert(some.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  return some;
}

std::vector<Flag> common_flags(Options& options) {
  return {{"-o,--output-format",
           "FORMAT",
           "text, json or stream-json",
           &options.format,
           {"text", "json", "stream-json"}},
          {"--json", nullptr, "The same as -o json", &options.json_flag},
          {"--state-dir", "DIR", "Where the journal lives", &options.state_dir}};
}

int run_command_line(std::span<const Command> commands, Options& options,
                     std::vector<std::string> words) {
  if (is_top_flag(words, "--help", "-h") || is_top_flag(words, "help", "help")) {
    print(overview(commands));
    return finish(ok);
  }
  if (is_top_flag(words, "--version", "--version")) {
    print("tug " + std::string(kVersion) + "\n");
    return finish(ok);
  }
  const std::size_t place = first_plain_word(commands, words);
  const bool forced = place != kNone && place > 0 && words[place - 1] == "--";
  const Command* command = place == kNone || forced ? nullptr : find(commands, words[place]);
  if (command) {
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(place));
    if (!command->parts.empty()) return run_part(*command, options, std::move(words));
    return run_one(*command, command->name, options, std::move(words));
  }
  if (words.empty() && isatty(STDIN_FILENO)) {
    const std::string text = overview(commands);
    std::fwrite(text.data(), 1, text.size(), stderr);
    return unusable;
  }
  if (place != kNone && !forced) {
    const std::string& word = words[place];
    const bool single = place + 1 == words.size() || words[place + 1].starts_with('-');
    const std::string meant =
        single && word.find(' ') == word.npos ? meant_command(word, commands) : std::string();
    if (!meant.empty()) {
      if (wants_json(words)) options.format = "json";
      return refuse(options, "there is no command \"" + word + "\"",
                    "did you mean \"" + meant + "\"? `tug run " + word + "` takes it for a prompt");
    }
  }
  const Command* run = find(commands, "run");
  return run_one(*run, "run", options, std::move(words));
}

}  // namespace tug::cli
