#include "base/public_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>

#include "base/octets.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr int least_bits = 2'048, most_bits = 8'192;
constexpr size_t longest_exponent = 4;

struct Curve {
  std::string_view name;       ///< in JOSE
  const char* group;           ///< in OpenSSL
  size_t size;                 ///< of a number, in bytes
  std::string_view algorithm;  ///< the one that signs with it
};
constexpr std::array<Curve, 3> curves{Curve{"P-256", "prime256v1", 32, "ES256"},
                                      Curve{"P-384", "secp384r1", 48, "ES384"},
                                      Curve{"P-521", "secp521r1", 66, "ES512"}};

const Curve* curve_named(std::string_view name) {
  for (const Curve& curve : curves)
    if (curve.name == name)
      return &curve;
  return nullptr;
}

const EVP_MD* digest_of(std::string_view algorithm) {
  const std::string_view bits = algorithm.substr(2);
  return bits == "256" ? EVP_sha256() : bits == "384" ? EVP_sha384() : EVP_sha512();
}

using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;
Number number_of(std::string_view bytes) {
  return {BN_bin2bn(octets(bytes), static_cast<int>(bytes.size()), nullptr), BN_free};
}

/// Null: the parameters make no key.
std::shared_ptr<EVP_PKEY> key_of(const char* type, OSSL_PARAM_BLD* builder) {
  OSSL_PARAM* const parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX* const context = EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr);
  EVP_PKEY* key = nullptr;
  const bool is_made = parameters != nullptr && context != nullptr &&
                       EVP_PKEY_fromdata_init(context) > 0 &&
                       EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) > 0;
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  return is_made ? std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free) : nullptr;
}

/// JOSE has the two numbers one behind the other, OpenSSL wants them in DER. Empty: they are none.
std::string der_of(std::string_view signature, size_t size) {
  if (signature.size() != 2 * size)
    return {};
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(ECDSA_SIG_new(), ECDSA_SIG_free);
  ECDSA_SIG_set0(pair.get(), number_of(signature.substr(0, size)).release(),
                 number_of(signature.substr(size)).release());
  unsigned char* bytes = nullptr;
  const int length = i2d_ECDSA_SIG(pair.get(), &bytes);
  std::string der(reinterpret_cast<const char*>(bytes),
                  length > 0 ? static_cast<size_t>(length) : 0);
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

Result<PublicKey> PublicKey::rsa(std::string_view modulus, std::string_view exponent) {
  if (modulus.size() > most_bits / 8)
    return user_error(cat("a modulus of more than ", most_bits, " bits"));
  const Number n = number_of(modulus), e = number_of(exponent);
  if (BN_num_bits(n.get()) < least_bits)
    return user_error(cat("a modulus of less than ", least_bits, " bits"));
  if (exponent.size() > longest_exponent || !BN_is_odd(e.get()) || BN_is_one(e.get()))
    return user_error("an exponent that is none");
  const std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)> builder(
      OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  std::shared_ptr<EVP_PKEY> key = key_of("RSA", builder.get());
  if (key == nullptr)
    return user_error("numbers that are no key of RSA");
  return PublicKey(std::move(key), "");
}

Result<PublicKey> PublicKey::on_curve(std::string_view curve, std::string_view x,
                                      std::string_view y) {
  const Curve* const known = curve_named(curve);
  if (known == nullptr)
    return user_error(cat("the curve `", printable(curve), "`, which is not known"));
  if (x.size() != known->size || y.size() != known->size)
    return user_error(cat("numbers of another size than those of ", known->name));
  const std::string point = cat("\x04", x, y);
  const std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)> builder(
      OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, known->group, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  std::shared_ptr<EVP_PKEY> key = key_of("EC", builder.get());
  if (key == nullptr)
    return user_error(cat("a point that is not on ", known->name));
  return PublicKey(std::move(key), known->name);
}

bool PublicKey::is_for(std::string_view algorithm) const {
  if (const Curve* const curve = curve_named(curve_))
    return algorithm == curve->algorithm;
  constexpr std::array<std::string_view, 6> of_rsa{"RS256", "RS384", "RS512",
                                                   "PS256", "PS384", "PS512"};
  return std::ranges::find(of_rsa, algorithm) != of_rsa.end();
}

bool PublicKey::has_signed(std::string_view message, std::string_view signature,
                           std::string_view algorithm) const {
  if (!is_for(algorithm))
    return false;
  std::string der;
  if (const Curve* const curve = curve_named(curve_)) {
    der = der_of(signature, curve->size);
    signature = der;
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  EVP_PKEY_CTX* options = nullptr;  // the context's
  const EVP_MD* const digest = digest_of(algorithm);
  if (EVP_DigestVerifyInit(context.get(), &options, digest, nullptr, key_.get()) <= 0)
    return false;
  if (algorithm.starts_with("PS") &&
      (EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) <= 0 ||
       EVP_PKEY_CTX_set_rsa_mgf1_md(options, digest) <= 0 ||
       EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) <= 0))
    return false;
  const int verdict = EVP_DigestVerify(context.get(), octets(signature), signature.size(),
                                       octets(message), message.size());
  ERR_clear_error();
  return verdict == 1;
}

}  // namespace fettle
