// Failures: a line with the status, lines of headers, a blank line, the body.
#include <charconv>
#include <vector>

#include "fuzz/check.h"
#include "tug/core/error_json.h"
#include "tug/core/utf8.h"
#include "tug/model/faults.h"

namespace tug::fuzz {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void classify(std::string_view text) {
  const std::string_view first = take_line(text);
  int status = 0;
  std::from_chars(first.data(), first.data() + first.size(), status);
  std::vector<HttpHeader> headers;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(": "), line.size());
    headers.push_back({std::string(line.substr(0, colon)),
                       std::string(line.substr(std::min(colon + 2, line.size())))});
  }
  static const Secret kKey("sk-secret-0123456789");
  const FaultSource who{.provider = "acme",
                        .model = "m1",
                        .key = &kKey,
                        .prompt_tokens = 7900,
                        .context_tokens = 8192};
  const Time now{std::chrono::seconds(1'794'744'000)};
  const FaultReply reply{.status = status, .body = text, .headers = &headers, .now = now};
  const Error error = classify_fault(who, reply);
  const auto fault = fault_of(error);
  must(fault.has_value(), "a failure has a class");
  must(error.kind() == kind_of(*fault), "its kind is that of its class");
  must(!error.message().empty() && error.message().size() < 2000, "a message is a line");
  const std::string told = print_json(to_json(error));
  must(is_utf8(told), "an error is well-formed");
  must(told.find(kKey.reveal()) == std::string::npos, "the key is not told");
  must(told.size() < 100'000, "an error is small");
  if (const Provider* provider = error.detail_if<Provider>()) {
    must(provider->retry_after_ms.value_or(0) >= 0, "no wait is negative");
    must(provider->body.size() <= 2048, "of the body two KiB are kept");
  }
  const Overflow* overflow = error.detail_if<Overflow>();
  must(!overflow || (overflow->window >= 0 && overflow->prompt_tokens >= 0),
       "what is learnt is not negative");
}

}  // namespace
}  // namespace tug::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  tug::fuzz::classify(tug::fuzz::view(data, size));
  return 0;
}
