// What went wrong, as a value.
//
// The kind says what the caller can do next; retry and fallback switch on it and on nothing else.
// The message names the input and the place; the fix says what a person can do about it; the detail
// is typed, for decisions that need more than the kind. An Error is immutable once built, cheap to
// copy (one shared pointer) and may cross threads.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tug {

enum class ErrorKind : std::uint8_t {
  invalid,       // the input is wrong; repeating it will not help
  denied,        // a policy, a person or another owner said no
  overloaded,    // wait, then repeat
  disconnected,  // reconnect, then repeat
  exhausted,     // a budget or a resource of ours is spent
  cancelled,     // someone upstream asked us to stop
  unsupported,   // not here; another provider or version may
  internal,      // a bug, ours or a peer's
};
std::string_view name_of(ErrorKind kind) noexcept;

enum class LimitKind : std::uint8_t {
  model_calls,
  tool_calls,
  wall_clock,
  retries,
  depth,
  tokens,
  cost,
  tool_retries,
};
std::string_view name_of(LimitKind kind) noexcept;

// A cap, a deadline and a depth overrun are told apart by `kind`, never by text.
struct Limit {
  LimitKind kind = LimitKind::model_calls;
  std::int64_t limit = 0;
  std::int64_t used = 0;
  std::string scope;  // the run where the limit was set
};

// The request does not fit the model's window.
struct Overflow {
  std::int64_t window = 0;                                     // 0 when nobody said
  std::vector<std::pair<std::string, std::int64_t>> by_owner;  // who fills it, in tokens
  std::int64_t prompt_tokens = 0;                              // as the provider counted; 0: unsaid
  bool from_output = false;  // the prompt alone would fit: less room for the answer helps
  std::string provider;      // who said so; empty when we reckoned it
  std::string model;
  int status = 0;
  std::string request_id;
};

// What a provider said. `fault` names its class (tug/model/faults.h).
struct Provider {
  std::string provider;
  std::string model;
  std::string fault;
  int status = 0;
  std::string code;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<bool> should_retry;  // where the provider says it outright
  std::string request_id;            // the provider's name for the exchange
  std::string body;                  // what it said, cut, without secrets
};

struct Denied {
  std::string what;  // the tool, the command, the run
  std::string by;    // the rule, the person, the owner
};

// Stored bytes are not what was written. `root` and `seq` are empty and 0 where no record is meant.
struct Damage {
  std::string file;
  std::string root;
  std::uint64_t seq = 0;
};

// It was begun and nobody will ever know how it ended: it ignored its stop and was abandoned.
struct OutcomeUnknown {
  std::string what;
};

using ErrorDetail =
    std::variant<std::monostate, Limit, Overflow, Provider, Denied, Damage, OutcomeUnknown>;

class Error {
 public:
  Error(ErrorKind kind, std::string message);
  Error(ErrorKind kind, std::string message, std::string fix, ErrorDetail detail = {});

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& message() const noexcept;
  const std::string& fix() const noexcept;
  const ErrorDetail& detail() const noexcept;

  // The typed detail, or null when there is another one or none.
  template <class T>
  const T* detail_if() const noexcept {
    return std::get_if<T>(&detail());
  }

  // The same error seen from further out: "reading state.db: disk is full".
  Error within(std::string_view place) const;
  Error with_fix(std::string fix) const;
  Error with_detail(ErrorDetail detail) const;

 private:
  struct Body;
  Error(ErrorKind kind, std::shared_ptr<const Body> body) noexcept;

  ErrorKind kind_;
  std::shared_ptr<const Body> body_;
};

// One line for people: "message (fix)".
std::string to_string(const Error& error);

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(std::expected<T, Error> other) : std::expected<T, Error>(std::move(other)) {}
};

using Failure = std::unexpected<Error>;

Failure fail(ErrorKind kind, std::string message, std::string fix = {}, ErrorDetail detail = {});

namespace detail {
// The exception in flight as an `internal` error; call only inside a catch block.
Error error_in_flight(std::string_view what) noexcept;
template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;
}  // namespace detail

// Calls code that is not ours and turns what it throws into an `internal` error that names `what`.
// A function that returns a Result keeps its own errors.
template <class F>
auto guarded(std::string_view what, F&& function) noexcept {
  using Value = decltype(std::forward<F>(function)());
  if constexpr (detail::is_result<Value>) {
    try {
      return Value(std::forward<F>(function)());
    } catch (...) {
      return Value(Failure(detail::error_in_flight(what)));
    }
  } else if constexpr (std::is_void_v<Value>) {
    try {
      std::forward<F>(function)();
      return Result<void>{};
    } catch (...) {
      return Result<void>(Failure(detail::error_in_flight(what)));
    }
  } else {
    try {
      return Result<Value>(std::forward<F>(function)());
    } catch (...) {
      return Result<Value>(Failure(detail::error_in_flight(what)));
    }
  }
}

}  // namespace tug
