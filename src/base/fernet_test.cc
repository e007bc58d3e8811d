/// The vectors of Fernet's specification, and what its readers have to refuse.

#include "base/fernet.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

constexpr const char* key = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=";
const std::string token =
    "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4"
    "IwqDA==";

std::string opened(std::string_view text, std::string_view with = key) {
  const Result<std::string> plain = open_fernet(text, with);
  return plain ? *plain : plain.error().message;
}

TEST(Fernet, OpensTheVectorOfTheSpecification) {
  EXPECT_EQ(opened(token), "hello");
  EXPECT_EQ(opened("  " + token + "\n"), "hello");
  EXPECT_TRUE(looks_like_fernet(token));
  EXPECT_FALSE(looks_like_fernet("cloud: {default: {}}"));
}

TEST(Fernet, RefusesWhatWasMadeWithAnotherKeyOrChanged) {
  EXPECT_EQ(opened(token, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), "the key does not fit");
  for (size_t at = 8; at < token.size() - 3; ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(opened(changed), "the key does not fit") << at;
  }
}

TEST(Fernet, RefusesWhatIsNone) {
  EXPECT_EQ(opened(""), "it is not a Fernet token");
  EXPECT_EQ(opened("hello world"), "it is not a Fernet token");
  for (size_t size = 0; size < token.size() - 4; size += 4)
    EXPECT_NE(opened(token.substr(0, size)), "hello") << size;
  EXPECT_EQ(opened("A" + token), "it is not a Fernet token");
  EXPECT_EQ(opened(token, "short"), "invalid key: it must be 32 bytes as base64 with `-` and `_`");
}

}  // namespace
}  // namespace fettle
