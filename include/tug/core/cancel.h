// Cancellation: a tree of latches with reasons.
//
// A token is a counted pointer to one node. A request latches the node and everything below it,
// once and for good; it never reaches upward or sideways. A child born under a requested parent is
// born requested. Descendants see the reason unchanged, so a leaf knows who stopped the root.
//
// A tree belongs to its loop's thread: no locks, plain counts. Other threads hold a CancelHandle.
// A node keeps its ancestors (and what it is linked to) alive, never its descendants. Nothing here
// fails.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tug/core/task.h"

namespace tug {

class Loop;

struct CancelReason {
  enum class Why : std::uint8_t {
    user,      // a person asked
    parent,    // the parent run stopped this child on its own account
    deadline,  // a deadline passed
    limit,     // a budget is spent
    shutdown,  // the engine is going down
    caller,    // the program's own token or std::stop_token
    dropped,   // nobody holds the run any more
  };
  Why why = Why::user;
  std::string text;  // for people; may be empty

  friend bool operator==(const CancelReason&, const CancelReason&) = default;
};
std::string_view name_of(CancelReason::Why why) noexcept;

namespace detail {
struct CancelNode;
struct CancelRemote;
struct StopLink;
}  // namespace detail

// Runs once, on the loop thread, inside the request that reaches it. Lives in whatever waits (no
// allocation), must not move while added, and takes itself out when destroyed. It may destroy other
// callbacks and tokens; callbacks of one node run in the order they were added, a parent's before
// its children's.
class CancelCallback {
 public:
  explicit CancelCallback(void (*run)(CancelCallback&) noexcept) noexcept : run_(run) {}
  CancelCallback(const CancelCallback&) = delete;
  CancelCallback& operator=(const CancelCallback&) = delete;
  ~CancelCallback() { remove(); }

  bool added() const noexcept { return link_ != nullptr; }
  void remove() noexcept {
    if (!link_) return;
    *link_ = next_;
    if (next_) next_->link_ = link_;
    link_ = nullptr;
    next_ = nullptr;
  }

 private:
  friend struct detail::CancelNode;
  CancelCallback* next_ = nullptr;
  CancelCallback** link_ = nullptr;  // what points at us
  void (*run_)(CancelCallback&) noexcept;
};

// Cancels from any thread, also after the tree, the run or the engine is gone: then nothing
// happens. Copies are cheap.
class CancelHandle {
 public:
  CancelHandle() noexcept = default;
  void request(CancelReason reason) const noexcept;

 private:
  friend class CancelToken;
  explicit CancelHandle(std::shared_ptr<detail::CancelRemote> remote) noexcept
      : remote_(std::move(remote)) {}
  std::shared_ptr<detail::CancelRemote> remote_;
};

class CancelToken {
 public:
  // The empty token: never requested, costs nothing.
  CancelToken() noexcept = default;
  CancelToken(const CancelToken& other) noexcept;
  CancelToken(CancelToken&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  CancelToken& operator=(CancelToken other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~CancelToken();

  static CancelToken root();
  // A node below this one; a root if this token is empty.
  CancelToken child() const;
  // A child of `parent` that `other` can stop too.
  static CancelToken child_of_both(const CancelToken& parent, const CancelToken& other);

  explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(const CancelToken&, const CancelToken&) noexcept = default;

  bool requested() const noexcept;
  // Null until requested; valid as long as a token of this node or below it lives.
  const CancelReason* reason() const noexcept;

  // Latches this node and all below it, then runs their callbacks. The first reason stays; asking
  // again does nothing. On the empty token, nothing.
  void request(CancelReason reason) const noexcept;

  // From now on `other` stops this node too (it stays out of `other`'s tree). `other` must not be
  // below this node, nor linked to it: the two would keep each other alive.
  void link(const CancelToken& other) const;
  // For a std::stop_token there is tug/core/stop_link.h.

  // A handle for other threads. `loop` is the loop this tree lives on.
  CancelHandle remote(Loop& loop) const;

  // False, and not added, when already requested (or when the token is empty: see `operator bool`).
  bool add(CancelCallback& callback) const noexcept;

  // `co_await token.cancelled()`: resumes once requested, at once if it already is. The empty
  // token never resumes; do not await it.
  class Cancelled;
  Cancelled cancelled() const noexcept;

 private:
  friend struct detail::StopLink;
  explicit CancelToken(detail::CancelNode* node) noexcept : node_(node) {}
  friend struct detail::CancelNode;
  detail::CancelNode* node_ = nullptr;
};

class CancelToken::Cancelled : private CancelCallback {
 public:
  explicit Cancelled(CancelToken token) noexcept;
  bool await_ready() const noexcept { return token_.requested(); }
  template <detail::LoopPromise P>
  void await_suspend(std::coroutine_handle<P> frame) noexcept {
    park(frame, frame.promise().loop());
  }
  void await_resume() const noexcept {}

 private:
  static constexpr const char* kWhat = "a cancellation";
  void park(std::coroutine_handle<> frame, Loop& loop) noexcept;

  CancelToken token_;
  std::coroutine_handle<> frame_;
  Loop* loop_ = nullptr;
};

inline CancelToken::Cancelled CancelToken::cancelled() const noexcept { return Cancelled(*this); }

}  // namespace tug
