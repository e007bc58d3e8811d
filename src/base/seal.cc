#include "base/seal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstring>

#include <unistd.h>

#include "base/durable.h"
#include "base/hash.h"
#include "base/invariant.h"
#include "base/octets.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t tag_size = 16;  ///< before the sealed bytes

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
Context new_context() { return {EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free}; }

const EVP_CIPHER* cipher() {
  static EVP_CIPHER* const fetched = EVP_CIPHER_fetch(nullptr, "AES-256-SIV", nullptr);
  INVARIANT(fetched != nullptr);
  return fetched;
}

}  // namespace

/// Several processes may write it at once: the first one counts.
Status Seal::keep(const Path& path) const {
  const Path draft = cat(path.string(), ".", getpid());
  TRY(write_file(draft, std::string_view(reinterpret_cast<const char*>(key_.data()), key_.size()),
                 0600));
  // Anything sealed with a key that a power cut took away would be lost.
  Status made = sync_to_disk(draft);
  if (made && link(draft.c_str(), path.c_str()) != 0 && !file_exists(path))
    made = file_error("cannot create the key", path);
  unlink(draft.c_str());
  TRY(std::move(made));
  return sync_to_disk(path.has_parent_path() ? path.parent_path() : Path("."));
}

Result<Seal> Seal::random() {
  SealKey key;
  if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1)
    return world_error("this machine provides no random numbers");
  return Seal(key);
}

std::optional<Seal> Seal::from_bytes(std::string_view bytes) {
  if (bytes.size() != key_size)
    return std::nullopt;
  SealKey key;
  std::memcpy(key.data(), bytes.data(), key_size);
  return Seal(key);
}

Result<Seal> Seal::from_file(const Path& path) {
  if (!file_exists(path))
    TRY(TRY(random()).keep(path));
  const std::string bytes = TRY(read_file(path));
  if (const std::optional<Seal> seal = from_bytes(bytes))
    return *seal;
  return world_error(cat("`", path.string(), "` is not a key: it has ", bytes.size(),
                         " bytes instead of ", key_size,
                         "; remove it to get a new one: values sealed with the old key are then "
                         "lost, and resources that use them are applied again"));
}

std::string Seal::id() const {
  constexpr size_t digits = 16;
  return sha256_hex(close("the key of a store of fettle")).substr(0, digits);
}

std::string Seal::close(std::string_view plain) const {
  std::string sealed(tag_size + plain.size(), '\0');
  const Context context = new_context();
  int size = 0;
  const bool is_closed =
      EVP_EncryptInit_ex(context.get(), cipher(), nullptr, key_.data(), nullptr) == 1 &&
      EVP_EncryptUpdate(context.get(), octets(sealed) + tag_size, &size, octets(plain),
                        static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), octets(sealed) + tag_size + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, tag_size, sealed.data()) == 1;
  INVARIANT(is_closed);
  return sealed;
}

std::optional<std::string> Seal::open(std::string_view sealed) const {
  if (sealed.size() < tag_size)
    return std::nullopt;
  std::string tag(sealed.substr(0, tag_size));
  const std::string_view rest = sealed.substr(tag_size);
  std::string plain(rest.size(), '\0');
  const Context context = new_context();
  int size = 0;
  const bool is_opened =
      EVP_DecryptInit_ex(context.get(), cipher(), nullptr, key_.data(), nullptr) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, tag.data()) == 1 &&
      EVP_DecryptUpdate(context.get(), octets(plain), &size, octets(rest),
                        static_cast<int>(rest.size())) == 1 &&
      EVP_DecryptFinal_ex(context.get(), octets(plain) + size, &size) == 1;
  return is_opened ? std::optional(std::move(plain)) : std::nullopt;
}

}  // namespace fettle
