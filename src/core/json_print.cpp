#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <vector>

#include "core/json_node.h"
#include "core/scan.h"
#include "tug/core/json.h"
#include "tug/core/utf8.h"

namespace tug {

using detail::ListNode;
using detail::Tag;

namespace {

// Appends to a string through a bare pointer: the string is kept longer than what is written and
// cut in the end.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out), used_(out.size()) { grow(0); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { out_.resize(static_cast<std::size_t>(at_ - out_.data())); }

  // At least `size` bytes may be written at the pointer that comes back.
  char* room(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) {
      used_ = static_cast<std::size_t>(at_ - out_.data());
      grow(size);
    }
    return at_;
  }
  void wrote_to(char* at) noexcept { at_ = at; }
  void put(char c) {
    *room(1) = c;
    ++at_;
  }
  void put(std::string_view text) {
    std::memcpy(room(text.size()), text.data(), text.size());
    at_ += text.size();
  }

 private:
  void grow(std::size_t more) {
    std::size_t size = out_.capacity();
    if (size < used_ + more) size = std::max(used_ + more, size + size / 2);
    out_.resize_and_overwrite(size, [](char*, std::size_t all) { return all; });
    at_ = out_.data() + used_;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  std::size_t used_;
  char* at_ = nullptr;
  char* end_ = nullptr;
};

// Of a byte that cannot stand in a string as it is: its escape, 8 bytes long so that it is copied
// by one store, and how many of them count.
struct Escape {
  char text[8];
  std::uint8_t size;
};

constexpr auto kEscapes = [] {
  std::array<Escape, 128> table{};
  constexpr char hex[] = "0123456789abcdef";
  for (unsigned byte = 0; byte < 0x20; ++byte) {
    table[byte] = {{'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6};
  }
  constexpr std::pair<char, char> letters[] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                               {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
  for (const auto& [byte, letter] : letters) {
    table[static_cast<unsigned char>(byte)] = {{'\\', letter}, 2};
  }
  return table;
}();

char* write_escape(char* to, char byte) noexcept {
  const Escape& escape = kEscapes[static_cast<unsigned char>(byte)];
  std::memcpy(to, escape.text, sizeof escape.text);
  return to + escape.size;
}

constexpr std::size_t kWidestEscape = 6;

// Writes the first `size` bytes of the block at `p`; `to` has room for all of them as escapes.
char* write_block(char* to, const char* p, std::size_t size) noexcept {
  const detail::StringBlock block = detail::string_block(p);
  const char* const start = p;
  std::uint64_t stops = block.quotes | block.backslashes | block.controls;
  if (size < detail::kBlock) stops &= (std::uint64_t{1} << size) - 1;
  for (; stops != 0; stops &= stops - 1) {
    const char* stop = start + std::countr_zero(stops);
    detail::copy_loosely(to, p, static_cast<std::size_t>(stop - p));
    to = write_escape(to + (stop - p), *stop);
    p = stop + 1;
  }
  const auto rest = static_cast<std::size_t>(start + size - p);
  detail::copy_loosely(to, p, rest);
  return to + rest;
}

// `text` is well-formed.
void write_text(Writer& writer, std::string_view text) {
  constexpr std::size_t room = kWidestEscape * detail::kBlock + detail::kLoose + 2;
  const char* p = text.data();
  const char* end = p + text.size();
  char* to = writer.room(room);
  *to++ = '"';
  for (; end - p >= detail::kBlock + detail::kLoose; p += detail::kBlock) {
    writer.wrote_to(write_block(to, p, detail::kBlock));
    to = writer.room(room);
  }
  if (end - p > detail::kBlock) {
    const detail::Tail tail(p, end);
    writer.wrote_to(write_block(to, tail.bytes, detail::kBlock));
    to = writer.room(room);
    p += detail::kBlock;
  }
  const detail::Tail tail(p, end);
  to = write_block(to, tail.bytes, static_cast<std::size_t>(end - p));
  *to++ = '"';
  writer.wrote_to(to);
}

// A short string without anything to escape, the usual key, goes in two stores.
void write_short_text(Writer& writer, const Json& value) {
  const std::string_view text = JsonAccess::short_text(value);
  bool plain = true;
  for (const char c : text) {
    plain &= static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  }
  if (!plain) return write_text(writer, text);
  char* to = writer.room(detail::kShortText + 2);
  *to++ = '"';
  std::memcpy(to, text.data(), detail::kShortText);
  to += text.size();
  *to++ = '"';
  writer.wrote_to(to);
}

void write_real(Writer& writer, double value) {
  char* begin = writer.room(40);
  char* end = std::to_chars(begin, begin + 32, value).ptr;
  // Without a point or an exponent it would read back as an integer.
  const std::string_view text(begin, static_cast<std::size_t>(end - begin));
  if (text.find_first_of(".e") == std::string_view::npos) {
    *end++ = '.';
    *end++ = '0';
  }
  writer.wrote_to(end);
}

template <class Integer>
void write_integer(Writer& writer, Integer value) {
  char* begin = writer.room(24);
  writer.wrote_to(std::to_chars(begin, begin + 24, value).ptr);
}

// Everything but lists that have something in them.
void write_simple(Writer& writer, const Json& value) {
  switch (JsonAccess::tag(value)) {
    case Tag::null:
      return writer.put("null");
    case Tag::no:
      return writer.put("false");
    case Tag::yes:
      return writer.put("true");
    case Tag::integer:
      return write_integer(writer, JsonAccess::payload<std::int64_t>(value));
    case Tag::natural:
      return write_integer(writer, JsonAccess::payload<std::uint64_t>(value));
    case Tag::minus_zero:
      return writer.put("-0");
    case Tag::real:
      return write_real(writer, JsonAccess::payload<double>(value));
    case Tag::big:
      return writer.put(value.big_number());
    case Tag::short_text:
      return write_short_text(writer, value);
    case Tag::long_text:
      return write_text(writer, value.as_string());
    case Tag::empty_array:
    case Tag::array:
      return writer.put("[]");
    case Tag::empty_object:
    case Tag::object:
      return writer.put("{}");
  }
}

// A list being written: its values (keys and values in turn) that are still to come.
struct Open {
  const Json* next;
  const Json* end;
  bool object;
};

enum class Layout { compact, pretty };

void write_break(Writer& writer, std::size_t level) {
  writer.put('\n');
  for (std::size_t i = 0; i < level; ++i) writer.put("  ");
}

template <Layout layout>
void write_value(Writer& writer, const Json& root) {
  std::vector<Open> open;
  const Json* value = &root;
  for (;;) {
    ListNode* list = JsonAccess::list_if(*value);
    if (list != nullptr && list->size != 0) {
      const bool object = list->width == 2;
      writer.put(object ? '{' : '[');
      open.push_back({list->values(), list->values() + list->size * list->width, object});
    } else {
      write_simple(writer, *value);
      while (!open.empty() && open.back().next == open.back().end) {
        const bool object = open.back().object;
        open.pop_back();
        if constexpr (layout == Layout::pretty) write_break(writer, open.size());
        writer.put(object ? '}' : ']');
      }
      if (open.empty()) return;
      writer.put(',');
    }
    Open& top = open.back();
    if constexpr (layout == Layout::pretty) write_break(writer, open.size());
    if (top.object) {
      write_simple(writer, *top.next++);
      writer.put(':');
      if constexpr (layout == Layout::pretty) writer.put(' ');
    }
    value = top.next++;
  }
}

// What the compact text will need, but for its escapes. A walk over the nodes costs a tenth of
// printing; touching fresh pages again and again while the text grows costs more than printing.
std::size_t likely_size(const Json& root) {
  std::size_t total = 0;
  std::vector<std::span<const Json>> open = {{&root, 1}};
  while (!open.empty()) {
    if (open.back().empty()) {
      open.pop_back();
      continue;
    }
    const Json& value = open.back().front();
    open.back() = open.back().subspan(1);
    total += 3;
    if (value.is_string()) {
      const std::size_t size = value.as_string().size();
      total += size + size / 16;
    } else if (ListNode* list = JsonAccess::list_if(value)) {
      open.push_back({list->values(), list->size * list->width});
    } else if (value.is_number()) {
      total += JsonAccess::tag(value) == Tag::real ? 17 : 5;
    } else {
      total += 2;
    }
  }
  return total;
}

}  // namespace

void print_json(const Json& value, std::string& out) {
  out.reserve(out.size() + likely_size(value));
  Writer writer(out);
  write_value<Layout::compact>(writer, value);
}

std::string print_json(const Json& value) {
  std::string out;
  print_json(value, out);
  return out;
}

std::string pretty_json(const Json& value) {
  std::string out;
  out.reserve(likely_size(value));
  {
    Writer writer(out);
    write_value<Layout::pretty>(writer, value);
  }
  return out;
}

void print_json_string(std::string_view text, std::string& out) {
  Writer writer(out);
  if (is_utf8(text)) {
    write_text(writer, text);
  } else {
    write_text(writer, repair_utf8(text));
  }
}

}  // namespace tug
