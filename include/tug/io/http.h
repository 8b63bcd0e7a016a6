// HTTP as a client: one request, one answer that is read as it comes.
//
// The real client (make_http_client) is libcurl on the event loop: one connection pool per loop,
// shared by all clients on it, HTTP/2 where the server has it, proxies from the environment, TLS
// with verification. It follows no redirect: an answer of 3xx is given to the caller, so no
// credential ever reaches another host. A simulated loop needs a client of its own (testkit).
//
// Loop thread. A client may be used on all loops of an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/task.h"
#include "tug/core/time.h"
#include "tug/core/wait.h"

namespace tug {

struct HttpHeader {
  std::string name;
  std::string value;
  bool secret = false;  // its value appears in no error and no log
};

// The first header of that name, whatever its case; empty when there is none.
std::string_view find_header(const std::vector<HttpHeader>& headers,
                             std::string_view name) noexcept;

// Bytes to send, as pieces in order; a large body is never joined. What a piece views must live as
// long as the body: hand its owner over with `keep`.
class HttpBody {
 public:
  HttpBody() = default;
  explicit HttpBody(std::string whole) { add(std::move(whole)); }

  void reserve(std::size_t pieces) { pieces_.reserve(pieces); }
  void add(std::string piece);            // owned
  void add_view(std::string_view piece);  // empty ones are dropped
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }

  std::size_t size() const noexcept { return size_; }
  const std::vector<std::string_view>& pieces() const noexcept { return pieces_; }
  std::string joined() const;

 private:
  std::vector<std::string_view> pieces_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::size_t size_ = 0;
};

// How long each part of an exchange may take; kZero for no limit.
struct HttpTimeouts {
  Duration connect = std::chrono::seconds(10);
  Duration first_byte = std::chrono::seconds(120);  // from the sent request to the first header
  Duration byte_idle = std::chrono::seconds(60);    // between two reads of the body
  Duration total = std::chrono::seconds(600);
  friend bool operator==(const HttpTimeouts&, const HttpTimeouts&) = default;
};

struct HttpRequest {
  std::string method = "POST";
  std::string url;
  std::vector<HttpHeader> headers;
  HttpBody body;
  HttpTimeouts timeouts;
  std::size_t max_response_bytes = 64 << 20;  // expanded
  std::size_t read_bytes = 16 << 10;          // at a time
};

// How an exchange failed below HTTP: the detail Provider of its error has one of these as `fault`.
//   transport_unsent      nothing was sent: it may be made again at no cost   (disconnected)
//   transport_ambiguous   it may have been worked on and billed               (disconnected)
//   stream_cut            the answer broke off                                (disconnected)
//   stream_stalled        no byte came for too long                           (disconnected)
//   timeout               connect, first byte or the whole took too long      (disconnected)
//   tls                   the peer could not be trusted                       (denied)
//   response_too_large    larger than allowed, or expanding too much          (exhausted)
//   not_an_answer         the body cannot be decompressed                     (internal)
// A wait that `until` ended has the kind and detail of wait_error instead.

// An answer under way. Dropping it ends the exchange at once: its stream is reset, its connection
// closed when it can carry no other.
class HttpResponse {
 public:
  virtual ~HttpResponse() = default;
  virtual int status() const noexcept = 0;
  virtual const std::vector<HttpHeader>& headers() const noexcept = 0;
  // The next bytes of the body, decoded; nothing at its end. While nobody reads, the sender is
  // slowed down.
  virtual Task<Result<std::optional<std::string>>> read(Until until) = 0;
  // Before it is dropped, by a reader that has all it needs: if the rest comes at once, the
  // connection is kept for the next request.
  virtual void leave() noexcept {}
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Ends when the headers of the answer are there, whatever its status.
  virtual Task<Result<std::unique_ptr<HttpResponse>>> send(HttpRequest request, Until until) = 0;
};
using HttpClientPtr = std::shared_ptr<HttpClient>;

struct HttpOptions {
  std::string proxy;    // empty: as the environment says; "none": no proxy at all
  std::string ca_file;  // empty: the system's
  std::string user_agent;
};
HttpClientPtr make_http_client(HttpOptions options = {});

}  // namespace tug
