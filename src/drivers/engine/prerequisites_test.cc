#include "drivers/engine/prerequisites.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Prerequisites, ARangeOfIdsBelongsToANameOrANumber) {
  const std::string file = "root:1:1\nme:100000:65536\n1001:200000:65536\nempty:5:0\nbroken\n";
  EXPECT_TRUE(has_id_range(file, "me", 1000));
  EXPECT_TRUE(has_id_range(file, "other", 1001));
  EXPECT_FALSE(has_id_range(file, "other", 1002));
  EXPECT_FALSE(has_id_range(file, "empty", 1003));
  EXPECT_FALSE(has_id_range(file, "broken", 1004));
  EXPECT_FALSE(has_id_range("", "me", 1000));
}

TEST(Prerequisites, EachLackSaysHowToGetIt) {
  for (const std::string& lack : private_engine_lacks())
    EXPECT_NE(lack.find_first_of("`:"), std::string::npos) << lack;
}

}  // namespace
}  // namespace fettle
