// tug completion bash|zsh|fish
//
// Every shell gets the same two tables, made from the commands: the words that may follow a
// command, and the values that may follow a flag.
#include <memory>
#include <string>
#include <vector>

#include "commands.h"

namespace tug::cli {
namespace {

// "schema check" and what may follow it.
struct Place {
  std::string command;
  const Command* what;
};

std::vector<Place> places(std::span<const Command> commands) {
  std::vector<Place> list;
  for (const Command& command : commands) {
    list.push_back({command.name, &command});
    for (const Command& part : command.parts)
      list.push_back({std::string(command.name) + " " + part.name, &part});
  }
  return list;
}

std::string words_after(const Command& command) {
  std::string words;
  for (const Command& part : command.parts) words += std::string(part.name) + " ";
  for (const Flag& flag : command.flags) {
    if (flag.positional()) {
      for (const char* choice : flag.choices) words += std::string(choice) + " ";
      continue;
    }
    for (std::string_view spelling : flag.spellings()) words += std::string(spelling) + " ";
  }
  return words + "--help";
}

std::string names(std::span<const Command> commands) {
  std::string list;
  for (const Command& command : commands)
    list += (list.empty() ? "" : " ") + std::string(command.name);
  return list;
}

std::string patterns(const Flag& flag) {
  std::string list;
  for (std::string_view spelling : flag.spellings())
    list += (list.empty() ? "" : "|") + std::string(spelling);
  return list;
}

// `case` arms: flags with a fixed set of values; flags that take a file or a folder fall back to
// the shell's own completion.
std::string value_arms(const Command& command, const std::string& name, const char* close) {
  std::string arms;
  for (const Flag& flag : command.flags) {
    if (flag.positional() || !flag.value || flag.choices.empty()) continue;
    arms += "    " + patterns(flag) + ") " + name + "=\"";
    for (const char* choice : flag.choices) arms += std::string(choice) + " ";
    arms.back() = '"';
    arms += std::string(close) + "\n";
  }
  return arms;
}

std::string value_flags(const Command& command) {
  std::string list;
  for (const Flag& flag : command.flags) {
    if (flag.positional() || !flag.value || !flag.choices.empty()) continue;
    list += (list.empty() ? "" : "|") + patterns(flag);
  }
  return list;
}

std::string command_arms(std::span<const Command> commands, const std::string& name) {
  std::string arms;
  for (const Place& place : places(commands))
    arms += "    \"" + place.command + "\") " + name + "=\"" + words_after(*place.what) + "\" ;;\n";
  return arms;
}

// "schema|config": those that are followed by another command.
std::string names_with_parts(std::span<const Command> commands) {
  std::string list;
  for (const Command& command : commands) {
    if (!command.parts.empty()) list += (list.empty() ? "" : "|") + std::string(command.name);
  }
  return list;
}

std::string bash(std::span<const Command> commands) {
  const Command& run = commands.front();
  return "# tug completion for bash:  source <(tug completion bash)\n"
         "_tug() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command=${COMP_WORDS[1]} words=\n"
         "  case $before in\n" +
         value_arms(run, "words",
                    "; COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); return ;;") +
         "    " + value_flags(run) +
         ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n"
         "  esac\n"
         "  case $command in\n    " +
         names_with_parts(commands) +
         ") [ \"$COMP_CWORD\" -gt 2 ] && command=\"$command ${COMP_WORDS[2]}\" "
         ";;\n"
         "  esac\n"
         "  [ \"$COMP_CWORD\" -eq 1 ] && command=\n"
         "  case $command in\n"
         "    \"\") words=\"" +
         names(commands) + " --help --version\" ;;\n" + command_arms(commands, "words") +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  return 0\n"
         "}\n"
         "complete -o filenames -F _tug tug\n";
}

std::string zsh(std::span<const Command> commands) {
  const Command& run = commands.front();
  return "#compdef tug\n"
         "# tug completion for zsh:  source <(tug completion zsh)\n"
         "_tug() {\n"
         "  local command=${words[2]} before=${words[CURRENT-1]} list=\n"
         "  case $before in\n" +
         value_arms(run, "list", "; compadd -- ${=list}; return ;;") + "    " + value_flags(run) +
         ") _files; return ;;\n"
         "  esac\n"
         "  case $command in\n    " +
         names_with_parts(commands) +
         ") (( CURRENT > 3 )) && command=\"$command ${words[3]}\" ;;\n"
         "  esac\n"
         "  (( CURRENT == 2 )) && command=\n"
         "  case $command in\n"
         "    \"\") list=\"" +
         names(commands) + " --help --version\" ;;\n" + command_arms(commands, "list") +
         "  esac\n"
         "  compadd -- ${=list} || _files\n"
         "}\n"
         "compdef _tug tug\n";
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("\\'") : std::string(1, c);
  return out + "'";
}

std::string fish(std::span<const Command> commands) {
  std::string text = "# tug completion for fish:  tug completion fish | source\n";
  for (const Command& command : commands) {
    text += "complete -c tug -n __fish_use_subcommand -a " + std::string(command.name) + " -d " +
            quoted(command.summary) + "\n";
    const std::string seen =
        " -n " + quoted("__fish_seen_subcommand_from " + std::string(command.name));
    for (const Command& part : command.parts) {
      text += "complete -c tug" + seen + " -a " + part.name + " -d " + quoted(part.summary) + "\n";
    }
    const bool own = command.parts.empty() || command.run;
    const Command& last = own ? command : command.parts.front();
    for (const Flag& flag : last.flags) {
      std::string values;
      for (const char* choice : flag.choices)
        values += (values.empty() ? "" : " ") + std::string(choice);
      if (flag.positional()) {
        if (!values.empty()) text += "complete -c tug" + seen + " -f -a " + quoted(values) + "\n";
        continue;
      }
      text += "complete -c tug" + seen;
      for (std::string_view spelling : flag.spellings()) {
        text += spelling.starts_with("--") ? " -l " + std::string(spelling.substr(2))
                                           : " -s " + std::string(spelling.substr(1));
      }
      if (flag.value) text += values.empty() ? " -r" : " -x -a " + quoted(values);
      text += " -d " + quoted(flag.help) + "\n";
    }
  }
  return text;
}

}  // namespace

Command completion_command(Options& options, std::span<const Command> const& all) {
  auto shell = std::make_shared<std::string>();
  return {.name = "completion",
          .summary = "Completion for a shell",
          .examples = "  source <(tug completion bash)\n  tug completion fish | source\n",
          .flags = std::vector<Flag>{{.names = "SHELL",
                                      .value = "SHELL",
                                      .help = "bash, zsh or fish",
                                      .target = shell.get(),
                                      .choices = {"bash", "zsh", "fish"},
                                      .required = true}} +
                   common_flags(options),
          .run = [shell, &all] {
            print(*shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
            return ok;
          }};
}

}  // namespace tug::cli
