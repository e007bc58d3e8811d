#include "value/python.h"

#include <gtest/gtest.h>

namespace fettle::python {
namespace {

TEST(Python, FormatsIntegers) {
  EXPECT_EQ(format_integer(1234567, ",").value(), "1,234,567");
  EXPECT_EQ(format_integer(-5, "05d").value(), "-0005");
  EXPECT_EQ(format_integer(255, "#x").value(), "0xff");
  EXPECT_EQ(format_integer(1234, "010,").value(), "00,001,234");
  EXPECT_EQ(format_integer(3, ".2").error().message,
            "ValueError: Precision not allowed in integer format specifier");
}

TEST(Python, FormatsReals) {
  EXPECT_EQ(format_real(3.14159, "8.2f").value(), "    3.14");
  EXPECT_EQ(format_real(0.5, "%").value(), "50.000000%");
  EXPECT_EQ(format_real(1e20, "").value(), "1e+20");
  EXPECT_EQ(format_real(-0.0, "+.1f").value(), "-0.0");
}

TEST(Python, FormatsTexts) {
  EXPECT_EQ(format_text("äb", "*^6").value(), "**äb**");
  EXPECT_EQ(format_text("abc", ".2").value(), "ab");
  EXPECT_EQ(format_text("a", "d").error().message,
            "ValueError: Unknown format code 'd' for object of type 'str'");
}

TEST(Python, QuotesAsRepr) {
  EXPECT_EQ(quoted("it's"), "\"it's\"");
  EXPECT_EQ(quoted("a\n\x01'\""), "'a\\n\\x01\\'\"'");
}

TEST(Python, NumbersFieldsAndFormatsSpecs) {
  const Field shown = [](std::string_view name, char,
                         std::string_view spec) -> Result<std::string> {
    return "<" + std::string(name) + "|" + std::string(spec) + ">";
  };
  EXPECT_EQ(format("{} {} {x:{}}", shown).value(), "<0|> <1|> <x|<2|>>");
  EXPECT_EQ(format("{{}}", shown).value(), "{}");
  EXPECT_EQ(format("{", shown).error().message,
            "ValueError: Single '{' encountered in format string");
  EXPECT_EQ(format("{:{:{:{}}}}", shown).error().message,
            "ValueError: Max string recursion exceeded");
}

}  // namespace
}  // namespace fettle::python
