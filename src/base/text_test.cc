#include "base/text.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Text, TrimTakesWhiteSpaceFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, ReplaceAllDoesNotLookIntoWhatItPut) {
  EXPECT_EQ(replace_all("aXaX", "X", "XX"), "aXXaXX");
  EXPECT_EQ(replace_all("abc", "", "-"), "abc");
}

TEST(Text, NearestFindsWhatWasMeantAndNothingFarAway) {
  const std::vector<std::string_view> words{"enclave", "service", "files"};
  EXPECT_EQ(nearest("enclvae", words), "enclave");
  EXPECT_EQ(nearest("Service", words), "service");
  EXPECT_EQ(nearest("database", words), "");
  EXPECT_EQ(suggestion("fils", words), ", did you mean `files`?");
  EXPECT_EQ(suggestion("x", words), "");
}

TEST(Text, Utf8IsCheckedStrictly) {
  EXPECT_TRUE(is_valid_utf8("aé😀"));
  EXPECT_FALSE(is_valid_utf8("\xC0\x80"));      // overlong
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));  // surrogate
  EXPECT_FALSE(is_valid_utf8("\xE2\x82"));      // cut off
  EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));
  EXPECT_EQ(end_of_utf8("a\n\xC3\xA9\xF0\x9F\x98\x80\xFF").line, 2);
  EXPECT_EQ(end_of_utf8("a\n\xC3\xA9\xF0\x9F\x98\x80\xFF").column, 3);
}

TEST(Text, ClippedTextEndsWithAWholeCharacter) {
  EXPECT_EQ(clipped("abc", 3), "abc");
  EXPECT_EQ(clipped("abcd", 3), "abc…");
  EXPECT_EQ(clipped("aää", 4), "aä…");
  EXPECT_EQ(clipped("ää", 1), "…");
}

TEST(Text, CodePointsAreWrittenAsUtf8) {
  std::string text;
  for (const uint32_t code : {0x61u, 0xE9u, 0x20ACu, 0x1F600u, 0xD800u})
    append_utf8(text, code);
  EXPECT_EQ(text, "aé€😀\xEF\xBF\xBD");
}

TEST(Text, ExcerptPutsTheCaretBelowTheColumnInCodePoints) {
  EXPECT_EQ(excerpt("first\né = x + 1\n", 2, 5), "  é = x + 1\n      ^");
  EXPECT_EQ(excerpt("\tx", 1, 2), "  \tx\n  \t^");
  EXPECT_EQ(excerpt("one", 2, 1), "");
}

TEST(Text, ExcerptOfAHugeLineIsShort) {
  const std::string huge(1'000'000, 'a');
  EXPECT_LT(excerpt(huge, 1, 500'000).size(), 600u);
}

}  // namespace
}  // namespace fettle
