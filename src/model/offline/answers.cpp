#include "model/offline/answers.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/offline/arithmetic.h"
#include "model/offline/wording.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

bool names_patterns(const Wish& wish) {
  return !wish.targets.empty() && std::ranges::all_of(wish.targets, is_pattern);
}

std::string sum_of(const std::string& expression) {
  const Result<Sum> sum = evaluate(expression);
  if (!sum) return fmt::format("I cannot work out {}: {}.", expression, sum.error().message());
  return fmt::format("{} {} {}", expression, sum->exact ? "=" : "is about", sum->value);
}

Answer delegate(const Wish& wish, Errands& errands) {
  if (wish.agent.empty() || wish.text.empty())
    return "Say whom to ask and what: ask a sub-agent to read README.md.";
  if (!errands.can(wish.agent))
    return fmt::format("There is no agent {} in this run that I could ask.", wish.agent);
  const bool unnamed = wish.agent == "subagent";
  const ToolResult* result =
      errands.ask(wish.agent, Json::object({{unnamed ? "task" : "input", wish.text}}));
  if (!result) return std::nullopt;
  return fmt::format("{} {}:{}", unnamed ? "The sub-agent" : wish.agent,
                     result->is_error() ? "failed" : "says", excerpt(result->content));
}

}  // namespace

std::string doing(const Wish& wish) {
  const std::string targets = joined(wish.targets);
  const std::string in = targets.empty() ? " here" : " in " + targets;
  const std::string of = targets.empty() ? "" : " of " + targets;
  switch (wish.kind) {
    case WishKind::list:
      return "list the files" + (names_patterns(wish) ? " that match " + targets : in);
    case WishKind::read:
      return "read " + (targets.empty() ? "a file" : targets);
    case WishKind::search:
      return fmt::format("search for \"{}\"{}", wish.text, in);
    case WishKind::count_lines:
      return "count the lines" + of;
    case WishKind::count_words:
      return "count the words" + of;
    case WishKind::count_files:
      return "count the files" + (names_patterns(wish) ? " that match " + targets : in);
    case WishKind::count_folders:
      return "count the folders" + in;
    case WishKind::headings:
      return "collect the headings" + (targets.empty() ? " of the Markdown files here" : of);
    case WishKind::delegate:
      return "ask " + (wish.agent == "subagent" ? "a sub-agent" : wish.agent);
    case WishKind::sum:
      return "work out " + wish.text;
    case WishKind::greeting:
    case WishKind::help:
    case WishKind::unknown:
      break;
  }
  return "answer";
}

std::string abilities() {
  return "I am a small planner without a language model. I can\n"
         "- list files: list the files in src\n"
         "- read files: read README.md\n"
         "- search: search for \"TODO\" in src\n"
         "- count lines, words and files: how many lines are in README.md?\n"
         "- collect headings: summarise the headings of README.md\n"
         "- do sums: what is (3 + 4) * 2^10?\n"
         "- pass a task on: ask a sub-agent to read README.md\n"
         "and several of these joined by \"and\" or \"then\". For anything else name a model with "
         "-m PROVIDER/NAME.";
}

Answer answer(const Wish& wish, Errands& errands, std::string_view attached) {
  switch (wish.kind) {
    case WishKind::list:
      return answer_list(wish, errands);
    case WishKind::read:
      return answer_read(wish, errands, attached);
    case WishKind::search:
      return answer_search(wish, errands);
    case WishKind::count_lines:
    case WishKind::count_words:
      return answer_count(wish, errands, attached);
    case WishKind::count_files:
    case WishKind::count_folders:
      return answer_entries(wish, errands);
    case WishKind::headings:
      return answer_headings(wish, errands, attached);
    case WishKind::sum:
      return sum_of(wish.text);
    case WishKind::delegate:
      return delegate(wish, errands);
    case WishKind::greeting:
      return "Hello! " + abilities();
    case WishKind::help:
      return abilities();
    case WishKind::unknown:
      return fmt::format("I do not understand \"{}\".", clip_utf8(wish.text, 200));
  }
  return "";
}

}  // namespace tug
