#pragma once
/// Seals bytes with a key that is kept in a file, so that whoever has the bytes and not the key
/// learns nothing but their size, and whether two are the same. AES-256-SIV (RFC 5297): the same
/// bytes are sealed the same, and no source of chance is needed.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace fettle {

class Seal {
 public:
  static constexpr size_t key_size = 64;
  using SealKey = std::array<unsigned char, key_size>;

  explicit Seal(const SealKey& key) : key_(key) {}
  /// The key of a file, which is made, for its owner alone, when it is not there. Errors: it cannot
  /// be read or made, or has another size.
  static Result<Seal> from_file(const Path& path);
  /// None: it has another size than a key.
  static std::optional<Seal> from_bytes(std::string_view bytes);
  /// A key that nobody else has.
  static Result<Seal> random();
  /// Writes the key to a file, for its owner alone, unless it is there.
  Status keep(const Path& path) const;
  /// Says which key it is, and nothing about it: 16 hexadecimal digits.
  std::string id() const;

  std::string close(std::string_view plain) const;
  /// None: it was not sealed with this key, or has been changed.
  std::optional<std::string> open(std::string_view sealed) const;

 private:
  SealKey key_;
};

}  // namespace fettle
