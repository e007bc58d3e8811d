#include "base/fernet.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/base64.h"
#include "base/octets.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t key_size = 32;      // one half signs, the other encrypts
constexpr size_t vector_at = 1 + 8;  // behind the version and the time
constexpr size_t content_at = vector_at + 16;
constexpr size_t signature_size = 32;
constexpr size_t cipher_block_size = 16;
constexpr char version = '\x80';

Result<std::string> decoded(std::string_view text) {
  const bool is_base64 = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '=';
  });
  if (!is_base64)
    return user_error("it is not base64 with `-` and `_`");
  return base64_decode(replace_all(replace_all(text, "-", "+"), "_", "/"));
}

bool is_signed(std::string_view message, std::string_view signature, std::string_view key) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(message), message.size(),
           made.data(), &size) == nullptr)
    return false;
  return size == signature.size() && CRYPTO_memcmp(made.data(), signature.data(), size) == 0;
}

/// Empty: the padding is wrong.
std::string decrypted(std::string_view content, std::string_view vector, std::string_view key) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(
      EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  std::string plain(content.size() + cipher_block_size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(plain.data());
  int size = 0, rest = 0;
  const bool is_good = context != nullptr &&
                       EVP_DecryptInit_ex(context.get(), EVP_aes_128_cbc(), nullptr, octets(key),
                                          octets(vector)) == 1 &&
                       EVP_DecryptUpdate(context.get(), out, &size, octets(content),
                                         static_cast<int>(content.size())) == 1 &&
                       EVP_DecryptFinal_ex(context.get(), out + size, &rest) == 1;
  plain.resize(is_good ? static_cast<size_t>(size + rest) : 0);
  return plain;
}

}  // namespace

Result<std::string> open_fernet(std::string_view token, std::string_view key) {
  const Result<std::string> keys = decoded(trim(key));
  if (!keys || keys->size() != key_size)
    return user_error("invalid key: it must be 32 bytes as base64 with `-` and `_`");
  const Result<std::string> bytes = decoded(trim(token));
  constexpr size_t largest = size_t{1} << 30;
  if (!bytes || bytes->size() < content_at + cipher_block_size + signature_size ||
      bytes->size() > largest || bytes->front() != version ||
      (bytes->size() - content_at - signature_size) % cipher_block_size != 0)
    return user_error("it is not a Fernet token");
  const std::string_view all = *bytes;
  const std::string_view message = all.substr(0, all.size() - signature_size);
  const std::string_view signing = std::string_view(*keys).substr(0, key_size / 2);
  const std::string_view encrypting = std::string_view(*keys).substr(key_size / 2);
  if (!is_signed(message, all.substr(message.size()), signing))
    return user_error("the key does not fit");
  const std::string_view content = message.substr(content_at);
  std::string plain =
      decrypted(content, message.substr(vector_at, content_at - vector_at), encrypting);
  if (plain.empty() && content.size() > cipher_block_size)
    return user_error("it is not a Fernet token");
  return plain;
}

bool looks_like_fernet(std::string_view text) { return trim(text).starts_with("gAAAA"); }

}  // namespace fettle
