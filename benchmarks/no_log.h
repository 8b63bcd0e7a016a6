// A log that keeps nothing, so that what is measured is not the journal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tug/journal/journal.h"

namespace tug {

class NoLog final : public RootLog {
 public:
  Seq emit(Event) noexcept override { return 1; }
  void emit_live(Event) noexcept override {}
  bool wants_live() const noexcept override { return false; }
  bool wants_steps() const noexcept override { return false; }
  Task<Result<void>> durable(Seq, Until) override { co_return Result<void>(); }
  void keep_blob(Blob) noexcept override {}
  void keep_partial(CallId, std::string) noexcept override {}
  void drop_partial(CallId) noexcept override {}
  void took(std::vector<std::int64_t>) noexcept override {}
  void set_status(RootStatus, Json) noexcept override {}
  void observe(std::shared_ptr<Sink>) override {}
  void forget(const Sink&) noexcept override {}
  Seq last_seq() const noexcept override { return 1; }
  Seq durable_seq() const noexcept override { return 1; }
  Digest last_hash() const noexcept override { return {}; }
  const LineagePtr& lineage() const noexcept override { return who_; }
  std::uint64_t epoch() const noexcept override { return 1; }
  std::uint64_t removed_sinks() const noexcept override { return 0; }
  Task<Result<void>> close(Until) override { co_return Result<void>(); }

 private:
  LineagePtr who_ = std::make_shared<const Lineage>(
      Lineage{.run_id = RunId("root"), .root_run_id = RunId("root")});
};

}  // namespace tug
