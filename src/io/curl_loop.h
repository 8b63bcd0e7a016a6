// libcurl on one loop: a multi handle whose sockets and timer are the loop's.
//
// The sockets live in an epoll set of their own, and that set is one descriptor of the reactor:
// curl closes and reuses file numbers as it likes, and no handler of a dead one can come late.
// Loop thread only. It lives as long as its loop; exchanges that outlive it are cut off.
#pragma once

#include <curl/curl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <vector>

#include "io/real_loop.h"
#include "tug/core/loop.h"

namespace tug {

// A transfer, told when it ends.
class CurlTransfer {
 public:
  virtual ~CurlTransfer() = default;
  virtual void on_done(CURLcode code) noexcept = 0;
  virtual void on_loop_closed() noexcept = 0;

 private:
  friend class CurlLoop;
  CURL* easy_ = nullptr;
  std::size_t place_ = 0;  // among those under way
};

class CurlLoop final : public LoopGuest {
 public:
  // The one of this loop, made when first asked for; null for a loop that has no reactor.
  static CurlLoop* of(Loop& loop);

  explicit CurlLoop(RealLoop& loop);
  ~CurlLoop() override;

  // A handle to set up; it may have been used before.
  CURL* handle();
  void add(CURL* easy, CurlTransfer& transfer);
  // Ends it if it is under way, and takes its handle back.
  void remove(CurlTransfer& transfer) noexcept;
  void resume(CURL* easy) noexcept;  // one that was paused

 private:
  struct Alarm : Timer {
    explicit Alarm(CurlLoop& owner) noexcept;
    CurlLoop& loop;
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long wait_ms, void* self);
  void watch();
  void on_ready();
  void act(curl_socket_t socket, int events) noexcept;

  RealLoop& loop_;
  CURLM* multi_;
  boost::asio::posix::stream_descriptor sockets_;  // the epoll set
  Alarm alarm_;
  std::vector<CURL*> spare_;
  std::vector<CurlTransfer*> active_;
};

}  // namespace tug
