// Deltas go through the filters as they come. What the closing turn says beyond them goes through
// too, so that a turn without deltas is filtered like any other; then the turn is put together
// anew from what came through.
#include "tug/model/delta_filter.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/try.h"
#include "model/collected.h"

namespace tug {
namespace {

using detail::Collected;
using Events = std::vector<ModelEvent>;

class Filters {
 public:
  explicit Filters(const std::vector<MakeDeltaFilter>& makers) {
    for (const MakeDeltaFilter& make : makers) {
      if (auto filter = make ? make() : nullptr) filters_.push_back(std::move(filter));
    }
  }

  void push(ModelEvent delta, Events& out) {
    Events in;
    in.push_back(std::move(delta));
    pass(0, std::move(in), out);
  }
  void flush(Events& out) {
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      Events kept;
      filters_[i]->flush(kept);
      pass(i + 1, std::move(kept), out);
    }
  }

 private:
  void pass(std::size_t from, Events in, Events& out) {
    for (std::size_t i = from; i < filters_.size(); ++i) {
      Events next;
      for (ModelEvent& delta : in) filters_[i]->push(std::move(delta), next);
      in = std::move(next);
    }
    out.insert(out.end(), std::move_iterator(in.begin()), std::move_iterator(in.end()));
  }

  std::vector<std::unique_ptr<DeltaFilter>> filters_;
};

bool is_empty(const ModelEvent& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) return text->text.empty();
  if (const auto* thought = std::get_if<ReasoningDelta>(&event)) return thought->text.empty();
  if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
    return call->provider_id.empty() && call->tool.empty() && call->arguments.empty();
  }
  return std::holds_alternative<ModelTurn>(event);  // not a filter's to say
}

Result<void> add(Collected& sum, const ModelEvent& event) {
  return std::visit([&](const auto& what) { return sum.take(what); }, event);
}

bool said_anything(const Collected& sum) noexcept {
  return !sum.text().empty() || !sum.reasoning().empty() || !sum.calls().empty();
}

// What a turn says, flattened as deltas are.
struct Spoken {
  std::string text;
  std::string reasoning;
  std::vector<const ToolCall*> calls;
  bool is_signed = false;  // a part of its reasoning is

  explicit Spoken(const Message& message) : text(message.text()), calls(message.tool_calls()) {
    for (const Part& part : message.parts()) {
      const auto* thought = std::get_if<ReasoningPart>(&part);
      if (!thought) continue;
      reasoning += thought->text;
      is_signed = is_signed || !thought->opaque.is_null();
    }
  }
};

// The number by which deltas know the call at this place of the turn.
std::uint32_t index_of(const Collected& deltas, std::size_t place) {
  if (place < deltas.calls().size()) return deltas.calls()[place].index;
  std::uint32_t past = 0;
  for (const Collected::Call& call : deltas.calls()) past = std::max(past, call.index + 1);
  return past + static_cast<std::uint32_t>(place - deltas.calls().size());
}

// What is left to be said of a turn after the deltas before it; nothing when it says something
// else.
std::optional<Events> beyond(const Collected& deltas, const Spoken& turn) {
  const bool goes_on = turn.text.starts_with(deltas.text()) &&
                       turn.reasoning.starts_with(deltas.reasoning()) &&
                       deltas.calls().size() <= turn.calls.size();
  if (!goes_on) return std::nullopt;
  Events rest;
  rest.emplace_back(ReasoningDelta{turn.reasoning.substr(deltas.reasoning().size())});
  rest.emplace_back(TextDelta{turn.text.substr(deltas.text().size())});
  for (std::size_t place = 0; place < turn.calls.size(); ++place) {
    const ToolCall& call = *turn.calls[place];
    ToolCallDelta left{index_of(deltas, place), call.provider_id, call.tool, call.arguments};
    if (place < deltas.calls().size()) {
      const ToolCall& said = deltas.calls()[place].call;
      const bool same = (said.tool.empty() || said.tool == call.tool) &&
                        (said.provider_id.empty() || said.provider_id == call.provider_id) &&
                        call.arguments.starts_with(said.arguments);
      if (!same) return std::nullopt;
      left.arguments.erase(0, said.arguments.size());
      if (!said.tool.empty()) left.tool.clear();
      if (!said.provider_id.empty()) left.provider_id.clear();
    }
    rest.emplace_back(std::move(left));
  }
  std::erase_if(rest, is_empty);
  return rest;
}

// The turn's message with the words that came through in the place of those that went in.
MessagePtr said_instead(const MessagePtr& message, const Spoken& turn, const Collected& deltas,
                        const Collected& through) {
  const bool new_text = turn.text != through.text();
  const bool new_reasoning = turn.reasoning != through.reasoning();
  bool text_due = new_text && !through.text().empty();
  bool reasoning_due = new_reasoning && !turn.is_signed && !through.reasoning().empty();
  bool changed = new_text || new_reasoning || through.calls().size() != turn.calls.size();
  std::vector<Part> parts;
  std::vector<std::uint32_t> own;  // calls of the turn itself
  const auto put_text = [&] {
    if (std::exchange(text_due, false)) parts.emplace_back(TextPart{through.text()});
  };
  const auto put_reasoning = [&] {
    if (std::exchange(reasoning_due, false))
      parts.emplace_back(ReasoningPart{.text = through.reasoning()});
  };
  for (const Part& part : message->parts()) {
    if (std::holds_alternative<ReasoningPart>(part) && new_reasoning) {
      put_reasoning();
    } else if (std::holds_alternative<TextPart>(part) && new_text) {
      put_reasoning();
      put_text();
    } else if (const auto* call = std::get_if<ToolCall>(&part)) {
      put_reasoning();
      put_text();
      own.push_back(index_of(deltas, own.size()));
      const Collected::Call* kept = through.find(own.back());
      if (!kept) continue;
      ToolCall made = kept->call;
      if (made.arguments.empty()) made.arguments = "{}";
      made.id = call->id;
      changed = changed || made != *call;
      parts.emplace_back(std::move(made));
    } else {
      parts.push_back(part);
    }
  }
  put_reasoning();
  put_text();
  for (const Collected::Call& more : through.calls()) {
    if (std::ranges::find(own, more.index) == own.end()) parts.emplace_back(more.call);
  }
  return changed ? Message::make(message->role(), std::move(parts)) : message;
}

class FilteredStream final : public ModelStream {
 public:
  FilteredStream(std::unique_ptr<ModelStream> stream, std::vector<MakeDeltaFilter> makers)
      : stream_(std::move(stream)), makers_(std::move(makers)) {}

  Task<Result<std::optional<ModelEvent>>> next() override {
    while (ready_.empty() && !over_) {
      auto pulling = stream_->next();
      Result<std::optional<ModelEvent>> event = co_await std::move(pulling);
      Result<void> taken =
          guarded("a filter of the model's words", [&] { return take(std::move(event)); });
      if (taken) continue;
      over_ = true;
      ready_.clear();
      co_return Failure(std::move(taken).error());
    }
    if (ready_.empty()) co_return std::optional<ModelEvent>();
    std::optional<ModelEvent> event = std::move(ready_.front());
    ready_.pop_front();
    co_return event;
  }

 private:
  Result<void> take(Result<std::optional<ModelEvent>> event) {
    if (!event) return Failure(std::move(event).error());
    if (!filters_) filters_.emplace(makers_);
    Events out;
    if (!*event) {
      over_ = true;
      if (ended_) return {};
      filters_->flush(out);
      TUG_TRY(shown, show(std::move(out)));
      // Everything was dropped; without a turn it would look as if nothing had come.
      if (said_anything(deltas_) && !said_anything(through_)) {
        ready_.emplace_back(ModelTurn{.message = Message::make(Role::assistant, {})});
      }
      return {};
    }
    if (ended_) return {};
    if (auto* turn = std::get_if<ModelTurn>(&**event)) return close(std::move(*turn));
    if (std::holds_alternative<UsageDelta>(**event)) {
      ready_.push_back(**std::move(event));
      return {};
    }
    TUG_TRY(taken, add(deltas_, **event));
    filters_->push(**std::move(event), out);
    return show(std::move(out));
  }

  Result<void> show(Events out) {
    std::erase_if(out, is_empty);
    for (ModelEvent& event : out) {
      TUG_TRY(taken, add(through_, event));
      ready_.push_back(std::move(event));
    }
    return {};
  }

  Result<void> close(ModelTurn turn) {
    ended_ = true;
    Events out;
    if (!turn.message) {  // it is what came through
      filters_->flush(out);
      TUG_TRY(shown, show(std::move(out)));
    } else {
      const Spoken spoken(*turn.message);
      std::optional<Events> rest = beyond(deltas_, spoken);
      if (rest) {
        for (ModelEvent& delta : *rest) filters_->push(std::move(delta), out);
        filters_->flush(out);
        TUG_TRY(shown, show(std::move(out)));
        turn.message = said_instead(turn.message, spoken, deltas_, through_);
      } else {
        TUG_TRY(message, heard_anew(turn.message, spoken));
        turn.message = std::move(message);
      }
      const bool no_call = turn.finish == Finish::tool_calls && turn.message->tool_calls().empty();
      if (no_call && !spoken.calls.empty()) turn.finish = Finish::stop;
    }
    ready_.push_back(std::move(turn));
    return {};
  }

  // The turn is not what its deltas said. It is the turn that counts.
  Result<MessagePtr> heard_anew(const MessagePtr& message, const Spoken& spoken) const {
    const Collected none;
    Events all = *beyond(none, spoken);
    Filters filters(makers_);
    Events out;
    for (ModelEvent& delta : all) filters.push(std::move(delta), out);
    filters.flush(out);
    std::erase_if(out, is_empty);
    Collected through;
    for (const ModelEvent& event : out) {
      TUG_TRY(taken, add(through, event));
    }
    return said_instead(message, spoken, none, through);
  }

  std::unique_ptr<ModelStream> stream_;
  std::vector<MakeDeltaFilter> makers_;
  std::optional<Filters> filters_;
  Collected deltas_;   // as they came
  Collected through_;  // as they were shown
  std::deque<ModelEvent> ready_;
  bool ended_ = false;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<ModelStream> filtered(std::unique_ptr<ModelStream> stream,
                                      const std::vector<MakeDeltaFilter>& filters) {
  if (filters.empty()) return stream;
  return std::make_unique<FilteredStream>(std::move(stream), filters);
}

}  // namespace tug
