// Requests that are alike and under way at once: one is made, the others wait for its answer.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tug/core/digest.h"
#include "tug/core/loop.h"
#include "tug/core/sync.h"
#include "tug/core/task.h"

namespace tug {

// Any thread, except where a loop is named.
class Flights : public std::enable_shared_from_this<Flights> {
 public:
  // Held by whoever makes the request. When it dies, those who wait look for themselves.
  class Lead {
   public:
    Lead() noexcept = default;
    Lead(std::shared_ptr<Flights> flights, const Digest& key) noexcept
        : flights_(std::move(flights)), key_(key) {}
    Lead(Lead&&) noexcept = default;
    Lead& operator=(Lead&& other) noexcept {
      land();
      flights_ = std::move(other.flights_);
      key_ = other.key_;
      return *this;
    }
    ~Lead() { land(); }
    explicit operator bool() const noexcept { return flights_ != nullptr; }
    void land() noexcept;

   private:
    std::shared_ptr<Flights> flights_;
    Digest key_;
  };

  // Empty when somebody else leads.
  Lead try_lead(const Digest& key);
  // Until the leader has landed; at once when there is none. Loop thread.
  Task<Result<void>> wait(Digest key, Until until);

 private:
  struct Waiting {
    std::shared_ptr<Mailbox> loop;
    std::shared_ptr<Signal> landed;
  };
  void land(const Digest& key) noexcept;

  std::mutex lock_;
  std::map<Digest, std::vector<Waiting>> under_way_;
};

}  // namespace tug
