#include <charconv>
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
    if (size < used_ + more) size = used_ + more < 2 * size ? 2 * size : used_ + more;
    out_.resize_and_overwrite(size, [](char*, std::size_t all) { return all; });
    at_ = out_.data() + used_;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  std::size_t used_;
  char* at_ = nullptr;
  char* end_ = nullptr;
};

char* write_escape(char* to, unsigned char byte) noexcept {
  *to++ = '\\';
  switch (byte) {
    case '"':
    case '\\':
      *to++ = static_cast<char>(byte);
      return to;
    case '\b':
      *to++ = 'b';
      return to;
    case '\f':
      *to++ = 'f';
      return to;
    case '\n':
      *to++ = 'n';
      return to;
    case '\r':
      *to++ = 'r';
      return to;
    case '\t':
      *to++ = 't';
      return to;
    default:
      std::memcpy(to, "u00", 3);
      to[3] = static_cast<char>('0' + (byte >> 4));
      to[4] = "0123456789abcdef"[byte & 15];
      return to + 5;
  }
}

// `text` is well-formed.
void write_text(Writer& writer, std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  writer.put('"');
  for (;;) {
    bool non_ascii = false;
    const char* stop = detail::scan_string(p, end, non_ascii);
    const auto run = static_cast<std::size_t>(stop - p);
    char* to = writer.room(run + 7);
    std::memcpy(to, p, run);
    to += run;
    if (stop == end) {
      *to++ = '"';
      writer.wrote_to(to);
      return;
    }
    writer.wrote_to(write_escape(to, static_cast<unsigned char>(*stop)));
    p = stop + 1;
  }
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
      write_text(writer, top.next++->as_string());
      writer.put(':');
      if constexpr (layout == Layout::pretty) writer.put(' ');
    }
    value = top.next++;
  }
}

}  // namespace

void print_json(const Json& value, std::string& out) {
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
