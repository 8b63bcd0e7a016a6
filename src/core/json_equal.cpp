#include <vector>

#include "core/decimal.h"
#include "core/json_node.h"
#include "tug/core/json.h"

namespace tug {

using detail::ListNode;
using detail::Tag;

bool JsonAccess::same_text(const Json& a, const Json& b) noexcept {
  if (tag(a) != tag(b)) return false;
  if (tag(a) == Tag::short_text) return word(a, 0) == word(b, 0) && word(a, 1) == word(b, 1);
  return text_node(a) == text_node(b) || text_node(a)->view() == text_node(b)->view();
}

namespace {

bool same_number(const Json& a, const Json& b) {
  const Tag left = JsonAccess::tag(a);
  const Tag right = JsonAccess::tag(b);
  if (left == Tag::big || right == Tag::big) {
    if (left == right && a.big_number() == b.big_number()) return true;
    // No integer of 64 bits is ever kept as text.
    if (left != Tag::big && left != Tag::real) return false;
    if (right != Tag::big && right != Tag::real) return false;
    const auto near = detail::decimal_of(a);
    return near == detail::decimal_of(b) && !near.is_far();
  }
  if (left == Tag::real && right == Tag::real) {
    return JsonAccess::payload<double>(a) == JsonAccess::payload<double>(b);
  }
  if (left == Tag::natural || right == Tag::natural) {
    const auto natural = a.as_uint();
    return natural && natural == b.as_uint();
  }
  const auto integer = a.as_int();
  return integer && integer == b.as_int();
}

// Two lists of the same size, compared up to entry `next`.
struct Pair {
  ListNode* a;
  ListNode* b;
  const Json* a_value;
  const Json* b_value;
  std::size_t next = 0;
};

// Values that are no lists; sets `deeper` when both are lists that must be compared entry by entry.
bool same_outside(const Json& a, const Json& b, bool& deeper) {
  deeper = false;
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Json::Type::null:
      return true;
    case Json::Type::boolean:
      return JsonAccess::tag(a) == JsonAccess::tag(b);
    case Json::Type::number:
      return same_number(a, b);
    case Json::Type::string:
      return JsonAccess::same_text(a, b);
    case Json::Type::array:
    case Json::Type::object:
      if (a.size() != b.size()) return false;
      deeper = a.size() != 0 && JsonAccess::list_node(a) != JsonAccess::list_node(b);
      return true;
  }
  return false;
}

}  // namespace

bool operator==(const Json& a, const Json& b) noexcept {
  bool deeper = false;
  if (!same_outside(a, b, deeper)) return false;
  if (!deeper) return true;
  std::vector<Pair> open;
  open.push_back({JsonAccess::list_node(a), JsonAccess::list_node(b), &a, &b});
  while (!open.empty()) {
    Pair& top = open.back();
    if (top.next == top.a->size) {
      open.pop_back();
      continue;
    }
    const std::size_t at = top.next++;
    const Json* left = nullptr;
    const Json* right = nullptr;
    if (top.a->width == 1) {
      left = &top.a->values()[at];
      right = &top.b->values()[at];
    } else {
      const Json::Member& member = top.a->members()[at];
      const Json::Member& same_place = top.b->members()[at];
      left = &member.value;
      right = JsonAccess::same_text(member.name, same_place.name) ? &same_place.value
                                                                  : top.b_value->find(member.key());
      if (right == nullptr) return false;
    }
    if (!same_outside(*left, *right, deeper)) return false;
    if (deeper) {
      open.push_back({JsonAccess::list_node(*left), JsonAccess::list_node(*right), left, right});
    }
  }
  return true;
}

}  // namespace tug
