#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(ShellWord, IsQuotedWhenAShellWouldReadItOtherwise) {
  EXPECT_EQ(quoted_for_shell("./a-b/c_d.star"), "./a-b/c_d.star");
  EXPECT_EQ(quoted_for_shell("a b"), "'a b'");
  EXPECT_EQ(quoted_for_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(quoted_for_shell("~me"), "'~me'");
  EXPECT_EQ(quoted_for_shell("a~"), "a~");
  EXPECT_EQ(quoted_for_shell("$x"), "'$x'");
  EXPECT_EQ(quoted_for_shell(""), "''");
}

}  // namespace
}  // namespace fettle
