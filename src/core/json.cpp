#include "tug/core/json.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "core/decimal.h"
#include "core/json_node.h"
#include "tug/core/utf8.h"

namespace tug {

using detail::ListNode;
using detail::Node;
using detail::Tag;
using detail::TextNode;

static_assert(sizeof(Json) == 16 && sizeof(Json::Member) == 32);

namespace {

constinit const Json kNull;

// The integral value of a double when it has one in [low, high).
bool integral_within(double value, double low, double high) noexcept {
  return value >= low && value < high && std::trunc(value) == value;
}

}  // namespace

namespace detail {

void* allocate(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void deallocate(void* memory) noexcept { std::free(memory); }

TextNode* TextNode::make(std::size_t size) {
  auto* node = new (allocate(sizeof(TextNode) + size)) TextNode;
  node->size = size;
  return node;
}

}  // namespace detail

Json::Json(Boolean value) noexcept { JsonAccess::put(*this, value.value ? Tag::yes : Tag::no); }

void Json::set_int(std::int64_t value) noexcept { JsonAccess::put(*this, Tag::integer, value); }

void Json::set_uint(std::uint64_t value) noexcept {
  const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  JsonAccess::put(*this, fits ? Tag::integer : Tag::natural, value);
}

Json::Json(double value) noexcept {
  if (std::isfinite(value)) JsonAccess::put(*this, Tag::real, value);
}

Json::Json(std::string_view text) {
  if (is_utf8(text)) {
    JsonAccess::put_text(*this, text);
  } else {
    JsonAccess::put_text(*this, repair_utf8(text));
  }
}

Json Json::array(std::initializer_list<Json> items) {
  Json out;
  JsonAccess::put(out, Tag::empty_array);
  if (items.size() != 0) out.reserve(items.size());
  for (const Json& item : items) out.push_back(item);
  return out;
}

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json out;
  JsonAccess::put(out, Tag::empty_object);
  if (members.size() != 0) out.reserve(members.size());
  for (const auto& [key, value] : members) out.set(key, value);
  return out;
}

Result<Json> Json::number(std::string_view text) {
  Json out;
  const char* end = text.data() + text.size();
  const char* stop = text.data();
  if (!JsonAccess::put_number(out, text.data(), end, stop) || stop != end) {
    return fail(ErrorKind::invalid,
                "'" + repair_utf8(clip_utf8(text, 40)) + "' is not a JSON number",
                "write digits with an optional '-', fraction and exponent, as in -12.5e3");
  }
  return out;
}

void Json::share() const noexcept {
  JsonAccess::payload<Node*>(*this)->refs.fetch_add(1, std::memory_order_relaxed);
}

namespace {

// True when we were the last holder. The common case, one holder, needs no locked instruction.
bool drop(Node* node) noexcept {
  if (node->refs.load(std::memory_order_acquire) == 1) return true;
  return node->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace

// Dead lists are chained through their own memory: any depth, no recursion, no allocation.
void Json::release() noexcept {
  Node* node = JsonAccess::payload<Node*>(*this);
  if (!drop(node)) return;
  ListNode* dead = JsonAccess::list_if(*this);
  if (dead == nullptr) {
    detail::deallocate(node);
    return;
  }
  dead->next_dead = nullptr;
  while (dead != nullptr) {
    ListNode* list = dead;
    dead = list->next_dead;
    const Json* value = list->values();
    for (const Json* end = value + list->size * list->width; value != end; ++value) {
      if (!value->owns_node()) continue;
      Node* child = JsonAccess::payload<Node*>(*value);
      if (!drop(child)) continue;
      if (ListNode* inner = JsonAccess::list_if(*value)) {
        inner->next_dead = dead;
        dead = inner;
      } else {
        detail::deallocate(child);
      }
    }
    detail::deallocate(list);
  }
}

bool Json::as_bool(bool fallback) const noexcept {
  return is_bool() ? JsonAccess::tag(*this) == Tag::yes : fallback;
}

std::string_view Json::as_string(std::string_view fallback) const noexcept {
  switch (JsonAccess::tag(*this)) {
    case Tag::short_text:
      return JsonAccess::short_text(*this);
    case Tag::long_text:
      return JsonAccess::text_node(*this)->view();
    default:
      return fallback;
  }
}

std::optional<std::int64_t> Json::as_int() const noexcept {
  switch (JsonAccess::tag(*this)) {
    case Tag::integer:
      return JsonAccess::payload<std::int64_t>(*this);
    case Tag::minus_zero:
      return 0;
    case Tag::real: {
      const double value = JsonAccess::payload<double>(*this);
      if (integral_within(value, -0x1p63, 0x1p63)) return static_cast<std::int64_t>(value);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> Json::as_uint() const noexcept {
  switch (JsonAccess::tag(*this)) {
    case Tag::natural:
      return JsonAccess::payload<std::uint64_t>(*this);
    case Tag::real: {
      const double value = JsonAccess::payload<double>(*this);
      if (integral_within(value, 0, 0x1p64)) return static_cast<std::uint64_t>(value);
      return std::nullopt;
    }
    default: {
      const auto value = as_int();
      if (value && *value >= 0) return static_cast<std::uint64_t>(*value);
      return std::nullopt;
    }
  }
}

std::optional<double> Json::as_double() const noexcept {
  switch (JsonAccess::tag(*this)) {
    case Tag::integer:
      return static_cast<double>(JsonAccess::payload<std::int64_t>(*this));
    case Tag::natural:
      return static_cast<double>(JsonAccess::payload<std::uint64_t>(*this));
    case Tag::minus_zero:
      return -0.0;
    case Tag::real:
      return JsonAccess::payload<double>(*this);
    case Tag::big: {
      const std::string_view text = JsonAccess::text_node(*this)->view();
      double value = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
      if (read.ec == std::errc()) return value;
      const detail::Decimal decimal = detail::read_decimal(text);
      const double size = decimal.exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
      return decimal.negative ? -size : size;
    }
    default:
      return std::nullopt;
  }
}

bool Json::is_integer() const noexcept {
  switch (JsonAccess::tag(*this)) {
    case Tag::integer:
    case Tag::natural:
    case Tag::minus_zero:
      return true;
    case Tag::big:
      return big_number().find_first_of(".eE") == std::string_view::npos;
    default:
      return false;
  }
}

std::string_view Json::big_number() const noexcept {
  return JsonAccess::tag(*this) == Tag::big ? JsonAccess::text_node(*this)->view()
                                            : std::string_view();
}

std::size_t Json::size() const noexcept {
  const ListNode* list = JsonAccess::list_if(*this);
  return list != nullptr ? list->size : 0;
}

std::span<const Json> Json::items() const noexcept {
  if (JsonAccess::tag(*this) != Tag::array) return {};
  ListNode* list = JsonAccess::list_node(*this);
  return {list->values(), list->size};
}

std::span<const Json::Member> Json::members() const noexcept {
  if (JsonAccess::tag(*this) != Tag::object) return {};
  ListNode* list = JsonAccess::list_node(*this);
  return {list->members(), list->size};
}

const Json* Json::find(std::string_view key) const noexcept {
  if (JsonAccess::tag(*this) != Tag::object) return nullptr;
  ListNode* list = JsonAccess::list_node(*this);
  std::size_t place = 0;
  if (list->slot_bits == 0) {
    place = find_member(list->members(), list->size, key);
  } else {
    std::size_t slot = 0;
    place = list->look_up(key, list->hash_of(key), slot);
  }
  return place < list->size ? &list->members()[place].value : nullptr;
}

const Json& Json::item(std::size_t index) const noexcept {
  const auto all = items();
  return index < all.size() ? all[index] : kNull;
}

const Json& Json::operator[](std::string_view key) const noexcept {
  const Json* value = find(key);
  return value != nullptr ? *value : kNull;
}

}  // namespace tug
