// What was said in one run, and what may be said next.
//
// A transcript is a value of 24 bytes: the newest chunk of a backward list and how much of it is
// ours. A copy is a fork: it shares everything said so far, costs a few nanoseconds however long
// the history is, and goes its own way from there. Messages are never changed or removed.
//
// Illegal histories cannot be built. Every tool call has exactly one result, the results of a turn
// directly follow it in call order, reasoning stays in its turn, and call ids never repeat. A
// mutator that would break this answers `invalid`, naming the call or the message, and changes
// nothing.
//
// Thread: one transcript value is used by one thread at a time; forks of it may live on different
// threads without further care. Only a null message pointer is a bug of the caller that is not
// checked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "tug/core/boundary.h"
#include "tug/core/error.h"
#include "tug/core/ids.h"
#include "tug/core/message.h"

namespace tug {

namespace detail {
template <class T>
struct Chunk;
struct TranscriptExtra;
}  // namespace detail

// Messages of a transcript in order, from some index on. Valid while the transcript it came from,
// or any fork or continuation of that, lives; appending does not disturb it.
class Messages {
 public:
  class Iterator {
   public:
    using value_type = MessagePtr;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    Iterator() noexcept = default;
    const MessagePtr& operator*() const noexcept { return *at_; }
    const MessagePtr* operator->() const noexcept { return at_; }
    Iterator& operator++() noexcept {
      if (++at_ == end_) next_run();
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    friend class Messages;
    void next_run() noexcept;
    const MessagePtr* at_ = nullptr;
    const MessagePtr* end_ = nullptr;
    const Messages* in_ = nullptr;
    std::size_t run_ = 0;
  };

  Iterator begin() const noexcept;
  Iterator end() const noexcept { return {}; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // By place in this range; cheap for any place.
  const MessagePtr& operator[](std::size_t place) const noexcept;

 private:
  friend class Transcript;
  struct Run {  // messages that stand side by side in one chunk
    const MessagePtr* first;
    std::size_t count;
    std::size_t place;  // of the first one, in this range
  };
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

class Transcript {
 public:
  Transcript() noexcept = default;
  Transcript(const Transcript& other) noexcept;
  Transcript(Transcript&& other) noexcept;
  Transcript& operator=(const Transcript& other) noexcept;
  Transcript& operator=(Transcript&& other) noexcept;
  ~Transcript();

  // These messages, shared, as a transcript of their own. `invalid`, naming the message, when they
  // are not a legal history by themselves, with every call answered.
  static Result<Transcript> of(const std::vector<MessagePtr>& messages);

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // Walks back chunk by chunk: constant near the end, size/64 steps at the start. Index < size().
  const MessagePtr& operator[](std::size_t index) const noexcept;
  const MessagePtr& back() const noexcept { return (*this)[size_ - 1]; }
  // The newest message that is no note of the harness; null when there is none.
  MessagePtr newest_said() const noexcept;
  // From `index` to the end; empty when index >= size().
  Messages since(std::size_t index) const;
  Messages messages() const { return since(0); }

  // The calls that wait for their results: those of the last message, all of them or none.
  bool has_open_calls() const noexcept { return open_; }
  std::vector<const ToolCall*> open_calls() const;
  // What was said before the turn whose calls are open, in constant time; all of it when none is.
  Transcript settled() const;
  // Messages that came while calls were open, in order of arrival.
  std::vector<MessagePtr> pending() const;

  // A user's (or a system's) words. While calls are open they wait in `pending()` and are appended
  // right behind the results.
  Result<void> append_user(MessagePtr message);

  // A model's turn. Each call in it gets the id `<seq>.<index>`; whatever id it had is dropped, the
  // provider's own stays beside it. `seq` must be larger than that of every earlier turn with
  // calls: a run that goes on from a base counts on from the base. Gives the message as it was
  // appended, which is the one passed in when its ids were right already. `invalid` while calls are
  // open.
  Result<MessagePtr> append_turn(MessagePtr assistant, Seq seq);

  // Closes the open calls: exactly one result for each, in any order. Unknown, repeated and missing
  // ones are `invalid`. Gives the message with the results in call order.
  Result<MessagePtr> append_results(std::vector<ToolResult> results);

  // Closes the open calls where not all can be answered: `finished` ones keep their results, the
  // others get an error result with `reason` as its text. Null when no call is open.
  Result<MessagePtr> close_open(std::string_view reason, std::vector<ToolResult> finished = {},
                                std::string_view error_type = "Cancelled");

  // What views replace, oldest first. A boundary covers at least one message, cuts no call from its
  // result, and either covers an earlier one whole or stays clear of it; its replacement is a legal
  // history by itself.
  Result<void> append_boundary(Boundary boundary);
  std::vector<BoundaryPtr> boundaries() const;
  std::size_t boundary_count() const noexcept;

  // The same messages, pending ones and boundaries, by value.
  friend bool operator==(const Transcript& a, const Transcript& b) noexcept;

 private:
  void push(MessagePtr message);
  Seq last_call_seq() const noexcept;
  MessagePtr close_with(std::vector<ToolResult> results);
  void set_extra(detail::TranscriptExtra* extra) noexcept;

  detail::Chunk<MessagePtr>* chunk_ = nullptr;
  std::uint32_t size_ = 0;
  bool open_ = false;
  detail::TranscriptExtra* extra_ = nullptr;  // what most transcripts do not have
};
static_assert(sizeof(Transcript) <= 24);

}  // namespace tug
