// What a run may spend, and what it has.
//
// Budgets form a tree beside the tree of runs. Before an act, what it may cost is held at its node
// and at every ancestor, all or nothing: `used + held + want <= limit`, inclusive. After the act
// the hold is settled with what it really cost. Nothing is handed over from parent to child, so
// siblings compete for what is left and together never pass a limit above them.
//
// A limit that somebody set binds the whole subtree where it was set. A built-in default binds one
// run alone: the spending of its child runs does not count against it. Deadlines count time alive,
// so a tree that is parked for a week has lost nothing.
//
// A Budget is a counted handle. Loop thread only. It knows no clock: time comes in as an argument.
// Failures: `exhausted` with detail Limit, which names the limit that tripped and the run that set
// it; `invalid` for a negative amount.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tug/core/error.h"
#include "tug/core/ids.h"
#include "tug/core/time.h"

namespace tug {

struct Price;  // tug/core/cost.h

// Sums stop at the largest value instead of wrapping.
struct Amount {
  std::int64_t model_calls = 0;
  std::int64_t tool_calls = 0;
  std::int64_t tokens = 0;
  std::int64_t cost = 0;  // nano-dollars

  Amount& operator+=(const Amount& other) noexcept;
  friend Amount operator+(Amount a, const Amount& b) noexcept { return a += b; }
  friend bool operator==(const Amount&, const Amount&) = default;
};

struct Limits {
  std::optional<std::int64_t> model_calls;
  std::optional<std::int64_t> tool_calls;
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> cost;    // nano-dollars
  std::optional<std::uint32_t> depth;  // levels of runs below the run that sets it
  std::optional<Duration> wall_clock;  // time alive, from the birth of the node that sets it

  bool empty() const noexcept { return *this == Limits{}; }
  friend bool operator==(const Limits&, const Limits&) = default;
};

// How deep a tree may grow when nobody says otherwise. Unlike the other defaults it binds the tree:
// as a default of every single run it would never trip.
inline constexpr std::uint32_t kDefaultMaxDepth = 8;

// The least a model call is worth making for.
inline constexpr std::int64_t kLeastOutputTokens = 256;

// A budget as plain data: what a fold keeps and a resumed run starts from.
struct BudgetSnapshot {
  Amount used;      // settled, of the subtree
  Amount held;      // not settled when this was taken
  Amount own_used;  // of the run itself, without child runs
  Amount own_held;
  Duration born{};   // on the tree's clock, which stands still while the tree is parked
  Duration alive{};  // the tree's clock when this was taken

  friend bool operator==(const BudgetSnapshot&, const BudgetSnapshot&) = default;
};

struct BudgetSpec {
  RunId scope;      // the run that errors name
  Limits limits;    // set by somebody
  Limits defaults;  // built in; count where `limits` says nothing
  // Of an earlier segment. What was held then counts as used: the act may have happened.
  std::optional<BudgetSnapshot> restored;
};

namespace detail {
struct BudgetNode;
}

// What an act may cost, taken until it is known what it did cost. Settles exactly once: destroying
// an open hold counts all of it as used, because nobody knows that the act did not happen.
class Hold {
 public:
  Hold() noexcept = default;
  Hold(Hold&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)), amount_(other.amount_) {}
  Hold& operator=(Hold&& other) noexcept;
  ~Hold() { settle(amount_); }

  bool open() const noexcept { return node_ != nullptr; }
  const Amount& amount() const noexcept { return amount_; }

  // Replaces the hold by what was spent. An estimate can be wrong: more than was held is counted
  // all the same, also past a limit, and given back so that it can be reported. On a settled hold,
  // nothing.
  Amount settle(const Amount& actual) noexcept;
  // The act did not happen.
  void release() noexcept { settle({}); }

 private:
  friend class Budget;
  Hold(detail::BudgetNode* node, const Amount& amount) noexcept;
  detail::BudgetNode* node_ = nullptr;
  Amount amount_;
};

// A model call before it is made.
struct ModelCallWant {
  std::int64_t prompt_tokens = 0;  // estimated
  std::int64_t max_output_tokens = 0;
  const Price* price = nullptr;  // null, or without input or output: not known
};

struct ModelCallHold {
  Hold hold;
  std::int64_t max_output_tokens = 0;  // what was asked for, or what is left
};

class Budget {
 public:
  Budget() noexcept = default;  // empty: no limits, nothing is counted
  Budget(const Budget& other) noexcept;
  Budget(Budget&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Budget& operator=(Budget other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Budget();

  // The budget of a root run; its clock starts at `now`, or goes on where `restored` stood.
  static Budget root(BudgetSpec spec, Instant now);
  // Of a child run: one level deeper, with own counts. `exhausted` with Limit{depth} when a limit
  // on the path allows no deeper run.
  Result<Budget> child_run(BudgetSpec spec, Instant now) const;
  // Of a part of the same run that has limits of its own (a tool call, a graph node).
  Budget part(Limits limits, Instant now) const;

  explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(const Budget&, const Budget&) noexcept = default;

  // A batch is one hold. The first limit that trips, from this node towards the root, is the error.
  Result<Hold> hold(const Amount& want) const;
  // One call, its prompt (at the dearest rate it may be billed at) and its output, lowered to what
  // is left. Fewer than kLeastOutputTokens left (or than asked for, if that is less) is
  // `exhausted`. A limit on cost with a model of unknown price and no limit on tokens is `invalid`:
  // nothing would ever stop it.
  Result<ModelCallHold> hold_model_call(const ModelCallWant& want) const;
  // What happened already and must be counted whatever the limits say.
  void charge(const Amount& amount) const noexcept;

  Amount used() const noexcept;      // settled, subtree
  Amount held() const noexcept;      // subtree
  Amount own_used() const noexcept;  // settled, without child runs
  // The least left of one kind along the path; nothing when no limit applies. Depth and wall clock
  // are not amounts and have none.
  std::optional<std::int64_t> left(LimitKind kind) const noexcept;
  std::uint32_t depth() const noexcept;  // of the run; 0 at the root
  const Limits& limits() const noexcept;

  // The clock of the whole tree. Parking stops it; parking twice is parking once.
  void park(Instant now) const noexcept;
  void unpark(Instant now) const noexcept;
  Duration alive(Instant now) const noexcept;
  // The nearest deadline on the path, as an instant to wait for; kNever when there is none and
  // while parked.
  Instant deadline(Instant now) const noexcept;
  // `exhausted` with Limit{wall_clock} (milliseconds) once that has come.
  Result<void> check_deadline(Instant now) const;

  BudgetSnapshot snapshot(Instant now) const noexcept;

 private:
  explicit Budget(detail::BudgetNode* node) noexcept : node_(node) {}
  detail::BudgetNode* node_ = nullptr;
};

}  // namespace tug
