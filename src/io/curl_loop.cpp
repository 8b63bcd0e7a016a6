#include "io/curl_loop.h"

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <mutex>
#include <utility>

namespace tug {
namespace {

constexpr std::size_t kSpareHandles = 256;
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

CurlLoop* CurlLoop::of(Loop& loop) {
  auto* real = dynamic_cast<RealLoop*>(&loop);
  if (!real) return nullptr;
  if (!real->guest()) real->set_guest(std::make_unique<CurlLoop>(*real));
  return static_cast<CurlLoop*>(real->guest());
}

CurlLoop::CurlLoop(RealLoop& loop)
    : loop_(loop), sockets_(loop.reactor(), epoll_create1(EPOLL_CLOEXEC)), alarm_(*this) {
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
  for (CurlTransfer* transfer : std::exchange(active_, {})) {
    curl_multi_remove_handle(multi_, transfer->easy_);
    curl_easy_cleanup(transfer->easy_);
    transfer->on_loop_closed();
  }
  for (CURL* easy : spare_) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi_);
}

CURL* CurlLoop::handle() {
  if (spare_.empty()) return curl_easy_init();
  CURL* easy = spare_.back();
  spare_.pop_back();
  return easy;
}

void CurlLoop::add(CURL* easy, CurlTransfer& transfer) {
  transfer.easy_ = easy;
  transfer.place_ = active_.size();
  active_.push_back(&transfer);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_multi_add_handle(multi_, easy);
}

void CurlLoop::remove(CurlTransfer& transfer) noexcept {
  CURL* const easy = transfer.easy_;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, nullptr);
  curl_multi_remove_handle(multi_, easy);
  active_[transfer.place_] = active_.back();
  active_[transfer.place_]->place_ = transfer.place_;
  active_.pop_back();
  if (spare_.size() < kSpareHandles) {
    curl_easy_reset(easy);
    spare_.push_back(easy);
  } else {
    curl_easy_cleanup(easy);
  }
}

void CurlLoop::resume(CURL* easy) noexcept { curl_easy_pause(easy, CURLPAUSE_CONT); }

int CurlLoop::on_socket(CURL*, curl_socket_t socket, int what, void* self, void* known) {
  auto& loop = *static_cast<CurlLoop*>(self);
  const int set = loop.sockets_.native_handle();
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(set, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event = {};
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  event.data.fd = socket;
  const int first = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  const int second = known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(set, first, socket, &event) != 0) epoll_ctl(set, second, socket, &event);
  if (!known) curl_multi_assign(loop.multi_, socket, self);
  return 0;
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
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    if (CurlTransfer* transfer = transfer_of(message->easy_handle)) transfer->on_done(code);
  }
}

}  // namespace tug
