// How typed_tool.h looks at a handler: what it takes, what it gives, where it runs. Templates only
// unpack types; what they have in common is in src/tools/handler.cpp. Not for use outside
// typed_tool.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tug/core/codec.h"
#include "tug/tools/tool.h"

namespace tug::detail {

// --- the signature of a callable

template <class R, class... P>
struct Signature {};

template <class M>
struct SignatureOf;
template <class R, class... P>
struct SignatureOf<R (*)(P...)> {
  using type = Signature<R, P...>;
};
template <class R, class... P>
struct SignatureOf<R (*)(P...) noexcept> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...)> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...) const> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...) noexcept> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...) const noexcept> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...)&> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...) const&> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...) & noexcept> : SignatureOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct SignatureOf<R (C::*)(P...) const & noexcept> : SignatureOf<R (*)(P...)> {};

template <class F>
concept has_call_operator = requires { &F::operator(); };
template <has_call_operator F>
struct SignatureOf<F> : SignatureOf<decltype(&F::operator())> {};

// A member function and something that points to its object.
template <class M, class Pointer>
struct Method {
  M method;
  Pointer object;

  template <class... A>
  decltype(auto) operator()(A&&... args) const {
    return ((*object).*method)(std::forward<A>(args)...);
  }
};
template <class M, class Pointer>
struct SignatureOf<Method<M, Pointer>> : SignatureOf<M> {};

template <class F>
concept has_signature = requires { typename SignatureOf<F>::type; };

template <class F, class Sig>
inline constexpr bool is_const_callable = false;
template <class F, class R, class... P>
inline constexpr bool is_const_callable<F, Signature<R, P...>> =
    requires(const F& handler, P (*... param)()) { handler(param()...); };

// --- its parameters

enum class Lead { nothing, context, invocation };

template <class P>
consteval Lead lead_of() {
  using Plain = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<Plain, Context>) {
    static_assert(!std::is_rvalue_reference_v<P>,
                  "tug: a tool handler takes `Context&`, `const Context&` or `Context`");
    return Lead::context;
  } else if constexpr (std::is_same_v<Plain, Invocation>) {
    static_assert(std::is_lvalue_reference_v<P>, "tug: a tool handler takes `Invocation&`");
    return Lead::invocation;
  } else {
    return Lead::nothing;
  }
}

struct NoArguments {};

template <class P>
struct Argument {
  using Struct = std::remove_cvref_t<P>;
  static_assert(lead_of<P>() == Lead::nothing && std::is_class_v<Struct>,
                "tug: a tool handler takes an optional Context& or Invocation&, then at most one "
                "argument struct");
  static_assert(!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>,
                "tug: a tool handler takes its argument struct by value or by const reference");
};

// `Struct` is NoArguments when the handler takes none; `Param` is the parameter as declared.
template <class... P>
struct Parameters {
  static_assert(sizeof...(P) <= 2,
                "tug: a tool handler takes an optional Context& or Invocation&, then at most one "
                "argument struct: put the arguments into a struct");
  static constexpr Lead lead = Lead::nothing;
  using Param = NoArguments;
  using Struct = NoArguments;
};
template <class P>
  requires(lead_of<P>() != Lead::nothing)
struct Parameters<P> : Parameters<> {
  static constexpr Lead lead = lead_of<P>();
};
template <class P>
  requires(lead_of<P>() == Lead::nothing)
struct Parameters<P> {
  static constexpr Lead lead = Lead::nothing;
  using Param = P;
  using Struct = typename Argument<P>::Struct;
};
template <class First, class P>
struct Parameters<First, P> : Parameters<P> {
  static_assert(lead_of<First>() != Lead::nothing,
                "tug: of two parameters of a tool handler the first is Context& or Invocation&: "
                "put the arguments into one struct");
  static constexpr Lead lead = lead_of<First>();
  using Param = P;
  using Struct = typename Argument<P>::Struct;
};

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

// --- its answer

ToolResult done_result();        // of a handler that gives nothing
ToolResult empty_task_result();  // of one that gives a Task{}

template <class T>
Result<ToolResult> tool_result_of(T&& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Value, ToolResult>) {
    return std::forward<T>(value);
  } else if constexpr (is_result<Value>) {
    if (!value) return Failure(std::forward<T>(value).error());
    if constexpr (std::is_void_v<typename Value::value_type>) {
      return done_result();
    } else {
      return tool_result_of(*std::forward<T>(value));
    }
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return ToolResult::text(std::forward<T>(value));
  } else if constexpr (std::is_convertible_v<Value, const char*>) {
    const char* text = value;
    return ToolResult::text(text ? text : "");
  } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
    return ToolResult::text(std::string(static_cast<std::string_view>(value)));
  } else {
    return ToolResult::json(write_json(value));
  }
}

// --- what needs no type

// The value of that type in the context, as something to keep.
std::shared_ptr<const void> shared_value(const Context& ctx, TypeKey key);
// For a plain function that runs on the loop.
Invocation inline_invocation(const Context& ctx);
ToolResult missing_value_result(std::string_view field, std::string_view printed_type);
// `arguments` is null for a handler that takes none.
Result<ToolPtr> make_typed_tool(std::string name, std::string description, const Shape* arguments,
                                const ToolOptions& options, std::shared_ptr<const ToolCode> code);

enum class Place { pool, loop };  // of a plain function

template <class F, class Sig = typename SignatureOf<F>::type>
class HandlerCode;

template <class F, class R, class... P>
class HandlerCode<F, Signature<R, P...>> final : public ToolCode {
  using Params = Parameters<P...>;
  using Struct = typename Params::Struct;
  static constexpr Lead kLead = Params::lead;
  static constexpr bool kTakesArguments = !std::is_same_v<Struct, NoArguments>;

 public:
  static constexpr bool kIsTask = is_task<R>;
  static constexpr bool kTakesContext = kLead == Lead::context;
  static constexpr bool kTakesInvocation = kLead == Lead::invocation;

  HandlerCode(F handler, Place place)
      : handler_(std::make_shared<const F>(std::move(handler))), place_(place) {}

  static const Shape* arguments() {
    if constexpr (kTakesArguments) {
      return &ShapeOf<Struct>::value;
    } else {
      return nullptr;
    }
  }

  Result<ToolWork> bind(Context& ctx, const Json& json) const override {
    Struct args{};
    if constexpr (kTakesArguments) {
      auto read = read_into(args, json);
      if (!read) return Failure(std::move(read).error());
      if constexpr (holds_injected<Struct>()) {
        std::string missing;
        std::string_view missing_type;
        for_each_injected(args, [&]<class U>(std::string_view name, Injected<U>& field) {
          if (auto value = shared_value(ctx, type_key<U>())) {
            field = Injected<U>(std::static_pointer_cast<const U>(std::move(value)));
          } else if (missing.empty()) {
            missing = name;
            missing_type = print_type<U>().text;
          }
        });
        if (!missing.empty()) return settled(missing_value_result(missing, missing_type));
      }
    }
    if constexpr (kIsTask) {
      return ToolWork(await_handler(*handler_, ctx, std::move(args)));
    } else if constexpr (kTakesContext) {
      return settled(answer(*handler_, ctx, args));
    } else {
      if (place_ == Place::loop) {
        if constexpr (kTakesInvocation) {
          Invocation call = inline_invocation(ctx);
          return settled(answer(*handler_, call, args));
        } else {
          return settled(answer(*handler_, ctx, args));
        }
      }
      return ToolWork(PoolWork([handler = handler_, args = std::move(args)](
                                   Invocation& call) mutable -> Result<ToolResult> {
        return answer(*handler, call, args);
      }));
    }
  }

 private:
  // Templates, so that a header that only declares handlers does not pay for ToolWork.
  template <class T>
  static Result<void> read_into(T& args, const Json& json) {
    return read_value(ShapeOf<T>::value, json, std::addressof(args), {}, nullptr);
  }
  template <class T>
  static Result<ToolWork> settled(T&& result) {
    return ToolWork(std::in_place_type<Result<ToolResult>>, std::forward<T>(result));
  }

  template <class First>
  static R call(const F& handler, [[maybe_unused]] First& first, [[maybe_unused]] Struct& args) {
    if constexpr (kLead != Lead::nothing && kTakesArguments) {
      return handler(first, std::forward<typename Params::Param>(args));
    } else if constexpr (kLead != Lead::nothing) {
      return handler(first);
    } else if constexpr (kTakesArguments) {
      return handler(std::forward<typename Params::Param>(args));
    } else {
      return handler();
    }
  }

  template <class First>
  static Result<ToolResult> answer(const F& handler, First& first, Struct& args) {
    if constexpr (std::is_void_v<R>) {
      call(handler, first, args);
      return done_result();
    } else {
      return tool_result_of(call(handler, first, args));
    }
  }

  // The tool keeps the handler, whoever runs the call keeps the context, this frame keeps the
  // arguments: a handler that is a coroutine may take all of them by reference.
  static LoopWork await_handler(const F& handler, Context& ctx, Struct args) {
    R task = call(handler, ctx, args);
    if (!task) co_return empty_task_result();
    if constexpr (std::is_same_v<R, Task<void>>) {
      co_await std::move(task);
      co_return done_result();
    } else {
      auto value = co_await std::move(task);
      co_return tool_result_of(std::move(value));
    }
  }

  std::shared_ptr<const F> handler_;  // shared: an abandoned call may outlive the tool
  Place place_;
};

template <class F>
consteval bool is_handler() {
  static_assert(has_signature<F>,
                "tug: a tool handler is a function, a lambda with spelled-out parameter types or "
                "another object with one non-template call operator. For std::bind_front and "
                "generic lambdas: wrap them in such a lambda, or pass &Class::method and the "
                "object");
  if constexpr (has_signature<F>) {
    constexpr bool is_const = is_const_callable<F, typename SignatureOf<F>::type>;
    static_assert(is_const,
                  "tug: a tool handler is called through a const reference, by many threads at "
                  "once: it must not be mutable");
    return is_const;
  } else {
    return false;
  }
}

template <Place place, class F>
Result<ToolPtr> make_handler_tool(std::string name, std::string description, F handler,
                                  ToolOptions options) {
  if constexpr (is_handler<F>()) {
    using Code = HandlerCode<F>;
    constexpr bool pool_with_context =
        place == Place::pool && Code::kTakesContext && !Code::kIsTask;
    static_assert(!pool_with_context,
                  "tug: a plain function runs on the worker pool, where no Context may be touched: "
                  "take Invocation& instead, return a Task, or register it with make_inline_tool "
                  "if it returns at once");
    constexpr bool task_with_invocation = Code::kIsTask && Code::kTakesInvocation;
    static_assert(!task_with_invocation,
                  "tug: a coroutine runs on the loop: take Context& instead of Invocation&");
    if constexpr (!pool_with_context && !task_with_invocation) {
      const Place where = options.inline_ok ? Place::loop : place;
      return make_typed_tool(std::move(name), std::move(description), Code::arguments(), options,
                             std::make_shared<const Code>(std::move(handler), where));
    }
  }
  return fail(ErrorKind::internal, "not a tool handler");
}

// What is pointed at, shared, or referred to stays where it is; a temporary is kept.
template <class T>
auto points_to(T* object) {
  return object;
}
template <class T>
auto points_to(std::shared_ptr<T> object) {
  return object;
}
template <class T>
  requires(std::is_class_v<T>)
T* points_to(T& object) {
  return std::addressof(object);
}
template <class T>
  requires(std::is_class_v<T> && !std::is_const_v<T>)
auto points_to(T&& object) {
  return std::make_shared<T>(std::forward<T>(object));
}

}  // namespace tug::detail
