// A void() that can be moved but not copied: what is posted to a loop. Up to four pointers of state
// are kept inside it; more are kept on the heap. May be called any number of times; must not throw.
// Destroyed where it is dropped, which may be another thread than the one it would have run on.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tug {

class Job {
 public:
  Job() noexcept = default;

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Job> && std::is_invocable_v<F&>)
  Job(F&& function) {
    using Kept = std::remove_cvref_t<F>;
    if constexpr (sizeof(Kept) <= kInline && alignof(Kept) <= alignof(void*) &&
                  std::is_nothrow_move_constructible_v<Kept>) {
      ::new (static_cast<void*>(room_)) Kept(std::forward<F>(function));
      kind_ = &kInside<Kept>;
    } else {
      ::new (static_cast<void*>(room_)) Kept*(new Kept(std::forward<F>(function)));
      kind_ = &kOutside<Kept>;
    }
  }

  Job(Job&& other) noexcept : kind_(std::exchange(other.kind_, nullptr)) {
    if (kind_) kind_->move(other.room_, room_);
  }
  Job& operator=(Job&& other) noexcept {
    if (this == &other) return *this;
    clear();
    kind_ = std::exchange(other.kind_, nullptr);
    if (kind_) kind_->move(other.room_, room_);
    return *this;
  }
  ~Job() { clear(); }

  explicit operator bool() const noexcept { return kind_ != nullptr; }
  void operator()() noexcept { kind_->call(room_); }

 private:
  static constexpr std::size_t kInline = 4 * sizeof(void*);
  struct Kind {
    void (*call)(void*);
    void (*move)(void* from, void* to) noexcept;  // leaves nothing at `from`
    void (*drop)(void*) noexcept;
  };

  template <class F>
  static constexpr Kind kInside{
      [](void* room) { (*static_cast<F*>(room))(); },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* room) noexcept { static_cast<F*>(room)->~F(); },
  };
  template <class F>
  static constexpr Kind kOutside{
      [](void* room) { (**static_cast<F**>(room))(); },
      [](void* from, void* to) noexcept { ::new (to) F*(*static_cast<F**>(from)); },
      [](void* room) noexcept { delete *static_cast<F**>(room); },
  };

  void clear() noexcept {
    if (kind_) std::exchange(kind_, nullptr)->drop(room_);
  }

  const Kind* kind_ = nullptr;
  alignas(void*) std::byte room_[kInline];
};

}  // namespace tug
