#include "states/acct.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle::states {
namespace {

constexpr const char* key = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=";

/// {"cloud": {"default": {user, key, port, …}, "other": {"key": "k2"}}, "default": "other"} as
/// Idem's `acct encrypt` writes it.
constexpr const char* encrypted =
    "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0OD8-UQ0qqlKWtJaAKeKOs-QmPT8C2Zc5f_YeWWM-6sCoAKMw1Awt5ZODsyomDV_"
    "1-c5GaWKKixqLcLhX6dt_ofWFYRgi7y-DHrdolFiYaO9hAxNdUImjzoekdYvPpOnhrIp0MVXRvtuQTV7EMD1BYy2jrF2wT"
    "TyHh9kElIMpTCMGNftCp0hlTrjYSX84LkzeF5IokEf0YwYHRImQjIaBdI8c=";

std::string profile_shown(const Credentials& credentials, std::vector<Name> providers,
                          std::string_view name = {}) {
  const Result<Value> profile = credentials.profile(providers, name);
  return profile ? write_json(*profile, {.show_secrets = true}) : profile.error().message;
}

std::string failure(std::string_view bytes, std::string_view with = {}) {
  const Result<Credentials> read = Credentials::read(bytes, "acct.yml", with);
  return read ? "read" : to_string(read.error());
}

TEST(Acct, ReadsWhatIdemEncrypted) {
  const Result<Credentials> read = Credentials::read(encrypted, "acct.yml.fernet", key);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->default_profile, "other");
  EXPECT_EQ(profile_shown(*read, {"cloud"}), R"({"key":"k2"})");
  EXPECT_EQ(
      profile_shown(*read, {"cloud"}, "default"),
      R"({"big":1099511627776,"key":"s3cret","list":[1,"ä"],"neg":-5,"none":null,"on":true,"port":22,"ratio":0.5,"user":"u"})");
}

TEST(Acct, ReadsPlainYamlAndHidesIt) {
  const Result<Credentials> read = Credentials::read(
      "cloud:\n  default: {key: s3cret, port: 22, tls: true, more: [a]}\nshop:\n  me: {key: b}\n",
      "acct.yml", {});
  ASSERT_TRUE(read);
  EXPECT_EQ(write_json(*read->profile(std::vector<Name>{"cloud"}, {})),
            R"({"key":"********","more":["********"],"port":"********","tls":true})");
  EXPECT_EQ(profile_shown(*read, {"shop"}, "me"), R"({"key":"b"})");
  EXPECT_EQ(profile_shown(*read, {"shop"}), "{}");
  EXPECT_EQ(profile_shown(*read, {"nobody", "cloud"}, "default"),
            profile_shown(*read, {"cloud"}, "default"));
}

TEST(Acct, ProfilesOfOneNameOfSeveralProvidersAreAnError) {
  const Result<Credentials> read =
      Credentials::read("a: {default: {k: 1}}\nb: {default: {k: 2}}\n", "acct.yml", {});
  EXPECT_EQ(profile_shown(*read, {"a", "b"}),
            "there are profiles `default` of several providers: a and b");
}

TEST(Acct, PluginsGetTheProfilesOfTheirProvidersAndNoOthers) {
  const Result<Credentials> read = Credentials::read(
      "cloud: {default: {key: k3y}}\ncloud.login: {a: {user: me}}\nclouds: {default: {key: "
      "0ther}}\n",
      "acct.yml", {});
  ASSERT_TRUE(read) << to_string(read.error());
  const std::vector<Name> wanted{"cloud", "nothing"};
  EXPECT_EQ(write_json(read->profiles(wanted), {.show_secrets = true}),
            R"({"cloud":{"default":{"key":"k3y"}},"cloud.login":{"a":{"user":"me"}}})");
  EXPECT_EQ(write_json(read->profiles(wanted)).find("k3y"), std::string::npos);
}

TEST(Acct, AProfileThatExistsNowhereIsAnError) {
  const Credentials known =
      *Credentials::read("a: {staging: {k: 1}}\nb: {production: {k: 2}}\n", "acct.yml", {});
  for (const char* name : {"", "default", "staging", "production"})
    EXPECT_TRUE(known.check_profile(name)) << name;
  EXPECT_EQ(known.check_profile("prodution").error().message,
            "the credentials have no profile `prodution`, did you mean `production`?");
  EXPECT_EQ(known.check_profile("nosuch").error().message,
            "the credentials have no profile `nosuch`, only `production`, `staging`");
  EXPECT_EQ(Credentials().check_profile("staging").error().message,
            "there is no profile `staging`: `--acct-file` (`ACCT_FILE`) names a file of "
            "credentials");
}

TEST(Acct, OverridesAndProfilesOfStatesAreAdded) {
  Credentials credentials =
      *Credentials::read("a: {default: {k: 1, deep: {x: 1, y: 2}}}\n", "acct.yml", {});
  const Value overrides = *read_json(R"({"a": {"default": {"deep": {"y": 3}}}})");
  credentials.add(*Credentials::of(overrides));
  EXPECT_EQ(profile_shown(credentials, {"a"}), R"({"deep":{"x":1,"y":3},"k":1})");
  credentials.add("b", "new", Value::dict({{"token", "t"}}));
  EXPECT_TRUE(credentials.has("b", "new"));
  EXPECT_FALSE(credentials.has("b", "old"));
  EXPECT_EQ(profile_shown(credentials, {"b"}, "new"), R"({"token":"t"})");
}

TEST(Acct, AProfileOfAStateMayBeginWithAnother) {
  Credentials credentials = *Credentials::read("a: {base: {user: u, key: k}}\n", "acct.yml", {});
  const auto make = [&](const char* source) {
    return credentials.add_made(Value::dict({{"provider", "a"},
                                             {"name", "new"},
                                             {"source", source},
                                             {"values", Value::dict({{"key", "other"}})}}));
  };
  EXPECT_TRUE(make("base"));
  EXPECT_EQ(profile_shown(credentials, {"a"}, "new"), R"({"key":"other","user":"u"})");
  EXPECT_TRUE(make(""));
  EXPECT_EQ(profile_shown(credentials, {"a"}, "new"), R"({"key":"other"})");
  EXPECT_EQ(make("gone").error().message, "the provider `a` has no profile `gone`");
}

TEST(Acct, WhatCannotBeReadIsToldWithoutItsText) {
  EXPECT_EQ(failure(encrypted),
            "acct.yml: the credentials cannot be read: they are encrypted, and there is no key "
            "(`--acct-key`, `ACCT_KEY`)");
  EXPECT_EQ(failure(encrypted, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            "acct.yml: the credentials cannot be read: the key does not fit");
  EXPECT_EQ(failure("a: {}", key),
            "acct.yml: the credentials cannot be read: it is not a Fernet token");
  const std::string broken = failure("a: {key: s3cret\nb: [");
  EXPECT_NE(broken.find("this is not YAML"), std::string::npos) << broken;
  EXPECT_EQ(broken.find("s3cret"), std::string::npos) << broken;
  EXPECT_EQ(failure("[1]"),
            "acct.yml: the credentials cannot be read: they must be a dictionary of providers");
  EXPECT_EQ(failure(""), "read");
}

}  // namespace
}  // namespace fettle::states
