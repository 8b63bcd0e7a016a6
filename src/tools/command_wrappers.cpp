#include "tools/command_wrappers.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace tug {
namespace {

using Args = std::span<const std::string>;

// Lists are texts with one space between.
bool any_word(std::string_view list, auto holds) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (holds(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}
bool among(std::string_view list, std::string_view word) {
  return any_word(list, [word](std::string_view one) { return one == word; });
}

// What these run is always somebody else.
constexpr std::string_view kLaunchers =
    // shells
    "sh bash dash zsh ksh mksh pdksh ash rbash rksh rzsh yash posh fish csh tcsh busybox "
    "toybox elvish nu xonsh pwsh powershell cmd cmd.exe rc "
    // of the shell itself
    "eval exec source . command builtin alias trap time enable hash bind complete compgen fc "
    "noglob nocorrect "
    // as somebody else, or with another environment, priority, terminal or limit
    "env sudo doas su runuser pkexec gosu su-exec sg newgrp run0 machinectl nice ionice chrt "
    "taskset numactl prlimit cpulimit softlimit chpst setpriv nohup setsid timeout gtimeout "
    "gtime stdbuf unbuffer script expect rlwrap flock lckdo setlock setarch linux32 linux64 "
    "i386 x86_64 uname26 faketime chronic ifne pee zrun direnv dotenv tini dumb-init "
    "start-stop-daemon daemonize daemon runcon aa-exec cgexec systemd-run dbus-run-session "
    "dbus-launch xvfb-run openvt torsocks torify tsocks proxychains fakeroot fakechroot proot "
    // in another place
    "unshare nsenter chroot capsh bwrap firejail systemd-nspawn ssh slogin rsh mosh sshpass "
    "autossh adb vagrant "
    // again and again, later, or once for each
    "xargs parallel rush watch entr hyperfine at batch crontab run-parts tmux screen dtach "
    "abduco "
    // looked at from outside
    "strace ltrace gdb lldb valgrind perf rr catchsegv ld.so "
    // with a prompt of their own that takes commands
    "vi vim nvim view vimdiff rvim ex ed red emacs nano pico joe mc less more most man info "
    "ftp sftp telnet socat mail mutt irb ipython ghci jshell gnuplot octave "
    // fetch something and run it
    "npx bunx uvx pipx nix-shell";

// Programs that run what stands after one of these words.
struct Subcommands {
  std::string_view programs;
  std::string_view words;
};
constexpr Subcommands kSubcommands[] = {
    {"docker podman nerdctl buildah crictl ctr kubectl oc lxc incus docker-compose",
     "run exec create start debug compose shell"},
    {"npm pnpm yarn corepack", "exec x dlx explore"},
    {"nix conda mamba poetry pipenv uv pdm hatch rye", "run shell develop exec"},
    {"bundle ip", "exec"},
    {"deno bun", "eval repl x exec"},
};

// Options that name a program, a script or a piece of code. Long ones also when they are shortened.
struct Options {
  std::string_view programs;
  std::string_view letters;  // alone or among others behind one dash
  std::string_view names;
};
constexpr Options kOptions[] = {
    {"find gfind", "", "exec execdir ok okdir"},
    {"fd fdfind", "xX", "exec exec-batch"},
    {"tar gtar bsdtar", "IF",
     "checkpoint-action to-command use-compress-program info-script new-volume-script rsh-command "
     "rmt-command"},
    {"rsync", "e", "rsh rsync-path"},
    {"scp", "SoD", ""},
    {"sort", "", "compress-program"},
    {"split", "", "filter"},
    {"zip", "T", "unzip-command test"},
    {"nc ncat netcat", "ec", "exec sh-exec lua-exec"},
    {"make gmake", "fEIe", "eval file makefile include-dir environment-overrides"},
    {"cmake", "", "E P"},
    {"ctest", "", "S build-and-test"},
    {"cargo", "", "config"},
    {"go", "", "exec toolexec vettool overlay"},
    {"cc gcc c++ g++ clang clang++", "", "wrapper specs fplugin plugin"},
    {"wget", "", "use-askpass"},
    {"rg", "", "pre hostname-bin"},
    {"sqlite", "", "cmd init"},
    {"npm", "c", ""},
};

// Interpreters. A script of theirs is what it says; code on the line, or read from the input, is
// not.
struct Interpreter {
  std::string_view programs;
  std::string_view flags;   // letters that change nothing about what runs
  std::string_view valued;  // letters that take the next word when nothing follows them
  std::string_view script;  // letters whose word names what runs
};
constexpr Interpreter kInterpreters[] = {
    {"python pypy", "bBdEIOPqsSuv", "WX", "m"},
    {"perl", "cwWtTvV", "I", ""},
    {"ruby", "wvcl", "I", "S"},
    {"node nodejs", "c", "", ""},
    {"php", "nlqHi", "", "f"},
    {"lua luajit", "vEW", "", ""},
    {"julia guile", "q", "", ""},
    {"tclsh wish R Rscript racket sbcl ocaml groovy scala osascript raku", "", "", ""},
};

// Variables that decide what runs.
constexpr std::string_view kVariables =
    "PATH IFS ENV BASH_ENV SHELL SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND EDITOR VISUAL PAGER "
    "MANPAGER BROWSER GIT_SSH GIT_EDITOR GIT_PAGER GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_EXEC_PATH "
    "GIT_DIR GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS LESSOPEN LESSCLOSE LESS CDPATH HOME "
    "XDG_CONFIG_HOME ZDOTDIR CC CXX LD MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS TAR_OPTIONS RUSTC "
    "RUSTC_WRAPPER RUSTFLAGS GOFLAGS CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS NODE_OPTIONS "
    "NODE_PATH RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB PERLLIB GCONV_PATH TERMINFO LOCPATH "
    "NLSPATH";
constexpr std::string_view kVariableStarts =
    "LD_ DYLD_ PYTHON BASH_FUNC_ GIT_CONFIG GIT_SSH_ NPM_CONFIG_ npm_config_ CARGO_ LUA_ PHP";

// Builtins that calculate with their operands, and so run what stands in a subscript.
constexpr std::string_view kCalculating =
    "let declare typeset local readonly export unset read printf test [ mapfile readarray "
    "getopts wait shift return exit";
// Those that set variables for what follows.
constexpr std::string_view kSetting = "declare typeset local readonly export";

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

// "python3.12" is python, "perl5.36.0" is perl, "vim.basic" is vim.
std::string_view without_version(std::string_view name) {
  for (const std::string_view flavour :
       {".basic", ".tiny", ".nox", ".gtk3", ".static", "-static", ".exe"}) {
    if (name.size() > flavour.size() && name.ends_with(flavour)) name.remove_suffix(flavour.size());
  }
  const std::size_t end = name.find_last_not_of("0123456789.-");
  return end == name.npos ? name : name.substr(0, end + 1);
}

bool is_long(std::string_view word) { return word.starts_with("--") && word.size() > 2; }
bool is_cluster(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-';
}
std::string_view option_name(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word.substr(0, word.find('='));
}

// A shortened option is taken for the longest it can mean.
bool names_option(std::string_view word, std::string_view names) {
  if (!word.starts_with('-')) return false;
  const std::string_view name = option_name(word);
  if (name.empty()) return false;
  const bool may_be_short = is_long(word);
  return any_word(names, [&](std::string_view known) {
    return name == known || (may_be_short && known.starts_with(name));
  });
}

bool has_letter(std::string_view word, std::string_view letters) {
  return is_cluster(word) && word.find_first_of(letters, 1) != word.npos;
}

bool sets_what_runs(std::string_view assignment) {
  std::string_view name = assignment.substr(0, assignment.find_first_of("=+"));
  return among(kVariables, name) || name.ends_with("_COMMAND") ||
         any_word(kVariableStarts, [&](std::string_view start) { return name.starts_with(start); });
}

// Whether an interpreter gets code instead of a script.
bool takes_code(const Interpreter& program, Args args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (word == "--") return i + 1 == args.size() || args[i + 1] == "-";
    if (!word.starts_with('-')) return false;
    if (is_long(word)) {
      constexpr std::string_view kAnswers = "version help check test no-warnings";
      if (!among(kAnswers, option_name(word))) return true;
      if (option_name(word) == "version" || option_name(word) == "help") return false;
      continue;
    }
    if (word == "-") return true;
    for (std::size_t at = 1; at < word.size(); ++at) {
      const bool last = at + 1 == word.size();
      if (program.script.contains(word[at])) {
        constexpr std::string_view kPrompts = "timeit code asyncio pdb idlelib";
        if (last && i + 1 == args.size()) return true;
        return among(kPrompts, last ? args[i + 1] : word.substr(at + 1));
      }
      if (program.valued.contains(word[at])) {
        if (last) ++i;
        break;
      }
      if (word[at] == 'V' && word.size() == 2) return false;
      if (!program.flags.contains(word[at])) return true;
    }
  }
  return true;
}

bool awk_runs_something(Args args) {
  return std::ranges::any_of(args, [](std::string_view word) {
    return word.contains("system") || word.find_first_of("|@>") != word.npos ||
           (word.starts_with('-') && !word.starts_with("-F") && !word.starts_with("-v"));
  });
}

// One command of a sed script that only prints, deletes, quits or replaces.
bool sed_is_plain(std::string_view script) {
  script.remove_prefix(std::min(script.find_first_not_of("0123456789,$ "), script.size()));
  if (script == "p" || script == "d" || script == "q" || script == "=") return true;
  if (script.size() < 4 || script[0] != 's') return false;
  const char mark = script[1];
  if (mark == '\\' || mark == '\n') return false;
  int marks = 1;
  std::size_t at = 2;
  for (; at < script.size() && marks < 3; ++at) {
    if (script[at] == '\\') {
      ++at;
    } else if (script[at] == mark) {
      ++marks;
    } else if (script[at] == '\n') {
      return false;
    }
  }
  return marks == 3 && script.find_first_not_of("gpiI0123456789", at) == script.npos;
}

bool sed_runs_something(Args args) {
  bool has_script = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (word == "-e" || word == "--expression") {
      if (++i == args.size() || !sed_is_plain(args[i])) return true;
      has_script = true;
    } else if (word.starts_with('-') && word.size() > 1) {
      if (word.find_first_not_of("nErsuz", 1) != word.npos && word != "-i") return true;
    } else if (!has_script) {
      if (!sed_is_plain(word)) return true;
      has_script = true;
    }
  }
  return !has_script;
}

bool git_runs_something(Args args) {
  constexpr std::string_view kValued = "-C --git-dir --work-tree --namespace";
  constexpr std::string_view kHarmless =
      "--no-pager -P --version --help --bare --literal-pathspecs --no-optional-locks";
  constexpr std::string_view kRunning =
      "filter-branch difftool mergetool config send-email instaweb credential daemon shell "
      "upload-pack p4 svn gui citool for-each-repo";
  static constexpr std::string_view kProgramOptions =
      "upload-pack receive-pack exec ext-diff config open-files-in-pager extcmd interactive "
      "template textconv";
  std::size_t i = 0;
  for (; i < args.size() && args[i].starts_with('-'); ++i) {
    if (among(kValued, args[i])) {
      ++i;
    } else if (!among(kHarmless, args[i])) {
      return true;
    }
  }
  if (i >= args.size()) return false;
  const std::string_view verb = args[i];
  const Args rest = args.subspan(i + 1);
  if (among(kRunning, verb)) return true;
  const auto any = [&rest](auto holds) { return std::ranges::any_of(rest, holds); };
  const auto is = [&any](std::string_view wanted) {
    return any([wanted](std::string_view word) { return word == wanted; });
  };
  if ((verb == "bisect" && is("run")) || (verb == "submodule" && is("foreach"))) return true;
  if (verb == "rebase" && any([](std::string_view word) { return has_letter(word, "xi"); }))
    return true;
  if (verb == "grep" && any([](std::string_view word) { return has_letter(word, "O"); }))
    return true;
  if ((verb == "clone" || verb == "ls-remote") &&
      any([](std::string_view word) { return has_letter(word, "uc"); })) {
    return true;
  }
  return any([](std::string_view word) {
    return names_option(word, kProgramOptions) || word.starts_with("ext::");
  });
}

std::string shown(std::string_view name) { return "`" + std::string(name.substr(0, 80)) + "`"; }

}  // namespace

std::optional<std::string> hides_command(const SimpleCommand& command) {
  for (const std::string& assignment : command.assignments) {
    if (sets_what_runs(assignment)) {
      return shown(std::string_view(assignment).substr(0, assignment.find_first_of("=+"))) +
             " is set, which decides what runs";
    }
  }
  if (command.words.empty()) return std::nullopt;
  const std::string_view given = base_name(command.words[0]);
  const std::string_view plain = without_version(given);
  const Args args = Args(command.words).subspan(1);
  const auto is = [&](std::string_view name) { return given == name || plain == name; };
  const auto any = [&args](auto holds) { return std::ranges::any_of(args, holds); };
  const std::string runs = shown(given) + " runs another command";

  if (any_word(kLaunchers, is) || given.starts_with("ld-linux") || given.starts_with("ld-musl") ||
      given.starts_with("qemu-")) {
    return runs;
  }
  for (const Subcommands& program : kSubcommands) {
    if (any_word(program.programs, is) &&
        any([&](std::string_view word) { return among(program.words, word); })) {
      return runs;
    }
  }
  for (const Options& program : kOptions) {
    if (any_word(program.programs, is) && any([&](std::string_view word) {
          return has_letter(word, program.letters) || names_option(word, program.names);
        })) {
      return runs;
    }
  }
  for (const Interpreter& program : kInterpreters) {
    if (any_word(program.programs, is) && takes_code(program, args))
      return shown(given) + " runs code that is not in a file";
  }
  // The first word of tar is a bunch of letters without a dash, too.
  if (any_word("tar gtar bsdtar", is) && !args.empty() && !args[0].starts_with('-') &&
      args[0].find_first_of("IF") != args[0].npos)
    return runs;
  if (any_word("make gmake", is) && any([](std::string_view word) { return word.contains('='); }))
    return runs;
  if (any_word("awk gawk mawk nawk original-awk", is) && awk_runs_something(args)) {
    return runs;
  }
  if (any_word("sed gsed", is) && sed_runs_something(args)) return runs;
  if (is("git") && git_runs_something(args)) return runs;
  if (is("sqlite") && any([](std::string_view word) {
        return word.contains(".sh") || word.contains(".sy") || word.contains("load_extension");
      })) {
    return runs;
  }
  if (among(kSetting, given) &&
      any([](std::string_view word) { return sets_what_runs(word) || word.starts_with("-f"); })) {
    return shown(given) + " decides what later commands run";
  }
  if (among(kCalculating, given) && any([](std::string_view word) {
        return word.contains('[') && word.find_first_of("$`") != word.npos;
      })) {
    return runs;
  }
  return std::nullopt;
}

}  // namespace tug
