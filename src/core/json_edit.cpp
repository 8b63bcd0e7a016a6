// Writing into lists: in place while we are the only holder, into a copy otherwise.
#include <bit>
#include <limits>
#include <new>

#include "core/json_node.h"
#include "core/siphash.h"
#include "tug/core/json.h"
#include "tug/core/utf8.h"

namespace tug {

using detail::ListNode;
using detail::Tag;

namespace detail {

namespace {

std::size_t bytes_for(std::size_t capacity, std::size_t entry) {
  constexpr std::size_t limit = std::numeric_limits<std::uint32_t>::max() - 1;
  if (capacity > limit) throw std::bad_alloc();
  return sizeof(ListNode) + capacity * entry;
}

}  // namespace

ListNode* ListNode::make_array(std::size_t capacity) {
  auto* node = new (allocate(bytes_for(capacity, sizeof(Json)))) ListNode;
  node->capacity = capacity;
  return node;
}

ListNode* ListNode::make_object(std::size_t capacity) {
  std::size_t bytes = bytes_for(capacity, sizeof(Json::Member));
  std::uint8_t bits = 0;
  if (capacity > kPlainMembers) {
    bits = static_cast<std::uint8_t>(std::bit_width(2 * capacity - 1));
    bytes += sizeof(std::uint64_t) << bits;
  }
  auto* node = new (allocate(bytes)) ListNode;
  node->width = 2;
  node->slot_bits = bits;
  node->capacity = capacity;
  if (bits != 0) std::memset(node->slots(), 0, sizeof(std::uint64_t) << bits);
  return node;
}

std::uint32_t ListNode::hash_of(std::string_view key) const noexcept {
  return static_cast<std::uint32_t>(siphash(key, reinterpret_cast<std::uintptr_t>(this)));
}

std::size_t ListNode::look_up(std::string_view key, std::uint32_t hash,
                              std::size_t& slot) noexcept {
  const std::size_t mask = slot_mask();
  const std::uint64_t* table = slots();
  for (slot = hash & mask; table[slot] != 0; slot = (slot + 1) & mask) {
    if (table[slot] >> 32 != hash) continue;
    const std::size_t place = (table[slot] & 0xffffffff) - 1;
    if (members()[place].key() == key) return place;
  }
  return size;
}

void ListNode::index_all() noexcept {
  for (std::size_t place = 0; place < size; ++place) {
    const std::uint32_t hash = hash_of(members()[place].key());
    std::size_t slot = hash & slot_mask();
    while (slots()[slot] != 0) slot = (slot + 1) & slot_mask();
    index_entry(hash, slot, place);
  }
}

void ListNode::unindex(std::size_t place) noexcept {
  const std::size_t mask = slot_mask();
  std::uint64_t* table = slots();
  std::size_t hole = 0;
  (void)look_up(members()[place].key(), hash_of(members()[place].key()), hole);
  // Close the gap: an entry moves back unless its home lies behind the hole.
  for (std::size_t next = (hole + 1) & mask; table[next] != 0; next = (next + 1) & mask) {
    const std::size_t home = (table[next] >> 32) & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    table[hole] = table[next];
    hole = next;
  }
  table[hole] = 0;
  for (std::size_t slot = 0; slot <= mask; ++slot) {
    if ((table[slot] & 0xffffffff) > place + 1) --table[slot];
  }
}

}  // namespace detail

std::size_t find_member(const Json::Member* members, std::size_t size,
                        std::string_view key) noexcept {
  if (key.size() > detail::kShortText) {
    for (std::size_t i = 0; i < size; ++i) {
      if (JsonAccess::tag(members[i].name) == Tag::long_text && members[i].key() == key) return i;
    }
    return size;
  }
  Json wanted;
  JsonAccess::put_text(wanted, key);
  const std::uint64_t first = JsonAccess::word(wanted, 0);
  const std::uint64_t second = JsonAccess::word(wanted, 1);
  for (std::size_t i = 0; i < size; ++i) {
    if (JsonAccess::word(members[i].name, 0) == first &&
        JsonAccess::word(members[i].name, 1) == second) {
      return i;
    }
  }
  return size;
}

namespace {

constexpr std::size_t kFirstCapacity = 4;

bool alone(const ListNode* list) noexcept {
  return list->refs.load(std::memory_order_acquire) == 1;
}

// Of a member, by its value.
std::size_t place_of(ListNode* object, const Json* value) noexcept {
  return static_cast<std::size_t>(value - object->values()) / 2;
}

// Makes `value` the only holder of a list with room for `room` more entries. Growth is by half, so
// that appending is O(1) amortised; a copy for somebody else gets what was asked for.
ListNode* open_list(Json& value, Tag tag, std::size_t room) {
  ListNode* list = JsonAccess::tag(value) == tag ? JsonAccess::list_node(value) : nullptr;
  if (list == nullptr && JsonAccess::tag(value) != Tag::null) value = Json();
  const std::size_t size = list != nullptr ? list->size : 0;
  if (list != nullptr && alone(list) && list->capacity - size >= room) return list;

  std::size_t capacity = size + room;
  if (list == nullptr && room == 1) capacity = kFirstCapacity;
  if (list != nullptr && alone(list) && room != 0) {
    const std::size_t grown = list->capacity + list->capacity / 2 + 2;
    if (capacity < grown) capacity = grown;
  }
  ListNode* grown =
      tag == Tag::array ? ListNode::make_array(capacity) : ListNode::make_object(capacity);
  if (list != nullptr) {
    Json* to = grown->values();
    const std::size_t count = size * list->width;
    if (alone(list)) {
      std::memcpy(static_cast<void*>(to), list->values(), count * sizeof(Json));
      list->size = 0;
    } else {
      for (std::size_t i = 0; i < count; ++i) new (to + i) Json(list->values()[i]);
    }
    grown->size = size;
    value = Json();
  }
  if (grown->slot_bits != 0) grown->index_all();
  JsonAccess::put_node(value, tag, grown);
  return grown;
}

}  // namespace

Json& Json::edit(std::string_view key) {
  if (JsonAccess::tag(*this) == Tag::object) {
    ListNode* list = JsonAccess::list_node(*this);
    const Json* old = find(key);
    if (old != nullptr) {
      const std::size_t place = place_of(list, old);
      return open_list(*this, Tag::object, 0)->members()[place].value;
    }
  }
  // Before anything moves: the key may point into this very value.
  Json name(key);
  if (name.as_string() != key && contains(name.as_string())) return edit(name.as_string());
  ListNode* list = open_list(*this, Tag::object, 1);
  Member* member = new (list->members() + list->size) Member{std::move(name), Json()};
  if (list->slot_bits != 0) {
    const std::uint32_t hash = list->hash_of(member->key());
    std::size_t slot = 0;
    (void)list->look_up(member->key(), hash, slot);
    list->index_entry(hash, slot, list->size);
  }
  ++list->size;
  return member->value;
}

Json& Json::set(std::string_view key, Json value) {
  edit(key) = std::move(value);
  return *this;
}

bool Json::erase(std::string_view key) {
  const Json* old = find(key);
  if (old == nullptr) return false;
  const std::size_t place = place_of(JsonAccess::list_node(*this), old);
  ListNode* list = open_list(*this, Tag::object, 0);
  if (list->slot_bits != 0) list->unindex(place);
  Member* gone = list->members() + place;
  gone->~Member();
  std::memmove(static_cast<void*>(gone), gone + 1, (list->size - place - 1) * sizeof(Member));
  --list->size;
  return true;
}

Json& Json::push_back(Json value) {
  ListNode* list = open_list(*this, Tag::array, 1);
  new (list->values() + list->size) Json(std::move(value));
  ++list->size;
  return *this;
}

void Json::reserve(std::size_t count) {
  const Tag tag = is_object() ? Tag::object : Tag::array;
  if (!is_object() && !is_array()) return;
  const std::size_t have = size();
  if (count > have) open_list(*this, tag, count - have);
}

}  // namespace tug
