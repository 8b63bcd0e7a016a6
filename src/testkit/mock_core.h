// What the server and the client of the simulation share: the replies to give, the requests that
// came. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "testkit/mock_plan.h"
#include "tug/testkit/mock_provider.h"

namespace tug {

class MockCore {
 public:
  void reply(MockReply reply);
  void reply_with(std::function<MockReply(const MockRequest&)> answer);

  // True, and that reply is used up, when the next one refuses the connection.
  bool refuses();
  // Writes the request down (method, path, headers, body, connection and time are there) and says
  // what to do about it.
  MockPlan take(MockRequest request);

  std::uint64_t connected();  // the number of a new connection
  void aborted();

  std::vector<MockRequest> requests() const;
  std::size_t connections() const;
  std::size_t aborted_count() const;

 private:
  struct Earlier {
    std::string bytes;       // without cache marks and closing brackets
    std::size_t number = 0;  // of the request
  };
  MockReply next_reply();
  void compare(MockRequest& request);

  mutable std::mutex mutex_;
  std::deque<MockReply> replies_;
  std::function<MockReply(const MockRequest&)> answer_;
  std::vector<MockRequest> requests_;
  std::map<std::string, std::vector<Earlier>> conversations_;
  std::uint64_t connections_ = 0;
  std::uint64_t aborted_ = 0;
  std::uint64_t calls_ = 0;
};

// Of a body: `"cache_control":{..}` left out wherever it is a member, with its comma.
std::string without_cache_marks(std::string_view body);

// The client of the simulation.
HttpClientPtr make_mock_client(std::shared_ptr<MockCore> core);

// Real sockets.
class MockServer {
 public:
  virtual ~MockServer() = default;  // ends it
  virtual const std::string& url() const noexcept = 0;
};
Result<std::unique_ptr<MockServer>> start_mock_server(std::shared_ptr<MockCore> core);

}  // namespace tug
