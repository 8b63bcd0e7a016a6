// The mock provider without sockets: an HttpClient that acts on plans in its loop's own time, with
// the time limits and the errors of the real one.
#include <algorithm>

#include "testkit/mock_core.h"
#include "tug/core/loop.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

constexpr std::size_t kZeroPiece = 64 << 10;

Error transport_error(Fault fault, std::string what) {
  return Error(kind_of(fault), "mock provider: " + std::move(what), "",
               Provider{.fault = std::string(name_of(fault))});
}

Instant limit_from(Instant now, Duration limit) noexcept {
  return limit > Duration::zero() ? later(now, limit) : kNever;
}

std::string path_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  const std::size_t slash = url.find('/');
  return slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
}

// Connections that wait for their next request, as a real client keeps them.
class Connections {
 public:
  explicit Connections(std::shared_ptr<MockCore> core) : core_(std::move(core)) {}
  std::uint64_t take() {
    const std::scoped_lock hold(mutex_);
    if (idle_.empty()) return core_->connected();
    const std::uint64_t number = idle_.back();
    idle_.pop_back();
    return number;
  }
  void give_back(std::uint64_t number) {
    const std::scoped_lock hold(mutex_);
    idle_.push_back(number);
  }

 private:
  const std::shared_ptr<MockCore> core_;
  std::mutex mutex_;
  std::vector<std::uint64_t> idle_;
};

// One exchange: counted as aborted unless it came to an end of the provider's own.
class MockExchange {
 public:
  MockExchange(std::shared_ptr<MockCore> core, std::shared_ptr<Connections> connections,
               std::uint64_t connection)
      : core_(std::move(core)), connections_(std::move(connections)), connection_(connection) {}
  MockExchange(const MockExchange&) = delete;
  MockExchange& operator=(const MockExchange&) = delete;
  ~MockExchange() {
    if (!ended_) core_->aborted();
  }
  void end_whole() {
    if (!ended_) connections_->give_back(connection_);
    ended_ = true;
  }
  void end_broken() noexcept { ended_ = true; }

 private:
  const std::shared_ptr<MockCore> core_;
  const std::shared_ptr<Connections> connections_;
  const std::uint64_t connection_;
  bool ended_ = false;
};

// The limits of one exchange, and the errors of those that were reached.
struct Limits {
  HttpTimeouts timeouts;
  Instant total = kNever;

  // Waits for `at`, or for the first of all limits.
  Task<Result<void>> wait(Instant at, Instant limit, Fault at_limit, Until until) const {
    Loop& loop = co_await this_loop();
    const Instant last = std::min({limit, total, until.deadline});
    const Until bounded{until.cancel, last};
    const Woken woken = co_await sleep_until(at, bounded);
    if (woken == Woken::ready) co_return Result<void>();
    const Instant now = loop.now();
    if (woken == Woken::cancelled || now >= until.deadline) {
      co_return Failure(wait_error(woken, until, "an answer from the mock provider"));
    }
    if (now >= total) {
      co_return Failure(transport_error(Fault::timeout,
                                        "it did not finish its answer in the whole time allowed"));
    }
    co_return Failure(transport_error(
        at_limit, at_limit == Fault::timeout ? "it did not answer in time" : "no byte came"));
  }
};

class MockResponse final : public HttpResponse {
 public:
  MockResponse(MockPlan plan, std::unique_ptr<MockExchange> exchange, Limits limits,
               std::size_t max_bytes, Instant now)
      : plan_(std::move(plan)),
        exchange_(std::move(exchange)),
        limits_(limits),
        left_(max_bytes),
        at_(now) {}

  int status() const noexcept override { return plan_.status; }
  const std::vector<HttpHeader>& headers() const noexcept override { return plan_.headers; }

  Task<Result<std::optional<std::string>>> read(Until until) override {
    using Bytes = std::optional<std::string>;
    if (over_) co_return Bytes();
    if (failed_) co_return Failure(*failed_);
    const MockWrite write = next_write();
    at_ = write.wait == Duration::max() ? kNever : later(at_, write.wait);
    Loop& loop = co_await this_loop();
    const Instant idle = limit_from(loop.now(), limits_.timeouts.byte_idle);
    auto waiting = limits_.wait(at_, idle, Fault::stream_stalled, std::move(until));
    Result<void> waited = co_await std::move(waiting);
    if (!waited) {
      failed_ = waited.error();
      exchange_.reset();
      co_return Failure(*failed_);
    }
    co_return taken(write.bytes);
  }

 private:
  // What comes next: a write, a ping, the end (no bytes), or nothing ever.
  MockWrite next_write() {
    if (plan_.coding != MockCoding::plain) return {};
    if (next_ < plan_.writes.size()) return plan_.writes[next_++];
    if (plan_.end == MockEnd::pings) return plan_.ping;
    if (plan_.end == MockEnd::stall) return {.wait = Duration::max()};
    return {};
  }

  Result<std::optional<std::string>> taken(std::string bytes) {
    if (plan_.coding == MockCoding::broken_gzip) {
      return broken(Fault::not_an_answer, "the body is not what its encoding says");
    }
    if (plan_.coding == MockCoding::zeros) {
      bytes.assign(std::min(plan_.zeros, kZeroPiece), '\0');
      plan_.zeros -= bytes.size();
    }
    if (bytes.size() > left_) {
      return broken(Fault::response_too_large, "its answer is larger than allowed");
    }
    left_ -= bytes.size();
    if (!bytes.empty()) return std::optional(std::move(bytes));
    if (plan_.end != MockEnd::whole) {
      return broken(Fault::stream_cut, "the answer broke off");
    }
    over_ = true;
    exchange_->end_whole();
    return std::optional<std::string>();
  }

  Failure broken(Fault fault, std::string what) {
    // A reader that will not have more goes away; a provider that breaks off went first.
    if (fault == Fault::stream_cut) exchange_->end_broken();
    exchange_.reset();
    failed_ = transport_error(fault, std::move(what));
    return Failure(*failed_);
  }

  MockPlan plan_;
  std::unique_ptr<MockExchange> exchange_;
  const Limits limits_;
  std::size_t left_;
  Instant at_;
  std::size_t next_ = 0;
  bool over_ = false;
  std::optional<Error> failed_;
};

class MockClient final : public HttpClient {
 public:
  explicit MockClient(std::shared_ptr<MockCore> core)
      : core_(std::move(core)), connections_(std::make_shared<Connections>(core_)) {}

  Task<Result<std::unique_ptr<HttpResponse>>> send(HttpRequest request, Until until) override {
    Loop& loop = co_await this_loop();
    if (until.cancel.requested()) {
      co_return Failure(wait_error(Woken::cancelled, until, "an answer from the mock provider"));
    }
    if (core_->refuses()) {
      core_->connected();
      co_return Failure(transport_error(Fault::transport_unsent, "the connection was refused"));
    }
    const std::uint64_t connection = connections_->take();
    const Instant begun = loop.now();
    MockPlan plan = core_->take({.method = request.method,
                                 .path = path_of(request.url),
                                 .headers = request.headers,
                                 .body = request.body.joined(),
                                 .connection = connection,
                                 .at = begun});
    const Limits limits{.timeouts = request.timeouts,
                        .total = limit_from(begun, request.timeouts.total)};
    auto exchange = std::make_unique<MockExchange>(core_, connections_, connection);
    const Instant first = limit_from(begun, request.timeouts.first_byte);
    auto waiting = limits.wait(later(begun, plan.wait), first, Fault::timeout, std::move(until));
    Result<void> waited = co_await std::move(waiting);
    if (!waited) co_return Failure(std::move(waited).error());
    if (!plan.answered) {
      exchange->end_broken();
      co_return Failure(transport_error(Fault::transport_ambiguous,
                                        "the connection was closed before an answer came"));
    }
    std::unique_ptr<HttpResponse> response = std::make_unique<MockResponse>(
        std::move(plan), std::move(exchange), limits, request.max_response_bytes, loop.now());
    co_return response;
  }

 private:
  const std::shared_ptr<MockCore> core_;
  const std::shared_ptr<Connections> connections_;
};

}  // namespace

HttpClientPtr make_mock_client(std::shared_ptr<MockCore> core) {
  return std::make_shared<MockClient>(std::move(core));
}

}  // namespace tug
