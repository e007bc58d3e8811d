#include "base/public_key.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/text.h"

namespace fettle {
namespace {

std::string decoded(std::string_view text) { return *base64url_decode(text); }

// RFC 7515, appendix A.3.
constexpr std::string_view x_of_example = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                           y_of_example = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                           signed_example =
                               "eyJhbGciOiJFUzI1NiJ9"
                               ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
                               "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
                           signature_of_example =
                               "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApm"
                               "WQxfKTUJqPP3-Kg6NU1Q";

TEST(PublicKey, KnowsTheExampleOfJose) {
  const PublicKey key = *PublicKey::on_curve("P-256", decoded(x_of_example), decoded(y_of_example));
  const std::string signature = decoded(signature_of_example);
  EXPECT_TRUE(key.has_signed(signed_example, signature, "ES256"));
  EXPECT_FALSE(key.has_signed(cat(signed_example, "x"), signature, "ES256"));
  for (const char* const other : {"ES384", "ES512", "RS256", "PS256", "HS256", "none", "", "es256"})
    EXPECT_FALSE(key.has_signed(signed_example, signature, other)) << other;
  for (size_t i = 0; i < signature.size(); ++i) {
    std::string changed = signature;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(key.has_signed(signed_example, changed, "ES256")) << i;
  }
  EXPECT_FALSE(key.has_signed(signed_example, signature + '\0', "ES256"));
  EXPECT_FALSE(key.has_signed(signed_example, signature.substr(1), "ES256"));
  EXPECT_FALSE(key.has_signed(signed_example, "", "ES256"));
  EXPECT_FALSE(key.has_signed(signed_example, std::string(64, '\0'), "ES256"));
}

TEST(PublicKey, PointsBesideTheCurveAreNoKeys) {
  const std::string x = decoded(x_of_example), y = decoded(y_of_example);
  EXPECT_FALSE(PublicKey::on_curve("P-256", y, x));
  EXPECT_FALSE(PublicKey::on_curve("P-256", std::string(32, '\0'), std::string(32, '\0')));
  EXPECT_FALSE(PublicKey::on_curve("P-256", x, y.substr(1)));
  EXPECT_FALSE(PublicKey::on_curve("P-384", x, y));
  EXPECT_FALSE(PublicKey::on_curve("secp256k1", x, y));
  EXPECT_FALSE(PublicKey::on_curve("", x, y));
}

TEST(PublicKey, WeakAndHugeKeysOfRsaAreRefused) {
  const auto fault = [](size_t bytes, std::string_view exponent) {
    const auto key = PublicKey::rsa(std::string(bytes, '\xFF'), exponent);
    return key ? "" : key.error().message;
  };
  const std::string usual("\1\0\1", 3);
  EXPECT_EQ(fault(256, usual), "");
  EXPECT_EQ(fault(255, usual), "a modulus of less than 2048 bits");
  EXPECT_EQ(fault(0, usual), "a modulus of less than 2048 bits");
  EXPECT_EQ(fault(1'025, usual), "a modulus of more than 8192 bits");
  for (const char* const none : {"", "\1", "\2", "\1\1\1\1\1"})
    EXPECT_EQ(fault(256, none), "an exponent that is none");
}

}  // namespace
}  // namespace fettle
