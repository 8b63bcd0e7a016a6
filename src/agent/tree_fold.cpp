#include "agent/tree_fold.h"

#include <algorithm>

#include "core/try.h"
#include "tug/agent/fold.h"

namespace tug {
namespace {

constexpr std::size_t kPage = 512;
constexpr std::size_t kFewest = 4;  // characters of a part of an id
constexpr std::size_t kShown = 5;

Result<TreeFold> fold_alone(RecordStore& store, const RunId& root, Seq upto, History base) {
  TreeFold fold(std::move(base), &store);
  Seq after = 0;
  while (after < upto) {
    TUG_TRY(records, store.read(root, after, std::min<Seq>(kPage, upto - after)));
    if (records.empty()) break;
    for (const Record& record : records) {
      TUG_TRY(event, decode(record, store));
      if (auto taken = fold.take(event); !taken) {
        return Failure(taken.error().within("run " + root.text()));
      }
    }
    after = records.back().seq;
  }
  return fold;
}

// The raw replies, which stand beside the records. One that cannot be read stays null: nothing
// depends on it.
void read_raw(RecordStore& store, TreeFold& fold) {
  for (const auto& state : fold.runs()) {
    for (RawResponse& response : state->responses) {
      const auto digest = Digest::from_hex(response.digest);
      if (!digest) continue;
      const auto bytes = store.blob(*digest);
      if (!bytes) continue;
      if (auto raw = parse_json(*bytes)) response.raw = *std::move(raw);
    }
  }
}

History history_of(const TreeFold& fold, Seq seq) {
  if (fold.empty()) return {};
  const RunState& root = fold.root();
  return {root.transcript, root.bytes, root.offset + seq};
}

// The bases of a root, oldest first; each with the seq up to which it counts.
Result<std::vector<Base>> bases_of(RecordStore& store, const RunId& root) {
  std::vector<Base> bases;
  RunId at = root;
  while (true) {
    TUG_TRY(info, store.info(at));
    if (!info.base) break;
    bases.push_back(*info.base);
    at = info.base->root;
  }
  std::ranges::reverse(bases);
  return bases;
}

Result<History> history_below(RecordStore& store, const RunId& root) {
  TUG_TRY(bases, bases_of(store, root));
  History history;
  for (const Base& base : bases) {
    TUG_TRY(fold, fold_alone(store, base.root, base.seq, std::move(history)));
    history = history_of(fold, base.seq);
  }
  return history;
}

Failure not_found(std::string_view name, const std::string& where) {
  return fail(ErrorKind::invalid, "there is no run \"" + std::string(name) + "\" in " + where,
              "`tug runs` lists them; a part of an id needs at least 4 characters");
}

}  // namespace

RunState* TreeFold::find(const RunId& run) noexcept {
  const auto found = by_id_.find(run.text());
  return found == by_id_.end() ? nullptr : found->second;
}

History history_of(const RunState& run) {
  History history{run.transcript.settled(), run.bytes, run.offset};
  if (run.transcript.has_open_calls()) history.bytes -= run.transcript.back()->size();
  return history;
}

// What a run below the root starts from.
Result<History> TreeFold::history_for(const Event& event) {
  const Seq offset = runs_.front()->offset;
  const Json& base = event.data["base"];
  if (base.is_null()) return History{.offset = offset};
  const RunId run(std::string(base["run"].as_string()));
  const RunId root(std::string(base["root"].as_string()));
  if (root == runs_.front()->who->run_id) {
    const RunState* of = find(run);
    if (!of)
      return fail(ErrorKind::invalid, "its base is run " + run.text() + ", which is not there");
    History history = history_of(*of);
    history.offset = std::max(history.offset, offset);
    return history;
  }
  if (!store_) return fail(ErrorKind::invalid, "its base is in another root");
  TUG_TRY(history, history_at(*store_, root, base["seq"].as_uint().value_or(0), run));
  history.offset = std::max(history.offset, offset);
  return history;
}

Result<void> TreeFold::begin(const Event& event) {
  History history = base_;
  if (!runs_.empty()) {
    auto found = history_for(event);
    if (!found) {
      return Failure(found.error().within("record " + std::to_string(event.seq) + " begins run " +
                                          event.who->run_id.text()));
    }
    history = *std::move(found);
  }
  auto fresh = std::make_unique<RunState>();
  fresh->transcript = history.transcript;
  fresh->bytes = history.bytes;
  fresh->offset = history.offset;
  TUG_TRY(applied, apply(*fresh, event));
  by_id_.emplace(event.who->run_id.text(), fresh.get());
  runs_.push_back(std::move(fresh));
  return {};
}

// Whether somebody may ask for the result of a run that has ended: a call that is made again, or
// whoever looks after the background.
static bool is_wanted(const RunState& run, const RunState* parent) {
  if (!parent || (parent->ending && parent->ending->status != RunStatus::parked)) return false;
  if (find_call(*parent, run.who->parent_call_id.text())) return true;
  return std::ranges::any_of(parent->done_children,
                             [&](const OpenChild& child) { return child.run == run.who->run_id; });
}

TreeFold::Below TreeFold::take_below() {
  for (const auto& state : runs_) {
    for (RunState* above = find(state->who->parent_run_id); above;
         above = find(above->who->parent_run_id)) {
      above->used_below += state->used;
    }
  }
  Below below;
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    const auto& ending = runs_[i]->ending;
    const bool open = !ending || ending->status == RunStatus::parked;
    if (open) {
      below.left_over.push_back(std::move(runs_[i]));
    } else if (is_wanted(*runs_[i], find(runs_[i]->who->parent_run_id))) {
      below.done.push_back(std::move(runs_[i]));
    }
  }
  runs_.resize(1);
  return below;
}

Result<void> TreeFold::take(const Event& event) {
  RunState* state = find(event.who->run_id);
  if (event.kind == Kind::run_started && !state) {
    TUG_TRY(begun, begin(event));
  } else if (state) {
    TUG_TRY(applied, apply(*state, event));
    const std::string model(event.data["model"].as_string());
    if (event.kind == Kind::model_started && event.data.contains("reservation")) {
      reserved_[model].push_back(event.data["reservation"]);
    }
    for (RunId above = state->who->parent_run_id; !above.empty();) {
      RunState* parent = find(above);
      if (!parent) break;
      apply_below(*parent, event);
      above = parent->who->parent_run_id;
    }
  }
  const RunState* first = runs_.empty() ? nullptr : runs_.front().get();
  if (first && !first->attempt && first->calls.empty() && first->code_calls.empty() &&
      first->phase != Phase::admitting) {
    quiet_ = event.seq;
  }
  return {};
}

Result<TreeFold> fold_tree(RecordStore& store, const RunId& root, Seq upto) {
  TUG_TRY(history, history_below(store, root));
  TUG_TRY(fold, fold_alone(store, root, upto, std::move(history)));
  read_raw(store, fold);
  return fold;
}

Result<History> history_at(RecordStore& store, const RunId& root, Seq seq, const RunId& run) {
  TUG_TRY(fold, fold_tree(store, root, seq));
  if (run.empty() || run == root) return history_of(fold, seq);
  for (const auto& state : fold.runs()) {
    if (state->who->run_id != run) continue;
    History history = history_of(*state);
    history.offset = fold.root().offset + seq;
    return history;
  }
  return fail(ErrorKind::invalid, "root " + root.text() + " has no run " + run.text() +
                                      " up to record " + std::to_string(seq));
}

Result<FoldedRoot> fold_root(RecordStore& store, const RunId& root) {
  FoldedRoot folded;
  TUG_TRY(info, store.info(root));
  folded.info = std::move(info);
  TUG_TRY(fold, fold_tree(store, root));
  for (const auto& state : fold.runs()) {
    FoldedRun run{.who = state->who,
                  .prompt = state->prompt,
                  .result = result_of(*state),
                  .status = status_of(*state)};
    for (std::size_t i = 0; i < folded.runs.size(); ++i) {
      if (folded.runs[i].who->run_id == run.who->parent_run_id) {
        folded.runs[i].children.push_back(folded.runs.size());
      }
    }
    folded.last_seq = std::max(folded.last_seq, state->last_seq);
    folded.runs.push_back(std::move(run));
  }
  return folded;
}

Result<FoundRun> find_run(RecordStore& store, std::string_view name) {
  if (name == "last") {
    TUG_TRY(newest, store.list(1));
    if (newest.empty()) {
      return fail(ErrorKind::invalid, "there is no run yet in " + store.where(),
                  "start one: tug \"list the files here\"");
    }
    return FoundRun{newest[0].who->run_id, newest[0].who->run_id};
  }
  if (name.size() < kFewest) return not_found(name, store.where());
  TUG_TRY(names, store.find_runs(name, kShown + 1));
  for (const RunName& found : names) {
    if (found.run.text() == name) return FoundRun{found.root, found.run};
  }
  if (names.empty()) return not_found(name, store.where());
  if (names.size() == 1) return FoundRun{names[0].root, names[0].run};
  std::string some;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) some += " " + names[i].run.text();
  return fail(ErrorKind::invalid,
              "\"" + std::string(name) + "\" fits more than one run:" + some +
                  (names.size() > kShown ? " .." : ""),
              "write more of the id");
}

}  // namespace tug
