#include "tug/model/faults.h"

#include "tug/core/enum_names.h"

namespace tug {

std::string_view name_of(Fault fault) noexcept { return enum_name(fault); }

std::optional<Fault> fault_from(std::string_view name) noexcept { return enum_value<Fault>(name); }

ErrorKind kind_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::retry_after:
    case Fault::overloaded:
      return ErrorKind::overloaded;
    case Fault::timeout:
    case Fault::transport_unsent:
    case Fault::transport_ambiguous:
    case Fault::stream_cut:
    case Fault::stream_stalled:
    case Fault::empty_response:
    case Fault::malformed_call:
    case Fault::unknown:
      return ErrorKind::disconnected;
    case Fault::quota_terminal:
    case Fault::auth:
    case Fault::forbidden:
    case Fault::tls:
      return ErrorKind::denied;
    case Fault::not_found:
    case Fault::context_overflow:
    case Fault::request_too_large:
    case Fault::bad_transcript:
    case Fault::bad_signature:
    case Fault::bad_schema:
    case Fault::bad_encoding:
    case Fault::bad_request:
    case Fault::refusal:
    case Fault::content_filter:
      return ErrorKind::invalid;
    case Fault::response_too_large:
      return ErrorKind::exhausted;
    case Fault::not_an_answer:
      return ErrorKind::internal;
  }
  return ErrorKind::internal;
}

std::optional<Fault> fault_of(const Error& error) noexcept {
  if (error.detail_if<Overflow>()) return Fault::context_overflow;
  const Provider* provider = error.detail_if<Provider>();
  return provider ? fault_from(provider->fault) : std::nullopt;
}

Error fault_error(const FaultSource& who, Fault fault, std::string what, std::string fix) {
  std::string message = std::string(who.provider) + "/" + std::string(who.model) + ": " + what;
  if (who.key) message = who.key->redact(std::move(message));
  return Error(kind_of(fault), std::move(message), std::move(fix),
               Provider{.provider = std::string(who.provider),
                        .model = std::string(who.model),
                        .fault = std::string(name_of(fault))});
}

}  // namespace tug
