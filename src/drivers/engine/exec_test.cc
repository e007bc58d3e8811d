#include "drivers/engine/exec.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view noise =
    "Error: read unixpacket @->/proc/self/fd/19/attach: read: connection reset by peer";

/// What comes out behind the filter: `o:` and `e:` before what each stream says.
class FilteredOutput {
 public:
  Status give(std::string_view bytes, OutputStream stream = OutputStream::errors) {
    return sink_(stream, bytes);
  }
  std::string text;
  Status answer;

 private:
  StreamSink sink_ = without_engine_noise([this](OutputStream stream, std::string_view bytes) {
    text += cat(stream == OutputStream::out ? "o:" : "e:", bytes, ";");
    return answer;
  });
};

TEST(EngineNoise, IsLeftOutOnBothStreams) {
  FilteredOutput shown;
  EXPECT_TRUE(shown.give(noise));
  EXPECT_TRUE(shown.give(cat(noise, "\n")));
  EXPECT_TRUE(shown.give(cat(noise, "\r\n"), OutputStream::out));
  EXPECT_EQ(shown.text, "");
}

TEST(EngineNoise, WhatACommandSaysStays) {
  FilteredOutput shown;
  const std::string quoted = cat("grep: ", noise), before = "Error: read unixpacket";
  const std::string with_more = cat(noise, "\nthe rest\n");
  for (const std::string& bytes : {quoted, before, with_more, std::string("\n"), std::string()})
    EXPECT_TRUE(shown.give(bytes));
  EXPECT_TRUE(shown.give("out", OutputStream::out));
  EXPECT_EQ(shown.text, cat("e:", quoted, ";e:", before, ";e:", with_more, ";e:\n;e:;o:out;"));
}

TEST(EngineNoise, WhatTheSinkAnswersIsPassedOn) {
  FilteredOutput shown;
  shown.answer = world_error("nobody listens");
  EXPECT_FALSE(shown.give("x"));
  EXPECT_TRUE(shown.give(noise)) << "nobody is asked";
}

}  // namespace
}  // namespace fettle
