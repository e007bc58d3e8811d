#include "value/msgpack.h"

#include <bit>

#include "base/text.h"

namespace fettle {
namespace {

constexpr int deepest_packed = 200;

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  Result<Value> value(int depth) {
    if (depth > deepest_packed)
      return user_error("it is nested too deep");
    const auto tag = static_cast<uint8_t>(TRY(number(1)));
    if (tag < 0x80)
      return Value(static_cast<int64_t>(tag));
    if (tag < 0x90)
      return dict(tag & 0x0Fu, depth);
    if (tag < 0xA0)
      return list(tag & 0x0Fu, depth);
    if (tag < 0xC0)
      return text(tag & 0x1Fu);
    if (tag >= 0xE0)
      return Value(static_cast<int64_t>(static_cast<int8_t>(tag)));
    return tagged(tag, depth);
  }

  bool at_end() const { return rest_.empty(); }

 private:
  Result<Value> tagged(uint8_t tag, int depth) {
    switch (tag) {
      case 0xC0:
        return Value();
      case 0xC2:
      case 0xC3:
        return Value(tag == 0xC3);
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return text(TRY(number(1u << (tag - 0xC4))));
      case 0xCA:
        return Value(
            static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(TRY(number(4))))));
      case 0xCB:
        return Value(std::bit_cast<double>(TRY(number(8))));
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        return Value::big_integer(std::to_string(TRY(number(1u << (tag - 0xCC)))));
      case 0xD0:
      case 0xD1:
      case 0xD2:
      case 0xD3:
        return signed_integer(1u << (tag - 0xD0));
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return text(TRY(number(1u << (tag - 0xD9))));
      case 0xDC:
      case 0xDD:
        return list(TRY(number(2u << (tag - 0xDC))), depth);
      case 0xDE:
      case 0xDF:
        return dict(TRY(number(2u << (tag - 0xDE))), depth);
      default:
        return user_error(cat("it has an unknown type: ", int{tag}));
    }
  }

  Result<Value> signed_integer(size_t size) {
    const uint64_t bits = TRY(number(size));
    const unsigned unused = static_cast<unsigned>(64 - 8 * size);
    return Value(static_cast<int64_t>(bits << unused) >> unused);
  }

  Result<Value> text(uint64_t size) {
    if (size > rest_.size())
      return cut_off();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (!is_valid_utf8(bytes))
      return user_error("it has a string that is not UTF-8");
    return Value(bytes);
  }

  Result<Value> list(uint64_t count, int depth) {
    if (count > rest_.size())
      return cut_off();
    std::vector<Value> items;
    for (uint64_t i = 0; i < count; ++i)
      items.push_back(TRY(value(depth + 1)));
    return Value::list(std::move(items));
  }

  Result<Value> dict(uint64_t count, int depth) {
    if (count > rest_.size())
      return cut_off();
    std::vector<Entry> entries;
    for (uint64_t i = 0; i < count; ++i) {
      const Value key = TRY(value(depth + 1));
      if (key.is_list() || key.is_dict())
        return user_error("it has a key that is not a string");
      entries.push_back({to_text(key), TRY(value(depth + 1))});
    }
    return Value::dict(std::move(entries));
  }

  /// Big-endian, of so many bytes.
  Result<uint64_t> number(size_t size) {
    if (size > rest_.size())
      return cut_off();
    uint64_t bits = 0;
    for (const char c : rest_.substr(0, size))
      bits = bits << 8 | static_cast<unsigned char>(c);
    rest_.remove_prefix(size);
    return bits;
  }

  static Error cut_off() { return user_error("it is truncated"); }

  std::string_view rest_;
};

}  // namespace

Result<Value> read_msgpack(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Value value = TRY(unpacker.value(0));
  if (!unpacker.at_end())
    return user_error("something follows its end");
  return value;
}

}  // namespace fettle
