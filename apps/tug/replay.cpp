// tug replay RUN
#include <memory>

#include "commands.h"
#include "render_stream.h"
#include "render_text.h"
#include "stored_run.h"

namespace tug::cli {
namespace {

int replay_stream(const Options& options, const StoredRun& stored) {
  StreamLines lines({}, [] {});
  auto shown = for_each_event(*stored.store, stored.name.root,
                              [&](const Event& event) { lines.on_event(event); });
  if (!shown) return report(options, shown.error(), failed);
  return lines.broken() ? failed : ok;
}

int replay(const Options& options, const std::string& name) {
  auto stored = find_stored(options, name);
  if (!stored) return report(options, stored.error(), unusable);
  if (auto holds = verify_root(*stored->store, stored->name.root); !holds)
    return report(options, holds.error(), failed);
  auto root = fold_root(*stored->store, stored->name.root);
  if (!root) return report(options, root.error(), failed);
  if (options.stream()) return replay_stream(options, *stored);
  const FoldedRun* run = find_folded(*root, stored->name.root);
  if (!run) {
    return report(options,
                  Error(ErrorKind::invalid, "run " + name + " has left no record of its start",
                        "`tug show --events` shows what there is"),
                  failed);
  }
  print(options.json() ? print_json(to_json(run->result)) + "\n" : final_text(run->result));
  return ok;
}

}  // namespace

Command replay_command(Options& options) {
  auto run = std::make_shared<std::string>();
  return {.name = "replay",
          .summary = "Check the chain of a run and print its result again, calling nothing",
          .examples = "  tug replay last\n  tug replay 4k2m9x -o json\n",
          .flags = std::vector<Flag>{{.names = "RUN",
                                      .value = "RUN",
                                      .help = "An id, 4 letters of its start or end, or last",
                                      .target = run.get(),
                                      .required = true}} +
                   common_flags(options),
          .run = [run, &options] { return replay(options, *run); }};
}

}  // namespace tug::cli
