#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "tug/model/faults.h"
#include "tug/model/script.h"

namespace tug {

Error provider_error(const ModelProfile& profile, int status, std::string_view body,
                     std::optional<double> retry_after) {
  std::vector<HttpHeader> headers;
  if (retry_after && !std::isnan(*retry_after)) {
    char text[32];
    const auto written = std::to_chars(text, text + sizeof text, *retry_after);
    headers.push_back({"retry-after", std::string(text, written.ptr)});
  }
  return classify_fault({.provider = profile.provider, .model = profile.name},
                        {.status = status, .body = body, .headers = &headers});
}

}  // namespace tug
