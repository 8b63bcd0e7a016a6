#include "io/curl_loop.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <mutex>
#include <utility>

namespace tug {
namespace {

constexpr std::size_t kSpareHandles = 256;
constexpr std::size_t kLookedAt = 16;
constexpr std::size_t kMostLingering = 1024;
constexpr Duration kLinger = std::chrono::milliseconds(100);
constexpr long kIdleConnections = 4096;
constexpr long kStreamsOfAConnection = 1000;

void begin_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

CurlTransfer* transfer_of(CURL* easy) noexcept {
  char* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return reinterpret_cast<CurlTransfer*>(transfer);
}

}  // namespace

CurlLoop::Alarm::Alarm(CurlLoop& owner) noexcept
    : Timer([](Timer& timer) noexcept {
        static_cast<Alarm&>(timer).loop.act(CURL_SOCKET_TIMEOUT, 0);
      }),
      loop(owner) {}

CurlLoop::Sweep::Sweep(CurlLoop& owner) noexcept
    : Timer([](Timer& timer) noexcept { static_cast<Sweep&>(timer).loop.sweep(); }), loop(owner) {}

CurlLoop* CurlLoop::of(Loop& loop) {
  auto* real = dynamic_cast<RealLoop*>(&loop);
  if (!real) return nullptr;
  if (!real->guest()) real->set_guest(std::make_unique<CurlLoop>(*real));
  return static_cast<CurlLoop*>(real->guest());
}

CurlLoop::CurlLoop(RealLoop& loop)
    : loop_(loop),
      sockets_(loop.reactor(), epoll_create1(EPOLL_CLOEXEC)),
      alarm_(*this),
      sweep_(*this) {
  begin_curl();
  multi_ = curl_multi_init();
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kIdleConnections);
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, kStreamsOfAConnection);
  watch();
}

CurlLoop::~CurlLoop() {
  loop_.disarm(alarm_);
  loop_.disarm(sweep_);
  lingering_.clear();
  for (CurlTransfer* transfer : std::exchange(active_, {})) {
    curl_multi_remove_handle(multi_, transfer->handle_->get());
    transfer->handle_.reset();
    transfer->on_loop_closed();
  }
  spare_.clear();
  curl_multi_cleanup(multi_);
}

std::unique_ptr<CurlHandle> CurlLoop::handle(const std::string& purpose) {
  for (std::size_t i = spare_.size(); i-- > 0 && spare_.size() - i <= kLookedAt;) {
    if (spare_[i]->purpose != purpose) continue;
    std::swap(spare_[i], spare_.back());
    auto found = std::move(spare_.back());
    spare_.pop_back();
    return found;
  }
  return std::make_unique<CurlHandle>();
}

void CurlLoop::add(std::unique_ptr<CurlHandle> handle, CurlTransfer& transfer) {
  CURL* const easy = handle->get();
  transfer.handle_ = std::move(handle);
  transfer.place_ = active_.size();
  active_.push_back(&transfer);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_multi_add_handle(multi_, easy);
}

void CurlLoop::remove(CurlTransfer& transfer) noexcept {
  CURL* const easy = transfer.handle_->get();
  curl_easy_setopt(easy, CURLOPT_PRIVATE, nullptr);
  curl_multi_remove_handle(multi_, easy);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
  active_[transfer.place_] = active_.back();
  active_[transfer.place_]->place_ = transfer.place_;
  active_.pop_back();
  if (spare_.size() < kSpareHandles) {
    spare_.push_back(std::move(transfer.handle_));
  } else {
    transfer.handle_.reset();
  }
}

void CurlLoop::resume(CurlTransfer& transfer) noexcept {
  curl_easy_pause(transfer.handle_->get(), CURLPAUSE_CONT);
}

void CurlLoop::linger(std::unique_ptr<CurlTransfer> transfer) {
  if (lingering_.size() >= kMostLingering) return;
  lingering_.push_back({std::move(transfer), later(loop_.now(), kLinger)});
  if (!sweep_.armed()) loop_.arm(sweep_, lingering_.back().until);
}

void CurlLoop::sweep() noexcept {
  const Instant now = loop_.now();
  std::erase_if(lingering_, [now](const Lingering& each) {
    return each.transfer->is_done() || each.until <= now;
  });
  if (!lingering_.empty()) loop_.arm(sweep_, lingering_.front().until);
}

int CurlLoop::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  auto& loop = *static_cast<CurlLoop*>(self);
  const auto place = static_cast<std::size_t>(socket);
  if (place >= loop.watched_.size()) loop.watched_.resize(place + 1);
  Watched& watched = loop.watched_[place];
  if (what == CURL_POLL_REMOVE) {
    watched.wanted = false;
    return 0;
  }
  epoll_event event = {};
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  event.data.fd = socket;
  watched.wanted = true;
  if (watched.events == event.events) return 0;
  const int set = loop.sockets_.native_handle();
  const bool known = watched.events != 0;
  const int first = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  const int second = known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(set, first, socket, &event) != 0) epoll_ctl(set, second, socket, &event);
  watched.events = event.events;
  return 0;
}

// A number that is new to us may be an old one of a socket that was closed without a word.
curl_socket_t CurlLoop::on_open(void* self, curlsocktype, curl_sockaddr* address) {
  auto& loop = *static_cast<CurlLoop*>(self);
  const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  const auto place = static_cast<std::size_t>(made);
  if (made >= 0 && place < loop.watched_.size()) loop.watched_[place] = {};
  return made;
}

int CurlLoop::on_close(void* self, curl_socket_t socket) {
  auto& loop = *static_cast<CurlLoop*>(self);
  const auto place = static_cast<std::size_t>(socket);
  if (place < loop.watched_.size()) loop.watched_[place] = {};
  return close(socket);
}

int CurlLoop::on_timer(CURLM*, long wait_ms, void* self) {
  auto& loop = *static_cast<CurlLoop*>(self);
  if (wait_ms < 0) {
    loop.loop_.disarm(loop.alarm_);
  } else {
    loop.loop_.arm(loop.alarm_, later(loop.loop_.now(), std::chrono::milliseconds(wait_ms)));
  }
  return 0;
}

void CurlLoop::watch() {
  sockets_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        if (error) return;
                        on_ready();
                        watch();
                      });
}

void CurlLoop::on_ready() {
  std::array<epoll_event, 64> events;
  const int count =
      epoll_wait(sockets_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    Watched& watched = watched_[static_cast<std::size_t>(event.data.fd)];
    if (!watched.wanted) {
      epoll_ctl(sockets_.native_handle(), EPOLL_CTL_DEL, event.data.fd, nullptr);
      watched.events = 0;
      continue;
    }
    int mask = 0;
    if (event.events & EPOLLIN) mask |= CURL_CSELECT_IN;
    if (event.events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
    if (event.events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
    act(event.data.fd, mask);
  }
}

void CurlLoop::act(curl_socket_t socket, int events) noexcept {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
  int left = 0;
  bool ended = false;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    if (CurlTransfer* transfer = transfer_of(message->easy_handle)) transfer->on_done(code);
    ended = true;
  }
  if (ended && !lingering_.empty()) sweep();
}

}  // namespace tug
