// A tool: its declaration and the code behind it.
//
// The code runs in one of two places. On the loop: a coroutine, or a plain function registered
// `inline_ok` that returns at once. On the worker pool: any other plain function, which may block
// and gets values only. Typed tools are made by typed_tool.h, tools with a schema known at run time
// by make_tool below. A tool is immutable and may be shared by threads and harnesses.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/core/schema.h"
#include "tug/core/task.h"
#include "tug/core/tool.h"
#include "tug/tools/invocation.h"

namespace tug {

class Context;

using LoopWork = Task<Result<ToolResult>>;
using PoolWork = std::move_only_function<Result<ToolResult>(Invocation&)>;
// A call that has its arguments and waits to be run, or one that is over already: an inline
// function has been called, or a call cannot be made.
using ToolWork = std::variant<LoopWork, PoolWork, Result<ToolResult>>;

class ToolCode {
 public:
  virtual ~ToolCode() = default;
  // Takes checked arguments. Loop thread; returns at once. An error is a failed result for the
  // model (`invalid`: the arguments; anything else: the tool). `ctx` and this object outlive work
  // for the loop; work for the pool may be abandoned and owns what it needs.
  virtual Result<ToolWork> bind(Context& ctx, const Json& args) const = 0;
};

// Thrown by a handler: the model may try again with other arguments. The text is for the model; the
// result has `metadata.retry` true.
class ModelRetry : public std::exception {
 public:
  explicit ModelRetry(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Code that says something about a call before it is made.
struct ToolChecks {
  // Whether a call with these (checked) arguments requires approval. One that throws does.
  std::function<bool(const Json& args)> approve_when;
  // The path that a subject of kind `path` stands for, relative to the root of its workspace; the
  // text itself without it.
  std::function<std::string(const std::string& path)> resolve_path;
};

class Tool {
 public:
  // `invalid` for a name that is not [A-Za-z0-9_.-]{1,64} or is reserved (`final_result`,
  // `subagent`, `subagent_runs`), and for parameters that are no schema of an object; what
  // Schema::compile says of `parameters` and `returns` otherwise. Null parameters are those of a
  // tool that takes none. `injected` are dotted paths of fields that the program fills: whatever a
  // model sends for them is dropped.
  static Result<std::shared_ptr<const Tool>> make(ToolSpec spec,
                                                  std::shared_ptr<const ToolCode> code,
                                                  std::vector<std::string> injected = {},
                                                  ToolChecks checks = {});

  const std::string& name() const noexcept { return spec_->name; }
  const ToolSpec& spec() const noexcept { return *spec_; }
  const std::shared_ptr<const ToolSpec>& shared_spec() const noexcept { return spec_; }
  const Schema& parameters() const noexcept { return parameters_; }
  const Schema* returns() const noexcept { return returns_ ? &*returns_ : nullptr; }
  const std::vector<std::string>& injected() const noexcept { return injected_; }
  const ToolCode& code() const noexcept { return *code_; }
  const ToolChecks& checks() const noexcept { return checks_; }

 private:
  Tool(ToolSpec spec, Schema parameters, std::optional<Schema> returns,
       std::shared_ptr<const ToolCode> code, std::vector<std::string> injected, ToolChecks checks);
  std::shared_ptr<const ToolSpec> spec_;
  Schema parameters_;
  std::optional<Schema> returns_;
  std::shared_ptr<const ToolCode> code_;
  std::vector<std::string> injected_;
  ToolChecks checks_;
};
using ToolPtr = std::shared_ptr<const Tool>;

// What a tool says about itself besides name, description and handler.
struct ToolOptions {
  Effect effect = Effect::at_most_once;
  std::string lane;
  bool sequential = false;
  bool requires_approval = false;
  ToolChecks checks;
  Subject subject;
  bool agent = false;
  bool needs_terminal = false;
  bool inline_ok = false;  // a plain function that returns at once: runs on the loop
  Visibility visibility = Visibility::model;
  std::vector<std::string> tags;
  std::optional<int> max_retries;
  std::optional<Duration> timeout;
  OnError on_error = OnError::tell_model;
  std::string error_text;                                 // of OnError::say
  std::optional<std::vector<std::string>> allowed_tools;  // what an invocation may call in turn
  ResultPolicy result;
  Json metadata;  // never sent
};
ToolSpec tool_spec(std::string name, std::string description, Json parameters,
                   const ToolOptions& options);

// Tools with a schema known at run time. The schema is checked before the handler sees anything.
using JsonPoolHandler = std::function<Result<ToolResult>(const Json& args, Invocation& call)>;
using JsonLoopHandler = std::function<LoopWork(Context ctx, Json args)>;
Result<ToolPtr> make_tool(ToolSpec spec, JsonPoolHandler handler, ToolChecks checks = {});
Result<ToolPtr> make_tool(ToolSpec spec, JsonLoopHandler handler, ToolChecks checks = {});

}  // namespace tug
