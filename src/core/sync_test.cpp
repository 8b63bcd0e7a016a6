#include "tug/core/sync.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/manual_loop.h"

namespace tug {
namespace {

using namespace std::chrono_literals;

struct SyncTest : testing::Test {
  ManualLoop loop;
  CancelToken token = CancelToken::root();
  std::vector<std::string> notes;
};
using Notes = std::vector<std::string>;

TEST_F(SyncTest, AnEventWakesAllWaitersAndStaysSetUntilReset) {
  Signal event;
  auto wait = [](Signal& on, Until until, Notes& out, std::string name) -> Task<void> {
    Woken woken = co_await on.wait(until);
    out.push_back(name + (woken == Woken::ready ? " ready" : " not ready"));
  };
  loop.start(wait(event, {}, notes, "a"));
  loop.start(wait(event, {}, notes, "b"));
  loop.settle();
  EXPECT_EQ(notes, Notes{});
  event.set();
  loop.settle();
  loop.start(wait(event, {}, notes, "c"));
  token.request({});
  loop.start(wait(event, {token}, notes, "cancelled"));
  loop.settle();
  event.reset();
  loop.start(wait(event, {CancelToken(), loop.now() + 1s}, notes, "late"));
  loop.advance(1s);
  EXPECT_EQ(notes,
            (Notes{"a ready", "b ready", "c ready", "cancelled not ready", "late not ready"}));
}

Task<void> take_permit(Semaphore& from, Until until, std::string name, Notes& notes,
                       Signal& enough) {
  Result<Permit> permit = co_await from.acquire(until);
  notes.push_back(name + (permit ? " in" : " " + std::string(name_of(permit.error().kind()))));
  if (permit) co_await enough.wait();
}

TEST_F(SyncTest, PermitsGoToTheFirstThatWaits) {
  Semaphore semaphore(1);
  Signal first_enough, others_enough;
  loop.start(take_permit(semaphore, {}, "a", notes, first_enough));
  loop.start(take_permit(semaphore, {}, "b", notes, others_enough));
  loop.start(take_permit(semaphore, {}, "c", notes, others_enough));
  loop.settle();
  EXPECT_EQ(notes, Notes{"a in"});
  first_enough.set();
  loop.settle();
  EXPECT_EQ(notes, (Notes{"a in", "b in"}));
  EXPECT_FALSE(semaphore.try_acquire()) << "overtook c";
  others_enough.set();
  loop.settle();
  EXPECT_EQ(notes, (Notes{"a in", "b in", "c in"}));
  EXPECT_EQ(semaphore.available(), 1u);
}

TEST_F(SyncTest, APermitHandedOverStaysWithItsWaiterThoughACancelComesBeforeItRuns) {
  Semaphore semaphore(1);
  Signal enough;
  enough.set();
  Permit held = semaphore.try_acquire();
  loop.start(take_permit(semaphore, {token}, "a", notes, enough));
  loop.settle();
  held.release();
  EXPECT_EQ(semaphore.available(), 0u);
  token.request({});
  loop.settle();
  EXPECT_EQ(notes, Notes{"a in"});
  EXPECT_EQ(semaphore.available(), 1u);
}

TEST_F(SyncTest, ACancelledOrLateWaiterTakesNoPermit) {
  Semaphore semaphore(1);
  Signal enough;
  enough.set();
  Permit held = semaphore.try_acquire();
  loop.start(take_permit(semaphore, {token}, "a", notes, enough));
  loop.start(take_permit(semaphore, {CancelToken(), loop.now() + 1s}, "b", notes, enough));
  loop.settle();
  token.request({});
  loop.advance(1s);
  held.release();
  EXPECT_EQ(semaphore.available(), 1u);
  loop.start(take_permit(semaphore, {token}, "c", notes, enough));
  loop.settle();
  EXPECT_EQ(semaphore.available(), 1u);
  EXPECT_EQ(notes, (Notes{"a cancelled", "b exhausted", "c cancelled"}));
}

using Items = Channel<std::unique_ptr<int>>;
Task<void> send_items(Items& to, int from, int until, Until limit, Notes& notes) {
  for (int i = from; i < until; ++i) {
    Result<void> sent = co_await to.send(std::make_unique<int>(i), limit);
    notes.push_back("sent " + std::to_string(i) +
                    (sent ? "" : " " + std::string(name_of(sent.error().kind()))));
  }
}
Task<void> receive_items(Items& from, int count, Until limit, Notes& notes) {
  for (int i = 0; i < count; ++i) {
    Result<std::optional<std::unique_ptr<int>>> item = co_await from.receive(limit);
    if (!item)
      notes.push_back("got " + std::string(name_of(item.error().kind())));
    else if (!*item)
      notes.push_back("got the end");
    else
      notes.push_back("got " + std::to_string(***item));
  }
}

TEST_F(SyncTest, AChannelHoldsAtMostItsCapacityAndKeepsTheOrder) {
  Items channel(2);
  loop.start(send_items(channel, 0, 4, {}, notes));
  loop.settle();
  EXPECT_EQ(notes, (Notes{"sent 0", "sent 1"}));
  EXPECT_EQ(channel.size(), 2u);
  notes.clear();
  loop.start(receive_items(channel, 4, {}, notes));
  loop.settle();
  EXPECT_EQ(channel.size(), 0u);
  EXPECT_EQ(notes, (Notes{"got 0", "got 1", "got 2", "sent 2", "sent 3", "got 3"}));
}

TEST_F(SyncTest, ARendezvousEndsTheSendWhenItsItemIsReceived) {
  Items channel(0);
  loop.start(send_items(channel, 7, 8, {}, notes));
  loop.settle();
  EXPECT_EQ(notes, Notes{});
  loop.start(receive_items(channel, 1, {}, notes));
  loop.settle();
  EXPECT_EQ(notes, (Notes{"got 7", "sent 7"}));
}

TEST_F(SyncTest, ReceiversAreServedInOrder) {
  Items channel(4);
  Notes first, second;
  loop.start(receive_items(channel, 1, {}, first));
  loop.start(receive_items(channel, 1, {}, second));
  loop.settle();
  loop.start(send_items(channel, 0, 2, {}, notes));
  loop.settle();
  EXPECT_EQ(first, Notes{"got 0"});
  EXPECT_EQ(second, Notes{"got 1"});
}

TEST_F(SyncTest, CloseFailsSendersAndLetsReceiversDrain) {
  Items channel(1);
  loop.start(send_items(channel, 0, 2, {}, notes));
  loop.settle();
  channel.close();
  channel.close();
  loop.settle();
  loop.start(receive_items(channel, 2, {}, notes));
  loop.start(send_items(channel, 5, 6, {}, notes));
  loop.settle();
  EXPECT_EQ(notes, (Notes{"sent 0", "sent 1 disconnected", "got 0", "got the end",
                          "sent 5 disconnected"}));
}

TEST_F(SyncTest, CloseEndsWaitingReceivers) {
  Items channel(1);
  loop.start(receive_items(channel, 1, {}, notes));
  loop.settle();
  channel.close();
  loop.settle();
  EXPECT_EQ(notes, Notes{"got the end"});
}

TEST_F(SyncTest, AnItemHandedOverStaysWithItsReceiverThoughACancelComesBeforeItRuns) {
  Items channel(1);
  loop.start(receive_items(channel, 1, {token}, notes));
  loop.settle();
  auto item = std::make_unique<int>(9);
  EXPECT_TRUE(channel.try_send(item));
  EXPECT_EQ(channel.size(), 0u);
  token.request({});
  loop.settle();
  EXPECT_EQ(notes, Notes{"got 9"});
}

TEST_F(SyncTest, ACancelledReceiverTakesNothing) {
  Items channel(1);
  loop.start(receive_items(channel, 1, {token}, notes));
  loop.settle();
  token.request({});
  auto item = std::make_unique<int>(9);
  EXPECT_TRUE(channel.try_send(item));
  loop.settle();
  EXPECT_EQ(channel.size(), 1u);
  EXPECT_EQ(notes, Notes{"got cancelled"});
  EXPECT_EQ(**channel.try_receive(), 9);
}

TEST_F(SyncTest, ACancelledSenderDeliversNothing) {
  Items channel(0);
  loop.start(send_items(channel, 1, 2, {token}, notes));
  loop.settle();
  token.request({});
  EXPECT_FALSE(channel.try_receive());
  loop.settle();
  EXPECT_EQ(notes, Notes{"sent 1 cancelled"});
}

TEST_F(SyncTest, ARefusedTrySendLeavesTheItem) {
  Items channel(1);
  auto one = std::make_unique<int>(1);
  auto two = std::make_unique<int>(2);
  EXPECT_TRUE(channel.try_send(one));
  EXPECT_FALSE(channel.try_send(two));
  EXPECT_EQ(*two, 2);
}

}  // namespace
}  // namespace tug
