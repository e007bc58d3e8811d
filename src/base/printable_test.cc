#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

TEST(Printable, NothingThatATerminalObeysIsLeft) {
  EXPECT_EQ(printable_lines("a\x1b[31m\r\n\tb\a"), "a\\x1b[31m\\x0d\n\tb\\x07");
  EXPECT_EQ(printable_lines("caf\xc3\xa9 \xc2\x9b"
                            "31m"),
            "caf\xc3\xa9 \\x9b31m");
  EXPECT_EQ(printable_lines("\xff \xc3( \xe2\x82"), "\\xff \\xc3( \\xe2\\x82");
  EXPECT_EQ(printable("a\nb\t\x7f\xff"), "a\\nb\\x09\\x7f\\xff");
}

TEST(Printable, APieceMayEndInTheMiddleOfACharacter) {
  EXPECT_EQ(whole_code_points("a\xe2\x82"), 1u);
  EXPECT_EQ(whole_code_points("a\xe2\x82\xac"), 4u);
  EXPECT_EQ(whole_code_points("a\xc3"), 1u);
  EXPECT_EQ(whole_code_points("\x82\x82\x82"), 3u);
  EXPECT_EQ(whole_code_points(""), 0u);
}

}  // namespace
}  // namespace fettle
