#pragma once
/// Public keys of others, and the signatures that they make with them, in the forms of JOSE
/// (RFC 7518): the algorithms RS, PS and ES with 256, 384 and 512 bits. None with a shared secret:
/// who knows a public key must not be able to sign with it.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace fettle {

class PublicKey {
 public:
  /// Numbers as bytes, the most significant first. Errors (`Blame::user`): the modulus has less than
  /// 2,048 bits or more than 8,192, the exponent is none.
  static Result<PublicKey> rsa(std::string_view modulus, std::string_view exponent);
  /// `curve`: `P-256`, `P-384` or `P-521`. Error (`Blame::user`): the point is not on it.
  static Result<PublicKey> on_curve(std::string_view curve, std::string_view x, std::string_view y);

  /// Whether it is a key for this algorithm: of RSA for `RS256`, of the curve P-256 for `ES256`.
  bool is_for(std::string_view algorithm) const;
  /// Whether its owner has signed the message so. An algorithm that it is not for: never.
  bool has_signed(std::string_view message, std::string_view signature,
                  std::string_view algorithm) const;

 private:
  PublicKey(std::shared_ptr<evp_pkey_st> key, std::string_view curve)
      : key_(std::move(key)), curve_(curve) {}
  std::shared_ptr<evp_pkey_st> key_;
  std::string curve_;  ///< empty: it is one of RSA
};

}  // namespace fettle
