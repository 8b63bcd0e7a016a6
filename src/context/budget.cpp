#include "tug/context/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "tug/core/cost.h"

namespace tug {
namespace detail {

struct Ledger {
  Amount used;
  Amount held;
};

struct BudgetNode {
  std::uint32_t refs = 1;
  std::uint32_t depth = 0;
  bool is_run = true;  // false for a part of the parent's run
  BudgetNode* parent = nullptr;
  RunId scope;
  Limits limits{};
  Limits defaults{};
  Ledger all{};  // this node and everything below it
  Ledger own{};  // without child runs
  Duration born{};

  // The tree's clock; only the root's is used.
  Instant started{};
  Duration parked{};
  std::optional<Instant> parked_since;
};

}  // namespace detail

namespace {

using detail::BudgetNode;
using detail::Ledger;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    return b > 0 ? kMost : std::numeric_limits<std::int64_t>::min();
  return sum;
}

// One kind of amount and the limit that belongs to it.
struct AmountKind {
  LimitKind kind;
  std::int64_t Amount::* amount;
  std::optional<std::int64_t> Limits::* limit;
  std::string_view unit;
};
constexpr AmountKind kKinds[] = {
    {LimitKind::model_calls, &Amount::model_calls, &Limits::model_calls, "model calls"},
    {LimitKind::tool_calls, &Amount::tool_calls, &Limits::tool_calls, "tool calls"},
    {LimitKind::tokens, &Amount::tokens, &Limits::tokens, "tokens"},
    {LimitKind::cost, &Amount::cost, &Limits::cost, "nano-dollars"},
};

Amount minus(Amount a, const Amount& b) noexcept {
  // Not below zero: a sum that stopped at the largest value has forgotten what was added.
  for (const AmountKind& kind : kKinds) {
    a.*kind.amount = std::max<std::int64_t>(0, a.*kind.amount - b.*kind.amount);
  }
  return a;
}

// Walks from a node to the root; `same_run` says whether the act at the bottom belongs to the run
// of the node at hand, for what counts per run and not per subtree.
struct Path {
  BudgetNode* node;
  bool same_run = true;
  explicit operator bool() const noexcept { return node != nullptr; }
  void up() noexcept {
    if (node->is_run) same_run = false;
    node = node->parent;
  }
};

const BudgetNode* root_of(const BudgetNode* node) noexcept {
  while (node->parent) node = node->parent;
  return node;
}

// What binds at one node: the limit somebody set, over the subtree, or else the default, over the
// run.
struct Bound {
  std::optional<std::int64_t> limit;
  std::int64_t spent = 0;  // settled and held
};
// Nothing that was spent gives anything back: a count below zero is nonsense from outside.
Amount at_least_zero(Amount amount) noexcept {
  for (const AmountKind& kind : kKinds)
    amount.*kind.amount = std::max<std::int64_t>(0, amount.*kind.amount);
  return amount;
}

Bound bound_at(const Path& at, const AmountKind& kind) noexcept {
  const auto spent = [&](const Ledger& ledger) {
    return add(ledger.used.*kind.amount, ledger.held.*kind.amount);
  };
  if (const auto& set = at.node->limits.*kind.limit) return {set, spent(at.node->all)};
  if (const auto& built_in = at.node->defaults.*kind.limit; built_in && at.same_run) {
    return {built_in, spent(at.node->own)};
  }
  return {};
}

Failure exhausted(const AmountKind& kind, const Bound& bound, const BudgetNode& node,
                  std::int64_t want) {
  return fail(ErrorKind::exhausted,
              fmt::format("limit reached: {} of {} {} spent or held in run {}, {} more wanted",
                          bound.spent, *bound.limit, kind.unit, node.scope.text(), want),
              fmt::format("raise the limit {} of that run", name_of(kind.kind)),
              Limit{kind.kind, *bound.limit, bound.spent, node.scope.text()});
}

template <class F>
void for_each_ledger(BudgetNode* node, F&& change) noexcept {
  for (Path at{node}; at; at.up()) {
    change(at.node->all);
    if (at.same_run) change(at.node->own);
  }
}

void let_go(BudgetNode* node) noexcept {
  while (node && --node->refs == 0) {
    BudgetNode* parent = node->parent;
    delete node;
    node = parent;
  }
}

Duration alive_at(const BudgetNode& root, Instant now) noexcept {
  const Instant until = root.parked_since ? *root.parked_since : now;
  return until - root.started - root.parked;
}

void restore(BudgetNode& node, const BudgetSnapshot& was) noexcept {
  node.all.used = was.used + was.held;
  node.own.used = was.own_used + was.own_held;
  node.born = was.born;
}

// The nearest deadline on the path, on the tree's clock.
struct Deadline {
  const BudgetNode* node = nullptr;
  Duration limit{};
  Duration at = Duration::max();
};
Deadline nearest_deadline(BudgetNode* node) noexcept {
  Deadline nearest;
  for (Path at{node}; at; at.up()) {
    const auto& set = at.node->limits.wall_clock;
    const auto& limit = set || !at.same_run ? set : at.node->defaults.wall_clock;
    if (!limit) continue;
    const Duration due =
        *limit > Duration::max() - at.node->born ? Duration::max() : at.node->born + *limit;
    if (due < nearest.at) nearest = {at.node, *limit, due};
  }
  return nearest;
}

constexpr std::int64_t kPicosPerNano = 1000;

// Nano-dollars at a rate in pico-dollars a token; rounded up, so that what is held covers what is
// spent.
std::int64_t cost_of(std::int64_t tokens, std::int64_t rate) noexcept {
  const auto exact = static_cast<__int128>(tokens) * std::max<std::int64_t>(rate, 0);
  const auto nanos = (exact + kPicosPerNano - 1) / kPicosPerNano;
  return static_cast<std::int64_t>(std::min<__int128>(nanos, kMost));
}

std::int64_t milliseconds(Duration duration) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

Amount& Amount::operator+=(const Amount& other) noexcept {
  for (const AmountKind& kind : kKinds)
    this->*kind.amount = add(this->*kind.amount, other.*kind.amount);
  return *this;
}

Hold::Hold(BudgetNode* node, const Amount& amount) noexcept : node_(node), amount_(amount) {
  ++node_->refs;
}

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    settle(amount_);
    node_ = std::exchange(other.node_, nullptr);
    amount_ = other.amount_;
  }
  return *this;
}

Amount Hold::settle(const Amount& spent) noexcept {
  if (!node_) return {};
  const Amount actual = at_least_zero(spent);
  for_each_ledger(node_, [&](Ledger& ledger) {
    ledger.held = minus(ledger.held, amount_);
    ledger.used += actual;
  });
  let_go(std::exchange(node_, nullptr));
  Amount over;
  for (const AmountKind& kind : kKinds) {
    over.*kind.amount = std::max<std::int64_t>(0, actual.*kind.amount - amount_.*kind.amount);
  }
  return over;
}

Budget::Budget(const Budget& other) noexcept : node_(other.node_) {
  if (node_) ++node_->refs;
}

Budget::~Budget() { let_go(node_); }

Budget Budget::root(BudgetSpec spec, Instant now) {
  auto* node = new BudgetNode{.scope = std::move(spec.scope),
                              .limits = std::move(spec.limits),
                              .defaults = std::move(spec.defaults),
                              .started = now};
  if (!node->limits.depth) node->limits.depth = node->defaults.depth.value_or(kDefaultMaxDepth);
  if (spec.restored) {
    restore(*node, *spec.restored);
    node->started = now - spec.restored->alive;
  }
  return Budget(node);
}

Result<Budget> Budget::child_run(BudgetSpec spec, Instant now) const {
  if (!node_) return Budget();
  const std::uint32_t depth = node_->depth + 1;
  for (const BudgetNode* at = node_; at; at = at->parent) {
    const std::uint32_t levels = depth - at->depth;
    if (!at->limits.depth || levels <= *at->limits.depth) continue;
    return fail(ErrorKind::exhausted,
                fmt::format("limit reached: a run {} levels below run {}, which allows {}", levels,
                            at->scope.text(), *at->limits.depth),
                "raise the limit depth of that run",
                Limit{LimitKind::depth, *at->limits.depth, levels, at->scope.text()});
  }
  ++node_->refs;
  auto* node = new BudgetNode{.depth = depth,
                              .parent = node_,
                              .scope = std::move(spec.scope),
                              .limits = std::move(spec.limits),
                              .defaults = std::move(spec.defaults),
                              .born = alive(now)};
  if (spec.restored) restore(*node, *spec.restored);
  return Budget(node);
}

Budget Budget::part(Limits limits, Instant now) const {
  if (!node_) return {};
  ++node_->refs;
  return Budget(new BudgetNode{.depth = node_->depth,
                               .is_run = false,
                               .parent = node_,
                               .scope = node_->scope,
                               .limits = std::move(limits),
                               .born = alive(now)});
}

Result<Hold> Budget::hold(const Amount& want) const {
  for (const AmountKind& kind : kKinds) {
    if (want.*kind.amount >= 0) continue;
    return fail(ErrorKind::invalid, fmt::format("a hold of {} {}", want.*kind.amount, kind.unit));
  }
  if (!node_) return Hold();
  for (Path at{node_}; at; at.up()) {
    for (const AmountKind& kind : kKinds) {
      if (want.*kind.amount == 0) continue;
      const Bound bound = bound_at(at, kind);
      if (bound.limit && add(bound.spent, want.*kind.amount) > *bound.limit) {
        return exhausted(kind, bound, *at.node, want.*kind.amount);
      }
    }
  }
  for_each_ledger(node_, [&](Ledger& ledger) { ledger.held += want; });
  return Hold(node_, want);
}

Result<ModelCallHold> Budget::hold_model_call(const ModelCallWant& want) const {
  if (want.prompt_tokens < 0 || want.max_output_tokens < 0) {
    return fail(ErrorKind::invalid, "a model call of negative size");
  }
  const bool priced = want.price && want.price->input && want.price->output;
  const auto tokens_left = left(LimitKind::tokens);
  const auto cost_left = left(LimitKind::cost);
  if (cost_left && !priced && !tokens_left) {
    return fail(ErrorKind::invalid, "a limit on cost, but the price of the model is not known",
                "give the model a price, or set a limit on tokens too");
  }
  const std::int64_t output_rate = priced ? *want.price->output : 0;
  const std::int64_t prompt_cost =
      priced ? cost_of(want.prompt_tokens,
                       std::max(*want.price->input, want.price->cache_write.value_or(0)))
             : 0;
  std::int64_t output = want.max_output_tokens;
  if (tokens_left) output = std::min(output, *tokens_left - want.prompt_tokens);
  if (cost_left && output_rate > 0) {
    const auto room = static_cast<__int128>(*cost_left - prompt_cost) * kPicosPerNano / output_rate;
    output = static_cast<std::int64_t>(std::min<__int128>(output, std::max<__int128>(room, 0)));
  }
  // Too little left: ask for the least that would be worth it, so that the error names what is
  // short.
  const std::int64_t least = std::min(want.max_output_tokens, kLeastOutputTokens);
  output = std::max(output, least);
  auto hold = this->hold({.model_calls = 1,
                          .tokens = add(want.prompt_tokens, output),
                          .cost = add(prompt_cost, cost_of(output, output_rate))});
  if (!hold) return Failure(std::move(hold).error());
  return ModelCallHold{*std::move(hold), output};
}

void Budget::charge(const Amount& amount) const noexcept {
  if (!node_) return;
  const Amount spent = at_least_zero(amount);
  for_each_ledger(node_, [&](Ledger& ledger) { ledger.used += spent; });
}

Amount Budget::used() const noexcept { return node_ ? node_->all.used : Amount{}; }
Amount Budget::held() const noexcept { return node_ ? node_->all.held : Amount{}; }
Amount Budget::own_used() const noexcept { return node_ ? node_->own.used : Amount{}; }

std::optional<std::int64_t> Budget::left(LimitKind limit_kind) const noexcept {
  const auto* kind = std::ranges::find(kKinds, limit_kind, &AmountKind::kind);
  if (kind == std::end(kKinds)) return {};
  std::optional<std::int64_t> least;
  for (Path at{node_}; at; at.up()) {
    const Bound bound = bound_at(at, *kind);
    if (!bound.limit) continue;
    const std::int64_t left = std::max<std::int64_t>(0, *bound.limit - bound.spent);
    least = least ? std::min(*least, left) : left;
  }
  return least;
}

std::uint32_t Budget::depth() const noexcept { return node_ ? node_->depth : 0; }

const Limits& Budget::limits() const noexcept {
  static const Limits kNone;
  return node_ ? node_->limits : kNone;
}

void Budget::park(Instant now) const noexcept {
  if (!node_) return;
  auto* root = const_cast<BudgetNode*>(root_of(node_));
  if (!root->parked_since) root->parked_since = now;
}

void Budget::unpark(Instant now) const noexcept {
  if (!node_) return;
  auto* root = const_cast<BudgetNode*>(root_of(node_));
  if (!root->parked_since) return;
  root->parked += now - *root->parked_since;
  root->parked_since.reset();
}

Duration Budget::alive(Instant now) const noexcept {
  return node_ ? alive_at(*root_of(node_), now) : Duration{};
}

Instant Budget::deadline(Instant now) const noexcept {
  if (!node_ || root_of(node_)->parked_since) return kNever;
  const Deadline nearest = nearest_deadline(node_);
  if (nearest.at == Duration::max()) return kNever;
  return later(now, nearest.at - alive(now));
}

Result<void> Budget::check_deadline(Instant now) const {
  const Deadline nearest = nearest_deadline(node_);
  const Duration clock = alive(now);
  if (!nearest.node || clock < nearest.at) return {};
  const std::int64_t limit = milliseconds(nearest.limit);
  const std::int64_t used = milliseconds(clock - nearest.node->born);
  return fail(ErrorKind::exhausted,
              fmt::format("limit reached: {} ms of {} ms passed in run {}", used, limit,
                          nearest.node->scope.text()),
              "raise the limit wall_clock of that run",
              Limit{LimitKind::wall_clock, limit, used, nearest.node->scope.text()});
}

BudgetSnapshot Budget::snapshot(Instant now) const noexcept {
  if (!node_) return {};
  return {node_->all.used, node_->all.held, node_->own.used,
          node_->own.held, node_->born,     alive(now)};
}

}  // namespace tug
