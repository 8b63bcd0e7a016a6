// The words of the command line: commands as data, and how words are taken for them.
//
// A command is a name, flags that say where their values go, and a function that runs once every
// word is understood. Help, completion and "did you mean" are made from the same data.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command.h"

namespace tug::cli {

// A flag ("-m,--model"), or a word without one ("PROMPT"). A switch has no `value`; the others take
// one, as `--model X` or `--model=X`. A list may be given many times; of anything else the last
// counts.
struct Flag {
  const char* names;
  const char* value;  // what stands for it in the help; null for a switch
  const char* help;
  std::variant<std::string*, std::optional<std::string>*, std::vector<std::string>*, bool*> target;
  std::vector<const char*> choices = {};
  bool required = false;

  bool positional() const { return names[0] != '-'; }
  // "-m,--model" as "-m" and "--model".
  std::vector<std::string_view> spellings() const;
};

struct Command {
  const char* name;
  const char* summary;
  const char* examples = "";
  std::vector<Flag> flags = {};
  std::function<int()> run = {};
  // `schema check`. A command of commands runs by itself only where it has something to run.
  std::vector<Command> parts = {};
};

// What every command takes.
std::vector<Flag> common_flags(Options& options);
std::vector<Flag> operator+(std::vector<Flag> some, std::vector<Flag> more);

// What a line comes to. Words that are no command are a prompt for the command `run`: flags may
// stand before the command or behind it. Nothing runs before all words are understood; what is not
// understood is reported, naming the nearest flag or command, and is exit 2.
int run_command_line(std::span<const Command> commands, Options& options,
                     std::vector<std::string> words);

}  // namespace tug::cli
