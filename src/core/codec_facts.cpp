// Which fields a struct gives a value to, found out by making one.
#include <cstring>
#include <memory>
#include <new>

#include "core/codec_walk.h"
#include "tug/core/codec.h"

namespace tug::detail {
namespace {

bool is_scalar(const Shape& shape) {
  return shape.kind == ShapeKind::boolean || shape.kind == ShapeKind::integer ||
         shape.kind == ShapeKind::real || shape.kind == ShapeKind::enumeration;
}

std::size_t scalar_bytes(const Shape& shape) {
  if (shape.kind == ShapeKind::boolean) return sizeof(bool);
  if (shape.kind == ShapeKind::real) return as<RealShape>(shape).bytes;
  return as<IntegerShape>(shape).bytes;
}

class Storage {
 public:
  explicit Storage(const ObjectShape& shape)
      : shape_(shape), bytes_(::operator new(shape.size, std::align_val_t(shape.align))) {}
  ~Storage() { ::operator delete(bytes_, std::align_val_t(shape_.align)); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  void* get() const noexcept { return bytes_; }

 private:
  const ObjectShape& shape_;
  void* bytes_;
};

// `bool deep;` and `bool deep = false;` are the same in T{}, but not in `T x;`: the first leaves
// the storage as it was. So the storage is filled before, twice with different bytes, and a scalar
// that looks the same both times was initialised. The bytes are only looked at as bytes, and the
// compiler may not assume anything about them (the empty asm): a store that it could drop because
// a constructor follows would spoil the answer.
std::vector<bool> initialised_scalars(const ObjectShape& shape) {
  Storage storage(shape);
  FieldAddresses addresses;
  std::vector<unsigned char> seen[2];
  for (int round = 0; round < 2; ++round) {
    std::memset(storage.get(), round == 0 ? 0x00 : 0xff, shape.size);
    asm volatile("" : : "r"(storage.get()) : "memory");
    shape.start(storage.get());
    asm volatile("" : : "r"(storage.get()) : "memory");
    seen[round].resize(shape.size);
    std::memcpy(seen[round].data(), storage.get(), shape.size);
    addresses = fields_at(shape, storage.get());
    shape.destroy(storage.get());
  }
  std::vector<bool> initialised(shape.fields.size());
  for (std::size_t i = 0; i < shape.fields.size(); ++i) {
    const Shape* field = shape.fields[i].shape;
    if (!field || !is_scalar(*field)) continue;
    const auto offset = static_cast<std::size_t>(static_cast<char*>(addresses[i]) -
                                                 static_cast<char*>(storage.get()));
    initialised[i] = std::memcmp(&seen[0][offset], &seen[1][offset], scalar_bytes(*field)) == 0;
  }
  return initialised;
}

template <class F>
void with_fresh_object(const ObjectShape& shape, F f) {
  Storage storage(shape);
  shape.make(storage.get());
  f(storage.get());
  shape.destroy(storage.get());
}

}  // namespace

Json blank_value(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::boolean:
      return false;
    case ShapeKind::integer:
    case ShapeKind::real:
      return 0;
    case ShapeKind::text:
      return "";
    case ShapeKind::any:
    case ShapeKind::nothing:
    case ShapeKind::maybe:
      return nullptr;
    case ShapeKind::enumeration: {
      const std::uint64_t zero = 0;
      return write_value(shape, &zero);
    }
    case ShapeKind::literal:
      return as<LiteralShape>(shape).text;
    case ShapeKind::list:
      return Json::array();
    case ShapeKind::row: {
      const auto& row = as<RowShape>(shape);
      Json items = Json::array();
      for (std::size_t i = 0; i < row.count; ++i) items.push_back(blank_value(*row.item));
      return items;
    }
    case ShapeKind::dictionary:
      return Json::object();
    case ShapeKind::choice:
      return blank_value(*as<ChoiceShape>(shape).alternatives[0]);
    case ShapeKind::object: {
      Json blank;
      with_fresh_object(as<ObjectShape>(shape),
                        [&](const void* object) { blank = write_value(shape, object); });
      return blank;
    }
    case ShapeKind::custom:
      return as<CustomShape>(shape).blank();
  }
  return nullptr;
}

std::vector<FieldFacts> find_facts(const ObjectShape& shape) {
  const std::vector<bool> initialised = initialised_scalars(shape);
  std::vector<FieldFacts> facts(shape.fields.size());
  with_fresh_object(shape, [&](void* object) {
    const FieldAddresses addresses = fields_at(shape, object);
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
      facts[i].name = shape.fields[i].name;
      const Shape* field = shape.fields[i].shape;
      if (!field) continue;
      Json value = write_value(*field, addresses[i]);
      if (initialised[i] || value != blank_value(*field)) {
        facts[i].fallback = std::move(value);
      } else {
        facts[i].required = field->kind != ShapeKind::maybe;
      }
    }
  });
  return facts;
}

}  // namespace tug::detail
