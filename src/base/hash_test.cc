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

TEST(Hash, DigestsAreWritten) {
  EXPECT_EQ(to_string(Digest{0x12, 0xabcdef}), "00000000000000120000000000abcdef");
}

TEST(Hash, CombiningDependsOnTheOrder) {
  const Digest a = fingerprint("a"), b = fingerprint("b");
  EXPECT_NE(combine(a, b), combine(b, a));
  EXPECT_EQ(combine(a, b), combine(a, b));
}

}  // namespace
}  // namespace fettle
