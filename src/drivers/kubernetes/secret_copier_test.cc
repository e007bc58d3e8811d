#include "drivers/kubernetes/secret_copier.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"

namespace fettle {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;
namespace types = cluster::types;

class SecretCopierTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* space : {"shop", "kruise-daemon-config"})
      make(types::spaces, {},
           cat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", space, R"("}})"));
  }
  void make(const kubernetes::ResourceType& type, const std::string& space, std::string_view text) {
    const auto made = client_.create(type, {space, ""}, json(text), {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  void make_secret(std::string_view login, std::string_view type = "login") {
    make(types::secrets, "shop",
         cat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"key"},"type":")", type,
             R"(","data":{"login":")", login, R"("}})"));
  }
  Value copy() {
    const auto found = client_.get(types::secrets, cluster::copy_of({"shop", "key"}), {});
    return found ? *found : Value();
  }
  std::optional<std::vector<ObjectName>> copied(Instant now) {
    return copier_.copies_for(job_, now, {});
  }
  void refuse(std::string_view method, std::string_view path) {
    server_.fail(
        1,
        [method, path](const kubernetes::ApiRequest& request) {
          return request.method == method && request.target.find(path) != std::string::npos;
        },
        {.status = 403, .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
          "code":403,"message":"no"})")});
  }

  const Value job_ = json(R"({"metadata":{"namespace":"shop","name":"warm","uid":"j",
    "resourceVersion":"1"},"spec":{"image":"web:1","pullSecrets":["key"]}})");
  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
  kubernetes::ObjectCache objects_{{types::pull_jobs}};
  cluster::SecretCopies copies_{true};
  SecretCopier copier_{client_, objects_, &copies_};
  const std::vector<ObjectName> names_{cluster::copy_of({"shop", "key"})};
};

TEST_F(SecretCopierTest, ACopyFollowsItsSourceWithTheNextOrders) {
  objects_.take_answer(types::pull_jobs.kind, job_);
  make_secret("b25l");
  EXPECT_EQ(copied(Instant(1h)), names_);
  EXPECT_EQ(copy().at("data"), json(R"({"login":"b25l"})"));
  EXPECT_EQ(copy().at("metadata").at("annotations").text_at("imagepulljobs.kruise.io/references"),
            "shop/warm");
  const size_t requests = server_.requests();
  EXPECT_EQ(copied(Instant(1h) + 9s), names_);
  EXPECT_EQ(server_.requests(), requests) << "it is not read for each node";
  ASSERT_TRUE(client_.patch(types::secrets, {"shop", "key"}, kubernetes::PatchType::merge,
                            json(R"({"data":{"login":null,"other":"dHdv"}})"), {}, {}));
  EXPECT_EQ(copied(Instant(1h) + 20s), names_);
  EXPECT_EQ(copy().at("data"), json(R"({"other":"dHdv"})"));
}

TEST_F(SecretCopierTest, WhatCannotBeCopiedIsLeftOutAndSaid) {
  EXPECT_EQ(copied(Instant(1h)), std::vector<ObjectName>());
  EXPECT_EQ(copies_.complaint(job_), "pulled without Secret `shop/key`: it is not there");
  make_secret("b25l");
  refuse("GET", "/namespaces/shop/secrets/key");
  EXPECT_EQ(copied(Instant(2h)), std::vector<ObjectName>());
  EXPECT_EQ(copies_.complaint(job_),
            "pulled without Secret `shop/key`: the controller has no right to get secrets in "
            "`shop`; `fettle install kubernetes --pull-secrets shop` gives it");
  refuse("PATCH", "/namespaces/kruise-daemon-config/secrets/");
  EXPECT_EQ(copied(Instant(3h)), std::vector<ObjectName>());
  EXPECT_NE(copies_.complaint(job_).find("no right to create and patch secrets in "
                                         "`kruise-daemon-config`"),
            std::string::npos);
  EXPECT_EQ(copied(Instant(4h)), names_);
  EXPECT_EQ(copies_.complaint(job_), "");
}

TEST_F(SecretCopierTest, FettlesDaemonNeedsNone) {
  make_secret("b25l");
  cluster::SecretCopies unwanted(false);
  EXPECT_FALSE(SecretCopier(client_, objects_, &unwanted).copies_for(job_, Instant(1h), {}));
  EXPECT_FALSE(SecretCopier(client_, objects_, nullptr).copies_for(job_, Instant(1h), {}));
  EXPECT_TRUE(copy().is_null());
}

}  // namespace
}  // namespace fettle
