// Tools from ordinary functions.
//
//   struct Where { std::string city; std::optional<int> days; };
//   auto tool = make_tool("forecast", "Weather forecast",
//                         [](const Where& where) { return where.city + ": sun"; });
//
// A handler is a lambda, a function, or a member function with its object (std::bind_front, or
// make_tool(name, description, &Weather::forecast, weather)). It takes, in this order, an optional
// `Context&` or `Invocation&` and an optional argument struct (any that codec.h can read; its
// Injected<T> fields are filled from the context). It gives a ToolResult, a string, any value that
// codec.h can write, nothing, a Result of one of these, or a Task of any of them.
//
// A handler that gives a Task runs on the loop; it may take `Context&` (whose copy lives as long as
// the call). A plain function runs on the worker pool and may block; it takes `Invocation&`. One
// that asks for `Context&` does not compile, unless it is registered with make_inline_tool: then it
// runs on the loop and must return at once.
#pragma once

#include "tug/core/codec.h"
#include "tug/tools/tool.h"

namespace tug {

template <class F>
Result<ToolPtr> make_tool(std::string name, std::string description, F handler,
                          ToolOptions options = {});
template <class F>
Result<ToolPtr> make_inline_tool(std::string name, std::string description, F handler,
                                 ToolOptions options = {});

}  // namespace tug
