#include "base/base64.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Base64, EveryLengthComesBack) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("a"), "YQ==");
  EXPECT_EQ(base64_encode("ab"), "YWI=");
  EXPECT_EQ(base64_encode("abc"), "YWJj");
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(*base64_decode(base64_encode(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

// OpenSSL is given so many at once.
TEST(Base64, WhatIsLongerThanAPieceComesBack) {
  constexpr size_t piece = 3 << 20;
  for (const size_t size : {piece - 1, piece, piece + 1, piece / 4 * 3, piece / 4 * 3 + 1}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; i += 1000)
      bytes[i] = static_cast<char>(i / 1000);
    const std::string text = base64_encode(bytes);
    EXPECT_EQ(text.find('\0'), std::string::npos) << size;
    EXPECT_TRUE(*base64_decode(text) == bytes) << size;
  }
}

TEST(Base64, OtherCharactersAreSkipped) {
  EXPECT_EQ(*base64_decode("Y W\nJ!j"), "abc");
  EXPECT_EQ(*base64_decode("!!!"), "");
  EXPECT_EQ(*base64_decode("YQ==YQ=="), "a");
}

TEST(Base64, StrictlyNothingIsSkippedButLineEnds) {
  EXPECT_EQ(*base64_decode_strictly("YW\r\nJj"), "abc");
  EXPECT_EQ(*base64_decode_strictly("YQ=\n="), "a");
  EXPECT_EQ(*base64_decode_strictly(""), "");
  for (const char* text : {"YQ==YQ==", "YQ", "YQ=", "YWJj=", "=", "====", "Y=Q=", "YW Jj", "YWJ_"})
    EXPECT_FALSE(base64_decode_strictly(text)) << text;
}

TEST(Base64, OfUrlsHasOneTextForTheSameBytes) {
  EXPECT_EQ(base64url_encode(""), "");
  EXPECT_EQ(base64url_encode("a"), "YQ");
  EXPECT_EQ(base64url_encode("\xFB\xEF\xFF"), "--__");
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(*base64url_decode(base64url_encode(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
  for (const char* text :
       {"YQ==", "YQ=", "Y", "YR", "YWJ", "++//", "YW\nJj", " YWJj", "YWJj.", "="})
    EXPECT_FALSE(base64url_decode(text)) << text;
  EXPECT_FALSE(base64url_decode(std::string_view("YQ\0", 3)));
}

TEST(Base64, WhatEndsEarlyIsAnError) {
  EXPECT_EQ(base64_decode("YWJ").error().message, "Incorrect padding");
  EXPECT_EQ(base64_decode("YQ=").error().message, "Incorrect padding");
  EXPECT_EQ(base64_decode("YWJjY").error().message,
            "Invalid base64-encoded string: number of data characters (5) cannot be 1 more than a "
            "multiple of 4");
}

}  // namespace
}  // namespace fettle
