#include "prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "core/try.h"

namespace tug::cli {
namespace {

bool stdin_is_piped() {
  struct stat status = {};
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode);
}

// Without the line end that `echo` adds.
std::string trimmed(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

Result<std::string> read_prompt(const std::string& word, Piped piped) {
  if (word == "-") {
    TUG_TRY(text, read_input("-", kMaxPiped));
    return trimmed(std::move(text));
  }
  if (piped == Piped::leave || !stdin_is_piped()) return word;
  TUG_TRY(text, read_input("-", kMaxPiped));
  std::string rest = trimmed(std::move(text));
  if (word.empty() || rest.empty()) return word.empty() ? rest : word;
  return word + "\n\n" + rest;
}

}  // namespace tug::cli
