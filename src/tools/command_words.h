// Shell text as the simple commands it is made of, for rules that must not be talked round.
//
// POSIX text: quotes, escapes, lists, pipes, groups, subshells, redirections, here-documents,
// assignments in front, and what stands in command substitutions. Whatever the shell decides only
// when it runs (parameters, substitutions, file name patterns, tildes), what shells read
// differently, control structures and everything malformed make the whole text unclear; its
// commands are listed all the same, as far as they were found. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tug {

struct Redirection {
  bool writes = false;
  std::string target;  // a path; what only joins descriptors or is /dev/null is left out
  friend bool operator==(const Redirection&, const Redirection&) = default;
};

struct SimpleCommand {
  std::vector<std::string> assignments;  // NAME=value
  std::vector<std::string> words;        // quotes taken off
  std::vector<Redirection> redirections;
  friend bool operator==(const SimpleCommand&, const SimpleCommand&) = default;
};

struct CommandWords {
  std::vector<SimpleCommand> commands;  // in the order they end
  std::string unclear;                  // the first reason why it is; empty when all of it is sure
  friend bool operator==(const CommandWords&, const CommandWords&) = default;
};
CommandWords read_command(std::string_view text);

// Words with one space between, those that need it in single quotes; assignments first when they
// are wanted.
enum class Assignments : bool { leave_out, show };
std::string command_text(const SimpleCommand& command, Assignments assignments = Assignments::show);
// "> path" or "< path", the path without detours.
std::string redirection_text(const Redirection& redirection);

inline constexpr std::size_t kMaxCommandBytes = 64u << 10;
inline constexpr std::size_t kMaxSimpleCommands = 256;
inline constexpr int kMaxCommandNesting = 16;

}  // namespace tug
