#include "agent/ask.h"

#include <algorithm>

#include "agent/attempt.h"
#include "agent/commands.h"
#include "agent/fallback.h"
#include "agent/holding.h"
#include "agent/notices.h"
#include "core/try.h"
#include "middleware/chain.h"
#include "tug/context/services.h"
#include "tug/core/error_json.h"
#include "tug/core/wait.h"
#include "tug/journal/journal.h"
#include "tug/model/faults.h"
#include "tug/model/models.h"

namespace tug {
namespace {

using EndingPtr = std::unique_ptr<Ending>;
constexpr std::int64_t kLeastOutput = 256;

bool has(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

std::unique_ptr<ModelRequest> request_of(const LiveRun& run) {
  auto request = std::make_unique<ModelRequest>();
  static_cast<ModelSettings&>(*request) = run.plan->settings;
  request->keep_raw = run.plan->settings.keep_reply.value_or(true);
  request->model = run.state.model;
  request->system = run.plan->system;
  request->transcript = run.state.transcript;
  request->tools = run.plan->specs;
  request->max_output_tokens = run.plan->max_output_tokens;
  if (run.plan->output) request->output = run.plan->output->format;
  request->drop_reasoning = run.state.drop_reasoning;
  request->agent = run.ctx.id().agent;
  request->thread = run.ctx.id().thread_id.text();
  if (run.state.response_model == run.state.model) {
    request->previous_response = run.state.response_id;
    request->previous_messages = run.state.response_messages;
  }
  return request;
}

// What the model is told before it is asked, once each.
[[gnu::noinline]] void give_notices(LiveRun& run) {
  if (run.state.attempt || run.state.tries > 0) return;
  const Budget& budget = run.ctx.budget();
  NoticeFacts facts{.model_calls_left = budget.left(LimitKind::model_calls),
                    .tool_calls_left = budget.left(LimitKind::tool_calls),
                    .tool_calls_used = run.state.used.tool_calls > 0};
  facts.final_result = run.plan->output && run.plan->output->tool;
  for (const Notice& notice : notices_due(facts)) {
    if (has(run.state.notices, notice.key())) continue;
    record(run, Kind::limit_warning,
           payload::LimitWarning{.limit = std::string(name_of(notice.limit)),
                                 .remaining = notice.remaining,
                                 .content = notice.content},
           Message::note(notice.content));
  }
}

// The model that a request names. A middleware may have named another one, or say what it must be
// able to; one that cannot be had is passed over.
AskedModel resolve_asked(LiveRun& run, const ModelRequest& request) {
  const PlannedModel& bound = *run.plan->find(run.state.model);
  const bool as_planned = (request.model == bound.id || request.model.empty()) &&
                          request.hints == run.plan->settings.hints &&
                          request.required == run.plan->settings.required;
  if (as_planned) return {bound.id, bound.model, bound.source};
  const PlannedModel* planned = run.plan->find(request.model);
  if (planned && planned != &bound && request.required.empty()) {
    return {planned->id, planned->model};
  }
  const auto pass_over = [&](std::string requested, const std::string& resolved, std::string why) {
    record(run, Kind::model_override_skipped,
           payload::ModelOverrideSkipped{
               .requested = std::move(requested), .resolved = resolved, .reason = std::move(why)});
  };
  Models* const models = run.ctx.services().get<Models>();
  if (!models) {
    pass_over(request.model, bound.id, "there is no registry of models");
    return {bound.id, bound.model, bound.source};
  }
  auto resolved = models->resolve({.request = request.model == bound.id ? "" : request.model,
                                   .previous = run.state.attempted_model,
                                   .reuse_previous = request.reuse_previous,
                                   .hints = request.hints,
                                   .agent_default = bound.id,
                                   .required = request.required});
  if (!resolved) {
    pass_over(request.model, bound.id, resolved.error().message());
    return {bound.id, bound.model, bound.source};
  }
  for (SkippedModel& skipped : resolved->skipped) {
    pass_over(std::move(skipped.requested), resolved->model->profile().id(),
              std::move(skipped.reason));
  }
  if (resolved->source == ModelSource::agent_default) return {bound.id, bound.model, bound.source};
  return {resolved->name, std::move(resolved->model), resolved->source};
}

// Cancellation and deadline come before every attempt, also after a wait.
Result<void> check_time(const LiveRun& run) {
  if (run.ctx.cancelled()) return fail(ErrorKind::cancelled, "the run was cancelled");
  return run.ctx.budget().check_deadline(run.ctx.loop().now());
}

bool is_turn(const Message& message) {
  return message.role() == Role::assistant && message.tool_results().empty();
}

// What a chain of middleware ends in: attempts on one model until one is answered.
class Asking final : public ModelCore {
 public:
  explicit Asking(LiveRun& run) noexcept : run_(run) {}

  Task<Result<ModelTurn>> call(ModelRequest in) override {
    if (asking_) {
      co_return fail(ErrorKind::invalid, "a middleware asked the model twice at once",
                     "await one answer before asking for the next");
    }
    const Busy busy(asking_);
    auto request = std::make_unique<ModelRequest>(std::move(in));
    set_aside();
    ask_anew();
    asked_ = std::make_unique<AskedModel>(resolve_asked(run_, *request));
    while (true) {
      if (run_.state.failure) {
        auto wait = schedule_retry();
        if (!wait) {
          handed_out_ = true;
          co_return Failure(*run_.state.failure);
        }
        const Instant over = later(run_.ctx.loop().now(), *wait);
        while (!must_pause() && !is_over(over)) co_await wait_until(over);
        if (must_pause()) {
          paused_ = true;
          co_return fail(ErrorKind::cancelled, "the run is to be paused");
        }
      }
      if (!run_.state.attempt) {
        TUG_CO_TRY(in_time, check_time(run_));
        TUG_CO_TRY(begun, begin_attempt(run_, *asked_, *request));
      }
      received_ = {};
      auto making = make_attempt(run_, *asked_, *request, received_);
      Result<ModelTurn> turn = co_await std::move(making);
      if (turn) {
        cost_ = std::make_unique<Answered>(answered(run_, *asked_, *turn, received_));
        tell_notes(*turn);
        if (!request->keep_raw) cost_->raw = Json();
        co_return turn;
      }
      record_failure(run_, *asked_, turn.error(), received_);
      repair(*request, turn.error());
    }
  }

  // What became of the chain: the partner of the open attempt.
  [[gnu::noinline]] Result<void> take(ModelTurn turn) {
    if (!turn.message) {
      return fail(ErrorKind::internal, "a middleware gave a turn without a message");
    }
    // Refused here it is set aside and paid for; the transcript would refuse it with nothing
    // recorded.
    if (!is_turn(*turn.message)) {
      return fail(ErrorKind::internal, "the answer is not a turn of a model: a message of role " +
                                           std::string(name_of(turn.message->role())) +
                                           ", or one with results of tools in it");
    }
    if (!run_.state.attempt) {
      TUG_TRY(begun, begin_served(run_));
      Answered free{.model = run_.state.model, .usage = turn.usage, .cost = turn.cost};
      if (!free.cost) free.cost = Cost();
      free.raw = std::exchange(turn.raw, Json());
      cost_ = std::make_unique<Answered>(std::move(free));
    }
    auto cost = std::exchange(cost_, nullptr);
    record_answer(run_, std::move(turn), std::move(*cost));
    return {};
  }
  [[gnu::noinline]] void leave(const Error& error) {
    if (!run_.state.attempt) return;
    if (auto cost = std::exchange(cost_, nullptr)) {
      record_set_aside(run_, error, *cost);
    } else {
      record_failure(run_, error);
    }
  }

  // The wait for the next attempt was ended so that the run can be parked.
  bool paused() const noexcept { return paused_; }

 private:
  // An attempt is one record and one hold: two requests could not both be accounted for.
  struct Busy {
    explicit Busy(bool& flag) noexcept : flag_(flag) { flag_ = true; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { flag_ = false; }
    bool& flag_;
  };

  // A middleware asks again although it has an answer.
  [[gnu::noinline]] void set_aside() {
    if (!cost_) return;
    leave(Error(ErrorKind::internal, "a middleware set the answer aside and asked again"));
  }

  // A middleware asks again although it was told of a failure: that one is decided about.
  [[gnu::noinline]] void ask_anew() {
    if (!std::exchange(handed_out_, false)) return;
    record(run_, Kind::retry_scheduled,
           payload::RetryScheduled{.call = run_.state.asked,
                                   .attempt = run_.state.tries,
                                   .delay_ms = 0,
                                   .reason = "a middleware asked again"});
  }

  // A run that is to be paused does not wait its time out: it asks again when it goes on.
  bool must_pause() {
    drain(run_, Drain::control_only);
    return is_paused(run_);
  }
  bool is_over(Instant at) const {
    const Until until = until_of(run_);
    const Instant now = run_.ctx.loop().now();
    return now >= at || now >= until.deadline || until.cancel.requested();
  }
  WaitList::Wait wait_until(Instant at) {
    Until until = until_of(run_);
    until.deadline = std::min(until.deadline, at);
    return run_.news.wait(std::move(until));
  }

  // What was sent otherwise than it stands, for people.
  [[gnu::noinline]] void tell_notes(ModelTurn& turn) {
    for (std::string& note : std::exchange(turn.notes, {})) tell("sent_otherwise", std::move(note));
  }
  void tell(std::string code, std::string message) {
    record(run_, Kind::context_diagnostic,
           payload::ContextDiagnostic{
               .code = std::move(code), .severity = "info", .message = std::move(message)});
  }

  // A request that was refused for something that can be left out is made once more without it.
  [[gnu::noinline]] void repair(ModelRequest& request, const Error& error) {
    if (run_.ctx.cancelled()) return;
    const Provider* provider = error.detail_if<Provider>();
    const Overflow* overflow = error.detail_if<Overflow>();
    if (overflow && overflow->from_output && !shortened_) {
      const std::int64_t room = overflow->window - overflow->prompt_tokens;
      if (overflow->window <= 0 || overflow->prompt_tokens <= 0 || room < kLeastOutput) return;
      shortened_ = true;
      request.max_output_tokens = room;
      return go_on("the answer gets the room that is left: " + std::to_string(room) + " tokens");
    }
    if (fault_of(error) == Fault::bad_signature && !request.drop_reasoning) {
      request.drop_reasoning = true;
      tell(std::string(kReasoningDropped), "the provider refused reasoning of earlier turns");
      return go_on("the provider refused reasoning of earlier turns; it is left out");
    }
    if (provider && provider->code == "previous_response_not_found" &&
        !request.previous_response.empty()) {
      request.previous_response.clear();
      request.previous_messages = 0;
      return go_on("the provider has lost the conversation; all of it is sent");
    }
  }
  void go_on(std::string reason) {
    tell("request_repaired", reason);
    record(run_, Kind::retry_scheduled,
           payload::RetryScheduled{.call = run_.state.asked,
                                   .attempt = run_.state.tries,
                                   .delay_ms = 0,
                                   .reason = std::move(reason)});
  }

  // Nothing when the failure is to stand.
  [[gnu::noinline]] std::optional<Duration> schedule_retry() {
    const RunState& state = run_.state;
    const auto wait =
        run_.plan->retry.wait_after(*state.failure, state.tries, run_.ctx.rng().unit());
    if (!wait) return std::nullopt;
    record(run_, Kind::retry_scheduled,
           payload::RetryScheduled{.call = state.asked,
                                   .attempt = state.tries,
                                   .delay_ms = milliseconds(*wait),
                                   .reason = state.failure->message()});
    return wait;
  }

  LiveRun& run_;
  std::unique_ptr<AskedModel> asked_;
  Received received_;
  std::unique_ptr<Answered> cost_;  // of the answer that the open attempt has
  bool asking_ = false;
  bool handed_out_ = false;  // the newest failure is known to the middleware
  bool paused_ = false;
  bool shortened_ = false;
};

EndingPtr ending(Ending made) { return std::make_unique<Ending>(std::move(made)); }

// The end of the run, or nothing when another model is asked.
[[gnu::noinline]] EndingPtr give_up(LiveRun& run, const Error& error) {
  if (is_cancelled(run)) return ending(cancelled_ending(run));
  auto in_time = run.ctx.budget().check_deadline(run.ctx.loop().now());
  const Limit* limit = in_time ? error.detail_if<Limit>() : in_time.error().detail_if<Limit>();
  if (limit) {
    record_limit(run, *limit);
    return ending({RunStatus::completed, StopReason::limit_reached, run.state.limit});
  }
  if (fall_back(run, error)) return nullptr;
  return ending(ending_after(run, error));
}

}  // namespace

bool is_cancelled(const LiveRun& run) {
  if (!run.ctx.cancelled()) return false;
  const CancelReason* reason = run.ctx.cancel_reason();
  if (!reason || reason->why != CancelReason::Why::deadline) return true;
  return run.ctx.budget().check_deadline(run.ctx.loop().now()).has_value();
}

Ending cancelled_ending(const LiveRun& run) {
  const CancelReason* reason = run.ctx.cancel_reason();
  std::string message = "the run was cancelled";
  if (reason && !reason->text.empty()) message += ": " + reason->text;
  return {RunStatus::cancelled, StopReason::cancelled,
          Error(ErrorKind::cancelled, std::move(message), "`resume` goes on where it stood")};
}

Ending ending_after(const LiveRun& run, const Error& error) {
  if (error.kind() == ErrorKind::cancelled) {
    if (run.ctx.cancelled()) return cancelled_ending(run);
    return {RunStatus::cancelled, StopReason::cancelled_by_hook, error};
  }
  if (error.detail_if<Overflow>()) return {RunStatus::failed, StopReason::context_overflow, error};
  const bool provider = error.detail_if<Provider>() != nullptr;
  return {RunStatus::failed, provider ? StopReason::provider_error : StopReason::error, error};
}

Task<EndingPtr> ask(LiveRun& run) {
  while (true) {
    give_notices(run);
    Asking asking(run);
    std::optional<Error> failed;
    try {
      auto request = request_of(run);
      auto around = around_model(run.plan->middleware, run.ctx, std::move(*request), asking);
      request.reset();
      Result<ModelTurn> turn = co_await std::move(around);
      if (turn) {
        auto taken = asking.take(*std::move(turn));
        if (taken) co_return nullptr;
        failed = taken.error();
      } else {
        failed = std::move(turn).error();
      }
    } catch (...) {
      failed = detail::error_in_flight("asking the model");
    }
    asking.leave(*failed);
    if (asking.paused()) co_return nullptr;
    EndingPtr end = give_up(run, *failed);
    if (end) co_return end;
  }
}

}  // namespace tug
