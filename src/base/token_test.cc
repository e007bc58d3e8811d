#include "base/token.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Token, IsLongAndAnotherEachTime) {
  const std::string one = *new_token("a test"), other = *new_token("a test");
  EXPECT_EQ(one.size(), 64U);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), one.npos);
  EXPECT_NE(one, other);
}

TEST(Token, IsTheSameOnlyAsAWhole) {
  EXPECT_TRUE(is_same_token("abc", "abc"));
  for (const std::string_view other : {"abd", "ab", "abcd", ""})
    EXPECT_FALSE(is_same_token("abc", other)) << other;
  EXPECT_FALSE(is_same_token("", "")) << "nobody has an empty one";
}

}  // namespace
}  // namespace fettle
