#include "drivers/engine/log_tail.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "drivers/engine/log_file.h"

namespace fettle {
namespace {

std::string text_of(const LastLines& lines) {
  std::string text;
  EXPECT_TRUE(lines.hand_over([&](OutputStream stream, std::string_view line) -> Status {
    text += cat(stream == OutputStream::out ? "o:" : "e:", line, "|");
    return {};
  }));
  return text;
}

TEST(LastLines, AreCountedWithOneThatHasNoEnd) {
  for (const auto& [count, expected] : {std::pair<size_t, std::string>(1, "o:cd|"),
                                        {2, "o:b\n|o:cd|"},
                                        {3, "o:a\n|o:b\n|o:cd|"},
                                        {4, "o:a\n|o:b\n|o:cd|"}}) {
    LastLines lines(count);
    for (const char* piece : {"a\nb", "\n", "c", "d"})
      lines.take(OutputStream::out, piece);
    EXPECT_EQ(text_of(lines), expected) << count;
  }
}

TEST(LastLines, OfTwoStreamsStandInTheOrderInWhichTheyBegan) {
  LastLines lines(2);
  lines.take(OutputStream::out, "a\nb");
  lines.take(OutputStream::errors, "1\n2");
  lines.take(OutputStream::out, "c\n");
  EXPECT_EQ(text_of(lines), "e:1\n|e:2|") << "what goes on is no later line";
  lines.take(OutputStream::out, "d");
  EXPECT_EQ(text_of(lines), "e:2|o:d|");
}

TEST(LastLines, WhatFollowsBeginsBehindThem) {
  LastLines lines(1);
  lines.take(OutputStream::out, "a\nb\nc");
  lines.take(OutputStream::errors, "1");
  EXPECT_EQ(lines.without_taken(OutputStream::out, "a\nb"), "");
  EXPECT_EQ(lines.without_taken(OutputStream::errors, "12\n"), "2\n");
  EXPECT_EQ(lines.without_taken(OutputStream::out, "\ncd"), "d");
  EXPECT_EQ(lines.without_taken(OutputStream::out, "e"), "e");
}

TEST(LogFile, SaysWhetherTheLastLinesAreWhole) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  const std::string file = (folder->path() / "log").string();
  const auto is_whole = [&](const std::string& text, int lines) {
    EXPECT_TRUE(write_file(file, text));
    return is_in_whole_lines(file, lines);
  };
  const std::string whole = "t stdout F one\n", part = "t stdout P on\n";
  EXPECT_TRUE(is_whole("", 1));
  EXPECT_TRUE(is_whole(whole + whole, 1));
  EXPECT_TRUE(is_whole(whole + whole, 5));
  EXPECT_FALSE(is_whole(whole + part, 1));
  EXPECT_FALSE(is_whole(whole + part + whole, 1));
  EXPECT_TRUE(is_whole(part + whole + whole, 1)) << "it belongs to one before them";
  EXPECT_FALSE(is_whole(part + whole + whole, 2));
  EXPECT_FALSE(is_whole("something else\n", 1));
  std::string many;
  for (int i = 0; i < 20'000; ++i)
    many += whole;
  EXPECT_TRUE(is_whole(many, 20'000));
  EXPECT_TRUE(is_whole(part + many, 19'000));
  EXPECT_FALSE(is_whole(part + many, 20'000));
  EXPECT_FALSE(is_in_whole_lines((folder->path() / "none").string(), 1));
}

}  // namespace
}  // namespace fettle
