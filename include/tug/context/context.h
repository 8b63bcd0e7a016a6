// Everything one invocation knows.
//
// A context is one node of the tree of a root run: an agent or graph run, a tool call, a middleware
// call, a graph node. `child` is the only way to make one below another. Only runs have a run id
// and a depth of their own; other nodes share the lineage of their run. What a child gets is
// settled at its birth; nothing it does changes its parent. What it did comes back as a result and
// as events.
//
// Context is a handle of one pointer; copies name the same node. A node keeps its ancestors, its
// target and its services alive, never its children. Loop thread only, plain counts. Do not keep a
// context in its own slots: the node would keep itself alive. A moved-from or default-built handle
// is empty and good for nothing but assignment and `operator bool`.
//
// References handed out live until the next write to the same node, at least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tug/context/budget.h"
#include "tug/context/log.h"
#include "tug/context/services.h"
#include "tug/context/type_key.h"
#include "tug/core/cancel.h"
#include "tug/core/ids.h"
#include "tug/core/json.h"
#include "tug/core/rng.h"
#include "tug/core/tool.h"
#include "tug/core/window.h"

namespace tug {

class Context;
class Loop;

// From tug/journal, whose headers are needed only by those who emit or read events.
enum class Kind : std::uint8_t;
struct Lineage;
using LineagePtr = std::shared_ptr<const Lineage>;
class Message;
using MessagePtr = std::shared_ptr<const Message>;
class RootLog;

namespace detail {
struct ContextNode;
struct ContextRoot;
struct Slots;
}  // namespace detail

enum class NodeKind : std::uint8_t { run, tool, middleware, graph_node };
std::string_view name_of(NodeKind kind) noexcept;

// A name for everything an invocation can be known by; valid while the context lives.
struct Identity {
  const RunId& run_id;
  const ThreadId& thread_id;
  const RunId& root_run_id;
  const RunId& parent_run_id;    // empty at a root
  const CallId& parent_call_id;  // the call that started this run; empty at a root
  std::uint32_t depth;
  const std::string& agent;
  const CallId& call_id;  // the call this node runs or is part of; empty for runs
  std::uint32_t turn;     // 1-based model call of the run; 0 before the first
  std::uint32_t node;     // counted from 0 within the root, in order of birth
};

// A call that an invocation made.
struct Frame {
  std::string tool;
  Json args;
  Time timestamp{};
  friend bool operator==(const Frame&, const Frame&) = default;
};
inline constexpr std::size_t kHistoryFrames = 64;

// One middleware of the chain that an invocation goes through.
struct MiddlewareLink {
  std::string name;
  std::string source;  // where it was added: harness, run, inherited
  Json settings;
  friend bool operator==(const MiddlewareLink&, const MiddlewareLink&) = default;
};
using MiddlewareChain = std::vector<MiddlewareLink>;

// Well-known inherited keys. `agent` {name, topic, context_id, ancestor_context_id, tool_mode} is
// set by the sub-agent code; `request` (parsed fields of the HTTP request that started the run,
// values only) by the server; `gateway` (model gateway settings) by the provider configuration.
inline constexpr std::string_view kAgentKey = "agent";
inline constexpr std::string_view kRequestKey = "request";
inline constexpr std::string_view kGatewayKey = "gateway";

// What a subtree has in common. A child sees its parent's as it was at the child's birth, nested
// values included; a write copies first when anybody else sees the same.
struct Inherited {
  Json values;        // an object
  Json metadata;      // an object
  Json configurable;  // an object
  std::vector<std::string> tags;
};

// What a child has that its parent has not. Everything left out comes from the parent;
// `interactive` and locals never do.
struct ChildSpec {
  NodeKind kind = NodeKind::tool;
  CallId call;  // the call that this node runs, or that starts this run (the parent's when empty)
  Json args;
  std::shared_ptr<const ToolSpec> tool;
  std::shared_ptr<const Origin> origin;  // the tool's own when empty
  std::shared_ptr<const MiddlewareChain> chain;
  const Context* target = nullptr;  // the context a middleware serves

  // Runs only; `invalid` elsewhere.
  RunId run_id;        // a new one from services().ids() when empty
  ThreadId thread_id;  // the parent's when empty
  std::string agent;   // the parent's when empty
  Limits defaults;     // built-in limits of this one run
  std::optional<BudgetSnapshot> restored;

  std::vector<std::string> tags;  // of this node alone
  Json metadata;                  // of this node alone
  Json locals;                    // where locals start, on top of `config`
  Inherited inherit;              // added to what the parent passes on, member by member
  Limits limits;                  // bind this node and all below it, besides those above
  CancelToken cancel;             // stops this node too
};

// How a tree begins. Services, loop and log are required; all three may be shared with other users,
// and loop and log must be of the calling thread.
struct RootSpec {
  ServicesPtr services;
  Loop* loop = nullptr;
  std::shared_ptr<RootLog> log;
  // Its kind is `run` whatever it says, its run id that of the log. A thread of its own when none
  // is given.
  ChildSpec run;
  bool interactive = false;  // a person at a terminal; set by the command line alone
  std::size_t log_ring = kLogRing;
};

struct SnapshotOptions {
  std::size_t depth = 8;   // levels of nesting that are shown
  bool globals = false;    // with services().shared()
  bool ancestors = false;  // parent and target in full instead of by id
};

// The reading half: what `parent()` gives.
class ConstContext {
 public:
  ConstContext() noexcept = default;
  ConstContext(const ConstContext& other) noexcept;
  ConstContext(ConstContext&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  ConstContext& operator=(ConstContext other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~ConstContext();

  explicit operator bool() const noexcept { return node_ != nullptr; }
  // The same node.
  friend bool operator==(const ConstContext&, const ConstContext&) noexcept = default;

  Identity id() const noexcept;
  const LineagePtr& lineage() const noexcept;
  NodeKind kind() const noexcept;
  const Json& args() const noexcept;
  ConstContext parent() const noexcept;  // empty at a root
  bool has_other_target() const noexcept;
  bool interactive() const noexcept;
  bool resumed() const noexcept;  // the run goes on from an earlier segment

  const ToolSpec* tool() const noexcept;          // null when no tool is being invoked
  const Origin& origin() const noexcept;          // without a uri for what is built in
  const MiddlewareChain& chain() const noexcept;  // empty when there is none
  const ContextWindow& window() const noexcept;   // of the run

  const Services& services() const noexcept;
  Stores& stores() const noexcept;
  Loop& loop() const noexcept;

  // An object with `config`, whatever was set, and `result`, `error`, `history` where there are
  // any.
  Json locals() const;
  const Json& result() const noexcept;  // null until set
  const Error* error() const noexcept;
  const std::vector<Frame>& history() const noexcept;  // oldest first, the last kHistoryFrames
  const Inherited& inherited() const noexcept;
  std::vector<std::string> tags() const;  // inherited, then local, each once
  Json metadata() const;                  // inherited, local members on top

  // The value of that type, locals before inherited; null when there is none. Lives until it is set
  // again here, or as long as the context.
  template <class T>
  const T* get() const noexcept {
    return static_cast<const T*>(slot(type_key<T>()));
  }

  // The same as something to keep, also on another thread.
  template <class T>
  std::shared_ptr<const T> share() const noexcept {
    return std::static_pointer_cast<const T>(share(type_key<T>()));
  }
  std::shared_ptr<const void> share(TypeKey key) const noexcept;
  // All that `share` finds, each once.
  std::vector<std::pair<TypeKey, std::shared_ptr<const void>>> share_all() const;

  // Any value by dotted path: `locals.config.cwd`, `args.items.0`. Null when there is none. Roots:
  // envelope, args, run, locals, inherited (or nonlocals), metadata, configurable, globals.
  Json get(std::string_view path) const;

  // What somebody remembered in this run under that key, in this segment or an earlier one; null
  // when nobody did.
  const Json& remembered(std::string_view key) const noexcept;

  bool cancelled() const noexcept;
  const CancelReason* cancel_reason() const noexcept;  // null until cancelled

  // The newest entries of this root's log.
  Tail tail(const TailFilter& filter = {}) const;

  // JSON for people, not for resuming: no handles, no functions, no services. What is nested deeper
  // than `depth` is "[Truncated]", a context inside itself is "[Circular]".
  Json snapshot(const SnapshotOptions& options = {}) const;

 protected:
  explicit ConstContext(detail::ContextNode* node) noexcept : node_(node) {}
  const void* slot(TypeKey key) const noexcept;
  friend struct detail::ContextNode;
  detail::ContextNode* node_ = nullptr;
};

class Context : public ConstContext {
 public:
  Context() noexcept = default;

  // `invalid` when something required is missing, or when the log is another root's.
  static Result<Context> root(RootSpec spec);
  // `exhausted` with Limit{depth} for a run deeper than a limit on the path allows; `invalid` for a
  // field that this kind of node does not have. A child of a cancelled context is born cancelled.
  Result<Context> child(ChildSpec spec) const;

  // The context being served when this is a middleware's, itself otherwise.
  Context target() const noexcept;
  // `invalid` when this context serves no other.
  Result<Context> require_target() const;

  Budget& budget() const noexcept;
  // This node's token: a request stops it and all below it, never its parent.
  const CancelToken& cancel() const;
  Rng& rng() const noexcept;  // the root's

  RootLog& events() const noexcept;
  // An event with this node's lineage and turn.
  Seq emit(Kind kind, Json data, MessagePtr message = nullptr) const;
  void emit_live(Kind kind, Json data) const;  // built only if somebody listens
  // An app's own event: kind `custom`, data {name, data}.
  Seq emit(std::string_view name, Json data) const;

  // Keeps a value for the whole run, also when it is resumed elsewhere: a record (`state.set`).
  // Keys are shared by all middleware of the run; begin them with a name.
  void remember(std::string_view key, Json value) const;

  // Typed values: of this node alone, or of it and of children born from now on. Changing one is
  // setting another.
  template <class T>
  void set(T value) const {
    using Kept = std::remove_cvref_t<T>;
    set_slot(type_key<Kept>(), std::make_shared<const Kept>(std::move(value)));
  }
  template <class T>
  void set(std::shared_ptr<T> value) const {
    set_slot(type_key<std::remove_const_t<T>>(), std::move(value));
  }
  template <class T>
  void inherit(T value) const {
    using Kept = std::remove_cvref_t<T>;
    inherit_slot(type_key<Kept>(), std::make_shared<const Kept>(std::move(value)));
  }
  template <class T>
  void inherit(std::shared_ptr<T> value) const {
    inherit_slot(type_key<std::remove_const_t<T>>(), std::move(value));
  }

  void inherit(TypeKey key, std::shared_ptr<const void> value) const {
    inherit_slot(key, std::move(value));
  }

  // Writes by dotted path into `locals`, `inherited`, `metadata` (of this node), `configurable`
  // (inherited) or `globals`. Objects on the way are made; an item of a list is replaced, or added
  // at its end. Anything else is `invalid`, naming the root or the value in the way; identity,
  // arguments and control cannot be written.
  Result<void> set(std::string_view path, Json value) const;

  void set_result(Json result) const;
  void set_error(std::optional<Error> error) const;
  void add_frame(std::string tool,
                 Json args) const;      // a call this invocation makes, at the loop's time
  void add_tag(std::string tag) const;  // of this node alone
  void inherit_tag(std::string tag) const;
  void inherit_metadata(std::string_view key, Json value) const;

  // For the run loop: what `id().turn` and `window()` say from now on. The turn is copied at birth,
  // the window is shared by all nodes of the run.
  void set_turn(std::uint32_t turn) const noexcept;
  void set_window(ContextWindow window) const;
  // An object; replaces what is of this node alone.
  void set_metadata(Json metadata) const;
  // Of a run that is taken up again: what was remembered before.
  void set_resumed(Json remembered) const;
  // For re-resolving a definition whose search path changed.
  void set_tool(std::shared_ptr<const ToolSpec> tool) const noexcept;
  void set_chain(std::shared_ptr<const MiddlewareChain> chain) const;

  // A line for people: {type: message, tag: user, level: error}.
  void log(std::string_view text) const;
  void log(LogEntry entry) const;
  // `invalid` for a reporter nobody registered; what its opening fails with otherwise.
  Result<LogSettings> configure_log(const LogOptions& options = {}) const;

 private:
  explicit Context(detail::ContextNode* node) noexcept : ConstContext(node) {}
  friend struct detail::ContextNode;
  void set_slot(TypeKey key, std::shared_ptr<const void> value) const;
  void inherit_slot(TypeKey key, std::shared_ptr<const void> value) const;
};

}  // namespace tug
