// What stands behind a Json: its tags and its heap nodes. One allocation each, reference counted,
// never changed while more than one value holds it. Nodes move by memcpy (a Json has no address of
// its own anywhere), so growing one is a realloc.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tug/core/json.h"

namespace tug {
namespace detail {

// The low three bits are Json::Type, the top bit says that a node is owned.
enum class Tag : unsigned char {
  null = 0x00,
  no = 0x01,
  yes = 0x09,
  integer = 0x02,     // int64
  natural = 0x0a,     // uint64 above the largest int64
  minus_zero = 0x12,  // the integer "-0", kept because it prints differently
  real = 0x1a,        // a finite double
  big = 0x82,         // the text of a number beyond both
  short_text = 0x03,  // up to kShortText bytes
  long_text = 0x83,
  empty_array = 0x04,
  array = 0x84,
  empty_object = 0x05,
  object = 0x85,
};

inline constexpr std::size_t kShortText = 14;
// Objects with room for more members than this carry a hash index.
inline constexpr std::size_t kPlainMembers = 16;

struct Node {
  std::atomic<std::uint32_t> refs{1};
};

struct TextNode : Node {
  std::size_t size = 0;
  char* chars() noexcept { return reinterpret_cast<char*>(this + 1); }
  std::string_view view() noexcept { return {chars(), size}; }
  static TextNode* make(std::size_t size);  // bytes not set
};

struct ListNode : Node {
  std::uint8_t width = 1;      // values per entry: 1 in an array, 2 in an object
  std::uint8_t slot_bits = 0;  // log2 of the index's size; 0 without an index
  std::size_t size = 0;        // entries
  union {
    std::size_t capacity = 0;
    ListNode* next_dead;  // once nobody holds it
  };

  Json* values() noexcept { return reinterpret_cast<Json*>(this + 1); }
  Json::Member* members() noexcept { return reinterpret_cast<Json::Member*>(this + 1); }
  static ListNode* make_array(std::size_t capacity);
  static ListNode* make_object(std::size_t capacity);

  // --- the index of an object, open addressing. A slot is (hash << 32 | place + 1), 0 when free.
  // Seeded by the node's address, so that nobody can prepare colliding keys.
  std::uint64_t* slots() noexcept { return reinterpret_cast<std::uint64_t*>(members() + capacity); }
  std::size_t slot_mask() const noexcept { return (std::size_t{1} << slot_bits) - 1; }
  std::uint32_t hash_of(std::string_view key) const noexcept;
  // The place of `key`, or `size`; `slot` is where it is or belongs.
  std::size_t look_up(std::string_view key, std::uint32_t hash, std::size_t& slot) noexcept;
  void index_entry(std::uint32_t hash, std::size_t slot, std::size_t place) noexcept {
    slots()[slot] = (std::uint64_t{hash} << 32) | (place + 1);
  }
  void index_all() noexcept;
  void unindex(std::size_t place) noexcept;
};

// Throws std::bad_alloc.
void* allocate(std::size_t bytes);
void deallocate(void* memory) noexcept;

}  // namespace detail

struct JsonAccess {
  using Tag = detail::Tag;

  static Tag tag(const Json& value) noexcept { return static_cast<Tag>(value.bytes_[0]); }
  static std::uint64_t word(const Json& value, int which) noexcept {
    std::uint64_t word;
    std::memcpy(&word, value.bytes_ + 8 * which, sizeof word);
    return word;
  }
  template <class T>
  static T payload(const Json& value) noexcept {
    static_assert(sizeof(T) == 8);
    T out;
    std::memcpy(&out, value.bytes_ + 8, sizeof out);
    return out;
  }
  static detail::TextNode* text_node(const Json& value) noexcept {
    return static_cast<detail::TextNode*>(payload<detail::Node*>(value));
  }
  static detail::ListNode* list_node(const Json& value) noexcept {
    return static_cast<detail::ListNode*>(payload<detail::Node*>(value));
  }
  // Null for an empty list without a node and for everything that is no list.
  static detail::ListNode* list_if(const Json& value) noexcept {
    const Tag have = tag(value);
    return have == Tag::array || have == Tag::object ? list_node(value) : nullptr;
  }

  // Overwrite; what was there must own no node.
  static void put(Json& value, Tag tag) noexcept {
    std::memset(value.bytes_, 0, sizeof value.bytes_);
    value.bytes_[0] = static_cast<unsigned char>(tag);
  }
  template <class T>
  static void put(Json& value, Tag tag, T payload) noexcept {
    static_assert(sizeof(T) == 8);
    put(value, tag);
    std::memcpy(value.bytes_ + 8, &payload, sizeof payload);
  }
  static void put_node(Json& value, Tag tag, detail::Node* node) noexcept { put(value, tag, node); }
  // `text` is well-formed UTF-8.
  static void put_text(Json& value, std::string_view text) {
    if (text.size() <= detail::kShortText) {
      put(value, Tag::short_text);
      value.bytes_[1] = static_cast<unsigned char>(text.size());
      if (!text.empty()) std::memcpy(value.bytes_ + 2, text.data(), text.size());
      return;
    }
    detail::TextNode* node = detail::TextNode::make(text.size());
    std::memcpy(node->chars(), text.data(), text.size());
    put_node(value, Tag::long_text, node);
  }
  // The same for a short text in a place where 16 bytes may be read.
  static void put_short_text(Json& value, const char* p, std::size_t size) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      std::uint64_t first;
      std::uint64_t second;
      std::memcpy(&first, p, 8);
      std::memcpy(&second, p + 6, 8);
      first = size < 6 ? first & ((std::uint64_t{1} << (8 * size)) - 1) : first;
      second = size < 6    ? 0
               : size < 14 ? second & ((std::uint64_t{1} << (8 * (size - 6))) - 1)
                           : second;
      first = first << 16 | size << 8 | static_cast<std::uint64_t>(Tag::short_text);
      std::memcpy(value.bytes_, &first, 8);
      std::memcpy(value.bytes_ + 8, &second, 8);
    } else {
      put_text(value, {p, size});
    }
  }
  static std::string_view short_text(const Json& value) noexcept {
    return {reinterpret_cast<const char*>(value.bytes_ + 2), value.bytes_[1]};
  }
  // The text of a JSON number; false when it is not one. Reads up to `end`, and sets `stop` behind
  // the number or at the byte that is wrong.
  static bool put_number(Json& value, const char* p, const char* end, const char*& stop);

  static bool same_text(const Json& a, const Json& b) noexcept;
};

// Where a key stands among `size` members, or `size`; a plain walk.
std::size_t find_member(const Json::Member* members, std::size_t size,
                        std::string_view key) noexcept;

}  // namespace tug
