#include "agent/attempt.h"

#include "core/try.h"
#include "tug/core/error_json.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

constexpr std::int64_t kDefaultOutputTokens = 4096;

ModelRequest request_of(const LiveRun& run) {
  return {.system = run.plan->system,
          .transcript = run.state.transcript,
          .tools = run.plan->specs,
          .agent = run.ctx.id().agent,
          .reserved = run.tree.reserved(run.plan->model_id)};
}

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

ContextWindow window_of(const LiveRun& run) {
  const ModelProfile& profile = run.plan->model->profile();
  return {.model = run.plan->model_id,
          .max_tokens = profile.context_tokens,
          .reserved_output_tokens =
              profile.max_output_tokens ? profile.max_output_tokens : kDefaultOutputTokens,
          .prompt_tokens = estimate_tokens(run.plan->constant_bytes + run.state.bytes)};
}

// Shows deltas to whoever watches, and keeps the bytes for the case that we do not live to see the
// end.
class DeltaShow final : public DeltaObserver {
 public:
  explicit DeltaShow(LiveRun& run) : run_(run) {}

  void on_delta(const ModelEvent& event) override {
    RootLog& log = run_.ctx.events();
    const OpenAttempt& open = *run_.state.attempt;
    const auto* text = std::get_if<TextDelta>(&event);
    if (text) log.keep_partial(CallId(open.call), text->text);
    if (!log.wants_live()) return;
    Json data = Json::object({{"call", open.call}});
    if (text) {
      data.set("text", text->text);
    } else if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
      data.set("reasoning", reasoning->text);
    } else if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
      const Seq seq = run_.state.offset + open.seq;
      Json piece = Json::object({{"call_id", make_call_id(seq, call->index).text()}});
      if (!call->tool.empty()) piece.set("tool", call->tool);
      piece.set("arguments", call->arguments);
      data.set("tool_call", std::move(piece));
    } else {
      return;
    }
    run_.ctx.emit_live(Kind::model_delta, std::move(data));
  }

 private:
  LiveRun& run_;
};

// Records the partner of the open attempt: what was said, or why nothing was. One that is left
// without either says so itself.
class AttemptPartner {
 public:
  explicit AttemptPartner(LiveRun& run) : run_(run) {}
  AttemptPartner(const AttemptPartner&) = delete;
  AttemptPartner& operator=(const AttemptPartner&) = delete;
  ~AttemptPartner() {
    if (run_.state.attempt) leave();
  }

  // Out of line, all of them: what they build does not belong into a frame that waits.
  [[gnu::noinline]] void leave() {
    fail(Error(ErrorKind::internal, "the attempt was left unfinished"));
  }

  [[gnu::noinline]] void fail(const Error& error) {
    const OpenAttempt& open = *run_.state.attempt;
    const CallId call(open.call);
    run_.hold.release();
    record(run_, Kind::model_failed,
           payload::ModelFailed{
               .call = open.call, .attempt = open.attempt, .error = error_data(error)});
    run_.ctx.events().drop_partial(call);
  }

  [[gnu::noinline]] void take(Result<ModelTurn>& turn) {
    if (turn) {
      complete(*std::move(turn));
    } else {
      fail(turn.error());
    }
  }

 private:
  void complete(ModelTurn turn) {
    const OpenAttempt& open = *run_.state.attempt;
    const CallId call(open.call);
    MessagePtr message = with_call_ids(std::move(turn.message), run_.state.offset + open.seq);
    payload::ModelCompleted said{.call = open.call,
                                 .model = model_of(turn),
                                 .text = message->text(),
                                 .finish = std::string(name_of(turn.finish)),
                                 .usage = turn.usage};
    for (const ToolCall* asked : message->tool_calls()) {
      said.tool_calls.push_back({asked->id.text(), asked->tool, arguments_of(*asked)});
    }
    said.cost = cost_of(turn);
    said.duration_ms = milliseconds(run_.ctx.loop().wall() - open.started);
    if (!turn.raw.is_null()) said.response = std::move(turn.raw);
    const std::int64_t nanos = said.cost ? said.cost->nanos() : 0;
    run_.hold.settle({.model_calls = 1, .tokens = turn.usage.total(), .cost = nanos});
    record(run_, Kind::model_completed, said, std::move(message));
    run_.ctx.events().drop_partial(call);
  }

  // The id under which the run knows it, or the name the provider gave instead.
  std::string model_of(const ModelTurn& turn) const {
    const ModelProfile& profile = run_.plan->model->profile();
    if (turn.model.empty() || turn.model == profile.name) return run_.plan->model_id;
    return profile.provider + "/" + turn.model;
  }

  std::optional<Cost> cost_of(const ModelTurn& turn) const {
    if (turn.cost) return turn.cost;
    const auto& price = run_.plan->model->profile().price;
    return price ? estimate_cost(*price, turn.usage) : Cost::unknown();
  }

  LiveRun& run_;
};

[[gnu::noinline]] std::unique_ptr<ModelStream> ask(LiveRun& run) {
  ModelRequest request = request_of(run);
  request.reservation = run.state.attempt->reservation;
  return run.plan->model->ask(std::move(request), until_of(run));
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

}  // namespace

Until until_of(const LiveRun& run) {
  return {run.ctx.cancel(), run.ctx.budget().deadline(run.ctx.loop().now())};
}

Result<void> begin_attempt(LiveRun& run) {
  ContextWindow window = window_of(run);
  const auto& price = run.plan->model->profile().price;
  TUG_TRY(held,
          run.ctx.budget().hold_model_call({.prompt_tokens = window.prompt_tokens,
                                            .max_output_tokens = window.reserved_output_tokens,
                                            .price = price ? &*price : nullptr}));
  TUG_TRY(reservation, guarded("model " + run.plan->model_id,
                               [&] { return run.plan->model->reserve(request_of(run)); }));
  run.ctx.set_turn(run.state.turn + 1);
  const Seq seq = run.ctx.events().last_seq() + 1;
  payload::ModelStarted intent{.call = "m" + std::to_string(run.state.offset + seq),
                               .attempt = 1,
                               .model = run.plan->model_id,
                               .provider = run.plan->model->profile().provider,
                               .request_kind = "turn",
                               .held = to_json(held.hold.amount()),
                               .context = to_json(window)};
  if (!reservation.is_null()) intent.reservation = reservation;
  run.ctx.set_window(std::move(window));
  run.hold = std::move(held.hold);
  run.tree.reserve(run.plan->model_id, std::move(reservation));
  record(run, Kind::model_started, intent);
  return {};
}

Task<void> make_attempt(LiveRun& run) {
  AttemptPartner partner(run);
  hold_again(run);
  std::optional<Error> failed;
  {
    // The intent is on disk before the request leaves.
    auto durable = run.ctx.events().durable(run.state.attempt->seq, until_of(run));
    Result<void> written = co_await std::move(durable);
    if (!written) failed = std::move(written).error();
  }
  if (!failed) {
    try {
      const std::unique_ptr<ModelStream> stream = ask(run);
      DeltaShow show(run);
      auto collecting = collect(*stream, &show);
      Result<ModelTurn> turn = co_await std::move(collecting);
      partner.take(turn);
    } catch (...) {
      failed = detail::error_in_flight("a model");
    }
  }
  if (failed && run.state.attempt) partner.fail(*failed);
}

}  // namespace tug
