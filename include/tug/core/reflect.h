// What a plain struct may say about its fields. A struct needs none of this to be read, written
// and turned into a schema (see codec.h):
//
//   struct Where {
//     Described<std::string, "City, in English"> city;
//     std::optional<int> days;
//     int limit = 10;
//     Injected<Account> account;
//     static constexpr std::string_view description = "A place and how far to look ahead";
//   };
//
// This header is light, so that it can stand in the headers that declare such structs.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tug {

// A string literal as a template argument.
template <std::size_t N>
struct Text {
  char chars[N] = {};

  consteval Text(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }
  constexpr std::string_view view() const noexcept { return {chars, N - 1}; }
};

// A field with a sentence for the model. It is a T wherever one is wanted: a class is derived from,
// so `city.size()` and `city + "!"` work; a number, flag or enum converts to a reference to itself.
template <class T, Text description>
class Described : public T {
 public:
  using T::T;
  using T::operator=;
  Described() = default;
  Described(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : T(std::move(value)) {}
};

template <class T, Text description>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
class Described<T, description> {
 public:
  // Leaves the value as uninitialised as a bare T would be: how the codec sees an initialiser.
  Described() = default;
  constexpr Described(T value) noexcept : value_(value) {}
  constexpr operator T&() noexcept { return value_; }
  constexpr operator const T&() const noexcept { return value_; }

 private:
  T value_;
};

// A field whose only value is this text: the tag that tells the alternatives of a variant apart.
//   struct Circle { Literal<"circle"> shape; double radius; };
template <Text text>
struct Literal {
  constexpr operator std::string_view() const noexcept { return text.view(); }
  friend constexpr bool operator==(Literal, Literal) noexcept = default;
};

// A field that the program fills and the model never sees: absent from the schema, never read from
// JSON, never written. The value is shared and immutable, like every typed value of a context;
// empty until somebody sets it (for_each_injected in codec.h finds the fields).
template <class T>
class Injected {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> &&
                    std::is_same_v<T, std::remove_cv_t<T>>,
                "tug::Injected<T>: T must be a plain object type; the value is held as "
                "std::shared_ptr<const T>");

 public:
  using value_type = T;

  Injected() = default;
  Injected(std::shared_ptr<const T> value) noexcept : value_(std::move(value)) {}

  const T* get() const noexcept { return value_.get(); }
  const T& operator*() const noexcept { return *value_; }
  const T* operator->() const noexcept { return value_.get(); }
  explicit operator bool() const noexcept { return value_ != nullptr; }
  const std::shared_ptr<const T>& shared() const noexcept { return value_; }

 private:
  std::shared_ptr<const T> value_;
};

// A type with a JSON form of its own specialises this, beside its declaration:
//   template <> struct tug::JsonForm<RunId> {
//     static Json schema();
//     static Json write(const RunId& id);
//     static Result<RunId> read(const Json& json);   // the message without a place: "not a run id"
//   };
template <class T>
struct JsonForm;

}  // namespace tug
