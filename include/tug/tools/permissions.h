// Which calls are made, which are asked about first, and which are refused. Pure: who asks, and
// what is done with the answer, is the loop's.
//
// A pattern is `tool` or `tool(glob)`. What the glob is matched against is the call's subject
// (ToolSpec::subject): the path of a file tool, relative to the root of its workspace; the parsed
// command of a shell; the arguments as JSON otherwise. `*` matches any run of characters but "/" in
// a path, `**` any run, `?` one character; `**/` in front of a name also matches nothing in a path;
// a backslash takes the next character as it is.
//
// A command is taken apart into its simple commands, words with one space between, those that need
// it in single quotes, and its redirections ("> build/log", a path). To allow it, patterns must
// cover every part; to deny it or to ask about it, one part is enough, wherever the program lies
// (`/bin/rm` is `rm`). A command that cannot be read for sure, or that hides another one, is never
// allowed by a pattern, and is asked about where a glob denies or asks about the tool.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/digest.h"
#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/core/tool.h"

namespace tug {

class Tool;

enum class PermissionMode : std::uint8_t {
  declared,      // asks where a tool says so; what a program gets that says nothing
  ask,           // asks before everything that is not pure, too
  accept_edits,  // as `ask`, but edits of files in the workspace (tag `edit`) are made
  read_only,     // what is not pure is refused
  yolo,          // asks about nothing but what an `ask` pattern names
};
std::string_view name_of(PermissionMode mode) noexcept;  // "accept-edits", "read-only"
Result<PermissionMode> permission_mode_from(std::string_view name);

// What waits while one call of a batch is asked about.
enum class HoldScope : std::uint8_t {
  batch,  // all of it
  call,   // that call; its siblings run and their results stand
};
std::string_view name_of(HoldScope hold) noexcept;

// What becomes of a call that must be asked about.
enum class OnAsk : std::uint8_t {
  park,  // it waits while something else in the tree can move, then the tree is parked
  deny,  // refused at once: nobody is there
  wait,  // it waits for `Run::approve`, however long that takes
};
std::string_view name_of(OnAsk what) noexcept;

struct Permissions {
  PermissionMode mode = PermissionMode::declared;
  std::vector<std::string> allow;  // patterns; deny beats ask beats allow
  std::vector<std::string> ask;
  std::vector<std::string> deny;
  std::vector<Effect> ask_effects;  // asked about in every mode but yolo
  HoldScope hold = HoldScope::batch;
  OnAsk on_ask = OnAsk::park;

  friend bool operator==(const Permissions&, const Permissions&) = default;
};
Json to_json(const Permissions& permissions);  // defaults are left out
// `invalid` for an unknown field, a value that is none, or a pattern that cannot be read, naming
// the field.
Result<Permissions> permissions_from(const Json& json);
Result<void> check_pattern(std::string_view pattern);

struct Judgement {
  enum class Verdict : std::uint8_t { allow, ask, deny };
  Verdict verdict = Verdict::allow;
  std::string reason;      // why it asks or refuses, for people and for the model
  bool by_choice = false;  // allowed because somebody chose so: a pattern, a grant, a mode
};
// `args` are checked ones. `grants` are patterns that were allowed in the run so far; they stand
// above what asks, not above what denies. A command that hides another one (`sh -c`, `env`,
// `xargs`, ..) is never allowed by a pattern or a grant. May look at the file system for a path,
// and only where a glob needs it. A pattern that cannot be read allows nothing; among those that
// deny or ask it makes every call be asked about.
Judgement judge(const Permissions& permissions, std::span<const std::string> grants,
                const Tool& tool, const Json& args);

// Whether a call can be allowed for more than this once; why not (`denied`).
Result<void> may_stand(const Tool& tool, const Json& args);
// The pattern that allows every further call of this tool, or of what the pattern names. `invalid`
// for one that does not match the call itself, `denied` where nothing may stand.
Result<std::string> grant_for(const Tool& tool, const Json& args, std::string_view pattern = {});

// What an approval is bound to: the tool and the bytes of its arguments, as they are shown.
Digest approval_digest(std::string_view tool, const Json& args);

// What patterns are matched against: a path, the parts of a command a line each (its text when it
// cannot be read for sure), or the arguments as JSON.
std::string subject_of(const Tool& tool, const Json& args);

}  // namespace tug
