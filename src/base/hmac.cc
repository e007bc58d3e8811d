#include "base/hmac.h"

#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/invariant.h"
#include "base/octets.h"

namespace fettle {

std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  INVARIANT(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(bytes),
                 bytes.size(), digest.data(), nullptr) != nullptr);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest)
    text.append({digits[byte >> 4U], digits[byte & 15U]});
  return text;
}

}  // namespace fettle
