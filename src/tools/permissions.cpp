#include "tug/tools/permissions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/try.h"
#include "tools/command_words.h"
#include "tools/command_wrappers.h"
#include "tools/permission_pattern.h"
#include "tug/core/enum_names.h"
#include "tug/core/nearest.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"
#include "tug/tools/tool.h"

namespace tug {
namespace {

constexpr std::size_t kMaxPatterns = 1000;
constexpr std::string_view kEditTag = "edit";
constexpr int kMaxHiddenDepth = 4;
// Words of a wrapper that are looked behind; it is asked about all the same.
constexpr std::size_t kMaxHiddenWords = 64;

using Verdict = Judgement::Verdict;
using Patterns = std::span<const std::string>;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  const std::string_view clipped = clip_utf8(text, 200);
  out += terminal_text(clipped);
  return out + (clipped.size() < text.size() ? "..\"" : "\"");
}

template <class E>
std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const EnumEntry& entry : enum_entries<E>())
    all.push_back(name_of(static_cast<E>(entry.value)));
  return all;
}

template <class E>
Result<E> value_from(std::string_view name, std::string_view what) {
  const std::vector<std::string_view> known = names<E>();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == name) return static_cast<E>(enum_entries<E>()[i].value);
  }
  std::string all;
  for (const std::string_view one : known) all += (all.empty() ? "" : ", ") + std::string(one);
  const std::string_view near = nearest_name(name, known);
  return fail(ErrorKind::invalid, quoted(name) + " is no " + std::string(what),
              near.empty() ? "it is one of " + all : "did you mean " + std::string(near) + "?");
}

// A call as rules see it; what costs something is found out when it is asked for.
class Call {
 public:
  Call(const Tool& tool, const Json& args) : tool_(tool), args_(args) {}

  Subject::Kind kind() const { return tool_.spec().subject.kind; }
  std::string_view name() const { return tool_.name(); }

  // The field that the subject stands in: as given, else what it is when it is left out.
  std::string_view field() const {
    const std::string& field = tool_.spec().subject.field;
    const Json* given = args_.find(field);
    if (given != nullptr) return given->as_string();
    return tool_.spec().parameters["properties"][field]["default"].as_string();
  }
  const std::string& path() {
    if (!path_) {
      const std::string given(field());
      path_ = given;
      if (tool_.checks().resolve_path) {
        auto resolved =
            guarded("resolving a path", [&] { return tool_.checks().resolve_path(given); });
        if (resolved) path_ = *std::move(resolved);
      }
    }
    return *path_;
  }
  const std::string& arguments() {
    if (!arguments_) arguments_ = print_json(args_);
    return *arguments_;
  }
  const CommandWords& command() {
    if (!command_) {
      command_ = read_command(field());
      if (!command_->unclear.empty()) {
        doubt_ = "the command " + command_->unclear;
      } else {
        for (const SimpleCommand& one : command_->commands) {
          if (std::optional<std::string> hidden = hides_command(one); hidden && doubt_.empty())
            doubt_ = *std::move(hidden);
        }
      }
    }
    return *command_;
  }
  // Why nobody can say what the call will do; empty for most.
  const std::string& doubt() {
    if (kind() == Subject::Kind::command) command();
    return doubt_;
  }

 private:
  const Tool& tool_;
  const Json& args_;
  std::optional<std::string> path_;
  std::optional<std::string> arguments_;
  std::optional<CommandWords> command_;
  std::string doubt_;
};

bool redirection_matches(std::string_view glob, const Redirection& redirection) {
  return glob_matches(glob, redirection_text(redirection), GlobText::path);
}

// What a rule that forbids may find in a command: also behind the folder of its name, behind its
// assignments, and, as far as can be told, behind what runs it.
bool found_in(std::string_view glob, const SimpleCommand& command, int depth) {
  if (std::ranges::any_of(command.redirections, [glob](const Redirection& redirection) {
        return redirection_matches(glob, redirection);
      })) {
    return true;
  }
  if (glob_matches(glob, command_text(command), GlobText::flat)) return true;
  SimpleCommand rest{.assignments = {}, .words = command.words, .redirections = {}};
  const bool hides = hides_command(command).has_value();
  for (std::size_t looked = 0; !rest.words.empty() && looked < kMaxHiddenWords; ++looked) {
    if (glob_matches(glob, command_text(rest), GlobText::flat)) return true;
    const std::size_t slash = rest.words[0].rfind('/');
    if (slash != std::string::npos) {
      SimpleCommand bare = rest;
      bare.words[0].erase(0, slash + 1);
      if (glob_matches(glob, command_text(bare), GlobText::flat)) return true;
    }
    if (!hides || depth == kMaxHiddenDepth) return false;
    rest.words.erase(rest.words.begin());
    if (rest.words.empty()) return false;
    for (const SimpleCommand& inner : read_command(rest.words[0]).commands) {
      if (inner.words.size() > 1 && found_in(glob, inner, depth + 1)) return true;
    }
  }
  return false;
}

enum class Match : std::uint8_t { no, maybe, yes };
struct Found {
  Match match = Match::no;
  std::string_view pattern;
};

// Whether one of the patterns names the call, or may: for rules that forbid or ask.
Found find_any(Patterns patterns, Call& call) {
  Found found;
  for (const std::string& text : patterns) {
    const Result<PermissionPattern> pattern = read_pattern(text);
    if (!pattern) {
      // Nobody can say what it was meant to stop.
      if (found.match == Match::no) found = {Match::maybe, text};
      continue;
    }
    if (pattern->tool != call.name()) continue;
    if (!pattern->glob) return {Match::yes, text};
    bool matches = false;
    switch (call.kind()) {
      case Subject::Kind::arguments:
        matches = glob_matches(*pattern->glob, call.arguments(), GlobText::flat);
        break;
      case Subject::Kind::path:
        matches = glob_matches(*pattern->glob, call.path(), GlobText::path) ||
                  glob_matches(*pattern->glob, call.field(), GlobText::path);
        break;
      case Subject::Kind::command:
        matches = glob_matches(*pattern->glob, call.field(), GlobText::flat) ||
                  std::ranges::any_of(call.command().commands, [&](const SimpleCommand& command) {
                    return found_in(*pattern->glob, command, 0);
                  });
        if (!matches && found.match == Match::no && !call.doubt().empty())
          found = {Match::maybe, text};
        break;
    }
    if (matches) return {Match::yes, text};
  }
  return found;
}

// Whether the patterns together cover all of the call: for rules that allow.
bool covered(Patterns patterns, Call& call) {
  std::vector<std::string_view> globs;
  bool whole = false;
  for (const std::string& text : patterns) {
    const Result<PermissionPattern> pattern = read_pattern(text);
    if (!pattern || pattern->tool != call.name()) continue;
    if (pattern->glob) {
      globs.push_back(*pattern->glob);
    } else {
      whole = true;
    }
  }
  if (!whole && globs.empty()) return false;
  if (!call.doubt().empty()) return false;
  if (whole) return true;
  const auto any = [&globs](const std::string& text, GlobText kind) {
    return std::ranges::any_of(
        globs, [&](std::string_view glob) { return glob_matches(glob, text, kind); });
  };
  if (call.kind() == Subject::Kind::arguments) return any(call.arguments(), GlobText::flat);
  if (call.kind() == Subject::Kind::path) return any(call.path(), GlobText::path);
  return std::ranges::all_of(call.command().commands, [&](const SimpleCommand& command) {
    const std::string text = command_text(command);
    return (text.empty() || any(text, GlobText::flat)) &&
           std::ranges::all_of(command.redirections, [&](const Redirection& redirection) {
             return any(redirection_text(redirection), GlobText::path);
           });
  });
}

bool asks_itself(const Tool& tool, const Json& args) {
  if (tool.spec().requires_approval) return true;
  if (!tool.checks().approve_when) return false;
  const Result<bool> asked =
      guarded("approve_when", [&] { return tool.checks().approve_when(args); });
  return !asked || *asked;
}

bool is_edit(const Tool& tool) {
  return std::ranges::find(tool.spec().tags, kEditTag) != tool.spec().tags.end();
}

Result<std::vector<std::string>> patterns_from(const Json& json, std::string_view field) {
  const std::string place = "permissions." + std::string(field);
  if (!json.is_array()) {
    return fail(ErrorKind::invalid, place + " is not a list of patterns",
                "write [\"tool\", \"tool(glob)\"]");
  }
  if (json.size() > kMaxPatterns) {
    return fail(ErrorKind::invalid,
                place + " has more than " + std::to_string(kMaxPatterns) + " patterns",
                "use globs");
  }
  std::vector<std::string> patterns;
  for (const Json& item : json.items()) {
    if (!item.is_string()) {
      return fail(ErrorKind::invalid, place + " has an item that is no text",
                  "write each pattern as \"tool\" or \"tool(glob)\"");
    }
    const Result<void> checked = check_pattern(item.as_string());
    if (!checked) return Failure(checked.error().within(place));
    patterns.emplace_back(item.as_string());
  }
  return patterns;
}

Json list_of(const std::vector<std::string>& patterns) {
  Json list = Json::array();
  for (const std::string& pattern : patterns) list.push_back(pattern);
  return list;
}

}  // namespace

std::string_view name_of(PermissionMode mode) noexcept {
  if (mode == PermissionMode::accept_edits) return "accept-edits";
  if (mode == PermissionMode::read_only) return "read-only";
  return enum_name(mode);
}
std::string_view name_of(HoldScope hold) noexcept { return enum_name(hold); }
std::string_view name_of(OnAsk what) noexcept { return enum_name(what); }

Result<PermissionMode> permission_mode_from(std::string_view name) {
  return value_from<PermissionMode>(name, "permission mode");
}

Result<void> check_pattern(std::string_view pattern) {
  TUG_TRY(read, read_pattern(pattern));
  return {};
}

Json to_json(const Permissions& permissions) {
  const Permissions usual;
  Json json = Json::object();
  if (permissions.mode != usual.mode) json.set("mode", name_of(permissions.mode));
  if (!permissions.allow.empty()) json.set("allow", list_of(permissions.allow));
  if (!permissions.ask.empty()) json.set("ask", list_of(permissions.ask));
  if (!permissions.deny.empty()) json.set("deny", list_of(permissions.deny));
  if (!permissions.ask_effects.empty()) {
    Json effects = Json::array();
    for (const Effect effect : permissions.ask_effects) effects.push_back(name_of(effect));
    json.set("ask_effects", std::move(effects));
  }
  if (permissions.hold != usual.hold) json.set("hold", name_of(permissions.hold));
  if (permissions.on_ask != usual.on_ask) json.set("on_ask", name_of(permissions.on_ask));
  return json;
}

Result<Permissions> permissions_from(const Json& json) {
  constexpr std::string_view kFields[] = {"mode", "allow",       "ask",   "deny",
                                          "hold", "ask_effects", "on_ask"};
  if (!json.is_object()) {
    return fail(ErrorKind::invalid, "permissions are not an object",
                "write {\"mode\": \"ask\", \"allow\": [..]}");
  }
  Permissions out;
  for (const Json::Member& member : json.members()) {
    const std::string_view field = member.key();
    const std::string place = "permissions." + std::string(field.substr(0, 100));
    const Json& value = member.value;
    if (field == "allow" || field == "ask" || field == "deny") {
      TUG_TRY(patterns, patterns_from(value, field));
      (field == "allow" ? out.allow : field == "ask" ? out.ask : out.deny) = std::move(patterns);
    } else if (field == "ask_effects") {
      if (!value.is_array() || value.size() > kMaxPatterns) {
        return fail(ErrorKind::invalid, place + " is not a list of effects",
                    "write [\"at_most_once\"]");
      }
      for (const Json& item : value.items()) {
        const Result<Effect> effect = value_from<Effect>(item.as_string(), "effect");
        if (!effect) return Failure(effect.error().within(place));
        out.ask_effects.push_back(*effect);
      }
    } else if (field == "mode") {
      const Result<PermissionMode> mode = permission_mode_from(value.as_string());
      if (!mode) return Failure(mode.error().within(place));
      out.mode = *mode;
    } else if (field == "hold") {
      const Result<HoldScope> hold = value_from<HoldScope>(value.as_string(), "scope of a hold");
      if (!hold) return Failure(hold.error().within(place));
      out.hold = *hold;
    } else if (field == "on_ask") {
      const Result<OnAsk> on_ask = value_from<OnAsk>(value.as_string(), "answer to a question");
      if (!on_ask) return Failure(on_ask.error().within(place));
      out.on_ask = *on_ask;
    } else {
      const std::string_view near = nearest_name(field, kFields);
      return fail(ErrorKind::invalid, "permissions have no field " + quoted(field),
                  near.empty() ? "they have mode, allow, ask, deny, ask_effects, hold, on_ask"
                               : "did you mean " + std::string(near) + "?");
    }
  }
  return out;
}

Judgement judge(const Permissions& permissions, std::span<const std::string> grants,
                const Tool& tool, const Json& args) {
  Call call(tool, args);
  const Effect effect = tool.spec().effect;
  const auto allow = [](bool by_choice) { return Judgement{Verdict::allow, {}, by_choice}; };
  const auto ask = [&call](std::string reason) {
    if (!call.doubt().empty()) reason += "; no pattern can allow it: " + call.doubt();
    return Judgement{Verdict::ask, std::move(reason), false};
  };

  const Found denied = find_any(permissions.deny, call);
  if (denied.match == Match::yes) {
    return {Verdict::deny, "the rule deny " + quoted(denied.pattern) + " forbids it", false};
  }
  if (permissions.mode == PermissionMode::read_only && effect != Effect::pure) {
    return {
        Verdict::deny,
        "the permission mode is read-only, and " + quoted(tool.name()) + " may change something",
        false};
  }
  if (denied.match == Match::maybe)
    return ask("the rule deny " + quoted(denied.pattern) + " may mean it");
  // Whoever granted it had been asked, so it stands above the rules that ask.
  if (covered(grants, call)) return allow(true);
  const Found asked = find_any(permissions.ask, call);
  if (asked.match == Match::yes) return ask("the rule ask " + quoted(asked.pattern) + " names it");
  if (asked.match == Match::maybe)
    return ask("the rule ask " + quoted(asked.pattern) + " may mean it");
  if (permissions.mode == PermissionMode::yolo) return allow(true);
  if (covered(permissions.allow, call)) return allow(true);
  if (asks_itself(tool, args)) return ask("the tool " + quoted(tool.name()) + " asks for approval");
  if (std::ranges::find(permissions.ask_effects, effect) != permissions.ask_effects.end())
    return ask("calls with the effect " + std::string(name_of(effect)) + " are asked about");
  const bool asks_by_effect =
      permissions.mode == PermissionMode::ask || permissions.mode == PermissionMode::accept_edits;
  if (!asks_by_effect || effect == Effect::pure) return allow(false);
  if (permissions.mode == PermissionMode::accept_edits && is_edit(tool)) return allow(true);
  return ask(quoted(tool.name()) + " may change something, and the permission mode is " +
             std::string(name_of(permissions.mode)));
}

Result<void> may_stand(const Tool& tool, const Json& args) {
  Call call(tool, args);
  if (call.doubt().empty()) return {};
  return fail(
      ErrorKind::denied,
      "an approval of this call of " + quoted(tool.name()) + " cannot stand: " + call.doubt(),
      "approve it once, or have the command itself called", Denied{tool.name(), "wrapper"});
}

Result<std::string> grant_for(const Tool& tool, const Json& args, std::string_view pattern) {
  TUG_TRY(stands, may_stand(tool, args));
  if (pattern.empty()) return tool.name();
  TUG_TRY(read, read_pattern(pattern));
  std::string grant(pattern);
  Call call(tool, args);
  if (covered(std::array{grant}, call)) return grant;
  if (read.tool != tool.name()) {
    return fail(
        ErrorKind::invalid,
        "the pattern " + quoted(pattern) + " is for another tool than " + quoted(tool.name()),
        "begin it with " + tool.name());
  }
  return fail(ErrorKind::invalid,
              "the pattern " + quoted(pattern) + " does not match the call it is given for",
              "it is matched against " + quoted(subject_of(tool, args)));
}

Digest approval_digest(std::string_view tool, const Json& args) {
  std::string bytes(tool);
  bytes += '\0';
  print_json(args, bytes);
  return sha256(bytes);
}

std::string subject_of(const Tool& tool, const Json& args) {
  Call call(tool, args);
  if (call.kind() == Subject::Kind::path) return call.path();
  if (call.kind() == Subject::Kind::arguments) return call.arguments();
  if (!call.command().unclear.empty()) return std::string(call.field());
  std::string out;
  const auto add = [&out](const std::string& line) {
    if (line.empty()) return;
    if (!out.empty()) out += '\n';
    out += line;
  };
  for (const SimpleCommand& command : call.command().commands) {
    add(command_text(command));
    for (const Redirection& redirection : command.redirections) add(redirection_text(redirection));
  }
  return out;
}

}  // namespace tug
