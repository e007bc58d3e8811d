#include "kinds/registry_login.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

/// `user:password` of each.
std::string found(const Value& data, std::string_view registry) {
  std::vector<std::string> texts;
  for (const RegistryLogin& login : logins_in(data, registry))
    texts.push_back(cat(login.username, ":", login.password));
  return join(texts, " ");
}

TEST(RegistryLogins, AreReadAsKubectlMakesThem) {
  const Value data =
      Value::dict({{".dockerconfigjson",
                    R"({"auths":{"registry.test:5000":{"username":"me","password":"open sesame"},)"
                    R"("https://index.docker.io/v1/":{"auth":"eW91OmE6Yg=="}}})"}});
  EXPECT_EQ(found(data, "registry.test:5000"), "me:open sesame");
  EXPECT_EQ(found(data, "docker.io"), "you:a:b");
  EXPECT_EQ(found(data, "registry.test"), "");
}

TEST(RegistryLogins, ANameMayBeAPattern) {
  const Value data = Value::dict(
      {{".dockerconfigjson",
        R"({"auths":{"*.test":{"username":"a","password":"1"},"eu-*.r.test:5000":{"username":"b",)"
        R"("password":"2"}}})"}});
  EXPECT_EQ(found(data, "r.test"), "a:1");
  EXPECT_EQ(found(data, "eu-west.r.test:5000"), "b:2");
  EXPECT_EQ(found(data, "us-west.r.test:5000"), "");
  EXPECT_EQ(found(data, "eu-west.r.test"), "") << "ports are not left out";
  EXPECT_EQ(found(data, "test"), "");
  EXPECT_EQ(found(data, "a.b.test"), "") << "a star is of one part";
}

TEST(RegistryLogins, OlderFormsCount) {
  EXPECT_EQ(found(Value::dict({{".dockercfg", R"({"r.test":{"username":"a","password":"b"}})"}}),
                  "r.test"),
            "a:b");
  EXPECT_EQ(found(Value::dict({{"r.test", Value::dict({{"username", "a"}, {"password", "b"}})}}),
                  "r.test"),
            "a:b");
}

TEST(RegistryLogins, WhatCannotBeReadHasNothing) {
  EXPECT_EQ(found(Value::dict({{".dockerconfigjson", "{"}}), "r.test"), "");
  EXPECT_EQ(found(Value::dict({{".dockerconfigjson", R"({"auths":{"r.test":{"auth":"??"}}})"}}),
                  "r.test"),
            "");
  EXPECT_EQ(found(Value::dict({{".dockerconfigjson", R"({"auths":[1]})"}}), "r.test"), "");
  EXPECT_EQ(found(Value(), "r.test"), "");
}

}  // namespace
}  // namespace fettle
