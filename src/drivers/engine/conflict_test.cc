#include "drivers/engine/conflict.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

// As engines of several versions say it.
TEST(Conflict, IsToldApartByWords) {
  const auto what = [](std::string_view said) {
    return what_is_taken(world_error(std::string(said)));
  };
  EXPECT_EQ(
      what("IPAM error: requested ip address 10.1.0.9 is already allocated to container ID 0aF9"),
      EngineConflict::address);
  EXPECT_EQ(what("failed to set up container networking: Address already in use"),
            EngineConflict::address);
  EXPECT_EQ(what("Bind for 0.0.0.0:80 failed: port is already allocated"), EngineConflict::port);
  EXPECT_EQ(what("listen tcp4 127.0.0.1:80: bind: address already in use"), EngineConflict::port);
  EXPECT_EQ(what("rootlessport listen tcp 0.0.0.0:80: bind: address already in use"),
            EngineConflict::port);
  EXPECT_EQ(what("no such image"), EngineConflict::nothing);
}

TEST(Conflict, WhatPassesByItselfIsToldApart) {
  const auto passes = [](int status, std::string text) {
    return passes_by_itself({.status = status, .body = {}, .text = std::move(text)});
  };
  EXPECT_TRUE(passes(500, "netavark: route ip+net: no such network interface"));
  EXPECT_FALSE(passes(200, "no such network interface")) << "it may be anybody's text";
  EXPECT_FALSE(passes(500, "no such network"));
  EXPECT_FALSE(passes(409, ""));
}

TEST(Conflict, PodmanNamesWhoHasAnAddress) {
  EXPECT_EQ(holder_of_address("ip address 10.1.0.9 is already allocated to container ID 0af9\n"),
            "0af9");
  EXPECT_EQ(holder_of_address("is already allocated to container ID 12ab: exit status 1"), "12ab");
  EXPECT_EQ(holder_of_address("port is already allocated"), "");
}

}  // namespace
}  // namespace fettle
