#include "go_on.h"

#include "core/try.h"
#include "permission_settings.h"
#include "prompt.h"
#include "tug/agent/fold.h"

namespace tug::cli {
namespace {

// The tools of a run that goes on see the folder that it began in, unless another one is named.
Result<RunFlags> with_folder(RunFlags flags, const GoOn& found) {
  std::optional<std::string>& folder = flags.config.by_key["workspace.root"];
  if (folder) return flags;
  TUG_TRY(first, found.store->read(found.root.who->run_id, 0, 1));
  if (first.empty()) return flags;
  TUG_TRY(started, decode(first.front(), *found.store));
  const std::string_view recorded = started.data["root"].as_string();
  if (!recorded.empty()) folder = std::string(recorded);
  return flags;
}

// Where its model was asked: a conversation with a server of one's own does not go on elsewhere.
Result<std::string> recorded_address(const GoOn& found) {
  TUG_TRY(first, found.store->read(found.root.who->run_id, 0, 1));
  if (first.empty()) return std::string();
  TUG_TRY(started, decode(first.front(), *found.store));
  return std::string(started.data["address"].as_string());
}

}  // namespace

Result<Session> session_of(const Options& options, const GoOnRequest& request, const GoOn& found) {
  TUG_TRY(flags, with_folder(request.flags, found));
  TUG_TRY(permissions, recorded_permissions(*found.store, found.root.who->run_id));
  TUG_TRY(address, recorded_address(found));
  return open_session(options, flags, found.store,
                      {.model = std::string(found.root.summary["model"].as_string()),
                       .address = address,
                       .permissions = permissions});
}

Result<GoOn> find_root(const Options& options, GoOnRequest request) {
  if (request.last) {
    if (!request.prompt.empty()) {
      return fail(ErrorKind::invalid, "both --last and a run are named", "name one of them");
    }
    request.prompt = std::move(request.run);
    request.run = "last";
  }
  if (request.run.empty())
    return fail(ErrorKind::invalid, "no run is named",
                "`tug runs` lists them; --last is the newest");
  if (request.flags.no_session) {
    return fail(ErrorKind::invalid, "with --no-session there is no run to go on with",
                "leave --no-session out");
  }
  GoOn found;
  TUG_TRY(prompt, read_prompt(request.prompt, Piped::leave));
  found.prompt = prompt;
  TUG_TRY(store, find_journal(options));
  if (!store) {
    return fail(ErrorKind::invalid, "there is no run \"" + request.run + "\": no run was made yet",
                "`tug runs` lists the runs");
  }
  found.store = store;
  TUG_TRY(name, find_run(*store, request.run));
  TUG_TRY(root, store->info(name.root));
  found.root = root;
  return found;
}

Flag run_word(GoOnRequest& request) {
  return {"RUN", "RUN", "An id, 4 letters of its start or end, or last", &request.run};
}

}  // namespace tug::cli
