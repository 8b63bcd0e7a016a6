// A key for a type that needs no RTTI. Addresses differ from process to process: keys are compared,
// never ordered, shown or written.
#pragma once

namespace tug {

using TypeKey = const void*;

namespace detail {
template <class T>
inline constexpr char kTypeTag = 0;
}

template <class T>
TypeKey type_key() noexcept {
  return &detail::kTypeTag<T>;
}

}  // namespace tug
