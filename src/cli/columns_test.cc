#include "cli/columns.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Columns, LettersMayBeWideOrHaveNoWidth) {
  EXPECT_EQ(width_of("web"), 3u);
  EXPECT_EQ(width_of("größe"), 5u);
  EXPECT_EQ(width_of("日本語"), 6u);
  EXPECT_EQ(width_of("e\u0301"), 1u) << "a combining accent";
  EXPECT_EQ(width_of("\xff\xfe"), 2u);
  EXPECT_EQ(width_of(""), 0u);
}

TEST(Columns, ACutTextFits) {
  EXPECT_EQ(cut_to("web", 3), "web");
  EXPECT_EQ(cut_to("website", 4), "web…");
  EXPECT_EQ(cut_to("日本語", 6), "日本語");
  EXPECT_EQ(cut_to("日本語", 5), "日本…");
  EXPECT_EQ(cut_to("日本語", 4), "日…") << "half a letter does not fit";
  EXPECT_EQ(cut_to("web", 1), "…");
  EXPECT_EQ(cut_to("web", 0), "");
}

}  // namespace
}  // namespace fettle
