#include "base/difference.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

TEST(Difference, TwoLongTextsAreShownWhereTheyDiffer) {
  const auto shown = [](std::string_view a, std::string_view b) {
    const auto [one, other] = clipped_at_difference(a, b, 8);
    return cat(one, "|", other);
  };
  EXPECT_EQ(shown("abc", "abd"), "abc|abd");
  EXPECT_EQ(shown("0123456789a", "x"), "01234567…|x");
  EXPECT_EQ(shown("0123456789aRest-of-it", "0123456789bRest-of-it"), "…89aRest-…|…89bRest-…");
  EXPECT_EQ(shown("0123456789", "0123456789a"), "…89|…89a");
  EXPECT_EQ(shown("äääääääb", "äääääääc"), "…äb|…äc") << "no character is cut in two";
  EXPECT_EQ(shown("", "0123456789"), "|01234567…");
}

}  // namespace
}  // namespace fettle
