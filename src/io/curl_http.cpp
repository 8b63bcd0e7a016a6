#include <algorithm>
#include <cstring>

#include "io/curl_loop.h"
#include "tug/core/task.h"
#include "tug/io/http.h"

namespace tug {
namespace {

constexpr std::size_t kMaxHeaderBytes = 64 << 10;
// What may wait for its reader before the sender is stopped.
constexpr std::size_t kMostUnread = 256 << 10;
constexpr std::size_t kMostAtOnce = 16 << 20;
constexpr std::size_t kSmallBody = 16 << 10;
constexpr long kSendBuffer = 256 << 10;
// A body that expands so much more than anything people write is made to.
constexpr std::size_t kSuspiciousBytes = 8 << 20;
constexpr std::size_t kMostExpansion = 200;

Error transport_error(ErrorKind kind, std::string_view fault, std::string message,
                      std::string fix = {}) {
  return Error(kind, std::move(message), std::move(fix), Provider{.fault = std::string(fault)});
}

bool has_passed(Instant deadline, Instant now) noexcept { return now >= deadline; }

Instant limit_from(Instant now, Duration limit) noexcept {
  return limit > Duration::zero() ? later(now, limit) : kNever;
}

// "host:port" of a URL, for messages: neither user nor password nor query.
std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t user = url.rfind('@');
  if (user != std::string_view::npos) url.remove_prefix(user + 1);
  return std::string(url);
}

std::string seconds_text(Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

// One request and its answer, from the moment it is sent until its reader drops it.
class Exchange final : public CurlTransfer {
 public:
  Exchange(CurlLoop& loop, HttpRequest request) : loop_(&loop), request_(std::move(request)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() override {
    if (loop_) loop_->remove(*this);
  }

  void begin(const HttpOptions& options, Instant now) {
    total_until_ = limit_from(now, request_.timeouts.total);
    head_until_ = limit_from(now, request_.timeouts.first_byte);
    std::string purpose = purpose_of(options);
    auto handle = loop_->handle(purpose);
    easy_ = handle->get();
    if (handle->purpose.empty()) {
      set_up(*handle, options);
      handle->purpose = std::move(purpose);
    }
    set_exchange(*handle);
    loop_->add(std::move(handle), *this);
  }

  void on_done(CURLcode code) noexcept override {
    done_ = true;
    code_ = code;
    news_.wake_all();
  }
  void on_loop_closed() noexcept override {
    loop_ = nullptr;
    on_done(CURLE_ABORTED_BY_CALLBACK);
  }

  bool is_done() const noexcept override { return done_; }
  // Nobody reads it any more; what still comes is thrown away. Only for one that has sent all it
  // had to: what it would send from may be gone.
  static void leave(std::unique_ptr<Exchange> exchange) {
    CurlLoop* const loop = exchange->loop_;
    const bool sent =
        !exchange->joined_.empty() || exchange->piece_ == exchange->request_.body.pieces().size();
    if (!loop || exchange->done_ || !sent || exchange->paused_) return;
    exchange->left_ = true;
    exchange->unread_ = {};
    loop->linger(std::move(exchange));
  }

  bool has_head() const noexcept { return head_done_ || done_; }
  bool has_body() const noexcept { return !unread_.empty() || done_; }
  WaitList& news() noexcept { return news_; }

  // Until when to wait for the head, or for more of the body.
  Until head_wait(const Until& until) const {
    return {until.cancel, std::min({until.deadline, total_until_, head_until_})};
  }
  Until body_wait(const Until& until, Instant now) const {
    const Instant idle = limit_from(now, request_.timeouts.byte_idle);
    return {until.cancel, std::min({until.deadline, total_until_, idle})};
  }
  // Why a wait ended without news.
  Error ended(Woken woken, const Until& until, Instant now) const {
    const std::string host = host_of(request_.url);
    if (woken == Woken::cancelled || has_passed(until.deadline, now)) {
      return wait_error(woken, until, "an answer from " + host);
    }
    const HttpTimeouts& limits = request_.timeouts;
    if (has_passed(total_until_, now)) {
      return transport_error(
          ErrorKind::disconnected, "timeout",
          host + " did not finish its answer within " + seconds_text(limits.total));
    }
    if (!head_done_) {
      return transport_error(ErrorKind::disconnected, "timeout",
                             host + " did not answer within " + seconds_text(limits.first_byte));
    }
    return transport_error(ErrorKind::disconnected, "stream_stalled",
                           host + " sent nothing for " + seconds_text(limits.byte_idle));
  }

  Result<void> head() const {
    if (head_done_) return {};
    return Failure(failure());
  }
  Result<std::optional<std::string>> take_body() {
    if (!unread_.empty()) {
      std::string bytes = std::exchange(unread_, {});
      if (paused_ && loop_) {
        paused_ = false;
        loop_->resume(*this);
      }
      return bytes;
    }
    if (code_ == CURLE_OK) return std::nullopt;
    return Failure(failure());
  }

  int status() const noexcept { return status_; }
  const std::vector<HttpHeader>& headers() const noexcept { return headers_; }

 private:
  // What of a request a handle is set up with once.
  std::string purpose_of(const HttpOptions& options) const {
    std::string all = request_.url + "\n" + request_.method + "\n" + options.proxy + "\n" +
                      options.ca_file + "\n" + options.user_agent + "\n" +
                      std::to_string(request_.timeouts.connect.count()) + "\n" +
                      std::to_string(request_.read_bytes);
    for (const HttpHeader& header : request_.headers) {
      all += '\n';
      all += header.name;
      all += '\n';
      all += header.value;
    }
    return all;
  }

  void set_up(CurlHandle& handle, const HttpOptions& options) {
    CURL* easy = handle.get();
    const auto set = [easy](CURLoption option, auto value) {
      curl_easy_setopt(easy, option, value);
    };
    set(CURLOPT_URL, request_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_BUFFERSIZE, static_cast<long>(request_.read_bytes));
    set(CURLOPT_ACCEPT_ENCODING, "");
    set(CURLOPT_CLOSESOCKETFUNCTION, &CurlLoop::on_close);
    set(CURLOPT_CLOSESOCKETDATA, loop_);
    set(CURLOPT_OPENSOCKETFUNCTION, &CurlLoop::on_open);
    set(CURLOPT_OPENSOCKETDATA, loop_);
    const bool secure = request_.url.starts_with("https:");
    set(CURLOPT_HTTP_VERSION,
        static_cast<long>(secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    if (secure) set(CURLOPT_PIPEWAIT, 1L);
    const auto connect = request_.timeouts.connect / std::chrono::milliseconds(1);
    // Zero would be curl's own limit; a week is none.
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect > 0 ? connect : 604'800'000));
    if (options.proxy == "none") {
      set(CURLOPT_PROXY, "");
    } else if (!options.proxy.empty()) {
      set(CURLOPT_PROXY, options.proxy.c_str());
    }
    if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
    if (!options.user_agent.empty()) set(CURLOPT_USERAGENT, options.user_agent.c_str());
    std::string line;
    for (const HttpHeader& header : request_.headers) {
      line = header.name;
      line += header.value.empty() ? ";" : ": ";
      line += header.value;
      handle.add_header(line.c_str());
    }
    handle.add_header("Expect:");
    set(CURLOPT_HTTPHEADER, handle.headers());
    if (request_.method == "GET") {
      set(CURLOPT_HTTPGET, 1L);
    } else {
      set(CURLOPT_POST, 1L);
      if (request_.method != "POST") set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    }
    set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
    set(CURLOPT_WRITEFUNCTION, &Exchange::on_bytes);
    set(CURLOPT_READFUNCTION, &Exchange::on_send);
    set(CURLOPT_SEEKFUNCTION, &Exchange::on_seek);
    set(CURLOPT_PREREQFUNCTION, &Exchange::on_request);
  }

  void set_exchange(CurlHandle& handle) {
    const auto set = [this](CURLoption option, auto value) {
      curl_easy_setopt(easy_, option, value);
    };
    set(CURLOPT_ERRORBUFFER, error_text_);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_PREREQDATA, this);
    if (request_.method == "GET") return;
    const std::size_t size = request_.body.size();
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(size));
    if (size <= kSmallBody) {
      // Sent together with the head, in one call of the system instead of two.
      joined_ = request_.body.joined();
      set(CURLOPT_POSTFIELDS, joined_.data());
      return;
    }
    set(CURLOPT_POSTFIELDS, nullptr);
    set(CURLOPT_READDATA, this);
    set(CURLOPT_SEEKDATA, this);
    if (handle.send_buffer != kSendBuffer) {
      handle.send_buffer = kSendBuffer;
      set(CURLOPT_UPLOAD_BUFFERSIZE, kSendBuffer);
    }
  }

  // Before every request that leaves. A second one would be curl's own idea, because a connection
  // that it had used before broke: whether to ask again is the run's decision.
  static int on_request(void* self, char*, char*, int, int) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (exchange.sent_++ == 0) return CURL_PREREQFUNC_OK;
    exchange.broke_ = true;
    return CURL_PREREQFUNC_ABORT;
  }

  static std::size_t on_send(char* to, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->copy_out(to, size * count);
  }
  std::size_t copy_out(char* to, std::size_t room) noexcept {
    const auto& pieces = request_.body.pieces();
    std::size_t copied = 0;
    while (room > 0 && piece_ < pieces.size()) {
      const std::string_view left = pieces[piece_].substr(offset_);
      const std::size_t some = std::min(left.size(), room);
      std::memcpy(to + copied, left.data(), some);
      copied += some;
      room -= some;
      offset_ += some;
      if (some == left.size()) {
        ++piece_;
        offset_ = 0;
      }
    }
    return copied;
  }
  static int on_seek(void* self, curl_off_t offset, int origin) {
    const auto& exchange = *static_cast<Exchange*>(self);
    const bool unsent = exchange.piece_ == 0 && exchange.offset_ == 0;
    return unsent && offset == 0 && origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
  }

  static std::size_t on_header(char* line, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take_header({line, size * count}) ? size * count : 0;
  }
  bool take_header(std::string_view line) {
    header_bytes_ += line.size();
    if (header_bytes_ > kMaxHeaderBytes) {
      too_large_ = "its headers are larger than 64 KB";
      return false;
    }
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
      headers_.clear();
      return true;
    }
    if (line.empty()) {
      long status = 0;
      curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
      status_ = static_cast<int>(status);
      if (status_ >= 200 && !head_done_) {
        head_done_ = true;
        news_.wake_all();
      }
      return true;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || head_done_) return true;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) {
      value.remove_prefix(1);
    }
    headers_.push_back({std::string(line.substr(0, colon)), std::string(value)});
    return true;
  }

  static std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take_bytes({bytes, size * count});
  }
  std::size_t take_bytes(std::string_view bytes) {
    if (left_) return bytes.size();
    if (unread_.size() >= kMostUnread && !expands()) {
      paused_ = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    received_ += bytes.size();
    if (received_ > request_.max_response_bytes) {
      too_large_ =
          "its answer is larger than " + std::to_string(request_.max_response_bytes) + " bytes";
      return 0;
    }
    if (received_ > kSuspiciousBytes && expands_too_much()) {
      too_large_ = "its answer expands to more than " + std::to_string(kMostExpansion) +
                   " times what was sent";
      return 0;
    }
    if (unread_.size() + bytes.size() > kMostAtOnce) {
      too_large_ = "its answer expands to too much at once";
      return 0;
    }
    const bool first = unread_.empty();
    unread_ += bytes;
    if (first) news_.wake_all();
    return bytes.size();
  }
  // What is paused curl keeps for itself, expanded as far as it goes: it is not paused.
  bool expands() {
    if (!expands_) expands_ = !find_header(headers_, "content-encoding").empty();
    return *expands_;
  }
  bool expands_too_much() const noexcept {
    curl_off_t sent = 0;
    curl_easy_getinfo(easy_, CURLINFO_SIZE_DOWNLOAD_T, &sent);
    return received_ / kMostExpansion > static_cast<std::size_t>(std::max<curl_off_t>(sent, 1));
  }

  // What curl has to say about an exchange that did not end well.
  Error failure() const {
    const std::string host = host_of(request_.url);
    if (!too_large_.empty()) {
      return transport_error(ErrorKind::exhausted, "response_too_large", host + ": " + too_large_);
    }
    if (!loop_) return Error(ErrorKind::cancelled, "the engine was shut down");
    std::string why = error_text_[0] ? error_text_ : curl_easy_strerror(code_);
    std::string what = host + ": " + why;
    switch (code_) {
      case CURLE_OUT_OF_MEMORY:
        return transport_error(ErrorKind::exhausted, "response_too_large",
                               host + ": its answer holds more than fits");
      case CURLE_WEIRD_SERVER_REPLY:
        return transport_error(ErrorKind::internal, "not_an_answer", what,
                               "check the base URL: what answers there does not speak HTTP");
      case CURLE_UNSUPPORTED_PROTOCOL:
        if (sent_ > 0) {
          return transport_error(ErrorKind::internal, "not_an_answer", what,
                                 "check the base URL: what answers there does not speak HTTP");
        }
        [[fallthrough]];
      case CURLE_URL_MALFORMAT:
        return Error(ErrorKind::invalid, what, "the address begins with http:// or https://");
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
        return transport_error(ErrorKind::disconnected, "transport_unsent", what,
                               "check the address and the network");
      case CURLE_COULDNT_CONNECT:
        return transport_error(ErrorKind::disconnected, "transport_unsent", what,
                               "check that the server runs, and its address");
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_SSL_CACERT_BADFILE:
      case CURLE_SSL_CERTPROBLEM:
      case CURLE_SSL_ISSUER_ERROR:
        return transport_error(ErrorKind::denied, "tls", what,
                               "the certificate has to be one that this machine trusts");
      case CURLE_BAD_CONTENT_ENCODING:
        return transport_error(ErrorKind::internal, "not_an_answer", what);
      case CURLE_OPERATION_TIMEDOUT:
        return transport_error(
            ErrorKind::disconnected, "timeout",
            host + " could not be reached within " + seconds_text(request_.timeouts.connect),
            "check the address and the network");
      default:
        break;
    }
    long proxy_status = 0;
    curl_easy_getinfo(easy_, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    if (proxy_status == 407) {
      return transport_error(ErrorKind::denied, "forbidden",
                             host + ": the proxy wants to know who asks (407)",
                             "put user and password into the proxy's address");
    }
    if (broke_) what = host + ": the connection broke before an answer came";
    if (head_done_) return transport_error(ErrorKind::disconnected, "stream_cut", what);
    const bool unsent = sent_ == 0;
    return transport_error(ErrorKind::disconnected,
                           unsent ? "transport_unsent" : "transport_ambiguous", what);
  }

  CurlLoop* loop_;  // null once that is gone
  HttpRequest request_;
  CURL* easy_ = nullptr;
  Instant total_until_ = kNever;
  Instant head_until_ = kNever;
  std::string joined_;      // the body, where it is small
  std::uint32_t sent_ = 0;  // requests that left
  bool broke_ = false;
  std::size_t piece_ = 0;  // what of the body is to be sent next
  std::size_t offset_ = 0;
  int status_ = 0;
  std::vector<HttpHeader> headers_;
  std::size_t header_bytes_ = 0;
  std::size_t received_ = 0;
  std::string unread_;
  std::string too_large_;
  bool head_done_ = false;
  bool paused_ = false;
  bool left_ = false;  // by its reader
  std::optional<bool> expands_;
  bool done_ = false;
  CURLcode code_ = CURLE_OK;
  char error_text_[CURL_ERROR_SIZE] = {};
  WaitList news_{"bytes from a server"};
};

class CurlResponse final : public HttpResponse {
 public:
  explicit CurlResponse(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  int status() const noexcept override { return exchange_->status(); }
  const std::vector<HttpHeader>& headers() const noexcept override { return exchange_->headers(); }

  Task<Result<std::optional<std::string>>> read(Until until) override {
    if (!exchange_->has_body()) {
      Loop& loop = co_await this_loop();
      const Until wait = exchange_->body_wait(until, loop.now());
      const Woken woken = co_await exchange_->news().wait(wait);
      if (woken != Woken::ready) co_return Failure(exchange_->ended(woken, until, loop.now()));
    }
    co_return exchange_->take_body();
  }
  void leave() noexcept override { Exchange::leave(std::move(exchange_)); }

 private:
  std::unique_ptr<Exchange> exchange_;
};

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(HttpOptions options) : options_(std::move(options)) {}

  Task<Result<std::unique_ptr<HttpResponse>>> send(HttpRequest request, Until until) override {
    Loop& loop = co_await this_loop();
    CurlLoop* const curl = CurlLoop::of(loop);
    if (!curl) {
      co_return fail(ErrorKind::unsupported, "a simulated loop has no network",
                     "give the harness an HttpClient of its own");
    }
    auto exchange = std::make_unique<Exchange>(*curl, std::move(request));
    exchange->begin(options_, loop.now());
    if (!exchange->has_head()) {
      const Until wait = exchange->head_wait(until);
      const Woken woken = co_await exchange->news().wait(wait);
      if (woken != Woken::ready) co_return Failure(exchange->ended(woken, until, loop.now()));
    }
    Result<void> head = exchange->head();
    if (!head) co_return Failure(std::move(head).error());
    std::unique_ptr<HttpResponse> response = std::make_unique<CurlResponse>(std::move(exchange));
    co_return response;
  }

 private:
  const HttpOptions options_;
};

}  // namespace

HttpClientPtr make_http_client(HttpOptions options) {
  return std::make_shared<CurlClient>(std::move(options));
}

}  // namespace tug
