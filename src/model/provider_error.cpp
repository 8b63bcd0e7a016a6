#include <cmath>
#include <string>

#include "tug/core/utf8.h"
#include "tug/model/script.h"

namespace tug {
namespace {

struct Row {
  int status;
  ErrorKind kind;
  std::string_view fault;
  std::string_view fix;
};

// By status; a row for 400 and one for 500 stand for the rest of their hundred.
constexpr Row kRows[] = {
    {400, ErrorKind::invalid, "bad_request", "the request itself has to change"},
    {401, ErrorKind::denied, "authentication", "check the key"},
    {402, ErrorKind::denied, "billing", "check the account's balance"},
    {403, ErrorKind::denied, "permission", "the key may not use this model"},
    {404, ErrorKind::invalid, "not_found", "check the model's name and the base URL"},
    {408, ErrorKind::overloaded, "timeout", "try again later"},
    {413, ErrorKind::invalid, "request_too_large", "send less at once"},
    {429, ErrorKind::overloaded, "rate_limit", "wait, then try again"},
    {500, ErrorKind::overloaded, "server", "try again later"},
    {503, ErrorKind::overloaded, "overloaded", "try again later"},
    {504, ErrorKind::overloaded, "timeout", "try again later"},
    {529, ErrorKind::overloaded, "overloaded", "try again later"},
};
constexpr Row kUnexpected = {0, ErrorKind::internal, "unexpected_status",
                             "this is not a provider's error status"};
// A spent account that comes as 429: waiting does not help.
constexpr Row kSpent = {0, ErrorKind::denied, "billing", "check the account's balance"};

const Row& row_of(int status) noexcept {
  for (const Row& row : kRows) {
    if (row.status == status) return row;
  }
  if (status >= 400 && status < 500) return kRows[0];
  if (status >= 500 && status < 600) return row_of(500);
  return kUnexpected;
}

struct Said {
  std::string code;
  std::string message;
};

// The error objects of all dialects look alike; anything else is quoted as it came.
Said said(std::string_view body) {
  constexpr std::size_t kShown = 600;
  Said out;
  if (body.size() <= 64 * 1024) {
    if (auto json = parse_json(body)) {
      const Json& error = (*json)["error"];
      for (std::string_view key : {"code", "type", "status"}) {
        if (out.code.empty()) out.code = error[key].as_string();
      }
      out.message = error["message"].as_string();
    }
  }
  if (out.message.empty()) out.message = repair_utf8(body.substr(0, kShown));
  if (out.message.size() > kShown) out.message = std::string(clip_utf8(out.message, kShown));
  return out;
}

std::optional<std::int64_t> in_ms(std::optional<double> seconds) {
  constexpr double kLongest = 1e9;
  if (!seconds || std::isnan(*seconds)) return std::nullopt;
  return std::llround(std::fmin(std::fmax(*seconds, 0.0), kLongest) * 1000);
}

}  // namespace

Error provider_error(const ModelProfile& profile, int status, std::string_view body,
                     std::optional<double> retry_after) {
  Said what = said(body);
  const bool spent = status == 429 && what.code == "insufficient_quota";
  const Row& row = spent ? kSpent : row_of(status);
  std::string message = profile.id() + " answered " + std::to_string(status);
  if (!what.message.empty()) message += ": " + what.message;
  return Error(row.kind, std::move(message), std::string(row.fix),
               Provider{.provider = profile.provider,
                        .model = profile.name,
                        .fault = std::string(row.fault),
                        .status = status,
                        .code = std::move(what.code),
                        .retry_after_ms = in_ms(retry_after)});
}

}  // namespace tug
