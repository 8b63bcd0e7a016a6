// Commands and policies as values: their JSON form, and what is refused on the way in.
#include <gtest/gtest.h>

#include "tug/agent/steering.h"

namespace tug {
namespace {

Json json_of(std::string_view text) { return parse_json(text).value(); }

std::string refusal(std::string_view text) {
  const auto command = steer_from(json_of(text));
  return command ? "taken: " + print_json(to_json(*command)) : to_string(command.error());
}

TEST(Steering, EveryCommandComesBackFromItsJsonForm) {
  const std::pair<Steer, const char*> cases[] = {
      {Steer::pause(), R"({"command":"pause"})"},
      {Steer::pause("lunch"), R"({"command":"pause","text":"lunch"})"},
      {Steer::resume(), R"({"command":"resume"})"},
      {Steer::cancel("enough"), R"({"command":"cancel","text":"enough"})"},
      {Steer::inject("Look again."), R"({"command":"inject","text":"Look again."})"},
      {Steer::redirect("Stop that."), R"({"command":"redirect","text":"Stop that."})"},
      {Steer::set_metadata(Json::object()), R"({"command":"set_metadata","metadata":{}})"},
      {Steer::set_metadata(Json::object({{"a", 1}})),
       R"({"command":"set_metadata","metadata":{"a":1}})"},
      {Steer::follow_up("Then this."), R"({"command":"follow_up","text":"Then this."})"},
  };
  for (const auto& [command, text] : cases) {
    EXPECT_EQ(print_json(to_json(command)), text);
    const auto back = steer_from(json_of(text));
    ASSERT_TRUE(back) << text << ": " << to_string(back.error());
    EXPECT_EQ(*back, command) << text;
  }
}

TEST(Steering, ARefusedCommandNamesTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"command":"inject"})", "$.text: inject needs words, and there are none"},
      {R"({"command":"redirect","text":" \n"})",
       "$.text: redirect needs words, and there are none"},
      {R"({"command":"follow_up","text":""})", "$.text: follow_up needs words, and there are none"},
      {R"({"command":"resume","text":"now"})", "$.text: resume takes no words"},
      {R"({"command":"set_metadata"})", "$.metadata: set_metadata needs an object"},
      {R"({"command":"set_metadata","metadata":[1]})", "$.metadata: expected an object"},
      {R"({"command":"set_metadata","metadata":{},"text":"x"})",
       "$.text: set_metadata takes no words"},
      {R"({"command":"pause","metadata":{}})", "$.metadata: pause takes none; set_metadata does"},
      {R"({"command":"paus"})",
       "$.command: \"paus\" is no command for a run; there are pause, resume, cancel, inject, "
       "redirect, set_metadata, follow_up (did you mean pause?)"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(text), message) << text;
  for (const char* text : {R"({})", R"({"command":1})", R"({"command":"pause","why":"x"})",
                           R"({"command":"inject","text":[]})", R"("pause")", R"([])", "null"}) {
    EXPECT_NE(refusal(text).find('$'), std::string::npos) << text << ": " << refusal(text);
  }
}

TEST(Steering, TextIsTakenUpToItsCapAndNotBeyond) {
  Steer command = Steer::inject(std::string(kMaxSteerText, 'x'));
  EXPECT_TRUE(steer_from(to_json(command)));
  command.text += 'x';
  const auto beyond = steer_from(to_json(command));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind(), ErrorKind::invalid);
  EXPECT_EQ(beyond.error().message(),
            "$.text: 1048577 bytes are more than the 1048576 that a command may carry");
}

TEST(Steering, APolicyPermitsWhatItNamesAndNothingByDefault) {
  EXPECT_TRUE(SteeringPolicy().empty());
  EXPECT_EQ(print_json(to_json(SteeringPolicy())), "[]");
  const SteeringPolicy some{SteerKind::inject, SteerKind::pause};
  EXPECT_EQ(some.kinds(), (std::vector{SteerKind::pause, SteerKind::inject}));
  EXPECT_EQ(print_json(to_json(some)), R"(["pause","inject"])");
  EXPECT_FALSE(some.permits(SteerKind::cancel));
  EXPECT_EQ(steering_policy_from(to_json(some)), some);
  const SteeringPolicy all = SteeringPolicy::allow_all();
  EXPECT_EQ(all.kinds().size(), 7u);
  for (SteerKind kind : all.kinds()) {
    EXPECT_TRUE(all.permits(kind));
    EXPECT_EQ(steer_kind_from(name_of(kind)), kind);
  }
  EXPECT_EQ(steering_policy_from(to_json(all)), all);
  EXPECT_EQ(steering_policy_from(Json::array()), SteeringPolicy());
}

TEST(Steering, ARefusedPolicyNamesTheEntry) {
  const auto message = [](std::string_view text) {
    return steering_policy_from(json_of(text)).error().message();
  };
  EXPECT_EQ(message(R"({"pause":true})"), "$.steering: expected a list of commands");
  EXPECT_EQ(message("null"), "$.steering: expected a list of commands");
  EXPECT_EQ(message(R"(["pause",3])"), "$.steering[1]: expected the name of a command");
  EXPECT_EQ(message(R"(["stop"])"),
            "$.steering[0]: \"stop\" is no command for a run; there are pause, resume, cancel, "
            "inject, redirect, set_metadata, follow_up");
}

}  // namespace
}  // namespace tug
