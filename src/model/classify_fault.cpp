#include <algorithm>
#include <array>
#include <string>

#include "model/fault_body.h"
#include "model/fault_text.h"
#include "tug/core/utf8.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

using detail::FaultBody;
using detail::FaultText;

constexpr std::size_t kShown = 600;
constexpr std::size_t kKeptBody = 2 << 10;

struct CodeRow {
  std::string_view code;
  Fault fault;
};

// The first row that any code of the error has counts, so what is final stands first. Codes that
// say no more than their status (invalid_request_error) are not here.
constexpr CodeRow kCodes[] = {
    {"context_length_exceeded", Fault::context_overflow},
    {"exceed_context_size_error", Fault::context_overflow},
    {"model_context_window_exceeded", Fault::context_overflow},
    {"insufficient_quota", Fault::quota_terminal},
    {"enforced_spend_limit_reached", Fault::quota_terminal},
    {"usage_not_included", Fault::quota_terminal},
    {"billing_error", Fault::quota_terminal},
    {"billing_hard_limit_reached", Fault::quota_terminal},
    {"billing_not_active", Fault::quota_terminal},
    {"insufficient_credits", Fault::quota_terminal},
    {"insufficient_balance", Fault::quota_terminal},
    {"invalid_prompt", Fault::content_filter},
    {"cyber_policy", Fault::content_filter},
    {"bio_policy", Fault::content_filter},
    {"misalignment_policy_violation", Fault::content_filter},
    {"content_filter", Fault::content_filter},
    {"content_policy_violation", Fault::content_filter},
    {"responsibleaipolicyviolation", Fault::content_filter},
    {"invalid_api_key", Fault::auth},
    {"api_key_invalid", Fault::auth},
    {"authentication_error", Fault::auth},
    {"unauthenticated", Fault::auth},
    {"permission_error", Fault::forbidden},
    {"permission_denied", Fault::forbidden},
    {"accessdeniedexception", Fault::forbidden},
    {"model_not_found", Fault::not_found},
    {"not_found_error", Fault::not_found},
    {"deploymentnotfound", Fault::not_found},
    {"resourcenotfoundexception", Fault::not_found},
    {"request_too_large", Fault::request_too_large},
    {"invalid_encrypted_content", Fault::bad_signature},
    {"previous_response_not_found", Fault::bad_transcript},
    {"invalid_function_parameters", Fault::bad_schema},
    {"invalid_json_schema", Fault::bad_schema},
    {"conflict_error", Fault::bad_request},
    {"rate_limit_exceeded", Fault::retry_after},
    {"rate_limit_error", Fault::retry_after},
    {"throttlingexception", Fault::retry_after},
    {"server_is_overloaded", Fault::overloaded},
    {"slow_down", Fault::overloaded},
    {"overloaded_error", Fault::overloaded},
    {"serviceunavailableexception", Fault::overloaded},
    {"modelnotreadyexception", Fault::overloaded},
    {"timeout_error", Fault::timeout},
    {"deadline_exceeded", Fault::timeout},
    {"modeltimeoutexception", Fault::timeout},
};
// Codes that words may still make more exact: a gateway says "server_error" of anything.
constexpr CodeRow kWeakCodes[] = {
    {"server_error", Fault::overloaded},
    {"api_error", Fault::overloaded},
    {"internal_server_error", Fault::overloaded},
    {"internalserverexception", Fault::overloaded},
    {"modelstreamerrorexception", Fault::overloaded},
    {"internal", Fault::overloaded},
    {"unavailable", Fault::overloaded},
    {"invalid_request_error", Fault::bad_request},
    {"invalid_argument", Fault::bad_request},
    {"badrequesterror", Fault::bad_request},
    {"validationexception", Fault::bad_request},
};

template <std::size_t Count>
const CodeRow* row_in(const CodeRow (&rows)[Count], const FaultBody& said) {
  for (const CodeRow& row : rows) {
    if (std::ranges::find(said.codes, row.code) != said.codes.end()) return &row;
  }
  return nullptr;
}

bool has_code(const FaultBody& said, std::string_view code) {
  return std::ranges::find(said.codes, code) != said.codes.end();
}

// What a status alone says.
Fault fault_of_status(int status) noexcept {
  switch (status) {
    case 401:
      return Fault::auth;
    case 402:
      return Fault::quota_terminal;
    case 403:
    case 407:
      return Fault::forbidden;
    case 404:
    case 405:
    case 410:
      return Fault::not_found;
    case 408:
    case 504:
    case 524:  // Cloudflare: the provider behind it took too long
      return Fault::timeout;
    case 409:
    case 425:
      return Fault::overloaded;
    case 413:
      return Fault::request_too_large;
    case 429:
      return Fault::retry_after;
    default:
      break;
  }
  if (status >= 400 && status < 500) return Fault::bad_request;
  if (status >= 500 && status < 600) return Fault::overloaded;
  return status == 0 ? Fault::unknown : Fault::not_an_answer;
}

// The words of these count for nothing: the status says it all.
bool is_final_status(int status) noexcept {
  return status == 401 || status == 403 || status == 407 || status == 408;
}

// What a failure was found to be.
struct Finding {
  Fault fault = Fault::unknown;
  FaultText numbers;
  std::string_view code;  // what decided it, where a code did
};

// A stated window wins over words: Google says "exceeded your current quota" of every limit.
bool is_spent(const FaultBody& said, std::optional<std::int64_t> wait) {
  if (wait) return false;
  if (said.quota_of_day) return true;
  if (!has_code(said, "resource_exhausted")) return detail::says_spent(said.text);
  std::string text = said.text;
  constexpr std::string_view kBoilerplate = "check your plan and billing details";
  if (const std::size_t at = text.find(kBoilerplate); at != std::string::npos)
    text.erase(at, kBoilerplate.size());
  return detail::says_spent(text);
}

bool is_near_the_window(const FaultSource& who) noexcept {
  return who.context_tokens > 0 && who.prompt_tokens > 0 &&
         who.prompt_tokens >= who.context_tokens - who.context_tokens / 5;
}

Finding find(const FaultSource& who, const FaultReply& reply, const FaultBody& said,
             std::optional<std::int64_t> wait) {
  // A 200 that turned out to be none, and an error inside a stream, have the status they name.
  const bool began_well = reply.status == 0 || (reply.status >= 200 && reply.status < 300);
  const int status = began_well && said.status != 0 ? said.status : reply.status;
  if (status >= 300 && status < 400) return {Fault::not_an_answer, {}, {}};
  if (status == 407) return {Fault::forbidden, {}, {}};
  if (said.is_html) {
    const bool speaks = status == 429 || (status >= 401 && status <= 404) || status >= 500;
    return {speaks ? fault_of_status(status) : Fault::not_an_answer, {}, {}};
  }
  if (detail::asks_more_than_the_rate(said.text)) return {Fault::request_too_large, {}, {}};

  std::optional<FaultText> words;
  if (!is_final_status(status)) words = detail::fault_of_text(said.text);
  const CodeRow* const row = row_in(kCodes, said);
  if (row && row->fault != Fault::retry_after) {
    const bool same = words && words->fault == row->fault;
    return {row->fault, same ? *words : FaultText{}, row->code};
  }
  if (row || status == 429 || has_code(said, "resource_exhausted")) {
    const bool spent = (words && words->fault == Fault::quota_terminal) || is_spent(said, wait);
    return {spent ? Fault::quota_terminal : Fault::retry_after, {}, row ? row->code : ""};
  }
  if (words) return {words->fault, *words, words->code};
  if ((status == 400 || status == 413) &&
      reply.body.find_first_not_of(" \r\n") == std::string_view::npos && is_near_the_window(who))
    return {Fault::context_overflow, {}, {}};
  if (status >= 400 || status < 0) return {fault_of_status(status), {}, {}};
  if (const CodeRow* weak = row_in(kWeakCodes, said)) return {weak->fault, {}, weak->code};
  if (const auto plain = detail::fault_of_plain_text(said.text)) return {*plain, {}, {}};
  return {fault_of_status(status), {}, {}};
}

std::string_view host_of(std::string_view url) noexcept {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  } else if (url.starts_with("//")) {
    url.remove_prefix(2);
  } else {
    return {};
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos)
    url.remove_prefix(at + 1);
  return url;
}

std::string_view header(const FaultReply& reply, std::string_view name) noexcept {
  return reply.headers ? find_header(*reply.headers, name) : std::string_view();
}

// One line that fits beside others.
std::string shown(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  text = text.substr(begin, text.find_last_not_of(' ') - begin + 1);
  if (text.size() <= kShown) return text;
  return std::string(clip_utf8(text, kShown)) + "...";
}

std::string message_of(const FaultSource& who, const FaultReply& reply, const FaultBody& said,
                       const Secret& key) {
  std::string out = std::string(who.provider) + "/" + std::string(who.model);
  if (reply.status == 0) {
    out += " broke its answer off";
  } else {
    out += " answered " + std::to_string(reply.status);
  }
  if (reply.status >= 300 && reply.status < 400) {
    const std::string host(host_of(header(reply, "location")));
    out += host.empty() ? " and sends us elsewhere" : " and sends us to " + host;
    return key.redact(shown(out + ": no redirect is followed"));
  }
  if (reply.status == 407) out += ": the proxy wants a name and a password";
  // The key goes before the text is cut: half a key is a secret too.
  std::string text = shown(key.redact(said.message.empty() ? said.code : said.message));
  if (said.is_html) text = text.empty() ? "a web page" : "a web page, \"" + text + "\"";
  if (!text.empty()) out += ": " + text;
  return out;
}

std::string fix_of(const FaultSource& who, const FaultReply& reply, Fault fault, bool html) {
  if (reply.status >= 300 && reply.status < 400)
    return "set the base URL to the address that answers";
  if (reply.status == 407)
    return "put them into the proxy's address: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT";
  if (html) return "check the base URL, and whether a proxy or a login page stands between";
  switch (fault) {
    case Fault::retry_after:
      return "wait, then try again";
    case Fault::overloaded:
    case Fault::timeout:
    case Fault::unknown:
      return "try again later";
    case Fault::quota_terminal:
      return "check the account's balance and limits";
    case Fault::auth:
      return who.key_env.empty() ? "check the key" : "check the key in " + std::string(who.key_env);
    case Fault::forbidden:
      return "the key may not use this model";
    case Fault::not_found:
      return "check the model's name and the base URL";
    case Fault::context_overflow:
      return "send less, or take a model with a larger window";
    case Fault::request_too_large:
      return "send less at once";
    case Fault::bad_signature:
      return "leave the reasoning of earlier turns out";
    case Fault::bad_schema:
      return "correct the schema, or leave the tool out";
    case Fault::content_filter:
    case Fault::refusal:
      return "ask for something else, or ask another model";
    case Fault::not_an_answer:
      return "check the base URL: this is not a provider's error";
    default:
      return "the request itself has to change";
  }
}

std::optional<bool> should_retry(const FaultReply& reply, Fault fault) {
  const std::string_view said = header(reply, "x-should-retry");
  if (said == "false") return false;
  // No wait fills an account, and none makes a key good.
  const bool final =
      fault == Fault::quota_terminal || fault == Fault::auth || fault == Fault::forbidden;
  if (said == "true" && !final) return true;
  return std::nullopt;
}

std::string request_id(const FaultReply& reply, const FaultBody& said) {
  for (const std::string_view name :
       {"x-request-id", "request-id", "x-goog-request-id", "apim-request-id", "x-amzn-requestid"}) {
    const std::string_view value = header(reply, name);
    if (!value.empty()) return repair_utf8(clip_utf8(value, 200));
  }
  return said.request_id;
}

bool may_wait(Fault fault) noexcept {
  return fault == Fault::retry_after || fault == Fault::overloaded || fault == Fault::timeout ||
         fault == Fault::unknown;
}

}  // namespace

Error classify_fault(const FaultSource& who, const FaultReply& reply) {
  static const Secret no_key;
  const Secret& key = who.key ? *who.key : no_key;
  const FaultBody said = detail::read_fault_body(reply.body);
  const std::optional<std::int64_t> wait = stated_wait_ms(reply);
  const Finding found = find(who, reply, said, wait);
  std::string message = message_of(who, reply, said, key);
  std::string fix = fix_of(who, reply, found.fault, said.is_html);
  if (found.fault == Fault::context_overflow) {
    Overflow overflow;
    overflow.window = found.numbers.window > 0 ? found.numbers.window : said.window;
    overflow.prompt_tokens =
        found.numbers.prompt_tokens > 0 ? found.numbers.prompt_tokens : said.prompt_tokens;
    overflow.from_output = found.numbers.output_tokens > 0 && overflow.prompt_tokens > 0 &&
                           overflow.prompt_tokens < overflow.window;
    overflow.provider = who.provider;
    overflow.model = who.model;
    overflow.status = reply.status;
    overflow.request_id = key.redact(request_id(reply, said));
    if (overflow.from_output) fix = "leave less room for the answer, or send less";
    return Error(kind_of(found.fault), std::move(message), std::move(fix), std::move(overflow));
  }
  Provider detail;
  detail.provider = who.provider;
  detail.model = who.model;
  detail.fault = name_of(found.fault);
  detail.status = reply.status;
  detail.code = key.redact(found.code.empty() ? said.code : std::string(found.code));
  if (may_wait(found.fault)) detail.retry_after_ms = wait;
  detail.should_retry = should_retry(reply, found.fault);
  detail.request_id = key.redact(request_id(reply, said));
  const std::string body = key.redact(repair_utf8(reply.body.substr(0, 32 * kKeptBody)));
  detail.body = clip_utf8(body, kKeptBody);
  return Error(kind_of(found.fault), std::move(message), std::move(fix), std::move(detail));
}

}  // namespace tug
