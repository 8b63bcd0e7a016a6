// What a plain function on the worker pool may know about the call it serves: values, and three
// doors that post to the loop. A coroutine gets the Context itself instead.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tug/context/log.h"
#include "tug/context/type_key.h"
#include "tug/core/ids.h"
#include "tug/core/json.h"

namespace tug {

class Context;
namespace detail {
struct InvocationDoor;
}

class Invocation {
 public:
  // Taken on the loop, before the function is handed to the pool.
  Invocation(const Context& ctx, std::stop_token stop);
  Invocation(Invocation&&) noexcept;
  ~Invocation();

  const RunId& run_id() const noexcept { return run_; }
  const RunId& root_run_id() const noexcept { return root_; }
  const ThreadId& thread_id() const noexcept { return thread_; }
  const CallId& call_id() const noexcept { return call_; }
  const std::string& agent() const noexcept { return agent_; }
  std::uint32_t depth() const noexcept { return depth_; }
  std::uint32_t turn() const noexcept { return turn_; }

  // As they were when the call began.
  const Json& args() const noexcept { return args_; }
  const Json& values() const noexcept { return values_; }  // inherited values
  const Json& metadata() const noexcept { return metadata_; }
  const Json& configurable() const noexcept { return configurable_; }
  const Json& config() const noexcept { return config_; }  // locals.config
  const std::vector<std::string>& tags() const noexcept { return tags_; }

  // A typed value of the context; null when it has none of that type.
  template <class T>
  std::shared_ptr<const T> get() const {
    return std::static_pointer_cast<const T>(slot(type_key<T>()));
  }

  // Asked to stop: the run was cancelled or the call's time is over. Two seconds later the function
  // is abandoned.
  const std::stop_token& stop() const noexcept { return stop_; }
  bool stopping() const noexcept { return stop_.stop_requested(); }

  // Any thread; nothing happens once the call has ended.
  void progress(Json progress) const;
  void log(LogEntry entry) const;
  void emit(std::string name, Json data) const;  // a `custom` event

 private:
  friend class InvocationStart;
  std::shared_ptr<const void> slot(TypeKey key) const noexcept;

  RunId run_;
  RunId root_;
  ThreadId thread_;
  CallId call_;
  std::string agent_;
  std::uint32_t depth_ = 0;
  std::uint32_t turn_ = 0;
  Json args_;
  Json values_;
  Json metadata_;
  Json configurable_;
  Json config_;
  std::vector<std::string> tags_;
  std::stop_token stop_;
  std::shared_ptr<detail::InvocationDoor> door_;
};

}  // namespace tug
