// Models over HTTP: what a dialect encodes is sent, what comes back is fed to its decoder.
#include <algorithm>
#include <mutex>

#include "core/try.h"
#include "model/dialect.h"
#include "tug/core/digest.h"
#include "tug/core/loop.h"
#include "tug/core/utf8.h"
#include "tug/core/window.h"
#include "tug/io/sse.h"
#include "tug/model/provider.h"

namespace tug {
namespace {

constexpr std::size_t kMaxErrorBody = 64 << 10;
constexpr Duration kErrorBodyTime = std::chrono::seconds(5);  // its status says most of it
constexpr std::size_t kKeptToolLists = 16;
constexpr std::size_t kWholeReplyRead = 4 << 10;  // most are smaller; a waiting run is, too
constexpr std::string_view kRequestIdHeaders[] = {"x-request-id", "request-id", "x-goog-request-id",
                                                  "apim-request-id"};

std::string request_id_in(const std::vector<HttpHeader>& headers) {
  for (const std::string_view name : kRequestIdHeaders) {
    const std::string_view value = find_header(headers, name);
    if (!value.empty()) return std::string(clip_utf8(value, 200));
  }
  return "";
}

// All of a provider that changes what is asked, and nothing that is secret.
std::string identity_of(const ProviderConfig& provider, const ModelProfile& profile) {
  std::string setup(name_of(provider.api));
  setup += "|" + provider.api_version + "|" + print_json(provider.options);
  for (const auto* words : {&provider.quirks, &profile.quirks, &profile.drop_params}) {
    setup += "|";
    for (const std::string& word : *words) setup += word + " ";
  }
  return profile.id() + "|" + provider.base_url + "|" + provider.key.fingerprint() + "|" +
         sha256(setup).hex().substr(0, 16);
}

std::string without_user(std::string url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t end = url.find_first_of("/?#", host);
  const std::size_t user = url.rfind('@', end);
  if (user != std::string::npos && user >= host) url.erase(host, user + 1 - host);
  return url;
}

// What all streams of one model share. Any loop.
class Shared {
 public:
  Shared(ProviderConfig config, ModelProfile about, HttpClientPtr client)
      : provider(std::move(config)),
        profile(std::move(about)),
        http(std::move(client)),
        dialect(dialect_of(provider.api)),
        identity(identity_of(provider, profile)),
        account(provider.base_url + "|" + provider.key.fingerprint()),
        address(without_user(provider.base_url)),
        key_(std::make_shared<const Secret>(provider.key)) {}

  const ProviderConfig provider;
  const ModelProfile profile;
  const HttpClientPtr http;
  const Dialect& dialect;
  const std::string identity;
  const std::string account;
  const std::string address;

  std::shared_ptr<const Secret> key() const {
    const std::scoped_lock hold(mutex_);
    return key_;
  }

  // True when another key than the one that was refused is there now.
  bool reload_key(const Secret& refused) {
    if (!provider.reload_key) return false;
    const std::scoped_lock hold(mutex_);
    if (key_->fingerprint() != refused.fingerprint()) return true;
    auto loaded = guarded("the key of " + provider.name, provider.reload_key);
    if (!loaded || loaded->fingerprint() == refused.fingerprint()) return false;
    key_ = std::make_shared<const Secret>(*std::move(loaded));
    return true;
  }

  // Runs that are alike share their tools; so do their requests.
  std::shared_ptr<const std::string> encoded(const std::shared_ptr<const ToolSpecs>& tools) {
    if (!tools || tools->empty()) return nullptr;
    const std::scoped_lock hold(mutex_);
    const auto kept = std::ranges::find(tools_, tools, &KeptTools::tools);
    if (kept != tools_.end()) return kept->json;
    auto json =
        std::make_shared<const std::string>(dialect.encode_tools(*tools, profile, provider));
    if (tools_.size() >= kKeptToolLists) tools_.erase(tools_.begin());
    tools_.push_back({tools, json});
    return json;
  }

 private:
  struct KeptTools {
    std::shared_ptr<const ToolSpecs> tools;
    std::shared_ptr<const std::string> json;
  };
  mutable std::mutex mutex_;
  std::shared_ptr<const Secret> key_;
  std::vector<KeptTools> tools_;
};

class HttpStream final : public ModelStream {
 public:
  HttpStream(std::shared_ptr<Shared> shared, ModelRequest request, Until until)
      : shared_(std::move(shared)),
        key_(shared_->key()),
        request_(std::move(request)),
        until_(std::move(until)),
        call_{.request = request_,
              .profile = shared_->profile,
              .provider = shared_->provider,
              .stream = request_.stream.value_or(true) && shared_->profile.streaming,
              .tools = shared_->encoded(request_.tools)} {}

  Task<Result<std::optional<ModelEvent>>> next() override {
    while (at_ == events_.size()) {
      events_.clear();
      at_ = 0;
      if (over_) co_return std::optional<ModelEvent>();
      std::optional<Error> failed;
      if (!response_) {
        auto beginning = begin();
        Result<void> begun = co_await std::move(beginning);
        if (!begun) failed = std::move(begun).error();
      } else {
        auto reading = response_->read(read_until());
        auto bytes = co_await std::move(reading);
        if (!bytes) {
          failed = transport(std::move(bytes).error());
          if (ends_anyway(*failed)) failed.reset();
        } else if (auto taken = take(*std::move(bytes)); !taken) {
          failed = std::move(taken).error();
        }
      }
      if (failed) {
        end();
        co_return Failure(*std::move(failed));
      }
    }
    co_return std::move(events_[at_++]);
  }

 private:
  enum class Form : std::uint8_t { events, whole };

  Task<Result<void>> begin() {
    Loop& loop = co_await this_loop();
    loop_ = &loop;
    TUG_CO_TRY(request, to_send());
    auto sending = shared_->http->send(std::move(request), until_);
    auto response = co_await std::move(sending);
    if (!response) co_return Failure(transport(std::move(response).error()));
    response_ = *std::move(response);
    last_event_ = loop.now();
    const int status = response_->status();
    if (status < 200 || status >= 300) {
      auto failing = read_failure();
      co_return co_await std::move(failing);
    }
    TUG_CO_TRY(form, form_of_answer());
    form_ = form;
    decoder_ = shared_->dialect.decoder(call_);
    co_return Result<void>();
  }

  [[gnu::noinline]] Result<HttpRequest> to_send() {
    TUG_TRY(encoded, guarded("the dialect", [&] { return shared_->dialect.encode(call_); }));
    const ProviderConfig& provider = shared_->provider;
    notes_ = std::move(encoded.notes);
    HttpRequest request;
    request.url = provider.base_url + encoded.path;
    request.body = std::move(encoded.body);
    prompt_tokens_ = estimate_tokens(request.body.size());
    request.headers = std::move(encoded.headers);
    request.headers.push_back({"Content-Type", "application/json"});
    if (!key_->empty()) {
      HttpHeader key = shared_->dialect.key_header();
      if (!provider.key_header.empty()) key = {provider.key_header, ""};
      request.headers.push_back({std::move(key.name), key.value + key_->reveal(), true});
    }
    request.headers.insert(request.headers.end(), provider.headers.begin(), provider.headers.end());
    if (!call_.stream) request.read_bytes = kWholeReplyRead;
    for (const HttpHeader& header : request.headers) {
      const bool broken = header.name.find_first_of("\r\n:") != std::string::npos ||
                          header.value.find_first_of("\r\n") != std::string::npos;
      if (broken) {
        return fail(ErrorKind::invalid,
                    "a header of " + provider.name +
                        " is none: its name or "
                        "its value holds a line break or a colon",
                    "check headers, thread_header and the run's thread");
      }
    }
    const ProviderTimeouts& limits = provider.timeouts;
    request.timeouts = {.connect = limits.connect,
                        .first_byte = limits.first_byte,
                        .byte_idle = limits.byte_idle,
                        .total = request_.timeout.value_or(limits.total)};
    return request;
  }

  Result<Form> form_of_answer() const {
    const std::string_view type = find_header(response_->headers(), "content-type");
    if (type.starts_with("text/event-stream")) return Form::events;
    if (type.starts_with("text/html")) {
      return Failure(fault_error(who(), Fault::not_an_answer,
                                 "a web page came instead of an answer",
                                 "check the base URL, and whether a proxy or a login page stands "
                                 "between"));
    }
    if (type.find("json") != std::string_view::npos || !call_.stream) return Form::whole;
    return Form::events;
  }

  // An answer that is no success, read as far as it says something.
  Task<Result<void>> read_failure() {
    std::string body;
    Until until = until_;
    until.deadline = std::min(until.deadline, later(loop_->now(), kErrorBodyTime));
    while (body.size() < kMaxErrorBody) {
      auto reading = response_->read(until);
      auto bytes = co_await std::move(reading);
      if (!bytes || !*bytes) break;
      body += **bytes;
    }
    body.resize(std::min(body.size(), kMaxErrorBody));
    co_return Failure(failure(body));
  }

  [[gnu::noinline]] Error failure(std::string_view body) {
    const FaultReply reply{.status = response_->status(),
                           .body = body,
                           .headers = &response_->headers(),
                           .now = loop_->wall()};
    Error error = without_secrets(classify_fault(who(), reply));
    if (fault_of(error) != Fault::auth || !shared_->reload_key(*key_)) return error;
    Provider detail = *error.detail_if<Provider>();
    detail.should_retry = true;
    return error.with_detail(std::move(detail));
  }

  // The provider's events have to come, whatever bytes do.
  Until read_until() const {
    const ProviderTimeouts& limits = shared_->provider.timeouts;
    const Duration idle = heard_ ? limits.idle : limits.first_event;
    Until until = until_;
    if (idle > Duration::zero()) until.deadline = std::min(until.deadline, idle_until(idle));
    return until;
  }
  Instant idle_until(Duration idle) const noexcept { return later(last_event_, idle); }

  // An error of the transport in the name of the model.
  [[gnu::noinline]] Error transport(const Error& error) const {
    const ProviderTimeouts& limits = shared_->provider.timeouts;
    const Duration idle = heard_ ? limits.idle : limits.first_event;
    const bool stalled = response_ && idle > Duration::zero() && error.detail_if<Limit>() &&
                         loop_->now() >= idle_until(idle) && loop_->now() < until_.deadline;
    if (stalled) {
      return fault_error(
          who(), Fault::stream_stalled,
          "no event came for " + std::to_string(idle / std::chrono::milliseconds(1)) + " ms");
    }
    const Provider* below = error.detail_if<Provider>();
    if (!below) return error;
    Provider detail = *below;
    detail.provider = shared_->profile.provider;
    detail.model = shared_->profile.name;
    if (response_) detail.request_id = request_id_in(response_->headers());
    return Error(error.kind(), key_->redact(shared_->profile.id() + ": " + error.message()),
                 error.fix(), std::move(detail));
  }

  // The provider had said that it was done when the connection broke.
  bool ends_anyway(const Error& error) {
    const auto fault = fault_of(error);
    const bool broke = fault == Fault::stream_cut || fault == Fault::stream_stalled ||
                       fault == Fault::timeout || fault == Fault::response_too_large;
    return form_ == Form::events && broke && take(std::nullopt).has_value() && over_;
  }

  [[gnu::noinline]] Result<void> take(std::optional<std::string> bytes) {
    if (form_ == Form::whole) return take_whole(std::move(bytes));
    const auto on_event = [&](const SseEvent& event) {
      // A ping says that the connection lives, not that the answer goes on.
      if (event.name != "ping") {
        heard_ = true;
        last_event_ = loop_->now();
      }
      return decoder_->on_event(event.name, event.data, events_);
    };
    Result<void> fed = guarded("the answer of " + shared_->profile.id(), [&]() -> Result<void> {
      if (bytes) return framer_.feed(*bytes, on_event);
      TUG_TRY(ended, framer_.end(on_event));
      return decoder_->on_end(events_);
    });
    return finish(std::move(fed), !bytes);
  }

  Result<void> take_whole(std::optional<std::string> bytes) {
    if (bytes) {
      if (whole_.empty()) {
        whole_ = *std::move(bytes);
      } else {
        whole_ += *bytes;
      }
      return {};
    }
    Result<void> read = guarded("the answer of " + shared_->profile.id(), [&]() -> Result<void> {
      TUG_TRY(taken, decoder_->on_reply(whole_, events_));
      return decoder_->on_end(events_);
    });
    return finish(std::move(read), true);
  }

  // The closing turn ends the exchange, whatever else the provider would send.
  Result<void> finish(Result<void> fed, bool ended) {
    if (!fed) return with_names(std::move(fed));
    for (ModelEvent& event : events_) {
      auto* turn = std::get_if<ModelTurn>(&event);
      if (!turn) continue;
      if (turn->request_id.empty()) turn->request_id = request_id_in(response_->headers());
      turn->request_id = key_->redact(std::move(turn->request_id));
      turn->response_id = key_->redact(std::move(turn->response_id));
      turn->notes.insert(turn->notes.begin(), notes_.begin(), notes_.end());
      ended = true;
    }
    if (ended) {
      response_->leave();
      end();
    }
    return fed;
  }

  // What the framer says knows neither provider nor request.
  Result<void> with_names(Result<void> failed) const {
    const Error& error = failed.error();
    if (const Provider* provider = error.detail_if<Provider>()) {
      Provider detail = *provider;
      if (detail.request_id.empty()) detail.request_id = request_id_in(response_->headers());
      return Failure(without_secrets(error.with_detail(std::move(detail))));
    }
    if (error.kind() != ErrorKind::exhausted) return failed;
    return Failure(fault_error(who(), Fault::response_too_large, error.message()));
  }

  // Neither the key nor a header that is one, wherever the provider has echoed it.
  Error without_secrets(const Error& error) const {
    const auto clean = [&](std::string text) {
      text = key_->redact(std::move(text));
      for (const HttpHeader& header : shared_->provider.headers) {
        if (header.secret) text = Secret(header.value).redact(std::move(text));
      }
      return text;
    };
    ErrorDetail detail = error.detail();
    if (auto* provider = std::get_if<Provider>(&detail)) {
      provider->body = clean(std::move(provider->body));
      provider->code = clean(std::move(provider->code));
      provider->request_id = clean(std::move(provider->request_id));
    }
    return Error(error.kind(), clean(error.message()), error.fix(), std::move(detail));
  }

  void end() noexcept {
    over_ = true;
    response_.reset();
  }

  FaultSource who() const noexcept {
    return {.provider = shared_->profile.provider,
            .model = shared_->profile.name,
            .key = key_.get(),
            .key_env = shared_->provider.key_env,
            .prompt_tokens = prompt_tokens_,
            .context_tokens = shared_->profile.context_tokens};
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<const Secret> key_;
  const ModelRequest request_;
  const Until until_;
  const WireCall call_;
  std::vector<std::string> notes_;
  std::int64_t prompt_tokens_ = 0;
  Loop* loop_ = nullptr;
  std::unique_ptr<HttpResponse> response_;
  std::unique_ptr<Decoder> decoder_;
  SseFramer framer_;
  std::string whole_;
  Form form_ = Form::events;
  bool heard_ = false;
  bool over_ = false;
  Instant last_event_{};
  std::vector<ModelEvent> events_;
  std::size_t at_ = 0;
};

class HttpModel final : public Model {
 public:
  HttpModel(ProviderConfig provider, ModelProfile profile, HttpClientPtr http)
      : shared_(
            std::make_shared<Shared>(std::move(provider), std::move(profile), std::move(http))) {}
  const ModelProfile& profile() const noexcept override { return shared_->profile; }
  std::string identity() const override { return shared_->identity; }
  RateLimit rate_limit() const override { return shared_->provider.rate; }
  std::string address() const override { return shared_->address; }
  std::string account() const override { return shared_->account; }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    return std::make_unique<HttpStream>(shared_, std::move(request), std::move(until));
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

const Dialect& dialect_of(Api api) {
  switch (api) {
    case Api::openai_chat:
      return openai_chat_dialect();
    case Api::openai_responses:
      return openai_responses_dialect();
    case Api::anthropic:
      return anthropic_dialect();
    case Api::gemini:
      break;
  }
  return gemini_dialect();
}

Result<ModelPtr> make_http_model(ProviderConfig provider, ModelProfile profile,
                                 HttpClientPtr http) {
  const std::string id = profile.id();
  std::string& url = provider.base_url;
  while (url.ends_with('/')) url.pop_back();
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return fail(ErrorKind::invalid,
                "the base URL of " + provider.name + " is not an address: \"" +
                    std::string(clip_utf8(url, 200)) + "\"",
                "it begins with http:// or https://");
  }
  if (provider.key.empty() && provider.needs_key && !is_loopback(url)) {
    const std::string variable = provider.key_env.empty() ? "its key" : provider.key_env;
    return Failure(Error(ErrorKind::denied, id + " needs a key, and none is set", "set " + variable,
                         Provider{.provider = profile.provider,
                                  .model = profile.name,
                                  .fault = std::string(name_of(Fault::auth))}));
  }
  if (!http) return fail(ErrorKind::invalid, id + " has no HTTP client");
  return std::make_shared<HttpModel>(std::move(provider), std::move(profile), std::move(http));
}

}  // namespace tug
