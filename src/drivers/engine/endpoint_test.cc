#include "drivers/engine/endpoint.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

std::string encoded(std::string_view endpoint) {
  const Result<std::string> made = encoded_endpoint(endpoint);
  return made ? *made : to_string(made.error());
}

TEST(Endpoint, IsWhatGoSends) {
  for (const auto& [endpoint, sent] :
       {std::pair("", "/"), std::pair("a/b", "/a/b"), std::pair("/a b", "/a%20b"),
        std::pair("/ä", "/%C3%A4"), std::pair("/a%20b", "/a%20b"), std::pair("/a%2Fb", "/a%2Fb"),
        std::pair("/a%2Fb c", "/a/b%20c"), std::pair("/(x)!", "/(x)!"),
        std::pair("/(x)! {y}", "/%28x%29%21%20%7By%7D"),
        std::pair("/a?q=1&r=%zz#part", "/a?q=1&r=%zz"), std::pair("/a?q=1 2", "/a?q=1%202"),
        std::pair("?q", "/?q"), std::pair("#part", "/")})
    EXPECT_EQ(encoded(endpoint), sent) << endpoint;
}

TEST(Endpoint, WhatIsNoneIsAnError) {
  EXPECT_NE(encoded("/%zz").find("invalid URL escape `%zz`"), std::string::npos);
  EXPECT_NE(encoded("/%4").find("invalid URL escape `%4`"), std::string::npos);
  EXPECT_NE(encoded("/a\nb").find("control character"), std::string::npos);
}

}  // namespace
}  // namespace fettle
