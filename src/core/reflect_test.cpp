#include "tug/core/reflect.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tug/core/codec.h"

namespace tug {
namespace {

enum class Unit { celsius, fahrenheit };
struct Address {
  std::string street;
};

struct Described_ {
  Described<std::string, "a name"> name = "Ann";
  Described<int, "a number"> number = 3;
  Described<std::optional<int>, "perhaps"> perhaps;
  Described<std::vector<std::string>, "some"> some = {"a", "b"};
  Described<Unit, "unit"> unit = Unit::celsius;
  Described<Address, "where"> where;
};

TEST(Described, BehavesLikeWhatItDescribes) {
  Described_ all{.name = "Bob", .perhaps = 4, .where = Address{"Main"}};
  EXPECT_EQ(all.name.size(), 3u);
  EXPECT_EQ(all.name + "!", "Bob!");
  EXPECT_EQ(all.name, "Bob");
  all.name = "Carol";
  all.name += "e";
  const std::string plain = all.name;
  EXPECT_EQ(plain, "Carole");

  EXPECT_EQ(all.number, 3);
  EXPECT_EQ(all.number * 2 + 1, 7);
  ++all.number;
  all.number += 10;
  EXPECT_EQ(all.number, 14);
  all.number = 5;
  int& reference = all.number;
  reference = 6;
  EXPECT_EQ(all.number, 6);

  EXPECT_TRUE(all.perhaps);
  EXPECT_EQ(*all.perhaps, 4);
  EXPECT_EQ(all.perhaps, 4);
  all.perhaps = std::nullopt;
  EXPECT_FALSE(all.perhaps.has_value());

  std::string joined;
  for (const std::string& text : all.some) joined += text;
  EXPECT_EQ(joined, "ab");

  EXPECT_EQ(all.unit, Unit::celsius);
  switch (all.unit) {
    case Unit::celsius:
      break;
    case Unit::fahrenheit:
      FAIL();
  }
  EXPECT_EQ(all.where.street, "Main");
}

struct Account {
  std::string owner;
};
struct Session {
  Injected<Account> account;
  int attempts = 0;
};
struct Transfer {
  int amount;
  Injected<Account> from;
  Session session;
  Described<Session, "another"> other;
};

TEST(Injected, FieldsAreFoundByNameAlsoInStructsHeldByValue) {
  Transfer transfer{};
  std::vector<std::string> names;
  for_each_injected(transfer, [&](std::string_view name, auto& field) {
    names.emplace_back(name);
    field = std::make_shared<const Account>(Account{"owner " + std::to_string(names.size())});
  });
  EXPECT_EQ(names, (std::vector<std::string>{"from", "account", "account"}));
  EXPECT_EQ(transfer.from->owner, "owner 1");
  EXPECT_EQ((*transfer.session.account).owner, "owner 2");
  EXPECT_EQ(transfer.other.account.shared()->owner, "owner 3");
}

class Elsewhere;  // only declared here
struct Loose {
  Injected<Elsewhere> elsewhere;
  int number;
};

TEST(Injected, TheTypeNeedNotBeDefinedWhereTheStructIs) {
  EXPECT_EQ(read_json<Loose>(Json::object({{"number", 3}}))->number, 3);
}

TEST(Injected, IsEmptyUntilSet) {
  Injected<Account> field;
  EXPECT_FALSE(field);
  EXPECT_EQ(field.get(), nullptr);
}

TEST(Injected, AStructWithoutSuchFieldsHasNoneToVisit) {
  Address address;
  for_each_injected(address, [](std::string_view, auto&) { FAIL(); });
}

}  // namespace
}  // namespace tug
