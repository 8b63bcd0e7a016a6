#include "model/http_embedder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/try.h"
#include "model/dialect.h"
#include "tug/core/base64.h"
#include "tug/core/loop.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kMaxBatch = 2048;  // as many as OpenAI takes
constexpr std::size_t kMaxErrorBody = 64 << 10;
constexpr std::size_t kMaxReplyBody = 64 << 20;

struct Reply {
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
};

// An answer whole; of one that is no success, as much as says something.
Task<Result<Reply>> read_whole(std::unique_ptr<HttpResponse> response, Until until) {
  Reply reply{.status = response->status(), .headers = response->headers()};
  const std::size_t most = reply.status / 100 == 2 ? kMaxReplyBody : kMaxErrorBody;
  while (reply.body.size() < most) {
    auto reading = response->read(until);
    auto bytes = co_await std::move(reading);
    if (!bytes) co_return Failure(std::move(bytes).error());
    if (!*bytes) break;
    reply.body += **bytes;
  }
  co_return reply;
}

}  // namespace

Result<ProviderConfig> checked_embedder(ProviderConfig provider, const EmbedderOptions& options,
                                        const HttpClientPtr& http) {
  const std::string id = provider.name + "/" + options.model;
  std::string& url = provider.base_url;
  while (url.ends_with('/')) url.pop_back();
  if (options.model.empty())
    return fail(ErrorKind::invalid, "an embedder of " + provider.name + " needs a model",
                "set EmbedderOptions::model");
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(ErrorKind::invalid,
                "the base URL of " + provider.name + " is not an address: \"" +
                    std::string(clip_utf8(url, 200)) + "\"",
                "it begins with http:// or https://");
  if (provider.key.empty() && provider.needs_key && !is_loopback(url)) {
    return Failure(Error(ErrorKind::denied, id + " needs a key, and none is set",
                         "set " + (provider.key_env.empty() ? "its key" : provider.key_env),
                         Provider{.provider = provider.name,
                                  .model = options.model,
                                  .fault = std::string(name_of(Fault::auth))}));
  }
  if (!http) return fail(ErrorKind::invalid, id + " has no HTTP client");
  return provider;
}

HttpEmbedder::HttpEmbedder(ProviderConfig provider, EmbedderOptions options, HttpClientPtr http)
    : provider_(std::move(provider)),
      options_(std::move(options)),
      http_(std::move(http)),
      dims_(std::max<std::int64_t>(options_.dims, 0)) {}

std::string HttpEmbedder::signature() const {
  return "provider=" + provider_.name + ";model=" + options_.model +
         ";dims=" + std::to_string(dims_.load());
}

FaultSource HttpEmbedder::who() const noexcept {
  return {.provider = provider_.name,
          .model = options_.model,
          .key = &provider_.key,
          .key_env = provider_.key_env};
}

Failure HttpEmbedder::no_answer(std::string what) const {
  return Failure(fault_error(who(), Fault::not_an_answer, std::move(what),
                             "check the base URL of " + provider_.name + " and the model's name"));
}

Task<Result<Embeddings>> HttpEmbedder::embed(std::vector<std::string> texts, Until until) {
  return embed_all(std::move(texts), options_.document_prefix, std::move(until));
}

Task<Result<Embeddings>> HttpEmbedder::embed_query(std::string text, Until until) {
  std::vector<std::string> texts;
  texts.push_back(std::move(text));
  return embed_all(std::move(texts), options_.query_prefix, std::move(until));
}

Task<Result<Embeddings>> HttpEmbedder::embed_all(std::vector<std::string> texts, std::string prefix,
                                                 Until until) {
  const std::size_t batch = std::clamp<std::size_t>(options_.batch, 1, kMaxBatch);
  Embeddings all;
  all.vectors.reserve(texts.size());
  for (std::size_t at = 0; at < texts.size(); at += batch) {
    const std::size_t count = std::min(batch, texts.size() - at);
    const std::span<const std::string> some = std::span(texts).subspan(at, count);
    std::string sent = body(some, prefix);
    auto embedding = embed_batch(std::move(sent), count, until);
    auto embedded = co_await std::move(embedding);
    if (!embedded) co_return Failure(std::move(embedded).error());
    std::ranges::move(embedded->vectors, std::back_inserter(all.vectors));
    all.usage += embedded->usage;
  }
  co_return all;
}

std::string HttpEmbedder::body(std::span<const std::string> texts, std::string_view prefix) const {
  std::string out = "{";
  add_request(out);
  if (provider_.options.is_object()) add_members(provider_.options, out);
  out += R"("input":[)";
  for (const std::string& text : texts) {
    if (&text != texts.data()) out += ',';
    const std::string whole = std::string(prefix) + text;
    // Nothing at all is refused, with everything else in the request.
    print_json_string(whole.empty() ? " " : whole, out);
  }
  return out + "]}";
}

HttpRequest HttpEmbedder::to_send(std::string body) const {
  HttpRequest request;
  request.url = provider_.base_url + path();
  request.body = HttpBody(std::move(body));
  request.headers.push_back({"Content-Type", "application/json"});
  if (!provider_.key.empty()) {
    const bool own = !provider_.key_header.empty();
    request.headers.push_back({own ? provider_.key_header : "authorization",
                               (own ? "" : "Bearer ") + provider_.key.reveal(), true});
  }
  request.headers.insert(request.headers.end(), provider_.headers.begin(), provider_.headers.end());
  request.timeouts = {.connect = provider_.timeouts.connect,
                      .first_byte = provider_.timeouts.first_byte,
                      .byte_idle = provider_.timeouts.byte_idle,
                      .total = provider_.timeouts.total};
  request.max_response_bytes = kMaxReplyBody;
  return request;
}

Task<Result<Embeddings>> HttpEmbedder::embed_batch(std::string body, std::size_t count,
                                                   Until until) {
  Loop& loop = co_await this_loop();
  HttpRequest request = to_send(std::move(body));
  auto sending = http_->send(std::move(request), until);
  auto response = co_await std::move(sending);
  if (!response) co_return Failure(std::move(response).error());
  auto reading = read_whole(*std::move(response), until);
  auto reply = co_await std::move(reading);
  if (!reply) co_return Failure(std::move(reply).error());
  if (reply->status / 100 != 2) {
    const FaultReply failed{.status = reply->status,
                            .body = std::string_view(reply->body).substr(0, kMaxErrorBody),
                            .headers = &reply->headers,
                            .now = loop.wall()};
    co_return Failure(classify_fault(who(), failed));
  }
  co_return read_checked(reply->body, count);
}

Result<Embeddings> HttpEmbedder::read_checked(std::string_view body, std::size_t count) {
  const Result<Json> parsed = parse_json(body);
  if (!parsed) return no_answer("answered with something that is not JSON");
  if (parsed->contains("error") && !(*parsed)["error"].is_null())
    return Failure(classify_fault(who(), {.body = body.substr(0, kMaxErrorBody)}));
  TUG_TRY(embedded, read(*parsed, count));
  if (embedded.vectors.size() != count)
    return no_answer("answered with " + std::to_string(embedded.vectors.size()) + " vectors for " +
                     std::to_string(count) + " texts");
  std::int64_t dims = dims_.load();
  for (const std::vector<float>& vector : embedded.vectors) {
    const auto size = static_cast<std::int64_t>(vector.size());
    // The first answer says how long vectors are; whoever is first on another loop says it too.
    if (dims == 0 && dims_.compare_exchange_strong(dims, size)) dims = size;
    if (size != dims)
      return no_answer("answered with a vector of " + std::to_string(size) + " numbers, not " +
                       std::to_string(dims));
  }
  return std::move(embedded);
}

Result<std::vector<float>> HttpEmbedder::vector_of(const Json& json) const {
  std::vector<float> vector;
  if (json.is_string()) {
    const std::optional<std::string> bytes = from_base64(json.as_string());
    if (!bytes || bytes->empty() || bytes->size() % sizeof(float) != 0)
      return no_answer("answered with a vector that is not base64 of floats");
    static_assert(std::endian::native == std::endian::little);
    vector.resize(bytes->size() / sizeof(float));
    std::memcpy(vector.data(), bytes->data(), bytes->size());
  } else {
    vector.reserve(json.size());
    for (const Json& number : json.items())
      vector.push_back(static_cast<float>(number.as_double().value_or(NAN)));
  }
  const bool sound = std::ranges::all_of(vector, [](float value) { return std::isfinite(value); });
  if (vector.empty() || !sound)
    return no_answer("answered with a vector that is none: it has to be a list of numbers");
  return vector;
}

}  // namespace tug
