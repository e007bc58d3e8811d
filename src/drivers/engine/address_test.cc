#include "drivers/engine/address.h"

#include <map>

#include <gtest/gtest.h>

#include "base/file.h"

namespace fettle {
namespace {

Variables variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(EngineAddress, EverySchemeIsRead) {
  const auto base = [](const char* text, std::map<std::string, std::string> values = {}) {
    const auto address = parse_engine_address(text, variables(std::move(values)));
    return address ? address->base + " " + address->unix_socket + " " + address->ssh
                   : address.error().message;
  };
  EXPECT_EQ(base("unix:///a/b.sock"), "http://engine /a/b.sock ");
  EXPECT_EQ(base("tcp://host:2375"), "http://host:2375  ");
  EXPECT_EQ(base("tcp://host", {{"DOCKER_TLS_VERIFY", "1"}}), "https://host:2376  ");
  EXPECT_EQ(base("https://host:1/"), "https://host:1  ");
  EXPECT_EQ(base("ssh://me@host:22"), "http://engine  me@host:22");
  EXPECT_EQ(base("agent://b"), "http://engine  ");
  EXPECT_EQ(parse_engine_address("agent://b.c/", variables({}))->agent, "b.c");
  for (const char* const name : {"agent://B", "agent://../b", "agent://a/b", "agent://me@b"})
    EXPECT_NE(base(name).find("is not a name for an agent"), std::string::npos) << name;
  EXPECT_EQ(base("unix://a"), "the socket in `unix://a` must be an absolute path");
  EXPECT_TRUE(base("/a/b.sock").starts_with("invalid address of an engine `/a/b.sock`, expected"));
  EXPECT_TRUE(base("ftp://x").starts_with("unknown scheme in `ftp://x`, expected"));
}

TEST(EngineAddress, OnlyASocketOfThisMachineIsLocal) {
  const auto is_local = [](const char* text) {
    EngineAddress address = *parse_engine_address(text, variables({}));
    if (address.unix_socket.empty())
      address.unix_socket = "/tunnel";  // once it is connected
    return address.is_local();
  };
  EXPECT_TRUE(is_local("unix:///a/b.sock"));
  EXPECT_FALSE(is_local("ssh://me@host"));
  EXPECT_FALSE(is_local("agent://b"));
}

TEST(EngineAddress, CertificatesAreTakenFromTheirFolder) {
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_file(folder->path() / "ca.pem", ""));
  const auto address = parse_engine_address(
      "tcp://host", variables({{"DOCKER_TLS_VERIFY", "1"}, {"DOCKER_CERT_PATH", folder->path()}}));
  EXPECT_EQ(address->tls.authorities, (folder->path() / "ca.pem").string());
  EXPECT_EQ(address->tls.key, "");
}

TEST(EngineAddress, WhatIsGivenComesBeforeTheEnvironmentAndThatBeforeUsualSockets) {
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(make_directories(folder->path() / "podman"));
  ASSERT_TRUE(write_file(folder->path() / "podman/podman.sock", ""));
  const auto first = [&](const char* given, std::map<std::string, std::string> values) {
    const auto found = find_engines(given, variables(std::move(values)));
    return found->empty() ? "" : found->back().text;
  };
  const std::string usual = "unix://" + (folder->path() / "podman/podman.sock").string();
  EXPECT_EQ(first("tcp://a", {{"DOCKER_HOST", "tcp://b"}}), "tcp://a");
  EXPECT_EQ(first("", {{"DOCKER_HOST", "tcp://b"}}), "tcp://b");
  EXPECT_EQ(first("", {{"XDG_RUNTIME_DIR", folder->path()}}), usual);
  EXPECT_FALSE(find_engines("", variables({{"DOCKER_HOST", "b"}})));
}

}  // namespace
}  // namespace fettle
