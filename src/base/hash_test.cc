#include "base/hash.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Hash, Sha256IsTheStandardOne) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 pieces;
  pieces.add("a");
  pieces.add("bc");
  EXPECT_EQ(pieces.hex(), sha256_hex("abc"));
}

TEST(Hash, DigestsAreWrittenAndReadBack) {
  const Digest digest = fingerprint("fettle");
  EXPECT_EQ(to_string(digest).size(), 32u);
  EXPECT_EQ(digest_from(to_string(digest)), digest);
  EXPECT_EQ(digest_from("nonsense"), Digest{});
}

TEST(Hash, CombiningDependsOnTheOrder) {
  const Digest a = fingerprint("a"), b = fingerprint("b");
  EXPECT_NE(combine(a, b), combine(b, a));
  EXPECT_EQ(combine(a, b), combine(a, b));
}

}  // namespace
}  // namespace fettle
