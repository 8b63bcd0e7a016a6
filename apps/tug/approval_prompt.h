// Asks the person at the terminal about calls that wait for approval.
#pragma once

#include <string>
#include <vector>

#include "status_line.h"
#include "tug/agent/run.h"

namespace tug::cli {

// One thread. Keys: y once, a this session, n no (with a reason), e edit, Esc stop. What cannot be
// shown whole can only be refused. Somebody else may decide meanwhile, and the run may end: then
// the question goes away.
class ApprovalPrompt {
 public:
  // `folder` is where the tools work.
  ApprovalPrompt(Run run, StatusLine& status, std::string folder)
      : run_(std::move(run)), status_(status), folder_(std::move(folder)) {}

  // Asks until nothing waits. Blocks.
  void ask();

 private:
  enum class Key : std::uint8_t { yes, always, no, edit, stop, gone };
  struct Question;

  void ask_about(const PendingApproval& call, std::size_t more);
  bool covered_by_grant(const PendingApproval& call);
  void show(const Question& question);
  void answer(Question& question, Key key);
  void decide(Question& question, Decision decision);
  void edit(Question& question);

  Key read_key(const Question& question);
  std::string read_reason();
  bool is_gone(const PendingApproval& call) const;
  void say(const std::string& text);  // ends its line
  void say_within(const std::string& text);

  Run run_;
  StatusLine& status_;
  std::string folder_;
  std::vector<std::string> granted_;  // tools that were allowed for the session
};

}  // namespace tug::cli
