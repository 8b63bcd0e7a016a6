// The mock provider on real sockets: HTTP/1.1, keep-alive, chunks for streams, one thread for all
// connections.
#include <sys/socket.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>

#include "testkit/mock_core.h"
#include "tug/io/engine.h"

namespace tug {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Status = boost::system::error_code;

constexpr std::size_t kMaxHead = 64 << 10;
constexpr std::size_t kMaxBody = 256 << 20;
constexpr std::size_t kReadBytes = 64 << 10;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> number_in(std::string_view text, int base) {
  std::size_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc() || read.ptr == text.data()) return std::nullopt;
  return value;
}

// The request line and the headers.
bool read_head(std::string_view head, MockRequest& request) {
  std::size_t end = head.find("\r\n");
  const std::string_view line = head.substr(0, end);
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (first == std::string_view::npos || second <= first) return false;
  request.method = line.substr(0, first);
  request.path = line.substr(first + 1, second - first - 1);
  while (end != std::string_view::npos && end + 2 < head.size()) {
    head.remove_prefix(end + 2);
    end = head.find("\r\n");
    const std::string_view header = head.substr(0, end);
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) return header.empty();
    request.headers.push_back(
        {std::string(header.substr(0, colon)), std::string(trimmed(header.substr(colon + 1)))});
  }
  return true;
}

std::string head_of(const MockPlan& plan) {
  std::string head = "HTTP/1.1 " + std::to_string(plan.status) + " Mock\r\n";
  for (const HttpHeader& header : plan.headers) head += header.name + ": " + header.value + "\r\n";
  if (plan.streamed || plan.end == MockEnd::pings) {
    head += "transfer-encoding: chunked\r\n";
  } else if (plan.end == MockEnd::whole) {
    head += "content-length: " + std::to_string(plan.body_bytes()) + "\r\n";
  } else {
    // More is announced than will ever come.
    head += "content-length: " + std::to_string(plan.body_bytes() + 1) + "\r\n";
  }
  return head + "\r\n";
}

std::string chunk_of(const std::string& bytes) {
  char size[20] = {};
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16);
  return std::string(size, end.ptr) + "\r\n" + bytes + "\r\n";
}

// One connection, from its first request to its end.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<MockCore> core, const Engine& clock,
             std::uint64_t number)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        core_(std::move(core)),
        clock_(clock),
        number_(number) {}

  static asio::awaitable<void> serve(std::shared_ptr<Connection> self) {
    co_await self->serve_requests();
  }
  void close() {
    Status ignored;
    socket_.close(ignored);
    timer_.cancel();
  }

 private:
  auto told(Status& status) { return asio::redirect_error(asio::use_awaitable, status); }

  asio::awaitable<void> serve_requests() {
    Status status;
    socket_.set_option(tcp::no_delay(true), status);
    if (core_->refuses()) {
      reset();
      co_return;
    }
    for (bool open = true; open;) {
      MockRequest request;
      auto reading = read(request);
      const bool came = co_await std::move(reading);
      if (!came) co_return close();
      request.connection = number_;
      request.at = clock_.now();
      const bool last = find_header(request.headers, "connection") == "close";
      const MockPlan plan = core_->take(std::move(request));
      auto answering = answer(plan);
      open = co_await std::move(answering) && !last && !core_->refuses();
    }
    close();
  }

  // More bytes into the buffer; false when the peer is done.
  asio::awaitable<bool> more() {
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kReadBytes);
    Status status;
    const std::size_t got =
        co_await socket_.async_read_some(asio::buffer(&buffer_[had], kReadBytes), told(status));
    buffer_.resize(had + got);
    co_return !status && got > 0;
  }

  asio::awaitable<bool> read(MockRequest& request) {
    if (buffer_.empty()) {
      Status status;
      co_await socket_.async_wait(tcp::socket::wait_read, told(status));
      if (status) co_return false;
      if (core_->refuses()) {
        reset();
        co_return false;
      }
    }
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (buffer_.size() > kMaxHead) co_return false;
      const bool came = co_await more();
      if (!came) co_return false;
      // TLS, or anything else that is no HTTP.
      if (buffer_[0] < 'A' || buffer_[0] > 'Z') {
        co_await send("HTTP/1.1 400 Mock\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        co_return false;
      }
    }
    if (!read_head(std::string_view(buffer_).substr(0, end + 2), request)) co_return false;
    buffer_.erase(0, end + 4);
    if (find_header(request.headers, "expect") == "100-continue") {
      Status status;
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(socket_, asio::buffer(kContinue), told(status));
      if (status) co_return false;
    }
    if (find_header(request.headers, "transfer-encoding") == "chunked") {
      co_return co_await read_chunks(request.body);
    }
    const std::string_view length = find_header(request.headers, "content-length");
    co_return co_await read_bytes(number_in(length, 10).value_or(0), request.body);
  }

  asio::awaitable<bool> read_bytes(std::size_t count, std::string& body) {
    if (count > kMaxBody || body.size() > kMaxBody) co_return false;
    while (buffer_.size() < count) {
      const bool came = co_await more();
      if (!came) co_return false;
    }
    body.append(buffer_, 0, count);
    buffer_.erase(0, count);
    co_return true;
  }

  asio::awaitable<bool> read_chunks(std::string& body) {
    while (true) {
      std::size_t end = 0;
      while ((end = buffer_.find("\r\n")) == std::string::npos) {
        const bool came = co_await more();
        if (!came) co_return false;
      }
      const auto size = number_in(std::string_view(buffer_).substr(0, end), 16);
      if (!size) co_return false;
      buffer_.erase(0, end + 2);
      const bool came = co_await read_bytes(*size, body);
      if (!came) co_return false;
      std::string blank;
      const bool closed = co_await read_bytes(2, blank);
      if (!closed || *size == 0) co_return closed;
    }
  }

  // True when the connection can take another request.
  asio::awaitable<bool> answer(const MockPlan& plan) {
    watch_reader();
    auto writing = write(plan);
    const bool written = co_await std::move(writing);
    Status ignored;
    socket_.cancel(ignored);  // the watch
    if (!written) {
      core_->aborted();
      co_return false;
    }
    if (plan.end == MockEnd::reset) reset();
    co_return plan.end == MockEnd::whole;
  }

  // False when the reader went away.
  asio::awaitable<bool> write(const MockPlan& plan) {
    bool here = co_await pause(plan.wait);
    if (!here || !plan.answered) co_return here;
    const bool chunked = plan.streamed || plan.end == MockEnd::pings;
    here = co_await send(head_of(plan));
    for (std::size_t i = 0; here && i < plan.writes.size(); ++i) {
      here = co_await pause(plan.writes[i].wait);
      const std::string& bytes = plan.writes[i].bytes;
      if (here && !bytes.empty()) here = co_await send(chunked ? chunk_of(bytes) : bytes);
    }
    while (here && plan.end == MockEnd::pings) {
      here = co_await pause(plan.ping.wait);
      if (here) here = co_await send(chunk_of(plan.ping.bytes));
    }
    if (here && plan.end == MockEnd::stall) here = co_await pause(Duration::max());
    if (here && chunked && plan.end == MockEnd::whole) here = co_await send("0\r\n\r\n");
    co_return here;
  }

  asio::awaitable<bool> send(std::string bytes) {
    Status status;
    co_await asio::async_write(socket_, asio::buffer(bytes), told(status));
    co_return !status && !reader_gone_;
  }

  asio::awaitable<bool> pause(Duration wait) {
    if (reader_gone_) co_return false;
    if (wait <= Duration::zero()) co_return true;
    if (wait == Duration::max()) {
      timer_.expires_at(asio::steady_timer::time_point::max());
    } else {
      timer_.expires_after(wait);
    }
    Status status;
    co_await timer_.async_wait(told(status));
    co_return !reader_gone_ && socket_.is_open();
  }

  // While a reply is under way: a reader that closes its end ends it.
  void watch_reader() {
    reader_gone_ = false;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const Status& status) {
      if (status) return;
      char byte = 0;
      const ssize_t got = recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (got > 0) return;
      self->reader_gone_ = true;
      self->timer_.cancel();
    });
  }

  void reset() {
    Status ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    close();
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  const std::shared_ptr<MockCore> core_;
  const Engine& clock_;
  const std::uint64_t number_;
  std::string buffer_;  // what was read and not used
  bool reader_gone_ = false;
};

class Server final : public MockServer {
 public:
  Server(std::shared_ptr<MockCore> core, tcp::acceptor acceptor, std::unique_ptr<Engine> engine,
         std::unique_ptr<asio::io_context> io)
      : core_(std::move(core)),
        engine_(std::move(engine)),
        io_(std::move(io)),
        acceptor_(std::move(acceptor)),
        url_("http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port())) {
    asio::co_spawn(*io_, accept_all(), asio::detached);
    asio::io_context* const io_here = io_.get();
    thread_ = engine_->background("mock provider", [io_here] { io_here->run(); });
    thread_->wake();
  }
  ~Server() override {
    io_->stop();
    thread_.reset();
  }
  const std::string& url() const noexcept override { return url_; }

 private:
  asio::awaitable<void> accept_all() {
    while (true) {
      Status status;
      tcp::socket socket =
          co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, status));
      if (status) co_return;
      auto connection =
          std::make_shared<Connection>(std::move(socket), core_, *engine_, core_->connected());
      asio::co_spawn(*io_, Connection::serve(std::move(connection)), asio::detached);
    }
  }

  const std::shared_ptr<MockCore> core_;
  const std::unique_ptr<Engine> engine_;  // for its clock and its thread
  const std::unique_ptr<asio::io_context> io_;
  tcp::acceptor acceptor_;
  const std::string url_;
  std::unique_ptr<Background> thread_;
};

}  // namespace

Result<std::unique_ptr<MockServer>> start_mock_server(std::shared_ptr<MockCore> core) {
  auto io = std::make_unique<asio::io_context>(1);
  tcp::acceptor acceptor(*io);
  Status status;
  acceptor.open(tcp::v4(), status);
  if (!status) acceptor.bind({asio::ip::address_v4::loopback(), 0}, status);
  if (!status) acceptor.listen(asio::socket_base::max_listen_connections, status);
  if (status) {
    return fail(ErrorKind::disconnected, "the mock provider cannot listen: " + status.message());
  }
  auto engine = make_engine({.loops = 1, .workers = 1});
  std::unique_ptr<MockServer> server = std::make_unique<Server>(
      std::move(core), std::move(acceptor), std::move(engine), std::move(io));
  return server;
}

}  // namespace tug
