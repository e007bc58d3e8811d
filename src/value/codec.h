#pragma once
/// Values as bytes and back, exactly: with holes, secrets, unknowns and integers of any size. For
/// the store; people are shown JSON.

#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "base/seal.h"
#include "value/mask.h"
#include "value/value.h"

namespace fettle {

/// Says what is sealed, and with which seal. Both must outlive its users.
struct SealPolicy {
  const Seal* seal = nullptr;     ///< null: nothing is sealed
  const Mask* secrets = nullptr;  ///< texts that hold one of these are sealed, too; null: none
};

/// Appends numbers, texts and values to bytes. With a seal, secrets are sealed, and with a mask
/// also texts that hold one, and variables with a name that says so.
class Writer {
 public:
  explicit Writer(SealPolicy sealing = {}) : sealing_(sealing) {}
  void number(uint64_t number);  ///< in groups of seven bits, small ones are short
  void text(std::string_view text);
  void value(const Value& value);
  void digest(Digest digest);
  std::string take() { return std::move(bytes_); }

 private:
  bool seals_texts() const { return sealing_.seal != nullptr && sealing_.secrets != nullptr; }
  bool is_secret(const Value& value) const;
  void sealed(uint8_t tag, const Value& value);
  void variables(const Value& value);

  SealPolicy sealing_;
  std::string bytes_;
};

/// The sealed bytes among those that were read, in their order.
using SealedParts = std::vector<std::string_view>;

/// Reads what a `Writer` wrote. Whatever is broken (cut off, a wrong tag, nested too deep) sets
/// `broken()` and gives zeros from there on. A sealed secret that cannot be opened is a secret
/// whose content is unknown.
class Reader {
 public:
  /// `parts`, unless null, gets what is sealed.
  explicit Reader(std::string_view bytes, const Seal* seal = nullptr, SealedParts* parts = nullptr)
      : seal_(seal), parts_(parts), rest_(bytes) {}
  uint64_t number();
  std::string_view text();
  Value value() { return value(0); }
  Digest digest();
  bool broken() const { return broken_; }
  bool at_end() const { return rest_.empty(); }

 private:
  Value value(int depth);
  uint8_t byte();
  void fail();
  std::optional<Value> unsealed(std::string_view sealed);

  const Seal* seal_;
  SealedParts* parts_;
  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace fettle
