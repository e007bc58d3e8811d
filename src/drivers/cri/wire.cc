#include "drivers/cri/wire.h"

#include "base/text.h"

namespace fettle::cri {
namespace {

constexpr uint64_t most_fields = (uint64_t{1} << 29) - 1;  ///< protobuf's largest field number

Error broken(std::string_view why) {
  return world_error(cat("the answer is no message of the runtime interface: ", why));
}

Error of_other_type(uint32_t field) { return broken(cat("field ", field, " is of another type")); }

}  // namespace

void MessageWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes_.push_back(static_cast<char>(static_cast<unsigned char>(value | 0x80)));
  bytes_.push_back(static_cast<char>(static_cast<unsigned char>(value)));
}

void MessageWriter::head(uint32_t field, uint32_t type) { varint(uint64_t{field} << 3 | type); }

void MessageWriter::counted(uint32_t field, std::string_view bytes) {
  head(field, static_cast<uint32_t>(WireType::bytes));
  varint(bytes.size());
  bytes_ += bytes;
}

void MessageWriter::number(uint32_t field, uint64_t value) {
  if (value == 0)
    return;
  head(field, static_cast<uint32_t>(WireType::varint));
  varint(value);
}

void MessageWriter::text(uint32_t field, std::string_view bytes) {
  if (!bytes.empty())
    counted(field, bytes);
}

void MessageWriter::message(uint32_t field, const MessageWriter& inside) {
  counted(field, inside.bytes());
}

void MessageWriter::entry(uint32_t field, std::string_view key, std::string_view value) {
  MessageWriter inside;
  inside.text(1, key);
  inside.text(2, value);
  message(field, inside);
}

Result<std::string> WireField::text() const {
  if (type != WireType::bytes)
    return of_other_type(field);
  if (!is_valid_utf8(bytes))
    return broken(cat("field ", field, " is no UTF-8"));
  return std::string(bytes);
}

Result<std::string_view> WireField::message() const {
  if (type != WireType::bytes)
    return of_other_type(field);
  return bytes;
}

Result<uint64_t> WireField::number() const {
  if (type != WireType::varint)
    return of_other_type(field);
  return value;
}

Result<uint64_t> MessageReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty())
      return broken("it is cut off in a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1)
      return broken("a number has more than 64 bits");
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80)
      return value;
  }
  return broken("a number has more than 64 bits");
}

Result<std::string_view> MessageReader::take(uint64_t count) {
  if (count > rest_.size())
    return broken(cat("it is cut off: ", count, " bytes should follow and ", rest_.size(), " do"));
  const std::string_view taken = rest_.substr(0, static_cast<size_t>(count));
  rest_.remove_prefix(static_cast<size_t>(count));
  return taken;
}

Result<std::optional<WireField>> MessageReader::next() {
  if (rest_.empty())
    return std::optional<WireField>();
  const uint64_t key = TRY(varint());
  const uint64_t number = key >> 3;
  if (number == 0 || number > most_fields)
    return broken(cat("there is no field ", number));
  WireField field{.field = static_cast<uint32_t>(number)};
  switch (key & 7) {
    case 0:
      field.value = TRY(varint());
      break;
    case 1:
      field.type = WireType::fixed64;
      field.bytes = TRY(take(8));
      break;
    case 2: {
      const uint64_t length = TRY(varint());
      field.type = WireType::bytes;
      field.bytes = TRY(take(length));
      break;
    }
    case 5:
      field.type = WireType::fixed32;
      field.bytes = TRY(take(4));
      break;
    default:  // groups, which protobuf gave up
      return broken(cat("field ", number, " is of an unknown type"));
  }
  return std::optional(field);
}

}  // namespace fettle::cri
