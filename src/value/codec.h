#pragma once
/// Values as bytes and back, exactly: with holes, secrets, unknowns and integers of any size. For
/// the store; people are shown JSON.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/seal.h"
#include "value/value.h"

namespace fettle {

/// Appends numbers, texts and values to bytes.
class Writer {
 public:
  /// Secrets are sealed when there is a seal, which must outlive it.
  explicit Writer(const Seal* seal = nullptr) : seal_(seal) {}
  void number(uint64_t number);  ///< in groups of seven bits, small ones are short
  void text(std::string_view text);
  void value(const Value& value);
  std::string take() { return std::move(bytes_); }

 private:
  const Seal* seal_;
  std::string bytes_;
};

/// Reads what a `Writer` wrote. Whatever is broken (cut off, a wrong tag, nested too deep) sets
/// `broken()` and gives zeros from there on. A sealed secret that cannot be opened is a secret
/// whose content is unknown.
class Reader {
 public:
  explicit Reader(std::string_view bytes, const Seal* seal = nullptr) : seal_(seal), rest_(bytes) {}
  uint64_t number();
  std::string_view text();
  Value value() { return value(0); }
  bool broken() const { return broken_; }
  bool at_end() const { return rest_.empty(); }

 private:
  Value value(int depth);
  uint8_t byte();
  void fail();
  Value unsealed(std::string_view sealed);

  const Seal* seal_;
  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace fettle
