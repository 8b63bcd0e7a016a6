// ctx.log, ctx.tail, ctx.configure_log: views on the root's log.
#include <algorithm>

#include "context/node.h"
#include "tug/core/loop.h"
#include "tug/io/engine.h"
#include "tug/journal/journal.h"
#include "tug/journal/queued_sink.h"

namespace tug {
namespace {

using detail::ContextRoot;

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

// A reporter hears about log entries and about nothing else of the root.
class LogOnly final : public Sink {
 public:
  explicit LogOnly(std::shared_ptr<Sink> sink) noexcept : sink_(std::move(sink)) {}
  void on_event(const Event& event) override {
    if (event.kind == Kind::log) sink_->on_event(event);
  }
  void on_durable(Seq seq) override { sink_->on_durable(seq); }
  bool wants_live() const noexcept override { return sink_->wants_live(); }
  bool wants_steps() const noexcept override { return sink_->wants_steps(); }

 private:
  std::shared_ptr<Sink> sink_;
};

Result<void> open_reporter(ContextRoot& root, const std::string& name) {
  if (has(root.reporters, name)) return {};
  const std::shared_ptr<Reporter> reporter = root.services->reporter(name);
  if (!reporter) {
    std::string known;
    for (const std::string& one : root.services->reporter_names()) {
      known += (known.empty() ? "" : ", ") + one;
    }
    return fail(ErrorKind::invalid, "no reporter is called \"" + name + "\"",
                "known are " + known + "; others are put into the services");
  }
  auto sink =
      guarded("reporter " + name, [&] { return reporter->open(root.log->lineage()->run_id); });
  if (!sink) return Failure(std::move(sink).error());
  std::shared_ptr<Sink> told = std::make_shared<LogOnly>(*std::move(sink));
  // A reporter writes to a pipe or a disk, which may be slow.
  if (Engine* engine = root.services->get<Engine>()) {
    told =
        make_queued_sink(*engine, nullptr, std::move(told),
                         {.overflow = QueueOverflow::drop_and_count, .name = "reporter " + name});
  }
  root.log->observe(std::move(told));
  root.reporters.push_back(name);
  return {};
}

LogSettings settings_of(const ContextRoot& root) {
  return {root.level.value_or(root.defaults.level), root.scope.value_or(root.defaults.scope),
          root.reporters};
}

bool is_kept(const ContextRoot& root, const LogEntry& entry) {
  if (entry.level < root.level.value_or(root.defaults.level)) return false;
  const std::vector<std::string>& scope = root.scope ? *root.scope : root.defaults.scope;
  return scope.empty() || has(scope, entry.tag);
}

Json event_data(const LogEntry& entry) {
  Json data = Json::object({{"type", entry.type},
                            {"tag", entry.tag},
                            {"level", name_of(entry.level)},
                            {"text", entry.text}});
  if (!entry.data.is_null()) data.set("data", entry.data);
  return data;
}

}  // namespace

void detail::follow_log_defaults(ContextRoot& root) {
  const LogDefaults& defaults = root.services->log_defaults();
  if (root.defaults_version == defaults.version()) return;
  root.defaults_version = defaults.version();
  root.defaults = defaults.get();
  for (const std::string& name : root.defaults.reporters) {
    auto opened = open_reporter(root, name);
    if (opened) continue;
    // Nobody is there to be told, and a log is no reason to fail a run: the tail says it.
    LogEntry entry{.type = "reporter", .tag = "log", .level = LogLevel::warning};
    entry.text = to_string(opened.error());
    entry.root = entry.run = root.log->lineage()->run_id;
    entry.ts = root.loop->wall();
    root.ring.push(std::move(entry));
  }
}

void Context::log(std::string_view text) const {
  LogEntry entry;
  entry.text = text;
  log(std::move(entry));
}

void Context::log(LogEntry entry) const {
  ContextRoot& root = *node_->root;
  detail::follow_log_defaults(root);
  if (!is_kept(root, entry)) return;
  const Identity who = id();
  entry.root = who.root_run_id;
  entry.run = who.run_id;
  entry.node = who.node;
  entry.ts = root.loop->wall();
  if (entry.level >= LogLevel::info) {
    emit(Kind::log, event_data(entry));
  } else if (root.log->wants_live()) {
    emit_live(Kind::log, event_data(entry));
  }
  root.ring.push(std::move(entry));
}

Tail ConstContext::tail(const TailFilter& filter) const { return node_->root->ring.tail(filter); }

Result<LogSettings> Context::configure_log(const LogOptions& options) const {
  ContextRoot& root = *node_->root;
  detail::follow_log_defaults(root);
  if (!options.reporter.empty()) {
    if (auto opened = open_reporter(root, options.reporter); !opened) {
      return Failure(std::move(opened).error());
    }
  }
  if (options.global) {
    LogSettings settings = root.services->log_defaults().change(options);
    detail::follow_log_defaults(root);
    return settings;
  }
  if (options.level) root.level = options.level;
  if (options.scope) root.scope = options.scope;
  return settings_of(root);
}

}  // namespace tug
