// What a context is in memory: one node, and the parts it shares with others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "context/log_ring.h"
#include "tug/context/context.h"
#include "tug/journal/event.h"

namespace tug::detail {

// Plain counts: a tree lives on one thread.
template <class T>
class Counted {
 public:
  Counted() noexcept = default;
  explicit Counted(T* made) noexcept : part_(made) {}  // takes over the first count
  Counted(const Counted& other) noexcept : part_(other.part_) {
    if (part_) ++part_->refs;
  }
  Counted(Counted&& other) noexcept : part_(std::exchange(other.part_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(part_, other.part_);
    return *this;
  }
  ~Counted() {
    if (part_ && --part_->refs == 0) delete part_;
  }
  T* operator->() const noexcept { return part_; }
  T& operator*() const noexcept { return *part_; }
  explicit operator bool() const noexcept { return part_ != nullptr; }

 private:
  T* part_ = nullptr;
};

// Values by type. Few, so a list in the order in which they came: nothing depends on addresses.
struct Slots {
  struct Slot {
    TypeKey key;
    std::shared_ptr<const void> value;
  };
  std::vector<Slot> list;

  const void* find(TypeKey key) const noexcept {
    for (const Slot& slot : list) {
      if (slot.key == key) return slot.value.get();
    }
    return nullptr;
  }
  std::shared_ptr<const void> share(TypeKey key) const noexcept {
    for (const Slot& slot : list) {
      if (slot.key == key) return slot.value;
    }
    return nullptr;
  }
  void put(TypeKey key, std::shared_ptr<const void> value) {
    for (Slot& slot : list) {
      if (slot.key != key) continue;
      // Swapped, so that what the old value's destructor does finds the new one in place.
      slot.value.swap(value);
      return;
    }
    list.push_back({key, std::move(value)});
  }
};

// One per root.
struct ContextRoot {
  std::uint32_t refs = 1;
  std::uint32_t nodes = 0;
  ServicesPtr services;
  Loop* loop;
  std::shared_ptr<RootLog> log;
  Rng rng;
  LogRing ring;

  // The root's own choices about its log; what is not chosen follows the services' defaults.
  std::optional<LogLevel> level;
  std::optional<std::vector<std::string>> scope;
  std::vector<std::string> reporters;  // own and default ones that are open
  LogSettings defaults;                // as of `defaults_version`
  std::uint64_t defaults_version = 0;
};

// One per run.
struct ContextRun {
  std::uint32_t refs = 1;
  LineagePtr who;
  ContextWindow window;
  Json memory;  // what `remember` kept, an object
  bool resumed = false;
};

struct ContextInherited {
  std::uint32_t refs = 1;
  Inherited values;
  Slots slots;
};

// What many nodes never need; made on the first write.
struct ContextLocals {
  Json values;  // an object with `config`; the members below are not in it
  Json result;
  std::optional<Error> error;
  std::vector<Frame> history;
  Slots slots;
  std::vector<std::string> tags;
  Json metadata;
  std::shared_ptr<const Origin> origin;
  std::shared_ptr<const MiddlewareChain> chain;
};

struct ContextNode {
  std::uint32_t refs = 1;
  NodeKind kind = NodeKind::tool;
  bool interactive = false;
  std::uint32_t turn = 0;
  std::uint32_t number = 0;
  ContextNode* parent = nullptr;     // counted
  ContextNode* target = nullptr;     // counted; null when it is this node
  ContextNode* next_dead = nullptr;  // while dying
  Counted<ContextRoot> root;
  Counted<ContextRun> run;
  Counted<ContextInherited> inherited;
  std::unique_ptr<ContextLocals> locals;
  // Made on first use. A node without one cannot have been asked to stop by itself, so the nearest
  // ancestor that has one speaks for it.
  CancelToken cancel;
  Budget budget;
  Json args;
  std::shared_ptr<const ToolSpec> tool;
  CallId call;

  static ContextNode* of(const ConstContext& context) noexcept { return context.node_; }
  static ContextNode* share(ContextNode* node) noexcept {
    if (node) ++node->refs;
    return node;
  }
  static ConstContext read(ContextNode* node) noexcept { return ConstContext(share(node)); }
  static Context handle(ContextNode* node) noexcept { return Context(share(node)); }
  static Context adopt(ContextNode* made) noexcept { return Context(made); }
  static void drop(ContextNode* node) noexcept;

  ContextLocals& own_locals();
  ContextInherited& own_inherited();  // a copy first when somebody else sees it
  const CancelToken& own_cancel();
  // The token that decides about this node; null when no ancestor has one.
  const CancelToken* deciding_cancel() const noexcept;
};
static_assert(sizeof(ContextNode) <= 256);

// The members of `from` on top of those of `object`.
void overlay(Json& object, const Json& from);
void add_once(std::vector<std::string>& list, std::string text);

// `envelope.id`: the run id for a run, `<run_id>#<node>` for a part of one.
std::string context_id(const ContextNode& node);
// Parts of a context as JSON, for paths and snapshots. Parent and target stand there by id.
Json envelope_json(const ContextNode& node);
Json run_json(const ContextNode& node);
Json history_json(const ContextNode& node);
Json window_json(const ContextWindow& window);

// Opens the reporters that the services' defaults name and this root has not opened yet.
void follow_log_defaults(ContextRoot& root);

}  // namespace tug::detail
