// What the cases about approvals share: something worth asking about, and somebody who answers.
#pragma once

#include "agent/tree_testing.h"
#include "tug/tools/permissions.h"

namespace tug {

struct Sum {
  int amount = 0;
};

// A tool `pay` that asks before it pays, and `look` that does not. Each process has its own till.
struct Till {
  explicit Till(Rig& rig, ToolOptions options = {.requires_approval = true}) {
    rig.harness->inline_tool(
        "pay", "Pays",
        [this](const Sum& sum) {
          paid.push_back(sum.amount);
          return "paid " + std::to_string(sum.amount);
        },
        std::move(options));
    rig.harness->inline_tool("look", "Looks", [this] {
      ++looked;
      return "seen";
    });
  }
  std::vector<int> paid;
  int looked = 0;
};

inline std::string sum(int amount) { return print_json(Json::object({{"amount", amount}})); }
inline ScriptTurn pays(int amount) { return testkit::calls("pay", sum(amount)); }
inline ScriptTurn looks_and_pays(int amount) {
  return testkit::calls({{"a", "look", "{}"}, {"b", "pay", sum(amount)}, {"c", "look", "{}"}});
}

inline RunResult approve_on(Rig& rig, const RunResult& parked, std::vector<Decision> decisions,
                            RunOptions options = {}) {
  options.observers.push_back(rig.seen);
  return rig.harness->approve(parked.root, std::move(decisions), std::move(options)).wait();
}
inline std::vector<Decision> all_yes(const RunResult& parked) {
  return decide_all(parked.pending, /*approved=*/true);
}
inline std::vector<Decision> all_no(const RunResult& parked, const std::string& reason = {}) {
  return decide_all(parked.pending, /*approved=*/false, reason);
}

// Whoever folds the journal comes to the same pause.
inline void expect_parked(Rig& rig, const RunResult& result) {
  EXPECT_EQ(result.status, RunStatus::parked);
  EXPECT_EQ(result.stop, StopReason::approval_required)
      << (result.error ? to_string(*result.error) : "");
  EXPECT_EQ(exit_code(result), 8);
  EXPECT_EQ(rig.store->info(result.root)->status, RootStatus::parked);
  const RunResult read = folded(rig, result.root).runs.at(0).result;
  EXPECT_EQ(print_json(to_json(read)), print_json(to_json(result)));
  EXPECT_EQ(read.pending, result.pending);
  EXPECT_EQ(read.messages, result.messages);
}

}  // namespace tug
