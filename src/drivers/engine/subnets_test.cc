#include "drivers/engine/subnets.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Subnets, TextAndBack) {
  EXPECT_EQ(to_string(*parse_subnet("10.64.7.9/22")), "10.64.4.0/22");
  EXPECT_EQ(to_string(*parse_subnet("192.0.2.1")), "192.0.2.1/32");
  for (const char* const bad :
       {"", "10.0.0", "10.0.0.0/33", "10.0.0.256", "a.b.c.d", "1.2.3.4/", "1.2.3.4.5"})
    EXPECT_FALSE(parse_subnet(bad)) << bad;
}

TEST(Subnets, TheKernelsTableIsRead) {
  constexpr std::string_view trie = R"(Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.0
           /24 link UNICAST
        |-- 192.0.2.2
           /32 host LOCAL
     |-- 127.0.0.0
        /8 host LOCAL
)";
  std::vector<std::string> found;
  for (const Subnet& subnet : subnets_of_trie(trie))
    found.push_back(to_string(subnet));
  EXPECT_EQ(found, (std::vector<std::string>{"192.0.2.0/24", "192.0.2.2/32"}));
}

TEST(Subnets, AFreeOneOverlapsNothing) {
  const std::array pools{*parse_subnet("10.64.0.0/22"), *parse_subnet("172.16.0.0/23")};
  const auto free = [&](std::vector<std::string> texts, uint64_t seed) {
    std::vector<Subnet> taken;
    for (const std::string& text : texts)
      taken.push_back(*parse_subnet(text));
    const auto found = free_subnet(pools, 24, taken, seed);
    return found ? to_string(*found) : "";
  };
  EXPECT_EQ(free({}, 2), "10.64.2.0/24");
  EXPECT_EQ(free({"10.64.2.7/32"}, 2), "10.64.3.0/24");
  EXPECT_EQ(free({"10.64.2.0/23"}, 2), "10.64.0.0/24");
  EXPECT_EQ(free({"10.0.0.0/8"}, 2), "172.16.0.0/24");
  EXPECT_EQ(free({"10.0.0.0/8"}, 3), "172.16.1.0/24");
  EXPECT_EQ(free({"10.0.0.0/8", "172.16.0.0/24"}, 2), "172.16.1.0/24");
  EXPECT_EQ(free({"10.0.0.0/8", "172.16.0.0/12"}, 2), "");
}

TEST(Subnets, WhenNothingIsFreeTheErrorSaysWhereAndWhatHelps) {
  const std::string said = no_free_subnet(own_pools, 22).message;
  for (const char* const piece : {"(/22)", "10.64.0.0/10, 172.16.0.0/12, 192.168.0.0/16",
                                  "`fettle clean`", "`fettle enclave rm`"})
    EXPECT_NE(said.find(piece), said.npos) << said;
}

}  // namespace
}  // namespace fettle
