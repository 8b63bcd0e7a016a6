// Decisions from another process than the one that asks: the cases of the issue.
#include <atomic>
#include <future>

#include "agent/approval_testing.h"
#include "agent/crash_testing.h"
#include "core/testing.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

// Says when a record of this kind is on disk, where others can read it.
class OnDisk final : public Sink {
 public:
  explicit OnDisk(Kind kind) : kind_(kind) {}
  void on_event(const Event& event) override {
    if (event.kind == kind_ && seq_ == 0) seq_ = event.seq;
  }
  void on_durable(Seq seq) override {
    if (seq_ != 0 && seq >= seq_ && !std::exchange(said_, true)) there_.set_value();
  }
  void wait() { there_.get_future().wait(); }

 private:
  Kind kind_;
  Seq seq_ = 0;
  bool said_ = false;
  std::promise<void> there_;
};

// A process on a state folder: threads and a journal of its own.
struct Desk {
  Desk(const std::string& folder, std::uint64_t seed, Permissions permissions = {})
      : model(scripted({pays(5), says("done"), says("more")})) {
    HarnessOptions options{
        .permissions = std::move(permissions), .state_dir = folder, .seed = seed};
    options.models = make_models();
    options.model = model->profile().id();
    options.models->add(model);
    harness = std::make_unique<Harness>(std::move(options));
    harness->tool("pay", "Pays", [this](const Sum& sum) { return paid += sum.amount; },
                  {.requires_approval = true});
  }
  ModelPtr model;
  std::atomic<int> paid = 0;
  std::unique_ptr<Harness> harness;
};

TEST(ApprovalProcessCases, ARunThatWaitsInOneProcessIsDecidedAboutInAnother) {
  const TempFolder temporary;
  Desk first(temporary.path(), 1, {.on_ask = OnAsk::wait});
  const auto asked = std::make_shared<OnDisk>(Kind::approval_requested);
  const tug::Run run = first.harness->start("go", {.observers = {asked}});
  asked->wait();
  const std::vector<PendingApproval> pending = run.pending();
  ASSERT_EQ(pending.size(), 1u);
  Desk second(temporary.path(), 2);
  const RunResult wrong =
      second.harness->approve(run.id(), {Decision::approve(CallId("9.9"))}).wait();
  ASSERT_TRUE(wrong.error);
  EXPECT_EQ(wrong.error->kind(), ErrorKind::invalid) << to_string(*wrong.error);
  const RunResult sent = second.harness->approve(run.id(), decide_all(pending, true)).wait();
  ASSERT_TRUE(sent.error);
  ASSERT_TRUE(contains(sent.error->message(), "sent")) << to_string(*sent.error);
  const RunResult result = run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(first.paid, 5);
  EXPECT_EQ(second.paid, 0);
}

TEST(ApprovalProcessCases, AParkedRunGoesOnInAnotherProcessFromTheFolder) {
  const TempFolder temporary;
  RunResult parked;
  {
    Desk first(temporary.path(), 1);
    parked = first.harness->run("go");
  }
  ASSERT_EQ(parked.stop, StopReason::approval_required);
  Desk second(temporary.path(), 2);
  const RunResult same = second.harness->resume(parked.root, "and then?").wait();
  EXPECT_EQ(same.pending, parked.pending);
  EXPECT_EQ(same.last_seq, parked.last_seq);
  Desk third(temporary.path(), 3);
  const RunResult result = third.harness->approve(parked.root, all_yes(parked)).wait();
  EXPECT_EQ(result.text, "more");
  EXPECT_EQ(second.paid, 0);
  EXPECT_EQ(third.paid, 5);
  EXPECT_TRUE(verify_root(third.harness->store(), parked.root));
}

TEST(ApprovalProcessCases, OnlyOneOfTwoProcessesThatDecideAtOnceGoesOn) {
  const TempFolder temporary;
  RunResult parked;
  {
    Desk first(temporary.path(), 1);
    parked = first.harness->run("go");
  }
  Desk second(temporary.path(), 2);
  Desk third(temporary.path(), 3);
  const tug::Run one = second.harness->approve(parked.root, all_yes(parked));
  const tug::Run other = third.harness->approve(parked.root, all_yes(parked));
  const RunResult results[] = {one.wait(), other.wait()};
  EXPECT_EQ(second.paid + third.paid, 5) << "once";
  EXPECT_EQ((results[0].text == "done") + (results[1].text == "done"), 1);
}

// A process that died while the run waited: nothing is parked, and the call still waits.
TEST(ApprovalProcessCases, ARunWhoseProcessDiedWhileItWaitedIsDecidedAbout) {
  const ModelPtr model = scripted({pays(5), says("done")});
  Rig rig(model);
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(rig.seen->kinds().back(), "run.paused");
  for (const bool approved : {true, false}) {
    Rig next = rig_after_crash(rig, model, parked.root, rig.seen->kinds().size() - 1);
    Till other(next);
    ASSERT_EQ(next.store->info(parked.root)->status, RootStatus::running);
    const RunResult result = approve_on(next, parked, decide_all(parked.pending, approved));
    EXPECT_EQ(result.text, "done") << (result.error ? to_string(*result.error) : "");
    EXPECT_EQ(other.paid.size(), approved ? 1u : 0u);
    expect_journal_says(*next.store, result);
  }
}

TEST(ApprovalProcessCases, ARunWhoseProcessDiedWhileItWaitedParksWhenItIsResumed) {
  const ModelPtr model = scripted({pays(5), says("done")});
  Rig rig(model);
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  Rig next = rig_after_crash(rig, model, parked.root, rig.seen->kinds().size() - 1);
  Till other(next);
  const RunResult again = resume_on(next, parked);
  expect_parked(next, again);
  EXPECT_EQ(again.pending, parked.pending);
  EXPECT_EQ(again.counts.tool_calls, 1);
  EXPECT_EQ(approve_on(next, again, all_yes(again)).text, "done");
  EXPECT_EQ(other.paid, std::vector<int>{5});
}

TEST(ApprovalProcessCases, APromptThatIsTooLongToBeKeptIsRefused) {
  Rig rig(scripted({pays(5), says("done")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  const RunResult refused = resume_on(rig, parked, std::string(kMaxSteerText + 1, 'x'));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->kind(), ErrorKind::invalid);
  EXPECT_TRUE(rig.store->inbox(parked.root)->empty());
}

}  // namespace
}  // namespace tug
