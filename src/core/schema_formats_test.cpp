#include "core/schema_formats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/schema_cases.h"

namespace tug {
namespace {

using Texts = std::vector<std::string_view>;

void expect_format(std::string_view name, const Texts& good, const Texts& bad) {
  const detail::Format* format = detail::find_format(name);
  ASSERT_NE(format, nullptr) << name;
  for (const auto text : good) EXPECT_TRUE(format->matches(text)) << name << ": " << text;
  for (const auto text : bad) EXPECT_FALSE(format->matches(text)) << name << ": " << text;
}

TEST(SchemaFormats, Dates) {
  expect_format("date", {"1963-06-19", "2020-02-29", "2000-02-29", "2021-12-31", "0000-01-01"},
                {"", "06/19/1963", "2013-350", "1998-1-20", "1998-01-1", "1998-13-01", "1998-04-31",
                 "2021-02-29", "1900-02-29", "1963-06-1\xe0\xa7\xaa", "20230328", "2023-W01",
                 "1963-06-19T00:00:00Z", "2022-01-00", "2022-00-10", " 1963-06-19"});
}

TEST(SchemaFormats, Times) {
  expect_format(
      "time",
      {"08:30:06Z", "08:30:06.283185Z", "08:30:06+00:20", "08:30:06-08:00", "08:30:06z",
       "23:59:60Z", "23:59:60+00:00", "01:29:60+01:30", "15:59:60-08:00", "23:29:60+23:30"},
      {"",
       "008:030:006Z",
       "8:3:6Z",
       "8:0030:6Z",
       "22:59:60Z",
       "23:58:60Z",
       "23:59:60+01:00",
       "23:59:60+00:30",
       "23:59:60-01:00",
       "24:00:00Z",
       "00:60:00Z",
       "00:00:61Z",
       "01:02:03+24:00",
       "01:02:03+00:60",
       "01:02:03Z+00:30",
       "12:00:00",
       "08:30:06 PST",
       "01:01:01,1111",
       "12:00:00.Z",
       "12:00:00\xc2\xb2Z",
       "08:30:06#00:20",
       "ab:cd:efZ",
       "12:00:00+8:00",
       "12:00:00+08",
       "1\xe0\xa7\xa8:00:00Z"});
}

TEST(SchemaFormats, DateTimes) {
  expect_format(
      "date-time",
      {"1963-06-19T08:30:06.283185Z", "1963-06-19T08:30:06Z", "1937-01-01T12:00:27.87+00:20",
       "1990-12-31T15:59:50.123-08:00", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00",
       "1963-06-19t08:30:06z"},
      {"", "1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z",
       "1990-02-31T15:59:59.123-08:00", "1990-12-31T15:59:59-24:00", "06/19/1963 08:30:06 PST",
       "2013-350T01:01:01", "1963-6-19T08:30:06Z", "1963-06-1T00:00:00Z", "1963-06-19 08:30:06Z",
       "1963-06-19T", "T08:30:06Z", "+11963-06-19T08:30:06.283185Z", "1963-06-19T08:30:06"});
}

TEST(SchemaFormats, Durations) {
  expect_format("duration",
                {"P4DT12H30M5S", "P4Y", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P1DT12H", "P2W",
                 "P1Y2M3D", "P1Y2M", "PT1H2M3S"},
                {"", "PT1D", "4DT12H30M5S", "P", "P1YT", "PT", "P2D1Y", "P1D2H", "P2S", "P1Y2W",
                 "P2\xe0\xa7\xa8Y", "P1", "P1Y2D", "PT1H2S", "P-1D", "P1.5D", "PW", "P1WT1H"});
}

TEST(SchemaFormats, Mail) {
  expect_format("email",
                {"joe.bloggs@example.com", "te~st@example.com", "~test@example.com",
                 "test~@example.com", "\"joe bloggs\"@example.com", "\"joe..bloggs\"@example.com",
                 "\"joe@bloggs\"@example.com", "joe.bloggs@[127.0.0.1]", "joe.bloggs@[IPv6:::1]",
                 "te.s.t@example.com", "a@b", "\"a\\\"b\"@example.com"},
                {"", "2962", "@example.com", "a@", ".test@example.com", "test.@example.com",
                 "te..st@example.com", "joe.bloggs@invalid=domain.com", "joe.bloggs@[127.0.0.300]",
                 "joe bloggs@example.com", "\"a\"b\"@example.com", "a@b@c", "a@-b.com", "a@b..c",
                 "\xec\x8b\xa4@example.com", "user1@oceania.org, user2@oceania.org",
                 "\"Winston Smith\" <w@x.org>"});
  expect_format(
      "idn-email",
      {"\xec\x8b\xa4\xeb\xa1\x80@\xec\x8b\xa4\xeb\xa1\x80.\xed\x85\x8c", "joe.bloggs@example.com"},
      {"2962", "joe bloggs@example.com"});
}

TEST(SchemaFormats, Hosts) {
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  expect_format(
      "hostname",
      {"www.example.com", "xn--4gbwdl.xn--wgbh1c", "a", "1host", "a-b", "hostnam3", "123.45",
       "xn--ihqwcrb4cv8a8dqg056pqjye", label, longest},
      {"", ".", "-a-host-name-that-starts-with--", "not_a_valid_host_name", "a..b", ".example",
       "example.", "hostname-", "_hostname", "ab--cd", "xn--", "xn--X\xc3\xa9", label + "a",
       longest + "b", "a b", "ex\xc3\xa4mple.com", "host:80"});
  expect_format("idn-hostname",
                {"\xec\x8b\xa4\xeb\xa1\x80.\xed\x85\x8c", "www.example.com",
                 "a\xe3\x80\x82"
                 "b"},
                {"", ".", "-a", "a\xe3\x80\x82", "a b"});
}

TEST(SchemaFormats, AHostNameOfManyWideDotsIsReadOnce) {
  // Shortening the text in place at each of them would move 100 GB.
  std::string dots;
  for (int i = 0; i < 500'000; ++i) dots += "\xe3\x80\x82";
  const auto schema =
      Schema::compile(*parse_json(R"({"format":"idn-hostname"})"), {.assert_format = true});
  ASSERT_TRUE(schema);
  EXPECT_FALSE(schema->valid(dots));
}

TEST(SchemaFormats, Addresses) {
  expect_format(
      "ipv4", {"192.168.0.1", "0.0.0.0", "255.255.255.255", "87.10.0.1"},
      {"", "127.0.0.0.1", "256.256.256.256", "127.0", "0x7f000001", "2130706433", "087.10.0.1",
       "1\xe0\xa7\xa8"
       "7.0.0.1",
       "192.168.1.0/24", " 1.2.3.4", "1.2.3.4 ", "1..2.3", "1.2.3."});
  expect_format("ipv6",
                {"::1", "::", "::abef", "::42:ff:1", "d6::", "1:d6::42", "1::d6:192.168.0.1",
                 "::ffff:192.168.0.1", "1:2::192.168.0.1", "1:2:3:4:5:6:7:8", "::2:3:4:5:6:7:8",
                 "1:2:3:4:5:6:7::", "1:2:3:4:5:6:1.2.3.4"},
                {"",
                 "12345::",
                 "::laptop",
                 ":2:3:4:5:6:7:8",
                 "1:2:3:4:5:6:7:",
                 ":2:3:4::8",
                 "1::d6::42",
                 "1::2:192.168.256.1",
                 "1::2:192.168.ff.1",
                 "1:2:3:4:5:::8",
                 "1:2:3:4:5:6:7",
                 "1",
                 "127.0.0.1",
                 "1:2:3:4:1.2.3",
                 "fe80::a%eth1",
                 "::abcef",
                 "1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1",
                 "1:2:3:4:5:6:7:8::",
                 "  ::1",
                 "fe80::/64",
                 "1000:1000:1000:1000:1000:1000:255.255.255.255.255",
                 "100:100:100:100:100:100:255",
                 "1:2:3:4:5:6:7:1.2.3.4",
                 "::\xe0\xa7\xaa",
                 ":",
                 "1:"});
}

TEST(SchemaFormats, Uris) {
  expect_format("uri",
                {"http://foo.bar/?baz=qux#quux", "http://foo.com/blah_(wikipedia)_blah#cite-1",
                 "http://foo.bar/?q=Test%20URL-encoded%20stuff", "http://xn--nw2a.xn--j6w193g/",
                 "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com", "http://223.255.255.254",
                 "ftp://ftp.is.co.za/rfc/rfc1808.txt", "ldap://[2001:db8::7]/c=GB?objectClass?one",
                 "mailto:John.Doe@example.com", "news:comp.infosystems.www.servers.unix",
                 "tel:+1-816-555-1212", "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
                 "http://a:8080/", "http://a:/", "file:///x", "x:"},
                {"",
                 "//foo.bar/?baz=qux#quux",
                 "/abc",
                 "\\\\WINDOWS\\fileshare",
                 "abc",
                 "http:// shouldfail.com",
                 ":// should fail",
                 "bar,baz:foo",
                 "https://[@example.org/t",
                 "https://example.org/foobar\\.txt",
                 "https://example.org/foobar<>.txt",
                 "https://example.org/foobar{}.txt",
                 "https://example.org/foobar^.txt",
                 "https://example.org/foobar`.txt",
                 "https://example.org/foo bar.txt",
                 "https://example.org/foobar|.txt",
                 "https://example.org/foobar\".txt",
                 "http://example.com/%zz",
                 "http://example.com/%2",
                 "http://a:b/",
                 "http://[::1]x/",
                 "http://\xc6\x92\xc3\xb8.com/",
                 "1http://x",
                 "http://a@b@c/",
                 "http://a#b#c"});
  expect_format("uri-reference",
                {"http://foo.bar/?baz=qux#quux", "//foo.bar/?baz=qux#quux", "/abc", "abc", "",
                 "#fragment", "?q", "a/b:c", "./a:b"},
                {"\\\\WINDOWS\\fileshare", "#frag\\ment", "1a:b", "a b", "\xc3\xa9"});
  expect_format(
      "iri",
      {"http://\xc6\x92\xc3\xb8\xc3\xb8.\xc3\x9f\xc3\xa5r/?\xe2\x88\x82=\xcf\x80#\xcf\x80",
       "http://[2001:0db8:85a3:0000:0000:8a2e:0370:7334]"},
      {"http://2001:0db8:85a3:0000:0000:8a2e:0370:7334", "/abc", "\xe2\x88\x82x", "http:// x"});
  expect_format("iri-reference",
                {"/\xc3\xa2\xcf\x80\xcf\x80", "#\xc6\x92r\xc3\xa4gm\xc3\xaant", ""},
                {"\\\\WINDOWS\\fil\xc3\xab", "#\xc6\x92r\xc3\xa4g\\m\xc3\xaant"});
  expect_format("uri-template",
                {"http://example.com/dictionary/{term:1}/{term}", "dictionary/{term:1}/{term}",
                 "http://example.com/dictionary", "{+path,x}/here{?q*,lang}", "{a.b}", "{%41}", ""},
                {"http://example.com/dictionary/{term:1}/{term", "a}", "{}", "{a b}", "{a:0}",
                 "{a:12345}", "{a..b}", "{!x}", "a b", "%zz", "{a:}", "{.}", "<"});
}

TEST(SchemaFormats, IdentifiersPointersAndPatterns) {
  expect_format("uuid",
                {"2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
                 "00000000-0000-0000-0000-000000000000"},
                {"", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08-aa98-11ea-73b441d16380",
                 "2eb8aa08-aa98-11ea-b4ga-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380",
                 "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380"});
  expect_format("json-pointer", {"", "/", "/foo/bar~0/baz~1/%a", "/foo//bar", "/~01", "/-", "/ "},
                {"/foo/bar~", "/foo/~2", "foo", "#", "#/", "a", "0", "/~0~", "/~~"});
  expect_format("relative-json-pointer", {"1", "0/foo/bar", "2/0/baz/1/zip", "0#", "120/foo"},
                {"", "/foo/bar", "-1/foo", "+1/foo", "0##", "01/a", "01#", "0a", "#"});
  expect_format("regex",
                {"([abc])+\\s+$", "^(?=look)", "(a)\\1", "", "[^]", "(?<a>x)(?<b_1>y)",
                 "(?:a|b)+?c{2,}?", "a{,2}", "(a)*", "[*]*"},
                {"^(abc]",         "\\a",    "[",       "a{2,1}",    "*",   "(?i)a",
                 "(?m)^a",         "(?s).",  "(?-i:a)", "(?P<n>a)",  "^*",  "$+",
                 "\\b?",           "(?<>a)", "(?<1>a)", "(?<a-b>a)", "a**", "a{2}{3}",
                 "(?<a>x)(?<a>y)", "(*)",    "a|+"});
}

TEST(SchemaFormats, AreAssertedOnRequestAndOnTextOnly) {
  expect_cases({{"ipv4",
                 R"({"format":"ipv4"})",
                 {"\"127.0.0.1\"", "12", "null", "{}", "[]"},
                 {"\"127.0.0\""}},
                {"unknown", R"({"format":"no-such-format"})", {"\"x\""}, {}}},
               {.assert_format = true});
  const auto schema = Schema::compile(Json::object({{"format", "date"}}), {.assert_format = true});
  EXPECT_EQ(verdict_line(*schema->check("soon")),
            "invalid (root): expected the format \"date\", got \"soon\"");
}

}  // namespace
}  // namespace tug
