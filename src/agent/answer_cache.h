// Answers that are served again instead of asking, and the requests they answer.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/attempt.h"
#include "agent/flights.h"
#include "tug/model/model.h"
#include "tug/store/response_cache.h"

namespace tug {

// What the runs of a harness share. Any thread.
class AnswerCache {
 public:
  void set(std::shared_ptr<ResponseCache> cache, Duration ttl);
  std::shared_ptr<ResponseCache> cache() const;
  Duration ttl() const;
  const std::shared_ptr<Flights>& flights() const noexcept { return flights_; }

 private:
  mutable std::mutex lock_;
  std::shared_ptr<ResponseCache> cache_;
  Duration ttl_{};
  const std::shared_ptr<Flights> flights_ = std::make_shared<Flights>();
};

// One request that may be served. Loop thread.
class CachedAnswer {
 public:
  // Null for a request that may not be: there is no cache, its policy says no, or, where nobody
  // says anything, its answer is a matter of luck.
  static std::unique_ptr<CachedAnswer> of(LiveRun& run, const AskedModel& asked,
                                          const ModelRequest& request);

  const Digest& key() const noexcept { return key_; }
  // The kept turn, marked as such; it has used nothing and cost nothing.
  std::optional<ModelTurn> find(Time now);
  // True when the request is ours to make; false when another one like it is under way.
  bool lead();
  Task<Result<void>> wait_for_leader(Until until) { return flights_->wait(key_, std::move(until)); }
  // The same stream, whose closing turn is kept when it comes.
  std::unique_ptr<ModelStream> keeping(std::unique_ptr<ModelStream> stream, Time now);

 private:
  CachedAnswer(std::shared_ptr<ResponseCache> cache, Duration ttl, std::shared_ptr<Flights> flights,
               const Digest& key)
      : cache_(std::move(cache)), ttl_(ttl), flights_(std::move(flights)), key_(key) {}

  std::shared_ptr<ResponseCache> cache_;
  Duration ttl_;
  std::shared_ptr<Flights> flights_;
  Digest key_;
  Flights::Lead lead_;
};

// The key of a request: of everything that may change the answer, and of nothing else. Messages
// bring digests that they keep. `identity` is who is asked.
Digest request_digest(const ModelRequest& request, std::string_view identity);

}  // namespace tug
