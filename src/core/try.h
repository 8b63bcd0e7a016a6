// The two macros of the house: they carry a failure up, from a function or from a coroutine.
//   TUG_TRY(text, read_file(path));           // `text` names the value; for Result<void> it is a
//   blank TUG_CO_TRY(turn, co_await std::move(task));
#pragma once

#include <utility>
#include <variant>

#include "tug/core/error.h"

namespace tug::detail {

template <class T>
T&& taken(Result<T>& result) noexcept {
  return *std::move(result);
}
inline std::monostate taken(Result<void>&) noexcept { return {}; }

}  // namespace tug::detail

#define TUG_JOIN_(a, b) a##b
#define TUG_JOIN(a, b) TUG_JOIN_(a, b)
#define TUG_TRY_BY(leave, result, name, ...)                    \
  auto result = __VA_ARGS__;                                    \
  if (!result) leave ::tug::Failure(std::move(result).error()); \
  [[maybe_unused]] auto&& name = ::tug::detail::taken(result)
#define TUG_TRY(name, ...) TUG_TRY_BY(return, TUG_JOIN(tried_, __LINE__), name, __VA_ARGS__)
#define TUG_CO_TRY(name, ...) TUG_TRY_BY(co_return, TUG_JOIN(tried_, __LINE__), name, __VA_ARGS__)
