#include "agent/inbox.h"

#include "agent/approvals.h"
#include "agent/commands.h"
#include "agent/harness_core.h"
#include "core/try.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

constexpr std::string_view kPrompt = "prompt";  // the sender of a follow-up that came as a prompt

Result<std::vector<Steer>> commands_in(const Json& json) {
  std::vector<Steer> commands;
  for (const Json& item : json.items()) {
    TUG_TRY(command, steer_from(item));
    commands.push_back(std::move(command));
  }
  if (commands.empty()) return fail(ErrorKind::invalid, "it holds no command");
  return commands;
}

Result<std::vector<Decision>> decisions_in(const Json& json) {
  std::vector<Decision> decisions;
  for (const Json& item : json.items()) {
    TUG_TRY(decision, decision_from(item));
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

Result<void> take(LiveRun& root, const InboxCommand& command) {
  TUG_TRY(json, parse_json(command.command));
  if (const Json* approve = json.find("approve")) {
    TUG_TRY(decisions, decisions_in(*approve));
    TUG_TRY(decided, decide_calls(root, decisions));
    root.ctx.events().took({command.id});
    return {};
  }
  const RunId run(std::string(json["run"].as_string()));
  LiveRun* target = run.empty() ? &root : root.tree.find(run);
  if (!target) return fail(ErrorKind::invalid, "run " + run.text() + " is not under way");
  TUG_TRY(commands, commands_in(json["steer"]));
  const bool prompt = command.sender == kPrompt;
  enqueue(*target, {std::move(commands), std::string(prompt ? kPrompt : "owner"), command.id});
  return {};
}

}  // namespace

std::string follow_up_command(const RunId& root, std::string prompt) {
  return print_json(
      Json::object({{"run", root.text()},
                    {"steer", Json::array({to_json(Steer::follow_up(std::move(prompt)))})}}));
}

std::string approve_command(const std::vector<Decision>& decisions) {
  Json list = Json::array();
  for (const Decision& decision : decisions) list.push_back(to_json(decision));
  return print_json(Json::object({{"approve", std::move(list)}}));
}

void hear(LiveRun& root, const std::vector<InboxCommand>& commands) {
  for (const InboxCommand& command : commands) {
    if (root.state.ending || !root.tree.heard.insert(command.id).second) continue;
    auto taken = take(root, command);
    if (taken) continue;
    payload::Steering rejected{.command = parse_json(command.command).value_or(Json())};
    rejected.sender = "owner";
    rejected.reason = taken.error().message();
    record(root, Kind::steering_rejected, rejected);
    root.ctx.events().took({command.id});
  }
}

Task<void> watch_inboxes(std::weak_ptr<detail::HarnessCore> harness) {
  Loop& loop = co_await this_loop();
  const Until until{loop.stopping()};
  while (true) {
    const Woken woken = co_await sleep_for(kInboxPause, until);
    if (woken != Woken::ready) break;
    const auto core = harness.lock();
    if (!core || !core->goes_on_watching()) co_return;
    auto looking = core->read_inboxes(until);
    co_await std::move(looking);
  }
  if (const auto core = harness.lock()) core->stopped_watching();
}

namespace detail {

bool HarnessCore::goes_on_watching() {
  std::scoped_lock lock(mutex_);
  for (const auto& weak : live_) {
    const auto run = weak.lock();
    if (run && !run->ended()) return true;
  }
  watching_ = false;
  return false;
}

void HarnessCore::stopped_watching() {
  std::scoped_lock lock(mutex_);
  watching_ = false;
}

void HarnessCore::watch_inbox(Loop& loop) {
  if (!store_->is_shared()) return;
  {
    std::scoped_lock lock(mutex_);
    if (watching_ || closed_) return;
    watching_ = true;
  }
  if (!engine_->start(loop, watch_inboxes(weak_from_this()))) stopped_watching();
}

Task<void> HarnessCore::read_inboxes(Until until) {
  struct Mail {
    RunId root;
    std::vector<InboxCommand> commands;
  };
  auto reading = engine_->offload(
      "reading inboxes",
      [store = store_](std::stop_token) {
        std::vector<Mail> mail;
        auto roots = store->addressed();
        if (!roots) return mail;
        for (const RunId& root : *roots) {
          auto commands = store->inbox(root);
          if (commands && !commands->empty()) mail.push_back({root, *std::move(commands)});
        }
        return mail;
      },
      until);
  auto mail = co_await std::move(reading);
  if (!mail) co_return;
  for (const Mail& item : *mail) {
    if (const auto run = find_live(item.root)) run->hear(item.commands);
  }
}

std::shared_ptr<RunShared> HarnessCore::find_live(const RunId& root) {
  std::scoped_lock lock(mutex_);
  for (const auto& weak : live_) {
    auto run = weak.lock();
    if (run && !run->ended() && run->id() == root) return run;
  }
  return nullptr;
}

}  // namespace detail
}  // namespace tug
