#include "base/listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "base/text.h"

namespace fettle {
namespace {

/// Where a listener says that somebody comes from who calls it there.
std::string from(const Descriptor& listener, const std::string& host) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(static_cast<uint16_t>(port_of(listener)));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = four.sin_port;
  const bool is_four = inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1;
  EXPECT_TRUE(is_four || inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1);
  const Descriptor socket(::socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(),
                is_four ? reinterpret_cast<sockaddr*>(&four) : reinterpret_cast<sockaddr*>(&six),
                is_four ? sizeof four : sizeof six) != 0)
    return "nobody answers";
  sockaddr_storage caller{};
  socklen_t size = sizeof caller;
  const Descriptor accepted(
      ::accept4(listener.get(), reinterpret_cast<sockaddr*>(&caller), &size, SOCK_CLOEXEC));
  EXPECT_TRUE(accepted.is_open());
  const std::string text = text_of_address(caller), port = cat(":", port_of(socket));
  EXPECT_TRUE(text.ends_with(port)) << text;
  return text.substr(0, text.size() - port.size());
}

TEST(Listener, AllAddressesAreThoseOfBothFamilies) {
  for (const char* const host : {"", "::"}) {
    const Descriptor listener = *listen_at({host, "0"}, 4);
    EXPECT_EQ(from(listener, "127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(from(listener, "::1"), "[::1]");
  }
  const Descriptor four = *listen_at({"0.0.0.0", "0"}, 4);
  EXPECT_EQ(from(four, "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(from(four, "::1"), "nobody answers");
  EXPECT_EQ(text_of_address({}), "?");
}

TEST(Listener, WhatCannotBeListenedAtIsNamed) {
  const Descriptor taken = *listen_at({"127.0.0.1", "0"}, 4);
  const std::string port = cat(port_of(taken));
  EXPECT_EQ(listen_at({"127.0.0.1", port}, 4).error().message,
            cat("cannot listen at `127.0.0.1:", port, "`: address already in use"));
  EXPECT_EQ(listen_at({"2001:db8::1", "1"}, 4).error().message,
            "cannot listen at `[2001:db8::1]:1`: cannot assign requested address");
  EXPECT_EQ(listen_at({"no host", "1"}, 4).error().blame, Blame::user);
}

}  // namespace
}  // namespace fettle
