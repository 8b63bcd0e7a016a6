#include "tug/tools/invocation.h"

#include "tools/invocation_door.h"
#include "tug/journal/event.h"

namespace tug {
namespace {

// `deliver(ctx)` on the loop, unless the call has ended by then.
template <class F>
void post(const std::shared_ptr<detail::InvocationDoor>& door, F deliver) {
  if (door->ended) return;
  if (!door->mailbox) {
    deliver(door->ctx);
    return;
  }
  door->mailbox->post([door, deliver = std::move(deliver)]() mutable {
    if (!door->ended) deliver(door->ctx);
  });
}

}  // namespace

Invocation::Invocation(const Context& ctx, std::stop_token stop)
    : args_(ctx.args()),
      values_(ctx.inherited().values),
      metadata_(ctx.metadata()),
      configurable_(ctx.inherited().configurable),
      config_(ctx.locals()["config"]),
      tags_(ctx.tags()),
      stop_(std::move(stop)),
      door_(std::make_shared<detail::InvocationDoor>()) {
  const Identity who = ctx.id();
  run_ = who.run_id;
  root_ = who.root_run_id;
  thread_ = who.thread_id;
  call_ = who.call_id;
  agent_ = who.agent;
  depth_ = who.depth;
  turn_ = who.turn;
  door_->mailbox = ctx.loop().mailbox();
  door_->values = ctx.share_all();
  door_->ctx = ctx;
}

Invocation::Invocation(Invocation&&) noexcept = default;
Invocation::~Invocation() = default;

std::shared_ptr<const void> Invocation::slot(TypeKey key) const noexcept {
  for (const auto& [known, value] : door_->values) {
    if (known == key) return value;
  }
  return nullptr;
}

void Invocation::progress(Json progress) const {
  if (door_->progress_posted >= detail::InvocationDoor::kMaxProgress) return;
  ++door_->progress_posted;
  post(door_, [door = door_.get(), progress = std::move(progress)](const Context& ctx) mutable {
    --door->progress_posted;
    const ToolSpec* tool = ctx.tool();
    ctx.emit_live(Kind::tool_progress, Json::object({{"call_id", ctx.id().call_id.text()},
                                                     {"tool", tool ? tool->name : std::string()},
                                                     {"progress", std::move(progress)}}));
  });
}

void Invocation::log(LogEntry entry) const {
  post(door_,
       [entry = std::move(entry)](const Context& ctx) mutable { ctx.log(std::move(entry)); });
}

void Invocation::emit(std::string name, Json data) const {
  post(door_, [name = std::move(name), data = std::move(data)](const Context& ctx) mutable {
    ctx.emit(name, std::move(data));
  });
}

}  // namespace tug
