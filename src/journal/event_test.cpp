#include "tug/journal/event.h"

#include <gtest/gtest.h>

#include <set>

#include "tug/journal/record.h"

namespace tug {
namespace {

LineagePtr somebody() {
  return std::make_shared<const Lineage>(
      Lineage{RunId("r2"), ThreadId("t1"), RunId("r1"), RunId("r1"), CallId("3.0"), 1, "helper"});
}

class NoBlobs final : public BlobSource {
 public:
  Result<std::string> blob(const Digest&) override {
    return fail(ErrorKind::invalid, "no blobs here");
  }
};

class OneBlob final : public BlobSource {
 public:
  explicit OneBlob(Blob blob) : blob_(std::move(blob)) {}
  Result<std::string> blob(const Digest& digest) override {
    if (digest == blob_.digest) return blob_.bytes;
    return fail(ErrorKind::invalid, "another blob");
  }

 private:
  Blob blob_;
};

Record record_of(const Event& event, std::string body) {
  return {.seq = 7, .who = event.who, .ts = event.ts, .body = std::move(body)};
}

TEST(Kind, NamesAreThoseOfTheContractAndReadBack) {
  EXPECT_EQ(all_kinds().size(), 64u);
  std::set<std::string_view> names;
  for (Kind kind : all_kinds()) {
    EXPECT_EQ(kind_from(name_of(kind)), kind) << name_of(kind);
    EXPECT_TRUE(names.insert(name_of(kind)).second) << name_of(kind);
  }
  EXPECT_EQ(name_of(Kind::tool_outcome_unknown), "tool.outcome_unknown");
  EXPECT_EQ(kind_from("graph.node_started"), Kind::other);
}

TEST(Event, ALineHasTheFieldsOfTheContractInOrder) {
  Event record{.kind = Kind::tool_started,
               .seq = 4,
               .turn = 2,
               .ts = Time(std::chrono::milliseconds(1'700'000'000'123)),
               .who = somebody(),
               .data = Json::object({{"tool", "read"}})};
  EXPECT_EQ(
      to_line(record),
      R"({"seq":4,"ts":"2023-11-14T22:13:20.123Z","kind":"tool.started","run_id":"r2","parent_run_id":"r1",)"
      R"("parent_call_id":"3.0","root_run_id":"r1","thread_id":"t1","depth":1,"agent":"helper","turn":2,)"
      R"("data":{"tool":"read"}})");
  Event live{.kind = Kind::model_delta, .seq = 4, .live = 3, .who = somebody()};
  auto json = parse_json(to_line(live)).value();
  EXPECT_EQ(json["live"].as_int(), 3);
  EXPECT_TRUE(json["data"].is_object());
}

TEST(Event, ARootHasNoParent) {
  auto root =
      std::make_shared<const Lineage>(Lineage{.run_id = RunId("r"), .root_run_id = RunId("r")});
  auto json = parse_json(to_line({.kind = Kind::run_started, .seq = 1, .who = root})).value();
  EXPECT_TRUE(json["parent_run_id"].is_null());
  EXPECT_TRUE(json["parent_call_id"].is_null());
  EXPECT_EQ(json["depth"].as_int(), 0);
}

TEST(Record, AnEventComesBackWithItsMessage) {
  for (Json data : {Json(), Json::object({{"call", "1"}})}) {
    Event event{.kind = Kind::model_completed,
                .turn = 3,
                .ts = Time(Duration(5)),
                .who = somebody(),
                .data = data,
                .message = Message::assistant("hello \xe2\x82\xac")};
    Encoded encoded = encode(event);
    EXPECT_EQ(encoded.blob, nullptr);
    NoBlobs none;
    Event back = decode(record_of(event, encoded.body), none).value();
    EXPECT_EQ(back.kind, event.kind);
    EXPECT_EQ(back.seq, 7u);
    EXPECT_EQ(back.turn, 3u);
    EXPECT_EQ(*back.message, *event.message);
    EXPECT_EQ(back.data.size(), data.size());
    EXPECT_EQ(encode(back).body, encoded.body);
  }
}

TEST(Record, AnUnknownKindSurvivesWithNameAndData) {
  const std::string body =
      R"({"v":1,"kind":"future.thing","turn":0,"data":{"a":[1,2.5e300]},"extra":true})";
  NoBlobs none;
  Event event = decode({.seq = 1, .who = somebody(), .body = body}, none).value();
  EXPECT_EQ(event.kind, Kind::other);
  EXPECT_EQ(event.name(), "future.thing");
  EXPECT_EQ(print_json(event.data), R"({"a":[1,2.5e+300]})");
  auto line = parse_json(to_line(event)).value();
  EXPECT_EQ(line["kind"].as_string(), "future.thing");
}

TEST(Record, AnUnknownVersionStopsAndIsNeverDropped) {
  NoBlobs none;
  auto newer =
      decode({.seq = 3, .who = somebody(), .body = R"({"v":2,"kind":"log","data":{}})"}, none);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(newer.error().message().find("version 2"), std::string::npos);
}

TEST(Record, HostileBodiesAreErrorsThatNameTheRecord) {
  NoBlobs none;
  for (const char* body :
       {"", "x", "[]", "{}", R"({"v":1})", R"({"v":1,"kind":5})",
        R"({"v":1,"kind":"log","blob":"zz"})", R"({"v":1,"kind":"log","blob":5})"}) {
    auto event = decode({.seq = 9, .who = somebody(), .body = body}, none);
    ASSERT_FALSE(event) << body;
    EXPECT_NE(event.error().message().find("9"), std::string::npos) << event.error().message();
  }
}

TEST(Record, LargeDataStandsInABlobThatTheBodyNames) {
  Event event{.kind = Kind::tool_completed,
              .who = somebody(),
              .data = Json::object({{"output", std::string(kBlobThreshold, 'x')}})};
  Encoded encoded = encode(event);
  ASSERT_NE(encoded.blob, nullptr);
  EXPECT_LT(encoded.body.size(), 300u);
  EXPECT_EQ(blob_of(encoded.body), encoded.blob->digest);
  EXPECT_EQ(sha256(encoded.blob->bytes), encoded.blob->digest);
  OneBlob blobs(*encoded.blob);
  EXPECT_EQ(decode(record_of(event, encoded.body), blobs)->data, event.data);

  Blob changed = *encoded.blob;
  changed.bytes[100] ^= 1;
  OneBlob damaged(changed);
  auto read = decode(record_of(event, encoded.body), damaged);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().detail_if<Damage>()->seq, 7u);

  Event small{.kind = Kind::log, .data = Json::object({{"blob", "not one"}})};
  EXPECT_EQ(blob_of(encode(small).body), std::nullopt);
}

TEST(Chain, EveryPartOfARecordChangesItsHashAndAllThatFollow) {
  const Digest start = genesis_of(RunId("r1"), ThreadId("t1"), nullptr);
  auto who = somebody();
  const Digest good = Chain(start).next(who, 1, Time(Duration(5)), "body");
  EXPECT_EQ(Chain(start).next(somebody(), 1, Time(Duration(5)), "body"), good);
  EXPECT_NE(Chain(start).next(who, 2, Time(Duration(5)), "body"), good);
  EXPECT_NE(Chain(start).next(who, 1, Time(Duration(6)), "body"), good);
  EXPECT_NE(Chain(start).next(who, 1, Time(Duration(5)), "bodi"), good);
  Lineage other = *who;
  other.depth = 2;
  EXPECT_NE(Chain(start).next(std::make_shared<const Lineage>(other), 1, Time(Duration(5)), "body"),
            good);
  Chain one(start), two(start);
  one.next(who, 1, Time(Duration(5)), "a");
  two.next(who, 1, Time(Duration(5)), "b");
  EXPECT_NE(one.next(who, 2, Time(Duration(5)), "same"),
            two.next(who, 2, Time(Duration(5)), "same"));
}

TEST(Chain, GenesisCoversIdsAndBase) {
  const Base base{RunId("b"), 3, sha256("x")};
  std::set<Digest> all = {genesis_of(RunId("r"), ThreadId("t"), nullptr),
                          genesis_of(RunId("q"), ThreadId("t"), nullptr),
                          genesis_of(RunId("r"), ThreadId("u"), nullptr),
                          genesis_of(RunId("r"), ThreadId("t"), &base)};
  Base later = base;
  later.seq = 4;
  all.insert(genesis_of(RunId("r"), ThreadId("t"), &later));
  EXPECT_EQ(all.size(), 5u);
}

}  // namespace
}  // namespace tug
