#include "base/hash.h"

#include <array>
#include <cstring>

#include <openssl/evp.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"

namespace fettle {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

EVP_MD_CTX* context(void* state) { return static_cast<EVP_MD_CTX*>(state); }

}  // namespace

Digest fingerprint(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Digest combine(Digest a, Digest b) {
  const std::array<uint64_t, 4> words{a.high, a.low, b.high, b.low};
  const XXH128_hash_t hash = XXH3_128bits(words.data(), sizeof words);
  return {hash.high64, hash.low64};
}

uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string to_string(Digest digest) {
  std::string text;
  for (const uint64_t word : {digest.high, digest.low})
    for (int shift = 60; shift >= 0; shift -= 4)
      text.push_back(hex_digits[word >> shift & 15]);
  return text;
}

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  INVARIANT(state_ != nullptr && EVP_DigestInit_ex(context(state_), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() { EVP_MD_CTX_free(context(state_)); }

void Sha256::add(std::string_view bytes) {
  INVARIANT(EVP_DigestUpdate(context(state_), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  INVARIANT(EVP_DigestFinal_ex(context(state_), digest.data(), nullptr) == 1);
  std::string text;
  for (const unsigned char byte : digest)
    text.append({hex_digits[byte >> 4], hex_digits[byte & 15]});
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string md5_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  INVARIANT(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_md5(), nullptr) == 1);
  std::string hex;
  for (unsigned i = 0; i < size; ++i)
    hex.append({"0123456789abcdef"[digest[i] >> 4], "0123456789abcdef"[digest[i] & 15]});
  return hex;
}

}  // namespace fettle
