// Tools from ordinary functions.
//
//   struct Where { std::string city; std::optional<int> days; };
//   auto tool = make_tool("forecast", "Weather forecast",
//                         [](const Where& where) { return where.city + ": sun"; });
//
// A handler is a lambda, a function, an object with one call operator that is no template, or a
// member function with its object. It takes, in this order, an optional `Context&` or `Invocation&`
// and an optional argument struct (any that codec.h can read; its Injected<T> fields are filled
// from the context's typed values, and a call for which there is none fails with
// InjectedValueMissing). It gives a ToolResult, a string, any value that codec.h can write (the
// model reads its JSON), nothing (the model reads "done"), a Result of one of these, or a Task of
// any of them.
//
// A handler that gives a Task runs on the loop. It may take `Context&`, `const Context&` or
// `Context`, and its struct by reference too: handler, context and arguments live until its task
// has ended, so a lambda that is such a coroutine may capture. A plain function runs on the worker
// pool and may block; it may take `Invocation&`. One that asks for `Context&` does not compile,
// unless it is registered with make_inline_tool: then it runs on the loop and must return at once.
// A handler is called through a const reference, on the pool by many threads at once.
//
// Failures: those of Tool::make.
#pragma once

#include "tug/tools/detail/handler.h"
#include "tug/tools/tool.h"

namespace tug {

template <class F>
Result<ToolPtr> make_tool(std::string name, std::string description, F handler,
                          ToolOptions options = {}) {
  return detail::make_handler_tool<detail::Place::pool>(std::move(name), std::move(description),
                                                        std::move(handler), std::move(options));
}

template <class F>
Result<ToolPtr> make_inline_tool(std::string name, std::string description, F handler,
                                 ToolOptions options = {}) {
  options.inline_ok = true;
  return detail::make_handler_tool<detail::Place::loop>(std::move(name), std::move(description),
                                                        std::move(handler), std::move(options));
}

// A member function. `object` is a pointer or a reference to what outlives the tool, a
// std::shared_ptr, or a temporary, which the tool keeps.
template <class M, class Object>
  requires std::is_member_function_pointer_v<M>
Result<ToolPtr> make_tool(std::string name, std::string description, M method, Object&& object,
                          ToolOptions options = {}) {
  auto pointer = detail::points_to(std::forward<Object>(object));
  return make_tool(std::move(name), std::move(description),
                   detail::Method<M, decltype(pointer)>{method, std::move(pointer)},
                   std::move(options));
}
template <class M, class Object>
  requires std::is_member_function_pointer_v<M>
Result<ToolPtr> make_inline_tool(std::string name, std::string description, M method,
                                 Object&& object, ToolOptions options = {}) {
  auto pointer = detail::points_to(std::forward<Object>(object));
  return make_inline_tool(std::move(name), std::move(description),
                          detail::Method<M, decltype(pointer)>{method, std::move(pointer)},
                          std::move(options));
}

}  // namespace tug
