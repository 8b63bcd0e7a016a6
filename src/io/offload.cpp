#include "io/offload.h"

#include <fmt/format.h>

namespace tug {

bool OffloadTicket::finish(std::shared_ptr<OffloadTicket>& ticket) noexcept {
  if (!ticket->move(State::running, State::done)) return false;
  std::shared_ptr<Mailbox> reply = ticket->reply_;
  reply->post([kept = std::move(ticket)] { kept->finished_.set(); });
  return true;
}

Failure queue_full(const OffloadTicket& ticket) {
  return fail(ErrorKind::overloaded,
              fmt::format("{}: the queue of the worker pool is full", ticket.name()),
              "run fewer at a time, or give the engine more workers");
}

Failure queue_closed(const OffloadTicket& ticket) {
  return fail(ErrorKind::cancelled,
              fmt::format("{}: the engine has been shut down", ticket.name()));
}

Task<Result<void>> perform_offload(OffloadQueue& queue, std::shared_ptr<detail::Offloaded> work,
                                   Until until, Duration grace) {
  Loop& loop = co_await this_loop();
  const std::string& name = work->name();
  if (until.cancel.requested()) co_return Failure(wait_error(Woken::cancelled, until, name));
  if (until.deadline <= loop.now()) co_return Failure(wait_error(Woken::timed_out, until, name));

  auto ticket = std::make_shared<OffloadTicket>(work, loop.mailbox());
  Result<void> submitted = queue.submit(ticket);
  if (!submitted) co_return submitted;

  const Woken woken = co_await ticket->finished().wait(until);
  if (woken == Woken::ready) co_return {};
  if (ticket->withdraw()) co_return Failure(wait_error(woken, until, name));

  ticket->stop().request_stop();
  const Woken ended = co_await ticket->finished().wait({{}, later(loop.now(), grace)});
  if (ended == Woken::ready) co_return {};
  if (queue.abandon(ticket)) {
    Error error = wait_error(woken, until, name);
    const std::string place = fmt::format("{} ignored its stop and was abandoned", name);
    co_return Failure(error.within(place)
                          .with_fix("look at the std::stop_token more often")
                          .with_detail(OutcomeUnknown{name}));
  }
  co_await ticket->finished().wait();
  co_return {};
}

}  // namespace tug
