#include "middleware/signature.h"

#include <algorithm>
#include <vector>

namespace tug {
namespace {

void print_sorted(const Json& value, std::string& out) {
  if (value.is_array()) {
    out += '[';
    for (const Json& item : value.items()) {
      print_sorted(item, out);
      out += ',';
    }
    out += ']';
  } else if (value.is_object()) {
    std::vector<const Json::Member*> members;
    for (const Json::Member& member : value.members()) members.push_back(&member);
    std::ranges::sort(members, {}, [](const Json::Member* member) { return member->key(); });
    out += '{';
    for (const Json::Member* member : members) {
      print_json_string(member->key(), out);
      out += ':';
      print_sorted(member->value, out);
      out += ',';
    }
    out += '}';
  } else {
    print_json(value, out);
  }
}

}  // namespace

std::string hex16(const Fingerprint& fingerprint) {
  std::string hex;
  for (int shift = 60; shift >= 0; shift -= 4) {
    hex += "0123456789abcdef"[(fingerprint.low >> shift) & 15];
  }
  return hex;
}

std::string call_signature(std::string_view tool, const Json& arguments) {
  std::string text(tool);
  text += '\n';
  print_sorted(arguments, text);
  return hex16(fingerprint_of(text));
}

}  // namespace tug
