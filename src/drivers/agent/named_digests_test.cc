#include "drivers/agent/named_digests.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/text.h"

namespace fettle {
namespace {

TEST(NamedDigestsTest, FindsThemWhereverTheyStand) {
  const std::string one = sha256_hex("one"), two = sha256_hex("two"), three = sha256_hex("three");
  for (size_t before = 0; before < 200; ++before) {
    NamedDigests named;
    named.add(cat(std::string(before, before % 3 == 0 ? ' ' : 'z'), one, "\n", two,
                  std::string(before, '-'), three));
    EXPECT_TRUE(named.has(one) && named.has(two) && named.has(three)) << before;
  }
}

TEST(NamedDigestsTest, ARowMayHaveMoreDigitsThanADigest) {
  const std::string digest = sha256_hex("one");
  for (const char* const before : {"", "0", "abc", "0123456789"})
    for (const char* const after : {"", "f", "0", "fedcba"}) {
      NamedDigests named;
      named.add(cat("-", before, digest, after, "-"));
      EXPECT_TRUE(named.has(digest)) << before << " " << after;
    }
}

TEST(NamedDigestsTest, FewerDigitsAndOtherLettersAreNone) {
  const std::string digest = sha256_hex("one");
  NamedDigests named;
  named.add("");
  named.add(digest.substr(1));
  named.add(cat(digest.substr(0, 32), "-", digest.substr(32)));
  named.add(cat("x", digest.substr(0, 63), "G"));
  EXPECT_FALSE(named.has(digest));
  EXPECT_FALSE(named.has(""));
}

}  // namespace
}  // namespace fettle
