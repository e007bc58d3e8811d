#include "cluster/claims.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/names.h"
#include "tests/kubernetes/json_text.h"
#include "value/with.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

workloads::Object owner_of_kind(const Name& kind) {
  workloads::Object owner;
  owner.kind = kind;
  owner.space = "shop";
  owner.name = "db";
  owner.uid = "u1";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1",
    "spec":{"selector":{"matchLabels":{"app":"db"}}}})");
  return owner;
}

VolumeClaim claim_of(const Name& kind, bool retains) {
  VolumeClaim claim;
  claim.name = "data-db-0";
  claim.space = "shop";
  claim.owner = cat(kind, "/shop/db");
  claim.labels = json(R"({"tier":"one"})");
  claim.spec = json(R"({"accessModes":["ReadWriteOnce"]})");
  claim.retain = retains;
  return claim;
}

/// As a server stores it, which fills in more.
Value as_stored(const Value& made) {
  return with(with(made, "spec", json(R"({"accessModes":["ReadWriteOnce"],"volumeMode":"Block"})")),
              "metadata", with(made.at("metadata"), "uid", "u9"));
}

TEST(Claims, WhatIsWrittenIsReadAgain) {
  for (const char* kind : {"CloneSet", "StatefulSet"})
    for (const bool retains : {true, false}) {
      const VolumeClaim claim = claim_of(kind, retains);
      const auto read = read_claim(as_stored(claim_object(claim, owner_of_kind(kind))));
      ASSERT_TRUE(read);
      EXPECT_EQ(write(*read), write(claim)) << kind << retains;
    }
}

TEST(Claims, OnlyWhatGoesWithItsOwnerIsOwned) {
  const auto owners = [](const Name& kind, bool retains) {
    const Value made = claim_object(claim_of(kind, retains), owner_of_kind(kind));
    return items_of(made.at("metadata").at("ownerReferences")).size();
  };
  EXPECT_EQ(owners("CloneSet", false), 1u);
  EXPECT_EQ(owners("StatefulSet", false), 1u);
  EXPECT_EQ(owners("StatefulSet", true), 0u);
}

TEST(Claims, OneOfOpenKruiseIsKnownByItsOwner) {
  const auto read = read_claim(json(R"({"metadata":{"name":"data-web-x","namespace":"shop",
    "labels":{"apps.kruise.io/cloneset-instance-id":"x"},"ownerReferences":[{"apiVersion":
    "apps.kruise.io/v1beta1","kind":"CloneSet","name":"web","uid":"u1","controller":true}]},
    "spec":{}})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->owner.get(), "CloneSet/shop/web");
  EXPECT_FALSE(read->retain.get());
}

TEST(Claims, ABrokenAnnotationSaysNothing) {
  for (const char* text :
       {"{", "[]", R"({\"name\":\"other\"})",
        R"({\"name\":\"a\",\"namespace\":\"shop\",\"owner\":\"StatefulSet/shop/db\",\"spec\":1})"})
    EXPECT_FALSE(read_claim(
        json(cat(R"({"metadata":{"name":"a","namespace":"shop","annotations":{"fettle/claim":")",
                 text, R"("}},"spec":{}})"))))
        << text;
}

TEST(Claims, AChangeSaysWhetherItStays) {
  const Value object = json(R"({"metadata":{"uid":"u9","resourceVersion":"7",
    "ownerReferences":[{"uid":"u1"}]}})");
  const Value change =
      claim_change(claim_of("StatefulSet", true), owner_of_kind("StatefulSet"), object);
  EXPECT_TRUE(change.at("metadata").at("ownerReferences").is_null());
  EXPECT_NE(change.at("metadata").find("ownerReferences"), nullptr) << "null takes them away";
  EXPECT_EQ(change.at("metadata").text_at("resourceVersion"), "7");
}

TEST(Claims, OwnersOfOthersStay) {
  const Value object = json(R"({"metadata":{"ownerReferences":[{"uid":"other"}]}})");
  const auto owners = [&](bool retains) {
    const Value change =
        claim_change(claim_of("StatefulSet", retains), owner_of_kind("StatefulSet"), object);
    std::vector<std::string> uids;
    for (const Value& each : items_of(change.at("metadata").at("ownerReferences")))
      uids.emplace_back(each.text_at("uid"));
    return uids;
  };
  EXPECT_EQ(owners(true), std::vector<std::string>{"other"});
  EXPECT_EQ(owners(false), (std::vector<std::string>{"other", "u1"}));
}

TEST(Claims, AnAnnotationIsAboutItsOwnNamespace) {
  const auto owner = [](std::string_view space) {
    return read_claim(json(cat(R"({"metadata":{"name":"a","namespace":"shop","annotations":{
      "fettle/claim":"{\"name\":\"a\",\"namespace\":\"shop\",\"owner\":\"CloneSet/)",
                               space, R"(/web\"}"}},"spec":{}})")));
  };
  EXPECT_TRUE(owner("shop"));
  EXPECT_FALSE(owner("other"));
}

}  // namespace
}  // namespace fettle::cluster
