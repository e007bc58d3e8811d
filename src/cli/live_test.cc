#include "cli/live.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/columns.h"

namespace fettle {
namespace {

TEST(Live, TheModeIsThatOfTheTerminalUnlessItIsAskedFor) {
  EXPECT_EQ(*live_mode("", false, true), LiveMode::live);
  EXPECT_EQ(*live_mode("", false, false), LiveMode::none);
  EXPECT_EQ(*live_mode("plain", false, true), LiveMode::plain);
  EXPECT_EQ(*live_mode("live", false, false), LiveMode::plain);
  EXPECT_EQ(*live_mode("none", false, true), LiveMode::none);
  EXPECT_EQ(*live_mode("live", true, true), LiveMode::none);
  const auto wrong = live_mode("plian", false, true);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "`--progress` must be plain, live or none, not `plian`, did you mean `plain`?");
}

TEST(Live, SharesAreCountedInBytesOrThings) {
  EXPECT_EQ(share_text(0, 0), "");
  EXPECT_EQ(share_text(3, 9), "3 of 9");
  EXPECT_EQ(share_text(12'340'000, 80'100'000), "12.3 of 80.1 MB");
}

const std::vector<LiveLine> three{{"create service/web: port `http` does not answer yet", 1200ms},
                                  {"create image/redis:7: 12.3 of 80.1 MB", 3100ms},
                                  {"run exec/größer", 400ms}};

TEST(Live, AWideWindowShowsAllOfEachLine) {
  EXPECT_EQ(join(live_block("shop: 3 of 9 done, 4.2 s", three, 200, 12), "\n"),
            "shop: 3 of 9 done, 4.2 s\n"
            "  create service/web: port `http` does not answer yet  1.2 s\n"
            "  create image/redis:7: 12.3 of 80.1 MB  3.1 s\n"
            "  run exec/größer  400 ms");
}

TEST(Live, ANarrowWindowCutsLinesAndKeepsTheirTimes) {
  EXPECT_EQ(join(live_block("shop: 3 of 9 done, 4.2 s", three, 40, 12), "\n"),
            "shop: 3 of 9 done, 4.2 s\n"
            "  create service/web: port `htt…  1.2 s\n"
            "  create image/redis:7: 12.3 of…  3.1 s\n"
            "  run exec/größer  400 ms");
}

TEST(Live, ANarrowWindowShortensThePathBeforeWhatIsSaidOfIt) {
  EXPECT_EQ(live_block("github.com/somebody/something: instruction 12 of 40, 4.2 s", {}, 40, 12),
            std::vector<std::string>{"github.co…: instruction 12 of 40, 4.2 s"});
  EXPECT_EQ(live_block("github.com/somebody/something: instruction 12 of 40, 4.2 s", {}, 60, 12),
            std::vector<std::string>{"github.com/somebody/something: instruction 12 of 40, 4.2 s"});
}

TEST(Live, WhatAnybodyMayHaveWrittenMovesNoCursor) {
  const std::vector<LiveLine> lines{{"run exec/a\x1b[2J\rb: \xc2\x9bsaid\x07\tit\r\nmore", 1s},
                                    {"create image/\xff\xfe\x7f", 1s}};
  EXPECT_EQ(join(live_block("sh\x1b]0;op\a\xc3", lines, 200, 12), "\n"),
            "sh\\x1b]0;op\\x07\\xc3\n"
            "  run exec/a\\x1b[2J\\x0db: \\x9bsaid\\x07 it  1.0 s\n"
            "  create image/\\xff\\xfe\\x7f  1.0 s");
}

TEST(Live, LinesFitByTheirWidthAndNotByTheirBytes) {
  std::string wide, narrow, broken;
  for (int i = 0; i < 40; ++i) {
    wide += "日本";
    narrow += "e\u0301";
    broken += "\xe6\x97";
  }
  const std::vector<LiveLine> lines{{"create image/" + wide, 1s},
                                    {"run " + narrow + ": done", 100s},
                                    {"run " + broken, 1s},
                                    {std::string(60, '\t'), 1s}};
  for (const std::string& line : live_block(wide + ": " + wide, lines, 40, 12)) {
    EXPECT_LE(width_of(line), 39u) << line;
    EXPECT_TRUE(is_valid_utf8(line)) << line;
  }
  EXPECT_EQ(live_block("e\u0301", {{narrow.substr(0, 60), 1s}}, 40, 12)[1],
            "  " + narrow.substr(0, 60) + "  1.0 s");
}

TEST(Live, ALowWindowCountsWhatItHasNoRoomFor) {
  EXPECT_EQ(join(live_block("shop", three, 80, 3), "\n"),
            "shop\n"
            "  create service/web: port `http` does not answer yet  1.2 s\n"
            "  and 2 more");
  EXPECT_EQ(join(live_block("shop", three, 80, 1), "\n"), "shop");
}

TEST(Live, NoWindowIsTooNarrow) {
  for (size_t columns = 0; columns < 12; ++columns)
    for (const std::string& line : live_block("a longer title", three, columns, 5))
      EXPECT_LE(std::ranges::count_if(
                    line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }),
                std::max<int>(1, static_cast<int>(columns) - 1))
          << columns << ": " << line;
}

}  // namespace
}  // namespace fettle
