#include "packages/elsewhere.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace fettle {
namespace {

TEST(Elsewhere, AComposeFileIsKnownByItsNameOrByWhatItSays) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  const auto looks = [&](const std::string& name, std::string_view text) {
    const Path path = folder->path() / name;
    EXPECT_TRUE(write_file(path, text));
    return looks_like_compose(path.string());
  };
  EXPECT_TRUE(looks("compose.yml", ""));
  EXPECT_TRUE(looks("shop.yaml", "services: {}\n"));
  EXPECT_TRUE(looks("shop.yaml", "x: 1\ninclude: [a.yml]\n"));
  EXPECT_TRUE(looks("shop.yaml", "\xEF\xBB\xBFservices: {}\n"));  // as editors of Windows write
  EXPECT_FALSE(looks("shop.yaml", "apiVersion: v1\nkind: X\nservices: {}\n"));
  EXPECT_FALSE(looks("shop.yaml", "other: {services: {}}\n"));
  EXPECT_FALSE(looks("shop.txt", "services: {}\n"));
}

}  // namespace
}  // namespace fettle
