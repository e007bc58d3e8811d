/// How changed values are shown.

#include "cli/line_diff.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

std::string shown(std::string_view before, std::string_view after, size_t context = 1) {
  std::string text;
  for (const DiffLine& line : diff_lines(before, after, context))
    text += cat(std::string(1, line.mark), line.text, ";");
  return text;
}

TEST(LineDiff, ShowsWhatDiffersWithWhatIsAround) {
  EXPECT_EQ(shown("a\nb\nc\nd\n", "a\nb\nx\nd\n"), "@; b;-c;+x; d;");
  EXPECT_EQ(shown("a\n", "a\nb\n"), " a;+b;");
  EXPECT_EQ(shown("", "a\n"), "+a;");
  EXPECT_EQ(shown("a\nb", ""), "-a;-b;");
  EXPECT_EQ(shown("same\n", "same\n"), "@;");
  EXPECT_EQ(shown("1\n2\n3\n4\n5\n6\n7\n", "0\n2\n3\n4\n5\n6\n8\n"), "-1;+0; 2;@; 6;-7;+8;");
  EXPECT_EQ(shown("a\nb\nc\n", "b\nc\nd\n", 0), "-a;@;+d;");
}

TEST(LineDiff, TextsWithTooManyLinesAreShownOneAfterTheOther) {
  std::string before, after;
  for (int i = 0; i < 3000; ++i) {
    before += cat("a", i, "\n");
    after += cat("b", i, "\n");
  }
  const std::vector<DiffLine> lines = diff_lines(before, after);
  ASSERT_EQ(lines.size(), 6000u);
  EXPECT_EQ(lines.front(), (DiffLine{'-', "a0"}));
  EXPECT_EQ(lines.back(), (DiffLine{'+', "b2999"}));
}

TEST(LineDiff, ShortValuesStandSideBySide) {
  EXPECT_EQ(changed_text("a", "b", "  ", false), R"( "a" -> "b")");
  EXPECT_EQ(changed_text({}, true, "  ", false), " null -> true");
  EXPECT_EQ(changed_text("one\ntwo\n", "one\n2\n", "  ", false), "\n    one\n  - two\n  + 2");
  EXPECT_EQ(changed_text(std::string(200, 'x'), "b", "", false),
            cat(" \"", std::string(79, 'x'), "… -> \"b\""));
  // Of two long ones the place where they differ is shown, not their equal beginnings.
  const std::string same(200, 'x');
  EXPECT_EQ(changed_text(same + "one", same + "two", "", false),
            cat(" …", std::string(20, 'x'), "one\" -> …", std::string(20, 'x'), "two\""));
  // Not cut in the middle of a letter.
  const std::string umlauts = changed_text(
      "ä"
      "ääääääääääääääääääääääääääääääääääääääääääääääää",
      "b", "", false);
  EXPECT_NE(umlauts.find("… -> \"b\""), std::string::npos);
  EXPECT_EQ(umlauts.find("\xC3…"), std::string::npos);
}

}  // namespace
}  // namespace fettle
