// A program outside the library: structs of every kind and place, no test framework.
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tug/core/codec.h"

namespace {

int failures = 0;

void expect(const std::string& got, std::string_view wanted) {
  if (got == wanted) return;
  ++failures;
  std::fprintf(stderr, "got    %s\nwanted %.*s\n", got.c_str(), static_cast<int>(wanted.size()),
               wanted.data());
}

enum class Unit : std::uint8_t { celsius, fahrenheit };
struct Account {
  std::string owner;
};
struct Circle {
  tug::Literal<"circle"> shape;
  double radius = 1;
};
struct Square {
  tug::Literal<"square"> shape;
  double side = 1;
};

}  // namespace

namespace outer::inner {

struct Nested {
  std::unique_ptr<Nested> next;
  std::vector<Nested> more;
};

struct Where {
  tug::Described<std::string, "The city, \"in English\""> city;
  std::optional<int> days;
  int limit = 10;
  bool deep = false;
  bool bare;
  Unit unit = Unit::celsius;
  std::map<Unit, std::array<int, 2>> ranges;
  std::variant<Circle, Square, std::string> area;
  tug::Injected<Account> account;
  static constexpr std::string_view description = "A place";
};

}  // namespace outer::inner

int main() {
  using outer::inner::Nested;
  using outer::inner::Where;
  expect(tug::print_json(tug::schema_of<Where>()["required"]),
         R"(["city","bare","ranges","area"])");
  expect(tug::print_json(tug::schema_of<Nested>()),
         R"({"type":"object","properties":{"next":{"$ref":"#"},"more":{"type":"array","items":)"
         R"({"$ref":"#"}}},"required":["more"],"additionalProperties":false})");

  const tug::Result<tug::Json> json = tug::parse_json(
      R"({"city":"Oslo","bare":true,"ranges":{"celsius":[1,2]},"area":{"shape":"square"}})");
  tug::Result<Where> where = tug::read_json<Where>(*json);
  if (!where) {
    expect(where.error().message(), "");
    return 1;
  }
  tug::for_each_injected(*where, [](std::string_view name, auto& field) {
    field = std::make_shared<const Account>(Account{std::string(name)});
  });
  expect(where->account->owner, "account");
  expect(where->city + "!", "Oslo!");
  expect(tug::print_json(tug::write_json(*where)),
         R"({"city":"Oslo","limit":10,"deep":false,"bare":true,"unit":"celsius","ranges":)"
         R"({"celsius":[1,2]},"area":{"shape":"square","side":1.0}})");

  struct Local {
    std::vector<std::uint8_t> bytes;
  };
  const auto local = tug::read_json<Local>(*tug::parse_json(R"({"bytes":[1,300]})"));
  expect(local ? "" : local.error().message(), "$.bytes[1]: 300 is out of range, 0 to 255");
  return failures == 0 ? 0 : 1;
}
