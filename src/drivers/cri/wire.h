#pragma once
/// Protobuf's bytes, as far as the Container Runtime Interface needs them.
///
///   MessageWriter image;
///   image.text(1, "redis:7");
///   MessageReader reader(bytes);
///   while (const auto field = TRY(reader.next()))
///     …
///
/// A protobuf library with generated code is larger than the rest of the program, for five calls
/// with some twenty fields. So messages are written and read by hand, field by field. What a reader
/// does not ask for is passed over, as protobuf wants it.
///
/// Whoever answers at a socket may be anybody, so a reader trusts no length: it never reads beyond
/// its bytes, and it copies nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle::cri {

class MessageWriter {
 public:
  /// Zero and an empty text are what an absent field means, and are not written.
  void number(uint32_t field, uint64_t value);
  void text(uint32_t field, std::string_view bytes);
  /// An empty message is there all the same.
  void message(uint32_t field, const MessageWriter& inside);
  /// An entry of `map<string, string>`.
  void entry(uint32_t field, std::string_view key, std::string_view value);
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value);
  void head(uint32_t field, uint32_t type);
  void counted(uint32_t field, std::string_view bytes);
  std::string bytes_;
};

enum class WireType : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  uint32_t field = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;        ///< of a number
  std::string_view bytes{};  ///< of a text or a message; part of what the reader reads

  /// Errors: it is of another type, or no UTF-8.
  Result<std::string> text() const;
  Result<std::string_view> message() const;
  Result<uint64_t> number() const;
};

class MessageReader {
 public:
  /// The bytes must outlive it.
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
  /// None: that was all. Errors: the bytes are cut off, or are no message. Nothing may be read
  /// after an error.
  Result<std::optional<WireField>> next();

 private:
  Result<uint64_t> varint();
  Result<std::string_view> take(uint64_t count);
  std::string_view rest_;
};

}  // namespace fettle::cri
