// The loop's side of an Invocation: where its posts arrive, and who closes it.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tug/context/context.h"
#include "tug/core/loop.h"
#include "tug/tools/invocation.h"

namespace tug {
namespace detail {

// Shared by the function, the posts on their way and the call. An abandoned function keeps it long
// after the call; by then `ctx` is empty, because only the loop may touch or drop a context.
struct InvocationDoor {
  // Progress that is on its way; more is dropped, so that no function can flood its loop.
  static constexpr int kMaxProgress = 256;

  std::shared_ptr<Mailbox> mailbox;  // null: the function runs on the loop
  std::vector<std::pair<TypeKey, std::shared_ptr<const void>>> values;
  std::atomic<bool> ended = false;
  std::atomic<int> progress_posted = 0;
  Context ctx;  // loop thread
};

}  // namespace detail

class InvocationStart {
 public:
  static void on_loop(Invocation& call) noexcept { call.door_->mailbox = nullptr; }
  static void begin(Invocation& call, std::stop_token stop) noexcept {
    call.stop_ = std::move(stop);
  }

  // Lives in the call, on the loop: from its end on nothing passes the door.
  class Open {
   public:
    explicit Open(const Invocation& call) noexcept : door_(call.door_) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() {
      door_->ended = true;
      door_->ctx = Context();
    }

   private:
    std::shared_ptr<detail::InvocationDoor> door_;
  };
};

}  // namespace tug
