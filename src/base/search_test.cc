#include "base/search.h"

#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"

namespace fettle {
namespace {

TEST(Search, FindsWhatTheStandardLibraryFinds) {
  Prng prng(1);
  for (int i = 0; i < 2'000; ++i) {
    std::string text(prng.below(2'000), 'a'), wanted(prng.below(100), 'a');
    for (std::string* const one : {&text, &wanted})
      for (char& c : *one)
        c = prng.chance(90) ? 'a' : 'b';
    const size_t from = prng.below(text.size() + 2);
    EXPECT_EQ(find_text(text, wanted, from), text.find(wanted, from));
    EXPECT_EQ(find_last_text(text, wanted), text.rfind(wanted));
  }
}

/// By comparing from each place, this takes a quarter of an hour.
TEST(Search, IsLinear) {
  const std::string text(10'000'000, 'x'), half(5'000'000, 'x');
  EXPECT_EQ(find_text(text, half + "y"), text.npos);
  EXPECT_EQ(find_last_text(text, "y" + half), text.npos);
}

}  // namespace
}  // namespace fettle
