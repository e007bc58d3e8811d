#include "remote/jwt.h"

#include <random>

#include "base/rfc3339.h"
#include "remote/key_set.h"
#include "tests/fixtures/jwt_fixture.h"

namespace fettle {
namespace {

const Time moment_of_jwts = *read_moment("2026-01-01T12:00:00Z");
const int64_t second_of_jwts =
    std::chrono::duration_cast<std::chrono::seconds>(moment_of_jwts.time_since_epoch()).count();

Value claims_with(std::vector<Entry> more) {
  std::vector<Entry> fields{{"iss", "https://ci.example"}, {"exp", second_of_jwts + 300}};
  fields.insert(fields.end(), more.begin(), more.end());
  return Value::dict(std::move(fields));
}

std::string fault_of_form(std::string_view text) {
  const Result<Jwt> jwt = read_jwt(text);
  return jwt ? "" : jwt.error().message;
}

/// Why a JWT is not signed by one of these keys; empty: it is.
std::string fault_of_signature(const std::string& text, const std::string& keys) {
  const Result<Jwt> jwt = read_jwt(text);
  const Result<KeySet> set = read_key_set(keys);
  EXPECT_TRUE(set) << set.error().message;
  return !jwt ? jwt.error().message : set->fault_of(*jwt).value_or("");
}

TEST(Jwts, AreSignedByEachAlgorithmAndItsKeyAlone) {
  const JwtSigner rsa("one"), small("one", "P-256"), middle("one", "P-384"), large("one", "P-521");
  const Value claims = claims_with({});
  for (const char* const algorithm : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}) {
    const std::string text = rsa.jwt(claims, algorithm);
    EXPECT_EQ(fault_of_signature(text, rsa.key_set()), "") << algorithm;
    EXPECT_EQ(fault_of_signature(text, JwtSigner("one").key_set()), "its signature is wrong");
    EXPECT_EQ(fault_of_signature(text, small.key_set()), "`alg` is not that of the key");
  }
  for (const JwtSigner* const signer : {&small, &middle, &large}) {
    const std::string text = signer->jwt(claims);
    EXPECT_EQ(fault_of_signature(text, signer->key_set()), "") << signer->usual_algorithm();
    EXPECT_EQ(fault_of_signature(text, rsa.key_set()), "`alg` is not that of the key");
  }
  EXPECT_EQ(fault_of_signature(small.jwt(claims), middle.key_set()),
            "`alg` is not that of the key");
  EXPECT_EQ(fault_of_signature(rsa.jwt(claims), JwtSigner("other").key_set()),
            "`kid` is none of the issuer's keys");
  // One of several keys with its name.
  EXPECT_EQ(fault_of_signature(small.jwt(claims),
                               JwtSigner::key_set({rsa.jwk(), JwtSigner("one", "P-256").jwk(),
                                                   small.jwk(), JwtSigner("two").jwk()})),
            "");
}

TEST(Jwts, ChooseNoAlgorithmForAKey) {
  const JwtSigner rsa("one");
  const std::string claims = write_json(claims_with({}));
  const std::string keys = rsa.key_set();
  const auto with_header = [&](const std::string& header) {
    return rsa.signed_text(header, claims, "RS256");
  };
  EXPECT_EQ(fault_of_signature(with_header(R"({"alg":"RS256","kid":"one"})"), keys), "");
  for (const char* const algorithm :
       {"none", "None", "HS256", "HS384", "HS512", "RS1", "rs256", "EdDSA", "ES256", "RSA-OAEP"})
    EXPECT_EQ(
        fault_of_signature(with_header(cat(R"({"alg":")", algorithm, R"(","kid":"one"})")), keys),
        "`alg` is not that of the key")
        << algorithm;
  EXPECT_EQ(fault_of_signature(with_header(R"({"alg":"RS384","kid":"one"})"), keys),
            "its signature is wrong");
  EXPECT_EQ(fault_of_signature(with_header(R"({"alg":"PS256","kid":"one"})"), keys),
            "its signature is wrong");
  // A key that says how it signs signs so alone.
  EXPECT_EQ(fault_of_signature(rsa.jwt(claims_with({}), "RS512"),
                               JwtSigner::key_set({rsa.jwk({{"alg", "RS256"}})})),
            "`alg` is not that of the key");
  // A key that a token brings along is nobody's.
  const JwtSigner forger("one");
  const std::string header = write_json(
      Value::dict({{"alg", "RS256"}, {"kid", "one"}, {"jwk", forger.jwk()}, {"jku", "http://x/"}}));
  EXPECT_EQ(fault_of_signature(forger.signed_text(header, claims, "RS256"), keys),
            "its signature is wrong");
}

TEST(Jwts, HaveOneForm) {
  const JwtSigner rsa("one");
  const std::string good = rsa.jwt(claims_with({}));
  EXPECT_EQ(fault_of_form(good), "");
  EXPECT_EQ(fault_of_form(good + "="), "its signature is no base64url");
  EXPECT_EQ(fault_of_form(good + "."), "it has not three parts");
  EXPECT_EQ(fault_of_form(good.substr(0, good.rfind('.'))), "it has not three parts");
  EXPECT_EQ(fault_of_form(good.substr(0, good.rfind('.') + 1)), "its signature is no base64url");
  EXPECT_EQ(fault_of_form(""), "it has not three parts");
  EXPECT_EQ(fault_of_form(cat(" ", good)), "its header is no base64url");
  EXPECT_EQ(fault_of_form(cat(good, "\n")), "its signature is no base64url");
  EXPECT_EQ(fault_of_form(std::string(longest_jwt + 1, 'a')), "it has more than 12288 bytes");
  EXPECT_EQ(fault_of_form(rsa.jwt(claims_with({{"x", std::string(longest_jwt, 'x')}}))),
            "it has more than 12288 bytes");

  const auto with = [&](const std::string& header, const std::string& claims) {
    return fault_of_form(rsa.signed_text(header, claims, "RS256"));
  };
  const std::string header = R"({"alg":"RS256","kid":"one"})";
  EXPECT_EQ(with(header, "{}"), "");
  const std::string twice = "no object of JSON, or has a field twice";
  for (const char* const wrong :
       {"", "[]", "null", "3", "\"x\"", "{", "{}{}", R"({"sub":"a","sub":"b"})",
        R"({"a":{"b":1,"b":2}})", "{\"a\":\"\xFF\"}", "{'a':1}", R"({"a":01})"})
    EXPECT_EQ(with(header, wrong), cat("its claims is ", twice)) << wrong;
  EXPECT_EQ(with(R"({"alg":"none","alg":"RS256","kid":"one"})", "{}"),
            cat("its header is ", twice));
  EXPECT_EQ(with(header, cat(R"({"a":)", std::string(2'000, '['), std::string(2'000, ']'), "}")),
            cat("its claims is ", twice));
  EXPECT_EQ(with(header, cat(R"({"a":)", std::string(20, '['), std::string(20, ']'), "}")),
            "its claims is nested deeper than 8");
  EXPECT_EQ(with(R"({"alg":"RS256"})", "{}"),
            "its header has no `kid`, or a longer one than any key has");
  EXPECT_EQ(with(R"({"alg":"RS256","kid":7})", "{}"),
            "its header has no `kid`, or a longer one than any key has");
  EXPECT_EQ(with(R"({"kid":"one"})", "{}"), "its header has no `alg`");
  EXPECT_EQ(with(R"({"alg":["RS256"],"kid":"one"})", "{}"), "its header has no `alg`");
  EXPECT_EQ(with(R"({"alg":"RS256","kid":"one","crit":["b64"],"b64":false})", "{}"),
            "its header has `crit`");
  EXPECT_EQ(with(R"({"alg":"RS256","kid":"one","typ":"logout+jwt"})", "{}"), "`typ` is not JWT");
}

TEST(Jwts, ThousandMutatedOnesAreRefused) {
  const JwtSigner signer("one", "P-256");
  const std::string good = signer.jwt(claims_with({{"sub", "repo:acme/shop"}, {"aud", "fettle"}}));
  const std::string keys = signer.key_set();
  ASSERT_EQ(fault_of_signature(good, keys), "");
  std::mt19937 random(7);  // NOLINT: each run shall be the same
  constexpr std::string_view characters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n";
  for (int i = 0; i < 1'000; ++i) {
    std::string text = good;
    const size_t at = random() % text.size();
    const char other = characters[random() % characters.size()];
    switch (random() % 4) {
      case 0:
        text[at] = other;
        break;
      case 1:
        text.erase(at, 1 + random() % 3);
        break;
      case 2:
        text.insert(at, 1 + random() % 3, other);
        break;
      default:
        std::swap(text[at], text[random() % text.size()]);
    }
    if (text != good) {
      EXPECT_NE(fault_of_signature(text, keys), "") << i << ": " << text;
    }
  }
}

TEST(Jwts, CountWhileTheirTimeLasts) {
  const auto fault = [](std::vector<Entry> fields, Duration later = Duration(0)) {
    const auto found = time_fault(Value::dict(std::move(fields)), moment_of_jwts + later);
    return found ? found->why : "";
  };
  const int64_t second = second_of_jwts;
  EXPECT_EQ(fault({{"exp", second}}, 59s), "") << "clocks differ";
  EXPECT_EQ(fault({{"exp", second}}, 60s), "`exp`: it expired at 2026-01-01T12:00:00Z");
  EXPECT_TRUE(time_fault(Value::dict({{"exp", second}}), moment_of_jwts + 60s)->is_over);
  EXPECT_EQ(fault({{"exp", static_cast<double>(second) + 0.5}}), "");
  EXPECT_EQ(fault({{"exp", second + 300}, {"nbf", second + 60}, {"iat", second + 60}}), "");
  EXPECT_EQ(fault({{"exp", second + 300}, {"nbf", second + 61}}),
            "`nbf`: it is from 2026-01-01T12:01:01Z, later than now");
  EXPECT_EQ(fault({{"exp", second + 300}, {"iat", second + 61}}),
            "`iat`: it is from 2026-01-01T12:01:01Z, later than now");
  EXPECT_EQ(fault({}), "it has no `exp`");
  EXPECT_EQ(fault({{"exp", std::to_string(second + 300)}}), "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", Value()}}), "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", true}}), "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", -1}}), "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", 1e300}}), "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", Value::big_integer("99999999999999999999999999")}}),
            "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", int64_t{9'223'372'036'854'775'807}}}), "`exp` is no moment");
  EXPECT_EQ(fault({{"exp", second + 300}, {"nbf", "now"}}), "`nbf` is no moment");
  EXPECT_EQ(fault({{"exp", second + 300}, {"iat", Value::list({})}}), "`iat` is no moment");
}

TEST(Jwts, AreForWhomTheyName) {
  const auto is_for = [](const Value& audience) {
    return is_for_audience(Value::dict({{"aud", audience}}), "fettle");
  };
  EXPECT_TRUE(is_for("fettle"));
  EXPECT_TRUE(is_for(Value::list({"a", "fettle"})));
  for (const Value& other :
       {Value("fettle2"), Value("Fettle"), Value(""), Value(), Value(true), Value::list({}),
        Value::list({"fettles"}), Value::list({7, "fettle"}), Value::dict({{"fettle", "fettle"}}),
        Value::list({Value::list({"fettle"})})})
    EXPECT_FALSE(is_for(other)) << write_json(other);
  EXPECT_FALSE(is_for_audience(Value::dict({}), "fettle"));
}

TEST(KeySets, HaveTheKeysThatSign) {
  const JwtSigner rsa("rsa"), curve("curve", "P-256");
  const auto names = [](const Result<KeySet>& set) {
    std::string all;
    for (const SigningKey& key : set->keys)
      all += cat(all.empty() ? "" : " ", key.name);
    return all;
  };
  EXPECT_EQ(names(read_key_set(JwtSigner::key_set(
                {rsa.jwk(), curve.jwk({{"use", "sig"}, {"key_ops", Value::list({"verify"})}}),
                 JwtSigner("enc").jwk({{"use", "enc"}}),
                 JwtSigner("ops").jwk({{"key_ops", Value::list({"encrypt"})}}),
                 Value::dict({{"kid", "shared"}, {"kty", "oct"}, {"k", "c2VjcmV0"}}),
                 Value::dict({{"kid", "ed"}, {"kty", "OKP"}, {"crv", "Ed25519"}, {"x", "AA"}}),
                 Value::dict({{"kid", "broken"}, {"kty", "RSA"}, {"n", "!"}, {"e", "AQAB"}}),
                 Value::dict({{"kid", "weak"}, {"kty", "RSA"}, {"n", "AQAB"}, {"e", "AQAB"}}),
                 Value(7), rsa.jwk({{"kid", ""}})}))),
            "rsa curve");
  const auto fault = [](std::string_view text) {
    const Result<KeySet> set = read_key_set(text);
    return set ? "" : set.error().message;
  };
  EXPECT_EQ(fault("{}"), "it has no list `keys`");
  EXPECT_EQ(fault(R"({"keys":{}})"), "it has no list `keys`");
  EXPECT_NE(fault("").find("it is no JSON"), std::string::npos);
  EXPECT_NE(fault(R"({"keys":[]})").find("it has no key that signs"), std::string::npos);
  EXPECT_EQ(fault(std::string(largest_key_set + 1, ' ')), "it has more than 256 kB");
  EXPECT_EQ(fault(JwtSigner::key_set(std::vector<Value>(101, curve.jwk()))),
            "it has more than 100 keys");
}

}  // namespace
}  // namespace fettle
