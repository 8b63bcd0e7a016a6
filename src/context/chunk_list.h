// A persistent list that only grows: chunks of 64 slots linked backwards. A copy of (newest chunk,
// length) is a fork. The first fork to append at some place takes the slot by one compare-and-swap;
// one that comes later starts a chunk of its own, linked to the shared past.
//
// A slot is read only through lengths that cover it, and its writer was the one that first had such
// a length, so slots need no synchronisation beyond what carries a length from one thread to
// another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace tug::detail {

// Most lists are short: the first chunk is small, each next one twice as large, up to the usual.
inline constexpr std::uint32_t kFirstSlots = 8;
inline constexpr std::uint32_t kChunkSlots = 64;

template <class T>
struct Chunk {
  std::atomic<std::uint32_t> refs{1};
  std::atomic<std::uint32_t> taken{0};  // slots somebody owns; they hold values once written
  std::uint32_t start = 0;              // index of the first slot in the list
  const std::uint32_t capacity;
  Chunk* before = nullptr;  // counted

  // Behind the chunk, in the same allocation; the first `taken` are alive.
  T* slots() noexcept { return reinterpret_cast<T*>(this + 1); }
  const T* slots() const noexcept { return reinterpret_cast<const T*>(this + 1); }

  static Chunk* make(std::uint32_t capacity) {
    static_assert(alignof(T) <= alignof(Chunk) && sizeof(Chunk) % alignof(T) == 0);
    return ::new (::operator new(sizeof(Chunk) + capacity * sizeof(T))) Chunk(capacity);
  }
  static void free(Chunk* chunk) noexcept {
    chunk->~Chunk();
    ::operator delete(chunk);
  }

 private:
  explicit Chunk(std::uint32_t slots) noexcept : capacity(slots) {}
  ~Chunk() = default;
};

template <class T>
void retain(Chunk<T>* chunk) noexcept {
  if (chunk) chunk->refs.fetch_add(1, std::memory_order_relaxed);
}

// A loop, not recursion: a list of a million messages is a chain of 15,625 chunks.
template <class T>
void release(Chunk<T>* chunk) noexcept {
  while (chunk && chunk->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Chunk<T>* before = chunk->before;
    std::destroy_n(chunk->slots(), chunk->taken.load(std::memory_order_relaxed));
    Chunk<T>::free(chunk);
    chunk = before;
  }
}

// Appends at index `size` and gives the chunk that now is the newest; the caller's count on `chunk`
// moves into it.
template <class T>
Chunk<T>* append(Chunk<T>* chunk, std::uint32_t size, T value) {
  if (chunk) {
    std::uint32_t place = size - chunk->start;
    if (place < chunk->capacity &&
        chunk->taken.compare_exchange_strong(place, place + 1, std::memory_order_relaxed)) {
      ::new (static_cast<void*>(&chunk->slots()[place])) T(std::move(value));
      return chunk;
    }
  }
  const std::uint32_t slots = chunk ? std::min(kChunkSlots, 2 * chunk->capacity) : kFirstSlots;
  Chunk<T>* fresh = Chunk<T>::make(slots);
  fresh->start = size;
  fresh->before = chunk;
  ::new (static_cast<void*>(fresh->slots())) T(std::move(value));
  fresh->taken.store(1, std::memory_order_relaxed);
  return fresh;
}

// The slot at `index`, which the caller's length covers.
template <class T>
const T& at(const Chunk<T>* chunk, std::uint32_t index) noexcept {
  while (index < chunk->start) chunk = chunk->before;
  return chunk->slots()[index - chunk->start];
}

}  // namespace tug::detail
