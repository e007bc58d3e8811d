#include "base/user_variables.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fettle {
namespace {

TEST(UserVariables, AreOursUntilOthersAreGiven) {
  setenv("FETTLE_TEST_VARIABLE", "ours", 1);
  EXPECT_STREQ(user_variable("FETTLE_TEST_VARIABLE"), "ours");
  EXPECT_EQ(all_user_variables().at("FETTLE_TEST_VARIABLE"), "ours");
  EXPECT_EQ(user_variable("FETTLE_TEST_NOTHING"), nullptr);
  variables_of_user() = VariablesOfUser{{"TAG", "theirs"}};
  EXPECT_EQ(user_variable("FETTLE_TEST_VARIABLE"), nullptr);
  EXPECT_STREQ(user_variable("TAG"), "theirs");
  EXPECT_EQ(all_user_variables(), (VariablesOfUser{{"TAG", "theirs"}}));
  EXPECT_EQ(std::getenv("TAG"), nullptr);
  variables_of_user().reset();
  unsetenv("FETTLE_TEST_VARIABLE");
}

}  // namespace
}  // namespace fettle
