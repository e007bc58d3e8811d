#pragma once
/// Two hashes. `fingerprint`: XXH3-128, fast, for equality of what we made ourselves. `Sha256`: for
/// content that somebody else may have made.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace fettle {

/// 128 bits. All zero means "none".
struct Digest {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Digest&) const = default;
};

Digest fingerprint(std::string_view bytes);
/// A new digest from two, order matters: for chains and for structures.
Digest combine(Digest a, Digest b);
uint64_t hash64(std::string_view bytes);
std::string to_string(Digest digest);  ///< 32 hexadecimal digits

/// SHA-256 of content, in one piece or many.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();  ///< 64 hexadecimal digits; nothing may be added afterwards

 private:
  void* state_;
};

std::string sha256_hex(std::string_view bytes);
/// Only where somebody else chose it.
std::string md5_hex(std::string_view bytes);

}  // namespace fettle
