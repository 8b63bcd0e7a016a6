#include "tug/core/cancel.h"

#include <optional>
#include <vector>

#include "tug/core/loop.h"
#include "tug/core/stop_link.h"

namespace tug {

std::string_view name_of(CancelReason::Why why) noexcept {
  switch (why) {
    case CancelReason::Why::user:
      return "user";
    case CancelReason::Why::parent:
      return "parent";
    case CancelReason::Why::deadline:
      return "deadline";
    case CancelReason::Why::limit:
      return "limit";
    case CancelReason::Why::shutdown:
      return "shutdown";
    case CancelReason::Why::caller:
      return "caller";
    case CancelReason::Why::dropped:
      return "dropped";
  }
  return "user";
}

namespace detail {

// What a CancelHandle shares with its node. `node` is read and cleared on the loop thread only; the
// rest never changes.
struct CancelRemote {
  std::shared_ptr<Mailbox> mail;
  CancelNode* node;
};

struct StopForward {
  CancelHandle handle;
  static CancelReason reason() { return {CancelReason::Why::caller, "stop_token"}; }
  void operator()() const noexcept { handle.request(reason()); }
};

struct CancelNode {
  // `self` stops when `other` does.
  struct Link : CancelCallback {
    Link(CancelNode* stops, CancelToken watched) noexcept
        : CancelCallback(&follow), self(stops), other(std::move(watched)) {}
    static void follow(CancelCallback&) noexcept {}  // only marks a link: the walk follows it
    CancelNode* self;
    CancelToken other;
  };
  // What few nodes have.
  struct Extra {
    std::optional<CancelReason> reason;  // of a request made at this very node
    std::vector<std::unique_ptr<Link>> links;
    std::shared_ptr<CancelRemote> remote;
    std::vector<std::unique_ptr<std::stop_callback<StopForward>>> stops;
  };
  explicit CancelNode(CancelNode* above) noexcept : parent(above) {
    if (!parent) return;
    ++parent->refs;
    requested = parent->requested;
    if (parent->first_child) {
      next = parent->first_child;
      prev = next->prev;
      prev->next = this;
      next->prev = this;
    } else {
      parent->first_child = this;
    }
  }

  static void drop(CancelNode* node) noexcept {
    // A loop, not recursion: a chain of a hundred thousand nodes may end here.
    while (node && --node->refs == 0) {
      CancelNode* above = node->parent;
      node->leave_parent();
      delete node;
      node = above;
    }
  }

  Extra& more() {
    if (!extra) extra = new Extra;
    return *extra;
  }

  // Latches everything first and runs callbacks after, so that each of them finds the whole tree
  // requested. The walk runs no code but ours; the callbacks may destroy any node, so nothing but
  // the pending list (out of which a dying callback takes itself) is touched then.
  static void request(CancelNode* top, const CancelReason& reason) noexcept {
    CancelCallback* pending = nullptr;
    CancelCallback** end = &pending;
    std::vector<CancelNode*> linked{top};
    for (std::size_t i = 0; i < linked.size(); ++i) {
      if (linked[i]->requested) continue;
      linked[i]->more().reason = reason;
      latch_subtree(linked[i], end, linked);
    }
    while (CancelCallback* callback = pending) {
      callback->remove();
      callback->run_(*callback);
    }
  }

  static void latch_subtree(CancelNode* top, CancelCallback**& end,
                            std::vector<CancelNode*>& linked) noexcept {
    CancelNode* node = top;
    while (true) {
      node->requested = true;
      node->hand_over_callbacks(end, linked);
      // Below a requested node everything is requested already.
      CancelNode* below = first_unrequested(node->first_child, node->first_child);
      while (!below && node != top) {
        CancelNode* siblings = node->parent->first_child;
        below = node->next == siblings ? nullptr : first_unrequested(node->next, siblings);
        node = node->parent;
      }
      if (!below) return;
      node = below;
    }
  }

  static CancelNode* first_unrequested(CancelNode* from, CancelNode* ring) noexcept {
    if (!from) return nullptr;
    for (CancelNode* node = from;; node = node->next) {
      if (!node->requested) return node;
      if (node->next == ring) return nullptr;
    }
  }

  // Moves ours to the end of the pending list, oldest first. A link is followed instead of run, so
  // that a chain of links does not recurse.
  void hand_over_callbacks(CancelCallback**& end, std::vector<CancelNode*>& linked) noexcept {
    CancelCallback* oldest = nullptr;
    while (CancelCallback* callback = callbacks) {
      callback->remove();
      callback->next_ = oldest;
      oldest = callback;
    }
    while (oldest) {
      CancelCallback* callback = std::exchange(oldest, oldest->next_);
      callback->next_ = nullptr;
      if (callback->run_ == &Link::follow) {
        linked.push_back(static_cast<Link*>(callback)->self);
      } else {
        *end = callback;
        callback->link_ = end;
        end = &callback->next_;
      }
    }
  }

  void leave_parent() noexcept {
    if (!parent) return;
    prev->next = next;
    next->prev = prev;
    if (parent->first_child == this) parent->first_child = next == this ? nullptr : next;
  }

  static void add(CancelNode& node, CancelCallback& callback) noexcept {
    callback.next_ = node.callbacks;
    callback.link_ = &node.callbacks;
    if (callback.next_) callback.next_->link_ = &callback.next_;
    node.callbacks = &callback;
  }

  ~CancelNode() {
    while (callbacks) callbacks->remove();
    if (!extra) return;
    if (extra->remote) extra->remote->node = nullptr;
    delete extra;
  }
  CancelNode(const CancelNode&) = delete;
  CancelNode& operator=(const CancelNode&) = delete;

  std::uint32_t refs = 1;
  bool requested = false;
  CancelNode* parent;
  CancelNode* first_child = nullptr;
  CancelNode* next = this;  // siblings, in a ring, oldest first
  CancelNode* prev = this;
  CancelCallback* callbacks = nullptr;  // newest first
  Extra* extra = nullptr;
};
static_assert(sizeof(CancelNode) <= 64);

}  // namespace detail

using detail::CancelNode;

CancelToken::CancelToken(const CancelToken& other) noexcept : node_(other.node_) {
  if (node_) ++node_->refs;
}

CancelToken::~CancelToken() { CancelNode::drop(node_); }

CancelToken CancelToken::root() { return CancelToken(new CancelNode(nullptr)); }

CancelToken CancelToken::child() const { return CancelToken(new CancelNode(node_)); }

CancelToken CancelToken::child_of_both(const CancelToken& parent, const CancelToken& other) {
  CancelToken child = parent.child();
  child.link(other);
  return child;
}

bool CancelToken::requested() const noexcept { return node_ && node_->requested; }

const CancelReason* CancelToken::reason() const noexcept {
  if (!requested()) return nullptr;
  const CancelNode* node = node_;
  while (!node->extra || !node->extra->reason) node = node->parent;
  return &*node->extra->reason;
}

void CancelToken::request(CancelReason reason) const noexcept {
  if (node_ && !node_->requested) CancelNode::request(node_, reason);
}

void CancelToken::link(const CancelToken& other) const {
  if (!node_ || !other.node_ || node_->requested) return;
  if (other.requested()) {
    CancelReason reason = *other.reason();
    return request(std::move(reason));
  }
  auto link = std::make_unique<CancelNode::Link>(node_, other);
  other.add(*link);
  node_->more().links.push_back(std::move(link));
}

struct detail::StopLink {
  static CancelNode* node(const CancelToken& token) noexcept { return token.node_; }
};

void link(const CancelToken& token, const std::stop_token& stop, Loop& loop) {
  CancelNode* node = detail::StopLink::node(token);
  if (!node || !stop.stop_possible() || node->requested) return;
  detail::StopForward forward{token.remote(loop)};
  if (stop.stop_requested()) return token.request(detail::StopForward::reason());
  node->more().stops.push_back(
      std::make_unique<std::stop_callback<detail::StopForward>>(stop, std::move(forward)));
}

CancelHandle CancelToken::remote(Loop& loop) const {
  if (!node_) return CancelHandle();
  CancelNode::Extra& extra = node_->more();
  if (!extra.remote) extra.remote = std::make_shared<detail::CancelRemote>(loop.mailbox(), node_);
  return CancelHandle(extra.remote);
}

bool CancelToken::add(CancelCallback& callback) const noexcept {
  if (!node_ || node_->requested) return false;
  CancelNode::add(*node_, callback);
  return true;
}

void CancelHandle::request(CancelReason reason) const noexcept {
  if (!remote_) return;
  remote_->mail->post([remote = remote_, reason = std::move(reason)] {
    if (remote->node && !remote->node->requested) CancelNode::request(remote->node, reason);
  });
}

CancelToken::Cancelled::Cancelled(CancelToken token) noexcept
    : CancelCallback([](CancelCallback& callback) noexcept {
        auto& self = static_cast<Cancelled&>(callback);
        self.loop_->waiting(kWhat, -1);
        self.loop_->schedule(self.frame_);
      }),
      token_(std::move(token)) {}

void CancelToken::Cancelled::park(std::coroutine_handle<> frame, Loop& loop) noexcept {
  frame_ = frame;
  loop_ = &loop;
  loop.waiting(kWhat, +1);
  token_.add(*this);
}

}  // namespace tug
