#include "drivers/engine/allocation.h"

#include <gtest/gtest.h>

#include "drivers/engine/marks.h"

namespace fettle {
namespace {

const Subnet subnet = *parse_subnet("10.64.4.0/22");
const char* const gateway = "10.64.4.1";

ContainerState container(const char* name, const char* address, const char* ports) {
  ContainerState state;
  for (const auto& [key, value] : marks_of({"env", "service", name}))
    state.labels[key] = value;
  state.labels[std::string(mark::network)] = "net";
  state.labels[std::string(mark::address)] = address;
  state.labels[std::string(mark::ports)] = ports;
  return state;
}

TEST(Allocation, AnAddressStaysWithItsOwner) {
  Allocation allocation([](int) { return true; });
  const std::string a = *allocation.address("net", subnet, gateway, "service/a", {});
  EXPECT_TRUE(subnet.contains(*parse_address(a)));
  EXPECT_EQ(*allocation.address("net", subnet, gateway, "service/a", {}), a);
  EXPECT_NE(*allocation.address("net", subnet, gateway, "service/b", a), a);  // it is taken
  allocation.free_address("net", "service/a");
  EXPECT_EQ(*allocation.address("net", subnet, gateway, "service/c", a), a);
}

TEST(Allocation, ANetworkIsUsedAsSoonAsSomebodyHasAnAddressInIt) {
  Allocation allocation([](int) { return true; });
  EXPECT_FALSE(allocation.is_used("net"));
  ASSERT_TRUE(allocation.address("net", subnet, gateway, "pod/a", {}));
  ASSERT_TRUE(allocation.address("net", subnet, gateway, "pod/b", {}));
  allocation.free_address("net", "pod/a");
  EXPECT_TRUE(allocation.is_used("net"));
  allocation.free_address("net", "pod/b");
  EXPECT_FALSE(allocation.is_used("net"));
}

TEST(Allocation, AnotherProcessChoosesTheSameAndKeepsWhatIsThere) {
  Allocation first([](int) { return true; }), second([](int) { return true; });
  EXPECT_EQ(*first.address("net", subnet, gateway, "service/a", {}),
            *second.address("net", subnet, gateway, "service/a", {}));
  Allocation third([](int) { return true; });
  EXPECT_FALSE(third.knows("net"));
  third.learn("net", {container("a", "10.64.4.77", R"({"http":{"public":20001}})")});
  EXPECT_TRUE(third.knows("net"));
  EXPECT_EQ(*third.address("net", subnet, gateway, "service/a", {}), "10.64.4.77");
  EXPECT_NE(*third.address("net", subnet, gateway, "service/b", "10.64.4.77"), "10.64.4.77");
  EXPECT_NE(*third.port("env/b/http", 20001), 20001);
  EXPECT_EQ(*third.port("env/a/http", 20001), 20001);
  EXPECT_EQ(*third.port("env/a/http", 0), 20001);
}

TEST(Allocation, AFullRangeIsAnError) {
  Allocation allocation([](int) { return true; });
  const Subnet small = *parse_subnet("10.64.4.0/28");
  for (int i = 0; i < 7; ++i)
    EXPECT_TRUE(allocation.address("net", small, gateway, "service/" + std::to_string(i), {}));
  EXPECT_EQ(allocation.address("net", small, gateway, "service/x", {}).error().message,
            "no address is free in 10.64.4.0/28");
}

TEST(Allocation, PortsThatSomebodyListensOnAreLeftOut) {
  Allocation allocation([](int port) { return port % 2 == 0; });
  const int port = *allocation.port("env/a/http", 0);
  EXPECT_EQ(port % 2, 0);
  EXPECT_EQ(*allocation.port("env/a/http", port), port);
  EXPECT_NE(*allocation.port("env/b/http", port), port);
  EXPECT_EQ(*allocation.port("env/c/http", 20'003) % 2, 0);  // what was kept is taken by now
  allocation.free_port("env/a/http");
  EXPECT_EQ(*allocation.port("env/d/http", port), port);
}

}  // namespace
}  // namespace fettle
