#include "agent/attempt.h"

#include <stdexcept>

#include "agent/answer_cache.h"
#include "agent/delta_show.h"
#include "core/try.h"
#include "model/speech.h"
#include "tug/context/services.h"
#include "tug/core/error_json.h"
#include "tug/journal/journal.h"
#include "tug/model/delta_filter.h"
#include "tug/model/faults.h"
#include "tug/model/models.h"
#include "tug/model/rate_limiter.h"

namespace tug {
namespace {

constexpr std::int64_t kDefaultOutputTokens = 4096;
constexpr std::int64_t kMostDoubling = 4;
constexpr std::int64_t kLeastWindow = 1024;  // less is nobody's: a mistake, or a lie

Json to_json(const Amount& held) {
  Json json = Json::object({{"model_calls", held.model_calls}, {"tokens", held.tokens}});
  if (held.cost != 0) json.set("cost", held.cost);
  return json;
}

Json to_json(const ContextWindow& window) {
  return Json::object({{"max_tokens", window.max_tokens},
                       {"reserved_output_tokens", window.reserved_output_tokens},
                       {"prompt_tokens", window.prompt_tokens},
                       {"source", window.source}});
}

// An answer that was cut before its first word gets more room, until one comes.
std::int64_t output_tokens(const LiveRun& run, const ModelRequest& request,
                           const ModelProfile& profile) {
  std::int64_t tokens = request.max_output_tokens;
  if (tokens > 0 && run.state.empty_answers > 0 && run.state.finish == Finish::length) {
    const std::int64_t times = std::int64_t{1} << std::min(run.state.empty_answers, 2u);
    tokens *= std::min(times, kMostDoubling);
  }
  if (tokens == 0) tokens = profile.max_output_tokens;
  return tokens > 0 ? tokens : kDefaultOutputTokens;
}

// What nobody knows an overflow may have taught.
std::int64_t window_tokens(const LiveRun& run, const AskedModel& asked) {
  const Models* models = run.ctx.services().get<Models>();
  const std::int64_t learned = models ? models->learned_window(asked.id) : 0;
  if (learned > 0) return learned;
  const std::int64_t known = asked.model->profile().context_tokens;
  return known > 0 ? known : kAssumedContextTokens;
}

// The provider has told how much it takes.
void learn_window(LiveRun& run, const AskedModel& asked, const Error& error) {
  const Overflow* overflow = error.detail_if<Overflow>();
  if (!overflow || overflow->window < kLeastWindow) return;
  if (overflow->window == window_tokens(run, asked)) return;
  if (Models* models = run.ctx.services().get<Models>()) {
    models->learn_window(asked.id, overflow->window);
  }
  const ContextWindow& window = run.state.window;
  record(run, Kind::context_window,
         payload::WindowData{.model = asked.id,
                             .max_tokens = overflow->window,
                             .reserved_output_tokens = window.reserved_output_tokens,
                             .prompt_tokens = overflow->prompt_tokens > 0 ? overflow->prompt_tokens
                                                                          : window.prompt_tokens,
                             .source = "learned",
                             .owners = {}});
}

ContextWindow window_of(const LiveRun& run, const AskedModel& asked, const ModelRequest& request) {
  const ModelProfile& profile = asked.model->profile();
  return {.model = asked.id,
          .max_tokens = window_tokens(run, asked),
          .reserved_output_tokens = output_tokens(run, request, profile),
          .prompt_tokens = estimate_tokens(run.plan->constant_bytes + run.state.bytes)};
}

payload::ModelStarted intent_of(const LiveRun& run) {
  const Seq seq = run.ctx.events().last_seq() + 1;
  return {.call = "m" + std::to_string(run.state.offset + seq),
          .attempt = run.state.tries + 1,
          .request_kind = "turn"};
}

[[gnu::noinline]] std::unique_ptr<ModelStream> ask(LiveRun& run, const AskedModel& asked,
                                                   const ModelRequest& request,
                                                   CachedAnswer* cached) {
  ModelRequest sent = request;
  sent.reserved = run.tree.reserved(asked.id);
  sent.reservation = run.state.attempt->reservation;
  if (sent.max_output_tokens > 0 || run.state.attempt->max_output_tokens > 0) {
    sent.max_output_tokens = run.state.attempt->max_output_tokens;
  }
  auto stream = asked.model->ask(std::move(sent), until_of(run));
  if (!stream) throw std::logic_error(asked.id + " gave no stream");
  if (cached) stream = cached->keeping(std::move(stream), run.ctx.loop().wall());
  return request.filters.empty() ? std::move(stream) : filtered(std::move(stream), request.filters);
}

std::unique_ptr<ModelStream> serve(const LiveRun& run, const ModelRequest& request,
                                   ModelTurn turn) {
  auto speech = std::make_shared<Speech>();
  speech->turn = std::move(turn);
  auto stream = make_speech_stream(std::move(speech), until_of(run));
  return request.filters.empty() ? std::move(stream) : filtered(std::move(stream), request.filters);
}

void record_lookup(LiveRun& run, Kind kind, const Digest& key) {
  record(run, kind, payload::CacheLookup{.call = run.state.attempt->call, .key = key.hex()});
}

// The kept answer; nothing when the request is ours to make.
Task<Result<std::optional<ModelTurn>>> look_up(LiveRun& run, CachedAnswer& cached) {
  while (true) {
    std::optional<ModelTurn> turn = cached.find(run.ctx.loop().wall());
    if (turn) {
      record_lookup(run, Kind::cache_hit, cached.key());
      co_return turn;
    }
    if (cached.lead()) {
      record_lookup(run, Kind::cache_miss, cached.key());
      co_return std::nullopt;
    }
    auto waiting = cached.wait_for_leader(until_of(run));
    TUG_CO_TRY(landed, co_await std::move(waiting));
  }
}

// Takes a place in the line of everybody who asks with this key, and waits for it.
Task<Result<void>> wait_in_line(LiveRun& run, const AskedModel& asked, Received& received) {
  RateLimiter* const limiter = run.ctx.services().get<RateLimiter>();
  if (!limiter) co_return Result<void>();
  const Loop& loop = run.ctx.loop();
  const Instant now = loop.now();
  const std::string key = asked.model->account();
  received.limited_tokens = run.state.window.prompt_tokens;
  const Instant at = limiter->take(key, asked.model->rate_limit(), received.limited_tokens, now);
  if (at <= now) co_return Result<void>();
  const Until until = until_of(run);
  // While it waited, the provider may have refused somebody else.
  for (Instant then = at; then > loop.now(); then = limiter->closed_until(key, loop.now())) {
    const Woken woken = co_await sleep_until(then, until);
    if (woken != Woken::ready) {
      limiter->give_back(key, received.limited_tokens, loop.now());
      co_return Failure(wait_error(woken, until, "the rate limit of " + asked.id));
    }
  }
  record(run, Kind::rate_limit_waited,
         payload::RateLimitWaited{.provider = asked.model->profile().provider,
                                  .waited_ms = milliseconds(loop.now() - now)});
  co_return Result<void>();
}

void settle_rate(LiveRun& run, const AskedModel& asked, const Received& received,
                 std::int64_t used) {
  if (!received.asked) return;
  if (RateLimiter* limiter = run.ctx.services().get<RateLimiter>()) {
    limiter->settle(asked.model->account(), received.limited_tokens, used, run.ctx.loop().now());
  }
}

// Nobody else asks before the provider wants to be asked again.
void tell_line(LiveRun& run, const AskedModel& asked, const Error& error) {
  if (fault_of(error) != Fault::retry_after) return;
  RateLimiter* const limiter = run.ctx.services().get<RateLimiter>();
  if (!limiter) return;
  const std::int64_t wait_ms = error.detail_if<Provider>()->retry_after_ms.value_or(1000);
  limiter->refused(asked.model->account(), std::chrono::milliseconds(wait_ms),
                   run.ctx.loop().now());
}

// Whether an attempt that failed so may stand on the bill.
bool may_be_billed(const Error& error, const Received& received) {
  if (!received.asked) return false;
  if (received.bytes > 0 || received.usage.total() > 0) return true;
  const auto fault = fault_of(error);
  return fault == Fault::transport_ambiguous || fault == Fault::stream_cut ||
         fault == Fault::stream_stalled || fault == Fault::timeout;
}

// A state that was folded has no hold: what its record says was held is taken again, or, where the
// limits do not allow that any more, counted.
void hold_again(LiveRun& run) {
  if (run.hold.open()) return;
  const Amount& held = run.state.attempt->held;
  if (auto again = run.ctx.budget().hold(held)) {
    run.hold = *std::move(again);
  } else {
    run.ctx.budget().charge(held);
  }
}

bool uses_guess(const LiveRun& run, const Answered& cost) {
  const Budget& budget = run.ctx.budget();
  return cost.guess && (budget.left(LimitKind::tokens) || budget.left(LimitKind::cost));
}

// A limit that only counted what providers tell would not hold where one tells nothing.
Amount spent(const LiveRun& run, const Answered& cost) {
  if (uses_guess(run, cost)) return *cost.guess;
  return {
      .model_calls = 1, .tokens = cost.usage.total(), .cost = cost.cost ? cost.cost->nanos() : 0};
}

Amount guessed(const LiveRun& run, const ModelProfile& profile, const ModelTurn& turn) {
  const std::size_t bytes = turn.message ? turn.message->size() : 0;
  const Usage usage{.input_tokens = run.state.window.prompt_tokens,
                    .output_tokens = estimate_tokens(bytes)};
  Amount amount{.model_calls = 1, .tokens = usage.total()};
  if (turn.cost) {
    amount.cost = turn.cost->nanos();
  } else if (profile.price) {
    amount.cost = estimate_cost(*profile.price, usage).nanos();
  }
  return amount;
}

// The bytes go beside the records: no observer ever sees them in an event.
std::optional<Json> keep_raw(LiveRun& run, const Json& raw) {
  if (raw.is_null()) return std::nullopt;
  std::string bytes = print_json(raw);
  const Digest digest = sha256(bytes);
  const Json named = Json::object({{"blob", digest.hex()}, {"bytes", bytes.size()}});
  run.ctx.events().keep_blob({digest, std::move(bytes)});
  return named;
}

}  // namespace

Until until_of(const LiveRun& run) {
  return {run.ctx.cancel(), run.ctx.budget().deadline(run.ctx.loop().now())};
}

Result<void> begin_attempt(LiveRun& run, const AskedModel& asked, ModelRequest& request) {
  const ModelProfile& profile = asked.model->profile();
  ContextWindow window = window_of(run, asked, request);
  TUG_TRY(held,
          run.ctx.budget().hold_model_call({.prompt_tokens = window.prompt_tokens,
                                            .max_output_tokens = window.reserved_output_tokens,
                                            .price = profile.price ? &*profile.price : nullptr}));
  request.reserved = run.tree.reserved(asked.id);
  TUG_TRY(reservation, guarded("model " + asked.id, [&] { return asked.model->reserve(request); }));
  // Whoever keeps the list as it was makes the next reservation copy it.
  request.reserved.reset();
  run.ctx.set_turn(static_cast<std::uint32_t>(run.state.counts.model_calls) + 1);
  payload::ModelStarted intent = intent_of(run);
  intent.model = asked.id;
  intent.provider = profile.provider;
  intent.source = std::string(name_of(asked.source));
  intent.held = to_json(held.hold.amount());
  const bool bounded =
      request.max_output_tokens > 0 || held.max_output_tokens < window.reserved_output_tokens;
  if (bounded) intent.max_output_tokens = held.max_output_tokens;
  window.reserved_output_tokens = held.max_output_tokens;
  intent.context = to_json(window);
  if (!reservation.is_null()) intent.reservation = reservation;
  run.ctx.set_window(std::move(window));
  run.hold = std::move(held.hold);
  run.tree.reserve(asked.id, std::move(reservation));
  record(run, Kind::model_started, intent);
  return {};
}

Result<void> begin_served(LiveRun& run) {
  TUG_TRY(hold, run.ctx.budget().hold({.model_calls = 1}));
  run.ctx.set_turn(static_cast<std::uint32_t>(run.state.counts.model_calls) + 1);
  payload::ModelStarted intent = intent_of(run);
  intent.model = run.state.model;
  intent.provider = "middleware";
  intent.served_by = "middleware";
  intent.held = to_json(hold.amount());
  run.hold = std::move(hold);
  record(run, Kind::model_started, intent);
  return {};
}

Task<Result<ModelTurn>> make_attempt(LiveRun& run, const AskedModel& asked,
                                     const ModelRequest& request, Received& received) {
  hold_again(run);
  {
    // The intent is on disk before the request leaves.
    auto durable = run.ctx.events().durable(run.state.attempt->seq, until_of(run));
    Result<void> written = co_await std::move(durable);
    if (!written) co_return Failure(std::move(written).error());
  }
  std::unique_ptr<ModelStream> stream;
  const std::unique_ptr<CachedAnswer> cached = CachedAnswer::of(run, asked, request);
  if (cached) {
    auto looking = look_up(run, *cached);
    TUG_CO_TRY(kept, co_await std::move(looking));
    if (kept) stream = serve(run, request, *std::move(kept));
  }
  if (!stream) {
    auto queueing = wait_in_line(run, asked, received);
    TUG_CO_TRY(ours, co_await std::move(queueing));
  }
  std::optional<Error> thrown;
  try {
    if (!stream) {
      received.asked = true;
      stream = ask(run, asked, request, cached.get());
    }
    DeltaShow show(run, received);
    auto collecting = collect(*stream, &show);
    Result<ModelTurn> turn = co_await std::move(collecting);
    co_return turn;
  } catch (...) {
    thrown = detail::error_in_flight("a model");
  }
  co_return Failure(*std::move(thrown));
}

Answered answered(LiveRun& run, const AskedModel& asked, ModelTurn& turn,
                  const Received& received) {
  const ModelProfile& profile = asked.model->profile();
  Answered answered{.model = asked.id, .usage = turn.usage, .cost = turn.cost};
  answered.source = asked.source;
  if (!turn.model.empty() && turn.model != profile.name) {
    answered.model = profile.provider + "/" + turn.model;
  }
  if (!answered.cost) {
    answered.cost = profile.price ? estimate_cost(*profile.price, turn.usage) : Cost::unknown();
  }
  if (turn.usage.total() == 0 && !turn.from_cache) answered.guess = guessed(run, profile, turn);
  answered.raw = std::exchange(turn.raw, Json());
  settle_rate(run, asked, received, answered.guess ? answered.guess->tokens : turn.usage.total());
  return answered;
}

void record_answer(LiveRun& run, ModelTurn turn, Answered cost) {
  const OpenAttempt& open = *run.state.attempt;
  const CallId call(open.call);
  MessagePtr message = with_call_ids(std::move(turn.message), run.state.offset + open.seq);
  payload::ModelCompleted said{.call = open.call,
                               .model = std::move(cost.model),
                               .text = message->text(),
                               .finish = std::string(name_of(turn.finish)),
                               .usage = cost.usage,
                               .cost = cost.cost};
  for (const ToolCall* asked : message->tool_calls()) {
    said.tool_calls.push_back({asked->id.text(), asked->tool, arguments_of(*asked)});
  }
  said.duration_ms = milliseconds(run.ctx.loop().wall() - open.started);
  said.response = keep_raw(run, cost.raw);
  if (!turn.nudge.empty()) said.nudge = std::move(turn.nudge);
  if (!turn.request_id.empty()) said.request_id = std::move(turn.request_id);
  if (!turn.response_id.empty()) said.response_id = std::move(turn.response_id);
  if (turn.from_cache) said.from_cache = true;
  said.source = std::string(name_of(cost.source));
  const Amount counted = spent(run, cost);
  if (uses_guess(run, cost)) said.counted = to_json(counted);
  const Amount over = run.hold.settle(counted);
  if (over != Amount{}) said.over = to_json(over);
  record(run, Kind::model_completed, said, std::move(message));
  if (said.response) run.state.responses.back().raw = std::move(cost.raw);
  run.ctx.events().drop_partial(call);
}

void record_failure(LiveRun& run, const Error& error) {
  const OpenAttempt& open = *run.state.attempt;
  const CallId call(open.call);
  run.hold.release();
  record(
      run, Kind::model_failed,
      payload::ModelFailed{.call = open.call, .attempt = open.attempt, .error = error_data(error)});
  run.ctx.events().drop_partial(call);
}

void record_failure(LiveRun& run, const AskedModel& asked, const Error& error,
                    const Received& received) {
  tell_line(run, asked, error);
  learn_window(run, asked, error);
  if (!may_be_billed(error, received)) return record_failure(run, error);
  Usage usage = received.usage;
  if (usage.input_tokens == 0) usage.input_tokens = run.state.window.prompt_tokens;
  usage.output_tokens = std::max(usage.output_tokens, estimate_tokens(received.bytes));
  const ModelProfile& profile = asked.model->profile();
  const Cost cost = profile.price ? estimate_cost(*profile.price, usage) : Cost::unknown();
  const Amount counted{.tokens = usage.total(), .cost = cost.nanos()};
  const OpenAttempt& open = *run.state.attempt;
  const CallId call(open.call);
  run.hold.settle(counted);
  settle_rate(run, asked, received, usage.total());
  record(run, Kind::model_failed,
         payload::ModelFailed{.call = open.call,
                              .attempt = open.attempt,
                              .error = error_data(error),
                              .usage = usage,
                              .cost = cost,
                              .spent = to_json(counted),
                              .estimated = true});
  run.ctx.events().drop_partial(call);
}

void record_set_aside(LiveRun& run, const Error& error, const Answered& cost) {
  const OpenAttempt& open = *run.state.attempt;
  const CallId call(open.call);
  const Amount counted = spent(run, cost);
  run.hold.settle(counted);
  payload::ModelFailed failed{.call = open.call,
                              .attempt = open.attempt,
                              .error = error_data(error),
                              .usage = cost.usage,
                              .spent = to_json(counted),
                              .superseded = true};
  failed.cost = cost.cost;
  record(run, Kind::model_failed, failed);
  run.ctx.events().drop_partial(call);
}

}  // namespace tug
