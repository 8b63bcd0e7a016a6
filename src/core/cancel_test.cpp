#include "tug/core/cancel.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/manual_loop.h"
#include "tug/core/rng.h"
#include "tug/core/stop_link.h"
#include "tug/core/wait.h"

namespace tug {
namespace {

using Why = CancelReason::Why;

// Notes its name when its token is requested.
struct Noted : CancelCallback {
  Noted(std::vector<std::string>& notes, std::string called)
      : CancelCallback([](CancelCallback& callback) noexcept {
          auto& self = static_cast<Noted&>(callback);
          self.seen.push_back(self.name);
        }),
        seen(notes),
        name(std::move(called)) {}
  std::vector<std::string>& seen;
  std::string name;
};

TEST(Cancel, AFreshRootIsNotRequestedAndHasNoReason) {
  CancelToken token = CancelToken::root();
  EXPECT_FALSE(token.requested());
  EXPECT_EQ(token.reason(), nullptr);
}

TEST(Cancel, ClonesShareTheLatch) {
  CancelToken token = CancelToken::root();
  CancelToken clone = token;
  token.request({Why::user, "stop"});
  EXPECT_TRUE(clone.requested());
  EXPECT_EQ(clone, token);
}

TEST(Cancel, TheFirstReasonStays) {
  CancelToken token = CancelToken::root();
  token.request({Why::user, "first"});
  token.request({Why::limit, "second"});
  EXPECT_EQ(*token.reason(), (CancelReason{Why::user, "first"}));
}

TEST(Cancel, ReachesDescendantsWithTheReasonAndNobodyElse) {
  CancelToken root = CancelToken::root();
  CancelToken child = root.child();
  CancelToken grandchild = child.child();
  CancelToken sibling = root.child();
  child.request({Why::user, "stop"});
  EXPECT_FALSE(root.requested());
  EXPECT_FALSE(sibling.requested());
  EXPECT_EQ(*grandchild.reason(), (CancelReason{Why::user, "stop"}));
  root.request({Why::shutdown, "down"});
  EXPECT_EQ(*sibling.reason(), (CancelReason{Why::shutdown, "down"}));
  EXPECT_EQ(*grandchild.reason(), (CancelReason{Why::user, "stop"}));
}

TEST(Cancel, AChildOfARequestedParentIsBornRequested) {
  CancelToken root = CancelToken::root();
  root.request({Why::user, "stop"});
  CancelToken child = root.child();
  EXPECT_TRUE(child.requested());
  EXPECT_EQ(child.child().reason()->text, "stop");
}

TEST(Cancel, ReachesAGrandchildWhoseParentTokenIsGone) {
  CancelToken root = CancelToken::root();
  CancelToken grandchild = root.child().child();
  root.request({Why::user, "stop"});
  EXPECT_TRUE(grandchild.requested());
}

TEST(Cancel, TheReasonOutlivesTheTokenItWasGivenTo) {
  CancelToken grandchild;
  {
    CancelToken root = CancelToken::root();
    grandchild = root.child().child();
    root.request({Why::user, "stop"});
  }
  EXPECT_EQ(grandchild.reason()->text, "stop");
}

TEST(Cancel, TheEmptyTokenIsNeverRequested) {
  CancelToken empty;
  empty.request({Why::user, "stop"});
  EXPECT_FALSE(empty.requested());
  EXPECT_FALSE(empty);
  CancelToken root = empty.child();
  EXPECT_TRUE(root);
  root.request({});
  EXPECT_FALSE(empty.requested());
}

TEST(Cancel, CallbacksRunOnceParentsFirstInTheOrderTheyWereAdded) {
  std::vector<std::string> notes;
  CancelToken root = CancelToken::root();
  CancelToken first = root.child();
  CancelToken second = root.child();
  CancelToken below = first.child();
  Noted d(notes, "below"), c(notes, "first"), e(notes, "second"), a(notes, "root 1"),
      b(notes, "root 2");
  for (auto& [token, callback] : std::vector<std::pair<CancelToken*, Noted*>>{
           {&below, &d}, {&first, &c}, {&second, &e}, {&root, &a}, {&root, &b}})
    EXPECT_TRUE(token->add(*callback));
  root.request({});
  root.request({});
  EXPECT_EQ(notes, (std::vector<std::string>{"root 1", "root 2", "first", "below", "second"}));
}

TEST(Cancel, ACallbackIsNotAddedToARequestedToken) {
  std::vector<std::string> notes;
  CancelToken token = CancelToken::root();
  token.request({});
  Noted late(notes, "late");
  EXPECT_FALSE(token.add(late));
  EXPECT_FALSE(late.added());
}

TEST(Cancel, ARemovedCallbackDoesNotRun) {
  std::vector<std::string> notes;
  CancelToken token = CancelToken::root();
  Noted stays(notes, "stays"), leaves(notes, "leaves"), also(notes, "also");
  token.add(stays);
  token.add(leaves);
  token.add(also);
  leaves.remove();
  {
    Noted gone(notes, "gone");
    token.add(gone);
  }
  token.request({});
  EXPECT_EQ(notes, (std::vector<std::string>{"stays", "also"}));
}

struct Destroyer : CancelCallback {
  Destroyer()
      : CancelCallback([](CancelCallback& callback) noexcept {
          auto& self = static_cast<Destroyer&>(callback);
          self.others.clear();
          self.tokens.clear();
        }) {}
  std::vector<std::unique_ptr<Noted>> others;
  std::vector<CancelToken> tokens;
};

TEST(Cancel, ACallbackMayDestroyOtherCallbacksAndEveryToken) {
  std::vector<std::string> notes;
  Destroyer destroyer;
  Noted last(notes, "last");
  CancelToken root = CancelToken::root();
  root.add(destroyer);
  for (int i = 0; i < 10; ++i) {
    CancelToken child = i ? destroyer.tokens.back().child() : root.child();
    destroyer.others.push_back(std::make_unique<Noted>(notes, "destroyed"));
    child.add(*destroyer.others.back());
    destroyer.tokens.push_back(child);
  }
  destroyer.tokens[4].add(last);
  destroyer.tokens.push_back(std::move(root));
  destroyer.tokens.back().request({Why::user, "stop"});
  EXPECT_EQ(notes, std::vector<std::string>{"last"});
}

struct Looker : CancelCallback {
  explicit Looker(CancelToken token)
      : CancelCallback([](CancelCallback& callback) noexcept {
          auto& self = static_cast<Looker&>(callback);
          self.other_was_requested = self.other.requested();
          self.born_requested = self.other.child().requested();
        }),
        other(std::move(token)) {}
  CancelToken other;
  bool other_was_requested = false;
  bool born_requested = false;
};

TEST(Cancel, TheWholeTreeIsLatchedBeforeTheFirstCallbackRuns) {
  CancelToken root = CancelToken::root();
  CancelToken last = root.child().child();
  Looker looker(last);
  root.add(looker);
  root.request({});
  EXPECT_TRUE(looker.other_was_requested);
  EXPECT_TRUE(looker.born_requested);
}

TEST(Cancel, ALinkedTokenStopsTheChildAndNotItsParent) {
  CancelToken parent = CancelToken::root();
  CancelToken other = CancelToken::root();
  CancelToken child = CancelToken::child_of_both(parent, other);
  CancelToken below = child.child();
  other.request({Why::caller, "enough"});
  EXPECT_EQ(*below.reason(), (CancelReason{Why::caller, "enough"}));
  EXPECT_FALSE(parent.requested());
}

TEST(Cancel, ALinkedChildDoesNotStopWhatItIsLinkedTo) {
  CancelToken other = CancelToken::root();
  CancelToken run = CancelToken::root();
  run.link(other);
  run.request({Why::user, "stop"});
  EXPECT_FALSE(other.requested());
  other.request({Why::caller, "later"});
  EXPECT_EQ(run.reason()->text, "stop");
}

TEST(Cancel, OneTokenCanStopManyRunsAlsoAfterItsOwnerLetGo) {
  CancelToken above = CancelToken::root();
  std::vector<CancelToken> runs;
  {
    CancelToken shared = above.child();
    for (int i = 0; i < 3; ++i) {
      runs.push_back(CancelToken::root());
      runs.back().link(shared);
    }
  }
  runs[1] = CancelToken();
  above.request({Why::user, "all"});
  EXPECT_EQ(runs[0].reason()->text, "all");
  EXPECT_EQ(runs[2].reason()->text, "all");
}

TEST(Cancel, LinkingToARequestedTokenStopsAtOnce) {
  CancelToken other = CancelToken::root();
  other.request({Why::caller, "before"});
  CancelToken run = CancelToken::root();
  run.link(other);
  EXPECT_EQ(run.reason()->text, "before");
}

TEST(Cancel, ChainsOfLinksAndChildrenOfAHundredThousandUseNoStack) {
  CancelToken first = CancelToken::root();
  std::vector<CancelToken> links{first};
  CancelToken deepest = first;
  for (int i = 0; i < 100'000; ++i) {
    links.push_back(CancelToken::root());
    links.back().link(links[links.size() - 2]);
    deepest = deepest.child();
  }
  first.request({Why::user, "stop"});
  EXPECT_EQ(links.back().reason()->text, "stop");
  EXPECT_EQ(deepest.reason()->text, "stop");
  first = CancelToken();
  while (!links.empty()) links.pop_back();
}

TEST(Cancel, AwaitingResumesOnRequestAndAtOnceWhenAlreadyRequested) {
  ManualLoop loop;
  CancelToken token = CancelToken::root();
  int woken = 0;
  auto wait = [](CancelToken on, int& count) -> Task<void> {
    co_await on.cancelled();
    ++count;
  };
  loop.start(wait(token, woken));
  loop.start(wait(token.child(), woken));
  loop.settle();
  EXPECT_EQ(woken, 0);
  token.request({});
  EXPECT_EQ(woken, 0) << "resumed inside request()";
  loop.settle();
  EXPECT_EQ(woken, 2);
  loop.start(wait(token, woken));
  loop.settle();
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(loop.roots(), 0u);
}

TEST(Cancel, AHandlePostsToTheLoopAndIsHarmlessWithoutTreeOrLoop) {
  CancelHandle nowhere;
  nowhere.request({});
  CancelHandle handle;
  {
    ManualLoop loop;
    CancelToken token = CancelToken::root();
    handle = token.remote(loop);
    CancelHandle same = token.remote(loop);
    handle.request({Why::user, "stop"});
    same.request({Why::user, "second"});
    EXPECT_FALSE(token.requested());
    loop.settle();
    EXPECT_EQ(token.reason()->text, "stop");
    handle.request({Why::user, "in flight"});
    token = CancelToken();
    loop.settle();
    handle.request({Why::user, "tree gone"});
    loop.settle();
  }
  handle.request({Why::user, "loop gone"});
}

TEST(Cancel, AStopTokenStopsTheTreeWithCaller) {
  ManualLoop loop;
  std::stop_source source;
  CancelToken token = CancelToken::root();
  link(token, source.get_token(), loop);
  CancelToken gone = CancelToken::root();
  link(gone, source.get_token(), loop);
  gone = CancelToken();
  source.request_stop();
  loop.settle();
  EXPECT_EQ(token.reason()->why, Why::caller);
  CancelToken late = CancelToken::root();
  link(late, source.get_token(), loop);
  EXPECT_TRUE(late.requested());
}

TEST(Cancel, RandomTreesAgreeWithAModel) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    struct Modelled {
      CancelToken token;
      int parent;
      int link;
      bool requested;
    };
    std::vector<Modelled> all;
    // Requested through parents and links; nodes only point at older ones.
    auto spread = [&] {
      for (Modelled& one : all)
        if ((one.parent >= 0 && all[one.parent].requested) ||
            (one.link >= 0 && all[one.link].requested))
          one.requested = true;
    };
    for (int step = 0; step < 60; ++step) {
      const int size = static_cast<int>(all.size());
      const int parent = size ? static_cast<int>(rng.below(size + 1)) - 1 : -1;
      const int link = size && rng.below(3) == 0 ? static_cast<int>(rng.below(size)) : -1;
      CancelToken token = parent < 0 ? CancelToken::root() : all[parent].token.child();
      if (link >= 0) token.link(all[link].token);
      all.push_back({token, parent, link, false});
      if (rng.below(10) == 0) {
        const auto victim = rng.below(all.size());
        all[victim].token.request({});
        all[victim].requested = true;
      }
      spread();
      for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i].token.requested(), all[i].requested) << "seed " << seed << ", node " << i;
    }
  }
}

}  // namespace
}  // namespace tug
