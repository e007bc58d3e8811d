#include "value/msgpack.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string read(std::string_view bytes) {
  const Result<Value> value = read_msgpack(bytes);
  return value ? write_json(*value) : value.error().message;
}

/// As Python's msgpack writes it.
const std::string everything = bytes_of(
    "87a1619901ffccc8d1ff38ce00011170d2fffeee90cf0000010000000000d3ffffff0000000000cf80000000000000"
    "00a162c40362696ea166cb3ff8000000000000a16ec0a174c3a173d928787878787878787878787878787878787878"
    "7"
    "8787878787878787878787878787878787878787878a16cdc001400010203040506070809"
    "0a0b0c0d0e0f10111213");

TEST(Msgpack, ReadsWhatPythonWrites) {
  EXPECT_EQ(read(everything),
            R"({"a":[1,-1,200,-200,70000,-70000,1099511627776,-1099511627776,9223372036854775808],)"
            R"("b":"bin","f":1.5,"l":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19],"n":null,)"
            R"("s":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","t":true})");
  EXPECT_EQ(read(bytes_of("ca3fc00000")), "1.5");
  EXPECT_EQ(read(bytes_of("8101c3")), R"({"1":true})");
}

TEST(Msgpack, WhatIsCutOffIsAnError) {
  for (size_t size = 0; size < everything.size(); ++size)
    EXPECT_EQ(read(std::string_view(everything).substr(0, size)), "it is truncated") << size;
  EXPECT_EQ(read(bytes_of("ddffffffff")), "it is truncated");
  EXPECT_EQ(read(bytes_of("dbffffffff61")), "it is truncated");
}

TEST(Msgpack, WhatIsNoPlainDataIsAnError) {
  EXPECT_EQ(read(std::string(100'000, '\x91')), "it is nested too deep");
  EXPECT_EQ(read(bytes_of("819001")), "it has a key that is not a string");
  EXPECT_EQ(read(std::string(150, '\x81') + bytes_of("80")), "it has a key that is not a string");
  EXPECT_EQ(read(bytes_of("c0c0")), "something follows its end");
  EXPECT_EQ(read(bytes_of("d40001")), "it has an unknown type: 212");
  EXPECT_EQ(read(bytes_of("a1ff")), "it has a string that is not UTF-8");
}

}  // namespace
}  // namespace fettle
