#include "tug/core/error.h"

#include <exception>
#include <new>

namespace tug {

struct Error::Body {
  std::string message;
  std::string fix;
  ErrorDetail detail;
};

std::string_view name_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::invalid:
      return "invalid";
    case ErrorKind::denied:
      return "denied";
    case ErrorKind::overloaded:
      return "overloaded";
    case ErrorKind::disconnected:
      return "disconnected";
    case ErrorKind::exhausted:
      return "exhausted";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

std::string_view name_of(LimitKind kind) noexcept {
  switch (kind) {
    case LimitKind::model_calls:
      return "model_calls";
    case LimitKind::tool_calls:
      return "tool_calls";
    case LimitKind::wall_clock:
      return "wall_clock";
    case LimitKind::retries:
      return "retries";
    case LimitKind::depth:
      return "depth";
    case LimitKind::tokens:
      return "tokens";
    case LimitKind::cost:
      return "cost";
    case LimitKind::tool_retries:
      return "tool_retries";
  }
  return "model_calls";
}

Error::Error(ErrorKind kind, std::string message) : Error(kind, std::move(message), {}, {}) {}

Error::Error(ErrorKind kind, std::string message, std::string fix, ErrorDetail detail)
    : kind_(kind),
      body_(std::make_shared<const Body>(
          Body{std::move(message), std::move(fix), std::move(detail)})) {}

Error::Error(ErrorKind kind, std::shared_ptr<const Body> body) noexcept
    : kind_(kind), body_(std::move(body)) {}

const std::string& Error::message() const noexcept { return body_->message; }
const std::string& Error::fix() const noexcept { return body_->fix; }
const ErrorDetail& Error::detail() const noexcept { return body_->detail; }

Error Error::within(std::string_view place) const {
  Body body = *body_;
  body.message.insert(0, std::string(place) + ": ");
  return Error(kind_, std::make_shared<const Body>(std::move(body)));
}

Error Error::with_fix(std::string fix) const {
  return Error(kind_, body_->message, std::move(fix), body_->detail);
}

Error Error::with_detail(ErrorDetail detail) const {
  return Error(kind_, body_->message, body_->fix, std::move(detail));
}

Failure fail(ErrorKind kind, std::string message, std::string fix, ErrorDetail detail) {
  return Failure(Error(kind, std::move(message), std::move(fix), std::move(detail)));
}

std::string to_string(const Error& error) {
  if (error.fix().empty()) return error.message();
  return error.message() + " (" + error.fix() + ")";
}

namespace detail {

Error error_in_flight(std::string_view what) noexcept {
  std::string place(what);
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::exhausted, place + ": out of memory");
  } catch (const std::exception& thrown) {
    return Error(ErrorKind::internal, place + " threw: " + thrown.what());
  } catch (...) {
    return Error(ErrorKind::internal, place + " threw something that is not a std::exception");
  }
}

}  // namespace detail
}  // namespace tug
