#include "agent/answer_cache.h"

#include "core/try.h"
#include "tug/context/services.h"
#include "tug/core/codec.h"

namespace tug {
namespace {

// What a message keeps its digest under; no wire profile has this key but by a chance of 2^-64.
constexpr std::uint64_t kDigestKey = 0x7475675f64696773;

// Ids are left out: results follow their calls in order, so nothing else is lost with them.
struct PartDigest {
  Sha256& sum;
  void operator()(const TextPart& part) const { field("text", part.text); }
  void operator()(const MediaPart& part) const {
    field("media", part.mime);
    sum.update_field(part.name);
    sum.update_field(part.url);
    sum.update_field(part.bytes ? sha256(*part.bytes).view() : std::string_view());
    sum.update_field(part.blob ? part.blob->view() : std::string_view());
  }
  void operator()(const ReasoningPart& part) const {
    field(part.redacted ? "redacted" : "reasoning", part.text);
    sum.update_field(part.provider);
    sum.update_field(print_json(part.opaque));
  }
  void operator()(const ToolCall& call) const {
    field("call", call.tool);
    sum.update_field(call.arguments);
  }
  void operator()(const ToolResult& result) const {
    field(result.ok ? "result" : "error", result.tool);
    sum.update_field(result.content);
  }
  void operator()(const ProviderBlock& block) const {
    field("block", block.provider);
    sum.update_field(print_json(block.data));
  }
  void field(std::string_view type, std::string_view text) const {
    sum.update_field(type);
    sum.update_field(text);
  }
};

std::string_view message_digest(const Message& message) {
  if (const std::string* kept = message.kept(kDigestKey)) return *kept;
  Sha256 sum;
  sum.update_field(name_of(message.role()));
  for (const Part& part : message.parts()) std::visit(PartDigest{sum}, part);
  return message.keep(kDigestKey, std::string(sum.finish().view()));
}

void add_tools(const ToolSpecs& tools, Sha256& sum) {
  sum.update_u64(tools.size());
  for (const auto& tool : tools) {
    sum.update_field(tool->name);
    sum.update_field(tool->description);
    sum.update_field(print_json(tool->parameters));
  }
}

// The same question gets the same answer as far as anybody can say.
bool is_deterministic(const ModelSettings& settings) {
  return settings.temperature == 0.0 || settings.seed.has_value();
}

std::string bytes_of(const ModelTurn& turn) {
  Json json = Json::object({{"v", 1},
                            {"message", to_json(*turn.message)},
                            {"finish", name_of(turn.finish)},
                            {"model", turn.model}});
  if (!turn.nudge.empty()) json.set("nudge", turn.nudge);
  return print_json(json);
}

Result<ModelTurn> turn_from(std::string_view bytes) {
  TUG_TRY(json, parse_json(bytes));
  TUG_TRY(message, message_from_json(json["message"]));
  const auto finish = finish_from(json["finish"].as_string());
  if (json["v"].as_int() != 1 || !finish) {
    return fail(ErrorKind::invalid, "a kept answer of another version");
  }
  ModelTurn turn;
  turn.message = std::move(message);
  turn.finish = *finish;
  turn.model = std::string(json["model"].as_string());
  turn.nudge = std::string(json["nudge"].as_string());
  turn.cost = Cost();
  turn.from_cache = true;
  return turn;
}

class KeepingStream final : public ModelStream {
 public:
  KeepingStream(std::unique_ptr<ModelStream> stream, std::shared_ptr<ResponseCache> cache,
                Duration ttl, const Digest& key, Time now, Flights::Lead lead)
      : lead_(std::move(lead)),
        stream_(std::move(stream)),
        cache_(std::move(cache)),
        ttl_(ttl),
        key_(key),
        now_(now) {}

  Task<Result<std::optional<ModelEvent>>> next() override {
    auto reading = stream_->next();
    auto event = co_await std::move(reading);
    if (event && *event) look(**event);
    co_return event;
  }

 private:
  // What was cut, refused or paused is no answer to give again.
  void look(const ModelEvent& event) {
    const auto* turn = std::get_if<ModelTurn>(&event);
    if (!turn || !turn->message || turn->message->parts().empty()) return;
    if (turn->finish != Finish::stop && turn->finish != Finish::tool_calls) return;
    (void)guarded("the response cache", [&] { cache_->put(key_, bytes_of(*turn), ttl_, now_); });
    lead_.land();
  }

  Flights::Lead lead_;
  std::unique_ptr<ModelStream> stream_;
  std::shared_ptr<ResponseCache> cache_;
  Duration ttl_;
  Digest key_;
  Time now_;
};

}  // namespace

void AnswerCache::set(std::shared_ptr<ResponseCache> cache, Duration ttl) {
  const std::scoped_lock hold(lock_);
  cache_ = std::move(cache);
  ttl_ = ttl;
}
std::shared_ptr<ResponseCache> AnswerCache::cache() const {
  const std::scoped_lock hold(lock_);
  return cache_;
}
Duration AnswerCache::ttl() const {
  const std::scoped_lock hold(lock_);
  return ttl_;
}

Digest request_digest(const ModelRequest& request, std::string_view identity) {
  Sha256 sum;
  sum.update_field("tug-response-1");
  sum.update_field(identity);
  sum.update_field(request.system ? *request.system : std::string());
  const Messages messages = request.transcript.messages();
  sum.update_u64(messages.size());
  for (const MessagePtr& message : messages) sum.update_field(message_digest(*message));
  add_tools(request.tools ? *request.tools : ToolSpecs(), sum);
  sum.update_u64(static_cast<std::uint64_t>(request.tool_choice));
  sum.update_field(request.tool);
  sum.update_u64(static_cast<std::uint64_t>(request.max_output_tokens));
  if (request.output) {
    sum.update_field(request.output->name);
    sum.update_field(print_json(request.output->schema));
    sum.update_u64(request.output->strict);
  }
  // How long it may take, what it is labelled with and whether it may be kept change no answer.
  ModelSettings settings = request;
  settings.timeout.reset();
  settings.metadata = Json();
  settings.cache_policy = {};
  settings.keep_reply.reset();
  sum.update_field(print_json(to_json(settings)));
  return sum.finish();
}

std::unique_ptr<CachedAnswer> CachedAnswer::of(LiveRun& run, const AskedModel& asked,
                                               const ModelRequest& request) {
  const AnswerCache* shared = run.ctx.services().get<AnswerCache>();
  if (!shared) return nullptr;
  auto cache = shared->cache();
  if (!cache) return nullptr;
  if (!request.cache_policy.responses.value_or(is_deterministic(request))) return nullptr;
  const Digest key = request_digest(request, asked.model->identity());
  return std::unique_ptr<CachedAnswer>(
      new CachedAnswer(std::move(cache), shared->ttl(), shared->flights(), key));
}

std::optional<ModelTurn> CachedAnswer::find(Time now) {
  auto bytes = guarded("the response cache", [&] { return cache_->get(key_, now); });
  if (!bytes || !*bytes) return std::nullopt;
  auto turn = turn_from(**bytes);
  if (!turn) return std::nullopt;
  return *std::move(turn);
}

bool CachedAnswer::lead() {
  lead_ = flights_->try_lead(key_);
  return static_cast<bool>(lead_);
}

std::unique_ptr<ModelStream> CachedAnswer::keeping(std::unique_ptr<ModelStream> stream, Time now) {
  return std::make_unique<KeepingStream>(std::move(stream), cache_, ttl_, key_, now,
                                         std::move(lead_));
}

}  // namespace tug
