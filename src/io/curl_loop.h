// libcurl on one loop: a multi handle whose sockets and timer are the loop's.
//
// The sockets live in an epoll set of their own, and that set is one descriptor of the reactor:
// curl closes and reuses file numbers as it likes, and no handler of a dead one can come late.
// Loop thread only. It lives as long as its loop; exchanges that outlive it are cut off.
#pragma once

#include <curl/curl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/real_loop.h"
#include "tug/core/loop.h"

namespace tug {

// A handle of curl's, and what it was set up for: the next request to the same address with the
// same headers need not set it up again.
class CurlHandle {
 public:
  CurlHandle() : easy_(curl_easy_init()) {}
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;
  ~CurlHandle() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }

  CURL* get() const noexcept { return easy_; }
  void add_header(const char* line) { headers_ = curl_slist_append(headers_, line); }
  curl_slist* headers() const noexcept { return headers_; }

  std::string purpose;   // of its setup; empty: none
  long send_buffer = 0;  // as it was set

 private:
  CURL* easy_;
  curl_slist* headers_ = nullptr;
};

// A transfer, told when it ends.
class CurlTransfer {
 public:
  virtual ~CurlTransfer() = default;
  virtual void on_done(CURLcode code) noexcept = 0;
  virtual void on_loop_closed() noexcept = 0;
  virtual bool is_done() const noexcept = 0;

 private:
  friend class CurlLoop;
  std::unique_ptr<CurlHandle> handle_;
  std::size_t place_ = 0;  // among those under way
};

class CurlLoop final : public LoopGuest {
 public:
  // The one of this loop, made when first asked for; null for a loop that has no reactor.
  static CurlLoop* of(Loop& loop);

  explicit CurlLoop(RealLoop& loop);
  ~CurlLoop() override;

  // One that was set up for this purpose, or a new one.
  std::unique_ptr<CurlHandle> handle(const std::string& purpose);
  void add(std::unique_ptr<CurlHandle> handle, CurlTransfer& transfer);
  // Set up every handle with this: what is closed is not watched any more.
  static int on_close(void* self, curl_socket_t socket);
  static curl_socket_t on_open(void* self, curlsocktype purpose, curl_sockaddr* address);
  // Ends it if it is under way, and takes its handle back.
  void remove(CurlTransfer& transfer) noexcept;
  void resume(CurlTransfer& transfer) noexcept;  // one that was paused
  // Lets a transfer that nobody reads come to its end, for a short while.
  void linger(std::unique_ptr<CurlTransfer> transfer);

 private:
  struct Alarm : Timer {
    explicit Alarm(CurlLoop& owner) noexcept;
    CurlLoop& loop;
  };

  struct Sweep : Timer {
    explicit Sweep(CurlLoop& owner) noexcept;
    CurlLoop& loop;
  };
  struct Lingering {
    std::unique_ptr<CurlTransfer> transfer;
    Instant until;
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long wait_ms, void* self);
  void watch();
  void on_ready();
  void act(curl_socket_t socket, int events) noexcept;
  void sweep() noexcept;

  RealLoop& loop_;
  CURLM* multi_;
  boost::asio::posix::stream_descriptor sockets_;  // the epoll set
  Alarm alarm_;
  Sweep sweep_;
  std::vector<Lingering> lingering_;
  // What is watched, by socket. A socket that curl does not wait for stays watched until it says
  // something: the next request wants it watched again.
  struct Watched {
    std::uint32_t events = 0;  // in the epoll set; 0: not there
    bool wanted = false;
  };
  std::vector<Watched> watched_;
  std::vector<std::unique_ptr<CurlHandle>> spare_;
  std::vector<CurlTransfer*> active_;
};

}  // namespace tug
