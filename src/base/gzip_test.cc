#include "base/gzip.h"

#include <gtest/gtest.h>

#include "base/archive.h"

namespace fettle {
namespace {

TEST(Gzip, ComesBack) {
  std::string random;
  for (uint32_t i = 1, x = 1; i < 300'000; ++i)
    random += static_cast<char>((x = x * 1'664'525 + 1'013'904'223) >> 24);
  for (const std::string& text :
       {std::string(), std::string("text"), std::string(1'000'000, 'x'), random}) {
    std::string packed;
    ASSERT_TRUE(pump_gzipped(source_of(text), sink_to(packed, 2'000'000)));
    EXPECT_TRUE(packed.starts_with("\x1f\x8b"));
    const Result<std::string> back = read_all(gunzip_if_compressed(source_of(packed)), 2'000'000);
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == text);
  }
}

TEST(Gzip, ASinkThatFailsEndsIt) {
  std::string little;
  EXPECT_FALSE(pump_gzipped(source_of("text"), sink_to(little, 3)));
  EXPECT_FALSE(pump_gzipped([](std::span<char>) -> Result<size_t> { return world_error("gone"); },
                            sink_to(little, 1'000)));
}

}  // namespace
}  // namespace fettle
