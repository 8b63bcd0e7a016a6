#include "tug/tools/permissions.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tools/permission_pattern.h"
#include "tug/tools/tool.h"

namespace tug {
namespace {

using Verdict = Judgement::Verdict;

ToolPtr made(std::string name, ToolOptions options = {}) {
  ToolSpec spec = tool_spec(std::move(name), "a tool", Json::object({{"type", "object"}}), options);
  JsonPoolHandler handler = [](const Json&, Invocation&) -> Result<ToolResult> {
    return ToolResult::text("done");
  };
  return make_tool(std::move(spec), std::move(handler), options.checks).value();
}
ToolPtr shell() {
  return made("shell", {.subject = {.kind = Subject::Kind::command, .field = "command"}});
}
ToolPtr reader(std::function<std::string(const std::string&)> resolve = {}) {
  return made("read", {.effect = Effect::pure,
                       .checks = {.resolve_path = std::move(resolve)},
                       .subject = {.kind = Subject::Kind::path, .field = "path"}});
}
Json command(std::string_view text) { return Json::object({{"command", Json(text)}}); }
Json path(std::string_view text) { return Json::object({{"path", Json(text)}}); }

// "allow", "allow by choice", "ask" or "deny".
std::string verdict(const Permissions& permissions, const Tool& tool, const Json& args,
                    const std::vector<std::string>& grants = {}) {
  const Judgement judged = judge(permissions, grants, tool, args);
  EXPECT_EQ(judged.reason.empty(), judged.verdict == Verdict::allow);
  if (judged.verdict == Verdict::ask) return "ask";
  if (judged.verdict == Verdict::deny) return "deny";
  return judged.by_choice ? "allow by choice" : "allow";
}

TEST(Permissions, GlobsMatchPathsByName) {
  struct Case {
    std::string_view glob, text;
    bool matches;
  };
  const Case cases[] = {
      {"a", "a", true},
      {"a", "b", false},
      {"a", "ab", false},
      {"*", "a", true},
      {"*", "a/b", false},
      {"**", "a/b", true},
      {"src/*", "src/a", true},
      {"src/*", "src/a/b", false},
      {"src/**", "src/a/b", true},
      {"src/**", "src", false},
      {"src/**", "srcs/a", false},
      {"**/a", "a", true},
      {"**/a", "x/y/a", true},
      {"**/a", "xa", false},
      {"x/**/a", "x/a", true},
      {"x/**/a", "x/y/z/a", true},
      {"x/**/a", "xy/a", false},
      {"**/**/a", "a", true},
      {"**/.env", ".env", true},
      {"*.txt", ".txt", true},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a?", "a\xc3\xa4", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"a\\\\b", "a\\b", true},
      {"a**b", "a/x/b", true},
      {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(glob_matches(one.glob, one.text, GlobText::path), one.matches)
        << one.glob << " " << one.text;
  }
  EXPECT_TRUE(glob_matches("*", "a/b", GlobText::flat));
  EXPECT_TRUE(glob_matches("git *", "git diff a/b", GlobText::flat));
  EXPECT_FALSE(glob_matches("git *", "git", GlobText::flat));
  EXPECT_TRUE(glob_matches("a?b", "a/b", GlobText::flat));
}

TEST(Permissions, APatternThatCannotBeReadSaysWhyAndWhatToDo) {
  const std::pair<std::string, std::string> cases[] = {
      {"",
       "the pattern \"\" does not begin with the name of a tool (write tool or tool(glob), such "
       "as read or read(docs/**))"},
      {"*",
       "the pattern \"*\" does not begin with the name of a tool (write tool or tool(glob), "
       "such as read or read(docs/**))"},
      {"(a)",
       "the pattern \"(a)\" does not begin with the name of a tool (write tool or tool(glob), "
       "such as read or read(docs/**))"},
      {"read(", "the pattern \"read(\" has a ( without ) at its end (close it)"},
      {"read(a) b", "the pattern \"read(a) b\" has a ( without ) at its end (close it)"},
      {"read()",
       "the pattern \"read()\" has nothing between its parentheses (leave them out for "
       "every call of the tool)"},
      {"read(a\\)", "the pattern \"read(a\\)\" ends in a backslash (write \\\\ for one)"},
      {"read(a\x1b[2J)", "the pattern \"read(a\\u001b[2J)\" has a control character (remove it)"},
  };
  for (const auto& [pattern, error] : cases) {
    const Result<void> checked = check_pattern(pattern);
    ASSERT_FALSE(checked) << pattern;
    EXPECT_EQ(checked.error().kind(), ErrorKind::invalid);
    EXPECT_EQ(to_string(checked.error()), error);
  }
  EXPECT_FALSE(check_pattern("read(" + std::string(2000, 'a') + ")"));
  for (const char* good : {"read", "read(a)", "shell(git *)", "shell(echo (a))", "mcp.x-y_z(**)"})
    EXPECT_TRUE(check_pattern(good)) << good;
}

TEST(Permissions, HaveALosslessJsonForm) {
  EXPECT_EQ(print_json(to_json(Permissions{})), "{}");
  EXPECT_EQ(permissions_from(Json::object()).value(), Permissions{});
  const Permissions all{.mode = PermissionMode::accept_edits,
                        .allow = {"read", "shell(git *)"},
                        .ask = {"write"},
                        .deny = {"read(**/.env)"},
                        .ask_effects = {Effect::at_most_once, Effect::probed},
                        .hold = HoldScope::call,
                        .on_ask = OnAsk::wait};
  EXPECT_EQ(print_json(to_json(all)),
            R"j({"mode":"accept-edits","allow":["read","shell(git *)"],"ask":["write"],)j"
            R"j("deny":["read(**/.env)"],"ask_effects":["at_most_once","probed"],"hold":"call",)j"
            R"j("on_ask":"wait"})j");
  EXPECT_EQ(permissions_from(to_json(all)).value(), all);
  for (const PermissionMode mode :
       {PermissionMode::declared, PermissionMode::ask, PermissionMode::accept_edits,
        PermissionMode::read_only, PermissionMode::yolo}) {
    EXPECT_EQ(permission_mode_from(name_of(mode)).value(), mode);
  }
}

TEST(Permissions, WrongJsonNamesTheField) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "permissions are not an object (write {\"mode\": \"ask\", \"allow\": [..]})"},
      {R"({"mod":"ask"})", "permissions have no field \"mod\" (did you mean mode?)"},
      {R"({"zzz":1})",
       "permissions have no field \"zzz\" (they have mode, allow, ask, deny, ask_effects, hold, "
       "on_ask)"},
      {R"({"mode":"yol"})", "permissions.mode: \"yol\" is no permission mode (did you mean yolo?)"},
      {R"({"mode":7})",
       "permissions.mode: \"\" is no permission mode (it is one of declared, ask, accept-edits, "
       "read-only, yolo)"},
      {R"({"allow":"read"})",
       "permissions.allow is not a list of patterns (write [\"tool\", \"tool(glob)\"])"},
      {R"({"deny":["read(a"]})",
       "permissions.deny: the pattern \"read(a\" has a ( without ) at its end (close it)"},
      {R"({"ask":[1]})",
       "permissions.ask has an item that is no text (write each pattern as \"tool\" or "
       "\"tool(glob)\")"},
      {R"({"ask_effects":["pur"]})",
       "permissions.ask_effects: \"pur\" is no effect (did you mean pure?)"},
      {R"({"hold":"all"})", "permissions.hold: \"all\" is no scope of a hold (did you mean call?)"},
      {R"({"on_ask":"x"})",
       "permissions.on_ask: \"x\" is no answer to a question (it is one of park, deny, wait)"},
  };
  for (const auto& [text, error] : cases) {
    const Result<Permissions> read = permissions_from(parse_json(text).value());
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind(), ErrorKind::invalid);
    EXPECT_EQ(to_string(read.error()), error);
  }
  Json many = Json::array();
  for (int i = 0; i < 1001; ++i) many.push_back("read");
  EXPECT_FALSE(permissions_from(Json::object({{"allow", many}})));
}

// Every mode with every effect, with and without a tool that asks by itself, under every mixture of
// rules: against the order in which the rules are said to count.
TEST(Permissions, ModeEffectToolAndRulesDecideInTheirOrder) {
  const Effect effects[] = {Effect::pure, Effect::idempotent, Effect::probed, Effect::at_most_once};
  const PermissionMode modes[] = {PermissionMode::declared, PermissionMode::ask,
                                  PermissionMode::accept_edits, PermissionMode::read_only,
                                  PermissionMode::yolo};
  int seen = 0;
  for (const PermissionMode mode : modes) {
    for (const Effect effect : effects) {
      for (unsigned bits = 0; bits < 128; ++bits) {
        const bool asks_itself = bits & 1, allowed = bits & 2, asked = bits & 4, denied = bits & 8,
                   granted = bits & 16, edits = bits & 32, asks_effect = bits & 64;
        ToolOptions options{.effect = effect, .requires_approval = asks_itself};
        if (edits) options.tags = {"edit"};
        const ToolPtr tool = made("t", options);
        Permissions permissions{.mode = mode};
        if (allowed) permissions.allow = {"t"};
        if (asked) permissions.ask = {"t"};
        if (denied) permissions.deny = {"t"};
        if (asks_effect) permissions.ask_effects = {effect};
        const bool pure = effect == Effect::pure;

        std::string expected = "allow";
        if (denied) {
          expected = "deny";
        } else if (mode == PermissionMode::read_only && !pure) {
          expected = "deny";
        } else if (granted) {
          expected = "allow by choice";
        } else if (asked) {
          expected = "ask";
        } else if (mode == PermissionMode::yolo || allowed) {
          expected = "allow by choice";
        } else if (asks_itself || asks_effect) {
          expected = "ask";
        } else if (!pure && mode == PermissionMode::ask) {
          expected = "ask";
        } else if (!pure && mode == PermissionMode::accept_edits) {
          expected = edits ? "allow by choice" : "ask";
        }
        const std::vector<std::string> grants =
            granted ? std::vector<std::string>{"t"} : std::vector<std::string>{};
        EXPECT_EQ(verdict(permissions, *tool, Json::object(), grants), expected)
            << name_of(mode) << " " << name_of(effect) << " " << bits;
        ++seen;
      }
    }
  }
  EXPECT_EQ(seen, 5 * 4 * 128);
}

TEST(Permissions, RulesForOtherToolsMeanNothing) {
  const ToolPtr tool = made("t");
  const Permissions others{.allow = {"tt", "T", "t2(x)"}, .ask = {"tt"}, .deny = {"tt", "s(**)"}};
  EXPECT_EQ(verdict(others, *tool, Json::object()), "allow");
}

TEST(Permissions, ReasonsNameTheRule) {
  const ToolPtr tool = made("t", {.requires_approval = true});
  const auto reason = [&](const Permissions& permissions) {
    return judge(permissions, {}, *tool, Json::object()).reason;
  };
  EXPECT_EQ(reason({.deny = {"x", "t"}}), "the rule deny \"t\" forbids it");
  EXPECT_EQ(reason({.mode = PermissionMode::read_only}),
            "the permission mode is read-only, and \"t\" may change something");
  EXPECT_EQ(reason({.ask = {"t(**)"}}), "the rule ask \"t(**)\" names it");
  EXPECT_EQ(reason({}), "the tool \"t\" asks for approval");
  EXPECT_EQ(judge({.mode = PermissionMode::ask}, {}, *made("t"), Json::object()).reason,
            "\"t\" may change something, and the permission mode is ask");
  EXPECT_EQ(judge({.ask_effects = {Effect::at_most_once}}, {}, *made("t"), Json::object()).reason,
            "calls with the effect at_most_once are asked about");
}

TEST(Permissions, APredicateOfTheToolDecidesByArguments) {
  const ToolPtr tool =
      made("pay", {.effect = Effect::pure, .checks = {.approve_when = [](const Json& args) {
                                             const auto amount = args["amount"].as_int();
                                             if (!amount) throw std::runtime_error("no amount");
                                             return *amount > 100;
                                           }}});
  EXPECT_EQ(verdict({}, *tool, Json::object({{"amount", 100}})), "allow");
  EXPECT_EQ(verdict({}, *tool, Json::object({{"amount", 101}})), "ask");
  EXPECT_EQ(verdict({}, *tool, Json::object()), "ask");
  EXPECT_EQ(verdict({.mode = PermissionMode::yolo}, *tool, Json::object()), "allow by choice");
}

TEST(Permissions, ArgumentsAreMatchedAsJson) {
  const ToolPtr tool = made("t");
  const Json args = Json::object({{"city", "Oslo"}, {"days", 3}});
  EXPECT_EQ(subject_of(*tool, args), R"({"city":"Oslo","days":3})");
  EXPECT_EQ(verdict({.deny = {R"(t({"city":"Oslo"*))"}}, *tool, args), "deny");
  EXPECT_EQ(verdict({.deny = {R"(t({"city":"Rome"*))"}}, *tool, args), "allow");
  EXPECT_EQ(verdict({.mode = PermissionMode::ask, .allow = {"t(*\"days\":3})"}}, *tool, args),
            "allow by choice");
}

TEST(Permissions, PathsAreMatchedAsTheyAreResolved) {
  const ToolPtr tool = reader([](const std::string& given) -> std::string {
    if (given == "throws") throw std::runtime_error("no");
    if (given == "link") return "secrets/key";
    return given.starts_with("./") ? given.substr(2) : given;
  });
  const Permissions rules{
      .mode = PermissionMode::ask, .ask = {"read(docs/private/**)"}, .deny = {"read(secrets/**)"}};
  EXPECT_EQ(verdict(rules, *tool, path("a")), "allow");
  EXPECT_EQ(verdict(rules, *tool, path("./secrets/key")), "deny");
  EXPECT_EQ(verdict(rules, *tool, path("link")), "deny");
  EXPECT_EQ(verdict(rules, *tool, path("docs/private/a")), "ask");
  EXPECT_EQ(verdict(rules, *tool, path("throws")), "allow");
  // A rule that forbids what is written counts as well as one that forbids what it leads to; one
  // that allows counts for what it leads to alone.
  EXPECT_EQ(verdict({.deny = {"read(link)"}}, *tool, path("link")), "deny");
  const Permissions open{.ask = {"read(x)"}, .ask_effects = {Effect::pure}};
  EXPECT_EQ(verdict(open, *tool, path("link"), {"read(link)"}), "ask");
  EXPECT_EQ(verdict(open, *tool, path("link"), {"read(secrets/*)"}), "allow by choice");
  EXPECT_EQ(subject_of(*tool, path("link")), "secrets/key");
  EXPECT_EQ(subject_of(*reader(), path("link")), "link");
}

TEST(Permissions, APathThatIsLeftOutIsTheDefaultOfTheSchema) {
  ToolSpec spec = tool_spec(
      "list", "lists",
      parse_json(R"({"type":"object","properties":{"path":{"type":"string","default":"."}}})")
          .value(),
      {.effect = Effect::pure, .subject = {.kind = Subject::Kind::path, .field = "path"}});
  const ToolPtr tool =
      make_tool(std::move(spec),
                JsonPoolHandler([](const Json&, Invocation&) -> Result<ToolResult> {
                  return ToolResult::text("done");
                }))
          .value();
  EXPECT_EQ(subject_of(*tool, Json::object()), ".");
  EXPECT_EQ(verdict({.deny = {"list(.)"}}, *tool, Json::object()), "deny");
}

TEST(Permissions, APathIsLookedUpOnlyForARuleWithAGlob) {
  int looked = 0;
  const ToolPtr tool = reader([&looked](const std::string& given) {
    ++looked;
    return given;
  });
  EXPECT_EQ(verdict({.mode = PermissionMode::ask, .deny = {"write(x)"}}, *tool, path("a")),
            "allow");
  EXPECT_EQ(verdict({.ask = {"read"}}, *tool, path("a"), {"read"}), "allow by choice");
  EXPECT_EQ(looked, 0);
  EXPECT_EQ(verdict({.ask = {"read(b)"}, .deny = {"read(c)"}}, *tool, path("a")), "allow");
  EXPECT_EQ(looked, 1);
}

TEST(Permissions, EveryPartOfACommandMustBeAllowed) {
  const ToolPtr tool = shell();
  const Permissions rules{.mode = PermissionMode::ask,
                          .allow = {"shell(git status)", "shell(git log *)", "shell(ls*)",
                                    "shell(> build/*)", "shell(A=? make)"}};
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"git status", "allow by choice"},
      {"git  'status'", "allow by choice"},
      {"git status && ls -l | ls", "allow by choice"},
      {"git status; rm x", "ask"},
      {"git status\nrm x", "ask"},
      {"git status & rm x", "ask"},
      {"(git status; rm x)", "ask"},
      {"git status #; rm x", "allow by choice"},
      {"git log -n 5 2>/dev/null", "allow by choice"},
      {"git log -n 5 > build/log", "allow by choice"},
      {"git log -n 5 > build/../x", "ask"},
      {"git log -n 5 > build/a/b", "ask"},
      {"git log -n 5 > /etc/passwd", "ask"},
      {"> build/log", "allow by choice"},
      {"git log $(rm x)", "ask"},
      {"git log `rm x`", "ask"},
      {"git log $X", "ask"},
      {"git log *", "ask"},
      {"git log -n 5 <<E\n$(rm x)\nE", "ask"},
      {"ls -l <<E\nrm x\nE", "allow by choice"},
      {"'git status'", "ask"},
      {"X=1 git status", "ask"},
      {"A=1 make", "allow by choice"},
      {"LD_PRELOAD=x git status", "ask"},
      {"", "ask"},
      {"git status '", "ask"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(verdict(rules, *tool, command(text)), expected) << text;
  EXPECT_EQ(verdict(rules, *tool, Json::object()), "ask");
  EXPECT_EQ(verdict(rules, *tool, Json::object({{"command", 7}})), "ask");
  EXPECT_EQ(subject_of(*tool, command("git  'status'&& ls >a/../b")), "git status\nls\n> b");
  EXPECT_EQ(subject_of(*tool, command("ls $X")), "ls $X");
}

TEST(Permissions, WrappersAreAllowedByNoPatternAndNoGrant) {
  const ToolPtr tool = shell();
  const std::string_view wrappers[] = {
      "sh -c 'git status'", "env git status",    "/usr/bin/env git status", "\"e\"nv git status",
      "\\env git status",   "xargs git",         "find . -exec ls ';'",     "git status; sudo ls",
      "python -c 'x'",      "timeout 5 git log", "eval 'git status'",       "git $X"};
  const Permissions rules{.mode = PermissionMode::ask, .allow = {"shell", "shell(**)"}};
  for (const std::string_view text : wrappers) {
    const Json args = command(text);
    EXPECT_EQ(verdict(rules, *tool, args, {"shell", "shell(**)"}), "ask") << text;
    const Result<void> stands = may_stand(*tool, args);
    ASSERT_FALSE(stands) << text;
    EXPECT_EQ(stands.error().kind(), ErrorKind::denied);
    const Result<std::string> grant = grant_for(*tool, args, "shell(**)");
    ASSERT_FALSE(grant) << text;
    EXPECT_EQ(grant.error().kind(), ErrorKind::denied);
  }
  EXPECT_EQ(
      to_string(may_stand(*tool, command("/usr/bin/env ls")).error()),
      "an approval of this call of \"shell\" cannot stand: `env` runs another command (approve "
      "it once, or have the command itself called)");
  EXPECT_EQ(judge(rules, {}, *tool, command("env ls")).reason,
            "\"shell\" may change something, and the permission mode is ask; no pattern can allow "
            "it: `env` runs another command");
}

TEST(Permissions, ARuleThatForbidsACommandIsNotTalkedRound) {
  const ToolPtr tool = shell();
  const Permissions rules{.mode = PermissionMode::yolo,
                          .deny = {"shell(rm *)", "shell(> /etc/**)"}};
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"ls", "allow by choice"},
      {"rm x", "deny"},
      {"/bin/rm x", "deny"},
      {"\\rm x", "deny"},
      {"r'm' x", "deny"},
      {"A=1 rm x", "deny"},
      {"ls && rm x", "deny"},
      {"if true; then rm x; fi", "deny"},
      {"echo $(rm x)", "deny"},
      {"echo \"`rm x`\"", "deny"},
      {"cat <<E\n$(rm x)\nE", "deny"},
      {"sudo rm x", "deny"},
      {"env A=1 /bin/rm x", "deny"},
      {"sh -c 'ls; rm x'", "deny"},
      {"sh -c \"bash -c 'rm x'\"", "deny"},
      {"find . -exec rm x ';'", "deny"},
      {"echo x > /etc/passwd", "deny"},
      {"echo x > /tmp/../etc/passwd", "deny"},
      // What may come to the same is asked about, whatever the mode.
      {"xargs rm", "ask"},
      {"$X y", "ask"},
      {"/bin/r? x", "ask"},
      {"sh -c \"$X\"", "ask"},
      {"python -c 'import os'", "ask"},
      {"echo rm x", "allow by choice"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(verdict(rules, *tool, command(text)), expected) << text;
  // A grant does not lift what may be forbidden.
  EXPECT_EQ(verdict(rules, *tool, command("xargs rm"), {"shell"}), "ask");
  EXPECT_EQ(verdict({.mode = PermissionMode::yolo, .ask = {"shell(rm *)"}}, *tool, command("$X y")),
            "ask");
  EXPECT_EQ(verdict({.mode = PermissionMode::yolo}, *tool, command("sh -c 'rm x'")),
            "allow by choice");
}

TEST(Permissions, ADenyRuleHoldsHoweverManyCommandsThereAre) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "true; ";
  const Permissions rules{.mode = PermissionMode::yolo, .deny = {"shell(rm *)"}};
  EXPECT_EQ(verdict(rules, *shell(), command(text + "rm x")), "ask");
  EXPECT_EQ(verdict(rules, *shell(), command("rm x; " + text)), "deny");
  std::string wrapped = "env";
  for (int i = 0; i < 400; ++i) wrapped += " A=1";
  EXPECT_EQ(verdict(rules, *shell(), command(wrapped + " rm x")), "ask");
}

TEST(Permissions, APatternThatCannotBeReadNeverOpensAnything) {
  const ToolPtr tool = made("t");
  EXPECT_EQ(verdict({.mode = PermissionMode::ask, .allow = {"t(", ""}}, *tool, Json::object()),
            "ask");
  EXPECT_EQ(verdict({.deny = {"t("}}, *tool, Json::object()), "ask");
  EXPECT_EQ(verdict({.ask = {"t("}}, *tool, Json::object()), "ask");
}

TEST(Permissions, AGrantMustMatchTheCallItIsGivenFor) {
  const ToolPtr tool = reader();
  EXPECT_EQ(grant_for(*tool, path("docs/a")).value(), "read");
  EXPECT_EQ(grant_for(*tool, path("docs/a"), "read(docs/*)").value(), "read(docs/*)");
  const std::pair<std::string, std::string> cases[] = {
      {"read(src/*)",
       "the pattern \"read(src/*)\" does not match the call it is given for (it is matched against "
       "\"docs/a\")"},
      {"list(docs/*)",
       "the pattern \"list(docs/*)\" is for another tool than \"read\" (begin it with read)"},
      {"read(", "the pattern \"read(\" has a ( without ) at its end (close it)"},
  };
  for (const auto& [pattern, error] : cases) {
    const Result<std::string> grant = grant_for(*tool, path("docs/a"), pattern);
    ASSERT_FALSE(grant) << pattern;
    EXPECT_EQ(grant.error().kind(), ErrorKind::invalid);
    EXPECT_EQ(to_string(grant.error()), error);
  }
  EXPECT_EQ(grant_for(*shell(), command("git add a && git add b"), "shell(git add *)").value(),
            "shell(git add *)");
  EXPECT_FALSE(grant_for(*shell(), command("git add a && ls"), "shell(git add *)"));
}

TEST(Permissions, AnApprovalIsBoundToToolAndBytes) {
  const Json args = Json::object({{"path", "a"}, {"n", 1}});
  EXPECT_EQ(approval_digest("read", args),
            sha256(std::string("read") + '\0' + R"({"path":"a","n":1})"));
  EXPECT_NE(approval_digest("read", args), approval_digest("rea", args));
  EXPECT_NE(approval_digest("read", args),
            approval_digest("read", Json::object({{"n", 1}, {"path", "a"}})));
  EXPECT_NE(approval_digest("read", args),
            approval_digest("read", Json::object({{"path", "a"}, {"n", 1.0}})));
}

TEST(Permissions, LongArgumentsAreMatchedInReasonableTime) {
  const ToolPtr tool = made("t");
  const Json args = Json::object({{"text", std::string(4u << 20, 'a')}});
  EXPECT_EQ(verdict({.deny = {"t(*a*a*a*b*)"}}, *tool, args), "allow");
}

}  // namespace
}  // namespace tug
