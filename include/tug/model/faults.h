// What a provider's failure is: one classifier for all dialects.
//
// In this order: structured codes, typed details, the status, patterns in the text (of nested JSON
// too), unknown. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/secret.h"
#include "tug/core/time.h"
#include "tug/io/http.h"

namespace tug {

enum class Fault : std::uint8_t {
  retry_after,          // a rate limit: wait, as long as stated
  overloaded,           // the provider is busy or broken
  timeout,              // a part of the exchange took too long
  transport_unsent,     // nothing was sent
  transport_ambiguous,  // it may have been worked on and billed
  stream_cut,           // the answer broke off
  stream_stalled,       // the answer came to a halt
  quota_terminal,       // the account is spent: waiting does not help
  auth,
  forbidden,
  not_found,
  context_overflow,   // its error has the detail Overflow
  request_too_large,  // in bytes
  bad_transcript,
  bad_signature,
  bad_schema,
  bad_encoding,
  bad_request,  // another 4xx: the request has to change
  refusal,
  content_filter,
  empty_response,
  malformed_call,
  response_too_large,
  not_an_answer,  // HTML, a redirect: something between us and the provider spoke
  tls,
  unknown,
};
std::string_view name_of(Fault fault) noexcept;
std::optional<Fault> fault_from(std::string_view name) noexcept;
// What a caller can do about it: what errors of this class have as their kind.
ErrorKind kind_of(Fault fault) noexcept;
// The class that the detail Provider of an error names; context_overflow for an Overflow.
std::optional<Fault> fault_of(const Error& error) noexcept;

// Whose failure it is, for messages.
struct FaultSource {
  std::string_view provider;
  std::string_view model;
  const Secret* key = nullptr;     // never in what is told on
  std::string_view key_env = {};   // the variable that holds it, for the fix
  std::int64_t prompt_tokens = 0;  // as estimated; 0 when nobody has
  std::int64_t context_tokens = 0;
};

// What came instead of an answer.
struct FaultReply {
  int status = 0;  // 0 inside a stream that began well
  std::string_view body;
  const std::vector<HttpHeader>* headers = nullptr;  // may be null
  Time now{};                                        // for dates
};

Error classify_fault(const FaultSource& who, const FaultReply& reply);

// An error of a class, said by us: "provider/model: what".
Error fault_error(const FaultSource& who, Fault fault, std::string what, std::string fix = {});

// How long to wait, from headers and text, in any spelling: retry-after-ms, retry-after in seconds
// or as a date, RetryInfo, "try again in 1.3s". Never negative. Nothing when nobody says.
std::optional<std::int64_t> stated_wait_ms(const FaultReply& reply);

}  // namespace tug
