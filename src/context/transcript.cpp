#include "tug/context/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "context/chunk_list.h"

namespace tug {
namespace detail {

// Never changed once a transcript shows it: a mutator builds another.
struct TranscriptExtra {
  std::atomic<std::uint32_t> refs{1};
  std::vector<MessagePtr> pending;
  Chunk<BoundaryPtr>* boundary_chunk = nullptr;
  std::uint32_t boundary_count = 0;

  TranscriptExtra() = default;
  TranscriptExtra(const TranscriptExtra& other)
      : pending(other.pending),
        boundary_chunk(other.boundary_chunk),
        boundary_count(other.boundary_count) {
    retain(boundary_chunk);
  }
  TranscriptExtra& operator=(const TranscriptExtra&) = delete;
  ~TranscriptExtra() { release(boundary_chunk); }
};

static void retain(TranscriptExtra* extra) noexcept {
  if (extra) extra->refs.fetch_add(1, std::memory_order_relaxed);
}
static void release(TranscriptExtra* extra) noexcept {
  if (extra && extra->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete extra;
}

}  // namespace detail

namespace {

using detail::TranscriptExtra;

bool has_calls(const Message& message) noexcept {
  return message.role() == Role::assistant &&
         std::ranges::any_of(message.parts(), [](const Part& part) {
           return std::holds_alternative<ToolCall>(part);
         });
}

// The seq in the id of its first call; 0 for an id that is not ours.
Seq seq_of(const Message& turn) noexcept {
  for (const Part& part : turn.parts()) {
    const auto* call = std::get_if<ToolCall>(&part);
    if (!call) continue;
    const std::string& id = call->id.text();
    Seq seq = 0;
    std::from_chars(id.data(), id.data() + id.size(), seq);
    return seq;
  }
  return 0;
}

std::string describe(const ToolCall& call) {
  return fmt::format("{} ({})", call.id.text(), call.tool);
}

Failure refuse(std::string what, std::string fix = {}) {
  return fail(ErrorKind::invalid, "transcript: " + std::move(what), std::move(fix));
}

// What each role may consist of: reasoning and calls belong to turns, results to their calls.
bool may_hold(Role role, const Part& part) noexcept {
  if (std::holds_alternative<ToolResult>(part)) return role == Role::tool;
  if (role == Role::tool) return false;
  const bool of_a_model = std::holds_alternative<ReasoningPart>(part) ||
                          std::holds_alternative<ToolCall>(part) ||
                          std::holds_alternative<ProviderBlock>(part);
  return role == Role::assistant || !of_a_model;
}

Result<void> check_parts(const Message& message, std::string_view where) {
  for (const Part& part : message.parts()) {
    if (may_hold(message.role(), part)) continue;
    constexpr std::string_view kParts[] = {"text",      "media",       "reasoning",
                                           "tool call", "tool result", "provider block"};
    return refuse(fmt::format("{}: a {} part cannot stand in a message of role {}", where,
                              kParts[part.index()], name_of(message.role())));
  }
  return {};
}

// The results in the order of the calls. Those without a result get `otherwise`, if that is given.
Result<std::vector<ToolResult>> in_call_order(const std::vector<const ToolCall*>& calls,
                                              std::vector<ToolResult> results,
                                              const ToolResult* otherwise) {
  std::vector<ToolResult> ordered(calls.size());
  std::vector<bool> answered(calls.size());
  std::size_t likely = 0;  // most come in order
  for (ToolResult& result : results) {
    auto call = calls.begin() + static_cast<std::ptrdiff_t>(std::min(likely, calls.size()));
    if (call == calls.end() || (*call)->id != result.call) {
      call = std::ranges::find_if(calls, [&](const ToolCall* c) { return c->id == result.call; });
    }
    likely = static_cast<std::size_t>(call - calls.begin()) + 1;
    if (call == calls.end()) {
      return refuse(fmt::format("a result for call \"{}\", which is not open", result.call.text()),
                    "set ToolResult::call to the id of an open call");
    }
    const auto place = static_cast<std::size_t>(call - calls.begin());
    if (answered[place]) return refuse("two results for call " + describe(**call));
    answered[place] = true;
    if (result.tool.empty()) result.tool = (*call)->tool;
    ordered[place] = std::move(result);
  }
  for (std::size_t place = 0; place < calls.size(); ++place) {
    if (answered[place]) continue;
    if (!otherwise) {
      return refuse("no result for call " + describe(*calls[place]),
                    "give every open call one result, or use close_open");
    }
    ordered[place] = *otherwise;
    ordered[place].call = calls[place]->id;
    ordered[place].tool = calls[place]->tool;
  }
  return ordered;
}

// A sequence that could stand alone: calls answered at once, in order and completely.
Result<void> check_legal(const std::vector<MessagePtr>& messages, std::string_view what) {
  const Message* turn = nullptr;  // whose calls wait for results
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = fmt::format("{} message {}", what, i);
    if (!messages[i]) return refuse(where + " is null");
    const Message& message = *messages[i];
    if (auto parts = check_parts(message, where); !parts) return parts;
    const auto results = message.tool_results();
    const auto calls = turn ? turn->tool_calls() : std::vector<const ToolCall*>{};
    const bool answers = std::ranges::equal(calls, results, {}, &ToolCall::id, &ToolResult::call);
    if (!answers) {
      return refuse(where + (turn ? " does not answer exactly the calls of the turn before it"
                                  : " answers calls that no turn before it made"));
    }
    if (message.role() == Role::tool && !turn) return refuse(where + " has results without calls");
    turn = has_calls(message) ? &message : nullptr;
  }
  if (turn) return refuse(fmt::format("the {} ends with calls that have no results", what));
  return {};
}

}  // namespace

void Messages::Iterator::next_run() noexcept {
  if (++run_ == in_->runs_.size()) {
    *this = {};
    return;
  }
  const Run& run = in_->runs_[run_];
  at_ = run.first;
  end_ = run.first + run.count;
}

Messages::Iterator Messages::begin() const noexcept {
  Iterator first;
  if (runs_.empty()) return first;
  first.in_ = this;
  first.at_ = runs_[0].first;
  first.end_ = first.at_ + runs_[0].count;
  return first;
}

const MessagePtr& Messages::operator[](std::size_t place) const noexcept {
  const auto after = std::ranges::upper_bound(runs_, place, {}, &Run::place);
  const Run& run = *(after - 1);
  return run.first[place - run.place];
}

Transcript::Transcript(const Transcript& other) noexcept
    : chunk_(other.chunk_), size_(other.size_), open_(other.open_), extra_(other.extra_) {
  detail::retain(chunk_);
  detail::retain(extra_);
}

Transcript::Transcript(Transcript&& other) noexcept
    : chunk_(std::exchange(other.chunk_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      open_(std::exchange(other.open_, false)),
      extra_(std::exchange(other.extra_, nullptr)) {}

Transcript& Transcript::operator=(const Transcript& other) noexcept {
  return *this = Transcript(other);
}

Transcript& Transcript::operator=(Transcript&& other) noexcept {
  std::swap(chunk_, other.chunk_);
  std::swap(size_, other.size_);
  std::swap(open_, other.open_);
  std::swap(extra_, other.extra_);
  return *this;
}

Transcript::~Transcript() {
  detail::release(chunk_);
  detail::release(extra_);
}

Result<Transcript> Transcript::of(const std::vector<MessagePtr>& messages) {
  if (auto legal = check_legal(messages, "history"); !legal) {
    return Failure(std::move(legal).error());
  }
  Transcript made;
  for (const MessagePtr& message : messages) made.push(message);
  return made;
}

const MessagePtr& Transcript::operator[](std::size_t index) const noexcept {
  return detail::at(chunk_, static_cast<std::uint32_t>(index));
}

Messages Transcript::since(std::size_t index) const {
  Messages range;
  if (index >= size_) return range;
  range.size_ = size_ - index;
  std::uint32_t end = size_;
  for (auto* chunk = chunk_; end > index; chunk = chunk->before) {
    const std::uint32_t first = std::max(chunk->start, static_cast<std::uint32_t>(index));
    range.runs_.push_back({&chunk->slots()[first - chunk->start], end - first, first - index});
    end = first;
  }
  std::ranges::reverse(range.runs_);
  return range;
}

std::vector<const ToolCall*> Transcript::open_calls() const {
  return open_ ? back()->tool_calls() : std::vector<const ToolCall*>{};
}

Transcript Transcript::settled() const {
  if (!open_) return *this;
  Transcript before;
  before.size_ = size_ - 1;
  // A chunk that holds nothing but the open turn is none of its past.
  before.chunk_ = chunk_->start == before.size_ ? chunk_->before : chunk_;
  detail::retain(before.chunk_);
  if (boundary_count() > 0) {
    before.extra_ = new TranscriptExtra(*extra_);
    before.extra_->pending.clear();
  }
  return before;
}

std::vector<MessagePtr> Transcript::pending() const {
  return extra_ ? extra_->pending : std::vector<MessagePtr>{};
}

void Transcript::push(MessagePtr message) {
  chunk_ = detail::append(chunk_, size_, std::move(message));
  ++size_;
}

void Transcript::set_extra(TranscriptExtra* extra) noexcept {
  detail::release(std::exchange(extra_, extra));
}

MessagePtr Transcript::newest_said() const noexcept {
  for (std::size_t i = size_; i-- > 0;) {
    if (const MessagePtr& message = (*this)[i]; !message->is_note()) return message;
  }
  return nullptr;
}

Result<void> Transcript::append_user(MessagePtr message) {
  if (message->role() != Role::user && message->role() != Role::system) {
    return refuse(fmt::format("a message of role {} is not a user's", name_of(message->role())),
                  "models' turns go through append_turn, results through append_results");
  }
  if (auto parts = check_parts(*message, "user message"); !parts) return parts;
  if (!open_) {
    push(std::move(message));
    return {};
  }
  auto* extra = extra_ ? new TranscriptExtra(*extra_) : new TranscriptExtra;
  extra->pending.push_back(std::move(message));
  set_extra(extra);
  return {};
}

// Looks back as far as the last turn with calls. Nothing remembers it: the messages in between were
// appended since, so each is looked at once for it.
Seq Transcript::last_call_seq() const noexcept {
  std::uint32_t end = size_;
  for (auto* chunk = chunk_; chunk; chunk = chunk->before) {
    for (; end > chunk->start; --end) {
      const Message& message = *chunk->slots()[end - 1 - chunk->start];
      if (has_calls(message)) return seq_of(message);
    }
  }
  return 0;
}

Result<MessagePtr> Transcript::append_turn(MessagePtr assistant, Seq seq) {
  if (open_) {
    return refuse("a turn while call " + describe(*open_calls().front()) + " is open",
                  "append its result first, or use close_open");
  }
  if (assistant->role() != Role::assistant) {
    return refuse(fmt::format("a message of role {} is not a turn", name_of(assistant->role())));
  }
  if (auto parts = check_parts(*assistant, "turn"); !parts) {
    return Failure(std::move(parts).error());
  }
  if (!has_calls(*assistant)) {
    push(assistant);
    return assistant;
  }
  if (const Seq last = last_call_seq(); seq <= last) {
    return refuse(
        fmt::format("a turn at seq {} after one at seq {}: call ids would repeat", seq, last),
        "count on from the base that this run continues");
  }
  bool as_it_should = true;
  std::uint32_t index = 0;
  for (const ToolCall* call : assistant->tool_calls()) {
    as_it_should = as_it_should && call->id == make_call_id(seq, index++);
  }
  if (!as_it_should) {
    std::vector<Part> parts = assistant->parts();
    index = 0;
    for (Part& part : parts) {
      if (auto* call = std::get_if<ToolCall>(&part)) call->id = make_call_id(seq, index++);
    }
    assistant = Message::make(Role::assistant, std::move(parts));
  }
  push(assistant);
  open_ = true;
  return assistant;
}

MessagePtr Transcript::close_with(std::vector<ToolResult> results) {
  MessagePtr message = Message::results(std::move(results));
  push(message);
  open_ = false;
  if (extra_ && !extra_->pending.empty()) {
    for (const MessagePtr& waiting : extra_->pending) push(waiting);
    TranscriptExtra* rest = nullptr;
    if (extra_->boundary_count > 0) {
      rest = new TranscriptExtra(*extra_);
      rest->pending.clear();
    }
    set_extra(rest);
  }
  return message;
}

Result<MessagePtr> Transcript::append_results(std::vector<ToolResult> results) {
  if (!open_) return refuse("results while no call is open");
  auto ordered = in_call_order(open_calls(), std::move(results), nullptr);
  if (!ordered) return Failure(std::move(ordered).error());
  return close_with(*std::move(ordered));
}

Result<MessagePtr> Transcript::close_open(std::string_view reason, std::vector<ToolResult> finished,
                                          std::string_view error_type) {
  if (!open_ && finished.empty()) return MessagePtr();
  const ToolResult otherwise = ToolResult::error(std::string(reason), error_type);
  auto ordered = in_call_order(open_calls(), std::move(finished), &otherwise);
  if (!ordered) return Failure(std::move(ordered).error());
  return close_with(*std::move(ordered));
}

Result<void> Transcript::append_boundary(Boundary boundary) {
  const auto covers = fmt::format("boundary [{}, {})", boundary.from, boundary.to);
  if (boundary.from >= boundary.to || boundary.to > size_) {
    return refuse(fmt::format("{} covers nothing of {} messages", covers, size_));
  }
  for (std::size_t edge : {boundary.from, boundary.to}) {
    if (edge == 0 || !has_calls(*(*this)[edge - 1])) continue;
    return refuse(fmt::format("{} would cut call {} from its result", covers,
                              describe(*(*this)[edge - 1]->tool_calls().front())));
  }
  for (const BoundaryPtr& earlier : boundaries()) {
    const bool clear = boundary.to <= earlier->from || boundary.from >= earlier->to;
    const bool whole = boundary.from <= earlier->from && boundary.to >= earlier->to;
    if (!clear && !whole) {
      return refuse(
          fmt::format("{} overlaps boundary [{}, {}) in part", covers, earlier->from, earlier->to));
    }
  }
  if (auto legal = check_legal(boundary.replacement, "replacement"); !legal) return legal;
  auto* extra = extra_ ? new TranscriptExtra(*extra_) : new TranscriptExtra;
  extra->boundary_chunk =
      detail::append(extra->boundary_chunk, extra->boundary_count,
                     BoundaryPtr(std::make_shared<const Boundary>(std::move(boundary))));
  ++extra->boundary_count;
  set_extra(extra);
  return {};
}

std::size_t Transcript::boundary_count() const noexcept {
  return extra_ ? extra_->boundary_count : 0;
}

std::vector<BoundaryPtr> Transcript::boundaries() const {
  std::vector<BoundaryPtr> list(boundary_count());
  for (std::uint32_t i = 0; i < list.size(); ++i) list[i] = detail::at(extra_->boundary_chunk, i);
  return list;
}

bool operator==(const Transcript& a, const Transcript& b) noexcept {
  const auto same = [](const auto& x, const auto& y) { return x == y || *x == *y; };
  return a.size_ == b.size_ && std::ranges::equal(a.messages(), b.messages(), same) &&
         std::ranges::equal(a.pending(), b.pending(), same) &&
         std::ranges::equal(a.boundaries(), b.boundaries(), same);
}

}  // namespace tug
