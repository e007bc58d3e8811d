#include "cli/line_filter.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr auto out = OutputStream::out, errors = OutputStream::errors;

/// What comes through, `o:` or `e:` before each line.
class LineFilterTest : public testing::Test {
 protected:
  LineFilter filter(LineFilterOptions options) {
    auto made = LineFilter::make(std::move(options),
                                 [this](OutputStream stream, std::string_view line) -> Status {
                                   told_ += cat(stream == out ? "o:" : "e:", line);
                                   return {};
                                 });
    EXPECT_TRUE(made);
    return *made;
  }
  std::string told_;
};

TEST_F(LineFilterTest, PiecesArePutTogetherByStream) {
  LineFilter lines = filter({});
  for (const auto& [stream, piece] : std::vector<std::pair<OutputStream, std::string>>{
           {out, "a"}, {errors, "x"}, {out, "b\nc"}, {errors, "y\n"}, {out, "\n\nd\n"}})
    EXPECT_TRUE(lines.take(stream, piece));
  EXPECT_EQ(told_, "o:ab\ne:xy\no:c\no:\no:d\n");
}

TEST_F(LineFilterTest, ALastLineWithoutItsEndIsToldOnItsStream) {
  LineFilter lines = filter({.prefix = "[web] "});
  EXPECT_TRUE(lines.take(out, "one\ntwo"));
  EXPECT_TRUE(lines.take(errors, "problem"));
  EXPECT_EQ(told_, "o:[web] one\n");
  EXPECT_TRUE(lines.end());
  EXPECT_EQ(told_, "o:[web] one\no:[web] two\ne:[web] problem\n");
  EXPECT_TRUE(lines.end());
  EXPECT_EQ(told_.size(), std::string("o:[web] one\no:[web] two\ne:[web] problem\n").size());
}

TEST_F(LineFilterTest, LinesAreChosen) {
  const auto chosen = [&](LineFilterOptions options) {
    told_.clear();
    LineFilter lines = filter(std::move(options));
    EXPECT_TRUE(lines.take(out, "apple 1\nbanana 2\ncherry 3"));
    EXPECT_TRUE(lines.end());
    return told_;
  };
  EXPECT_EQ(chosen({.text = "an"}), "o:banana 2\n");
  EXPECT_EQ(chosen({.expression = "[13]$"}), "o:apple 1\no:cherry 3\n");
  EXPECT_EQ(chosen({.text = "an", .inverted = true}), "o:apple 1\no:cherry 3\n");
  EXPECT_FALSE(LineFilter::make({.expression = "("}, {}));
}

TEST_F(LineFilterTest, WhoRefusesALineEndsIt) {
  auto lines = LineFilter::make(
      {}, [](OutputStream, std::string_view) -> Status { return world_error("nobody reads"); });
  EXPECT_TRUE(lines->take(out, "no end"));
  EXPECT_EQ(lines->take(out, "\nmore\n").error().message, "nobody reads");
}

}  // namespace
}  // namespace fettle
