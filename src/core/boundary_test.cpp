#include "tug/core/boundary.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

TEST(Boundary, ReadsBackFromItsJson) {
  for (BoundaryType type :
       {BoundaryType::compact, BoundaryType::microcompact, BoundaryType::snip}) {
    const Boundary boundary{.type = type,
                            .from = 3,
                            .to = 9,
                            .replacement = {Message::user("summary")},
                            .before_tokens = 100,
                            .after_tokens = 10,
                            .reason = "too long"};
    auto back = boundary_from_json(to_json(boundary));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, boundary);
  }
}

TEST(Boundary, IsRefusedWithoutATypeOrAPlace) {
  const Json ok =
      Json::object({{"type", "snip"}, {"covers", Json::object({{"from", 0}, {"to", 1}})}});
  EXPECT_TRUE(boundary_from_json(ok));
  for (const char* missing : {"type", "covers"}) {
    Json json = ok;
    json.erase(missing);
    EXPECT_FALSE(boundary_from_json(json)) << missing;
  }
  for (const char* missing : {"from", "to"}) {
    Json json = ok;
    json.edit("covers").erase(missing);
    EXPECT_FALSE(boundary_from_json(json)) << missing;
  }
  Json unknown = ok;
  unknown.set("type", "melt");
  EXPECT_FALSE(boundary_from_json(unknown));
  Json broken = ok;
  broken.set("replacement", Json::array({Json::object({{"role", "nobody"}})}));
  EXPECT_FALSE(boundary_from_json(broken));
}

TEST(Boundary, DiffersInEveryField) {
  const Boundary one{.to = 1, .replacement = {Message::user("a")}};
  EXPECT_EQ(one, (Boundary{.to = 1, .replacement = {Message::user("a")}})) << "messages by value";
  EXPECT_NE(one, (Boundary{.to = 1, .replacement = {Message::user("b")}}));
  EXPECT_NE(one, (Boundary{.to = 1}));
  EXPECT_NE(one, (Boundary{.to = 2, .replacement = one.replacement}));
}

}  // namespace
}  // namespace tug
