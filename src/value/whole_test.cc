#include "value/whole.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fettle::whole {
namespace {

TEST(Whole, ComputesBeyond64Bits) {
  EXPECT_EQ(compute(Operation::add, "9223372036854775807", "1"), "9223372036854775808");
  EXPECT_EQ(compute(Operation::subtract, "-9223372036854775808", "1"), "-9223372036854775809");
  EXPECT_EQ(compute(Operation::multiply, "-4294967296", "4294967296"), "-18446744073709551616");
  EXPECT_EQ(compute(Operation::power, "-2", "65"), "-36893488147419103232");
}

TEST(Whole, CutsAQuotientOff) {
  EXPECT_EQ(compute(Operation::divide, "-100000000000000000007", "10"), "-10000000000000000000");
  EXPECT_EQ(compute(Operation::divide, "7", "100000000000000000000"), "0");
}

TEST(Whole, GivesTheModuloTheSignOfTheDivisor) {
  EXPECT_EQ(compute(Operation::modulo, "-7", "100000000000000000000"), "99999999999999999993");
  EXPECT_EQ(compute(Operation::modulo, "100000000000000000000", "-7"), "-5");
}

TEST(Whole, RefusesPowersThatFillTheMemory) {
  EXPECT_FALSE(compute(Operation::power, "2", "99999999999999999999"));
  EXPECT_FALSE(compute(Operation::power, "3", "1000000"));
  EXPECT_EQ(compute(Operation::power, "-1", "99999999999999999999"), "-1");
  EXPECT_EQ(compute(Operation::power, "-1", "99999999999999999998"), "1");
  EXPECT_EQ(compute(Operation::power, "0", "0"), "1");
}

TEST(Whole, DividesToTheNearestReal) {
  EXPECT_EQ(quotient("18446744073709551616", "18446744073709551616"), 1.0);
  EXPECT_EQ(quotient("-1000000000000000000000000000000", "3"), -3.333333333333333e+29);
  EXPECT_EQ(quotient("9007199254740993", "3"), 3002399751580331.0);
  EXPECT_EQ(quotient("0", "7"), 0.0);
  EXPECT_TRUE(std::isinf(quotient(std::string(400, '9'), "3")));
  EXPECT_EQ(quotient(std::string(400, '9'), std::string(399, '9')), 10.0);
}

TEST(Whole, ComparesExactly) {
  EXPECT_TRUE(compare("9007199254740993", 9007199254740992.0) > 0);
  EXPECT_TRUE(compare("-10", "9") < 0);
  EXPECT_TRUE(compare("5", std::numeric_limits<double>::infinity()) < 0);
  EXPECT_EQ(compare("5", std::nan("")), std::partial_ordering::unordered);
}

TEST(Whole, ReadsAndWritesOtherForms) {
  EXPECT_EQ(of_real(1e23), "99999999999999991611392");
  EXPECT_EQ(of_real(-2.9), "-2");
  EXPECT_EQ(in_base("18446744073709551616", 16), "10000000000000000");
}

}  // namespace
}  // namespace fettle::whole
