#include "node/orders.h"

#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::node {
namespace {

using kubernetes::json;

TEST(ImageOrders, AreReadWithTheirLimits) {
  const auto orders = read_orders(json(R"({"spec":{"images":{"redis":{
      "pullSecrets":[{"namespace":"kruise-daemon-config","name":"a","mode":"batch"},{"name":"b"}],
      "sandboxConfig":{"labels":{"app":"web"},"annotations":{"p2p":"on"}},
      "tags":[{"tag":"7","version":3,"createdAt":"2026-11-29T01:00:00Z",
        "imagePullPolicy":"Always","pullPolicy":{"timeoutSeconds":20,"backoffLimit":1,
        "activeDeadlineSeconds":60,"ttlSecondsAfterFinished":300},
        "ownerReferences":[{"kind":"ImagePullJob","name":"j","uid":"u"}]},{"tag":"8"}]}}}})"));
  ASSERT_EQ(orders.size(), 2u);
  const ImageOrder& seven = orders.at({"redis", "7"});
  EXPECT_EQ(seven.reference(), "redis:7");
  EXPECT_EQ(seven.version, 3);
  EXPECT_EQ(write_moment(seven.created), "2026-11-29T01:00:00Z");
  EXPECT_TRUE(seven.is_always_pulled);
  EXPECT_EQ(seven.timeout, 20s);
  EXPECT_EQ(seven.backoff_limit, 1);
  EXPECT_EQ(seven.active_deadline, Duration(60s));
  ASSERT_EQ(seven.owners.size(), 1u);
  EXPECT_EQ(seven.owners[0].text_at("name"), "j");
  EXPECT_EQ(seven.secrets, (std::vector<kubernetes::ObjectName>{{"kruise-daemon-config", "a"}}))
      << "one without a namespace names nothing";
  EXPECT_EQ(seven.labels.at("app"), "web");
  EXPECT_EQ(seven.annotations.at("p2p"), "on");
  const ImageOrder& eight = orders.at({"redis", "8"});
  EXPECT_FALSE(eight.is_always_pulled);
  EXPECT_EQ(eight.timeout, 10min);
  EXPECT_EQ(eight.backoff_limit, 3);
  EXPECT_FALSE(eight.active_deadline);
  EXPECT_EQ(eight.secrets.size(), 1u);
}

TEST(ImageOrders, ADigestStandsBehindAnAt) {
  const auto orders = read_orders(
      json(R"({"spec":{"images":{"r.test:5000/a":{"tags":[{"tag":"sha256:ab"},{"tag":"v1"}]}}}})"));
  EXPECT_EQ(orders.at({"r.test:5000/a", "sha256:ab"}).reference(), "r.test:5000/a@sha256:ab");
  EXPECT_EQ(orders.at({"r.test:5000/a", "v1"}).reference(), "r.test:5000/a:v1");
}

TEST(ImageOrders, WhatMakesNoSenseCountsAsAbsent) {
  for (const char* const text :
       {"{}", R"({"spec":1})", R"({"spec":{"images":[]}})", R"({"spec":{"images":{"a":1}}})",
        R"({"spec":{"images":{"a":{"tags":{"tag":"1"}}}}})",
        R"({"spec":{"images":{"a":{"tags":[1,{"tag":2},{"tag":""},null]}}}})"})
    EXPECT_TRUE(read_orders(json(text)).empty()) << text;
  const auto orders = read_orders(json(R"({"spec":{"images":{"a":{"pullSecrets":{},
      "sandboxConfig":{"labels":[1],"annotations":{"x":1}},"tags":[{"tag":"1","version":"x",
      "createdAt":7,"imagePullPolicy":true,"ownerReferences":[1],"pullPolicy":{"timeoutSeconds":-1,
      "backoffLimit":-1,"activeDeadlineSeconds":0}}]}}}})"));
  const ImageOrder& order = orders.at({"a", "1"});
  EXPECT_EQ(order.version, 0);
  EXPECT_EQ(order.timeout, 10min);
  EXPECT_EQ(order.backoff_limit, 3);
  EXPECT_FALSE(order.active_deadline);
  EXPECT_TRUE(order.owners.empty() && order.labels.empty() && order.annotations.empty());
  const auto huge = read_orders(json(R"({"spec":{"images":{"a":{"tags":[{"tag":"1","pullPolicy":
      {"timeoutSeconds":9223372036854775807,"backoffLimit":9223372036854775807}}]}}}})"));
  EXPECT_EQ(huge.at({"a", "1"}).timeout, 366 * 24h);
  EXPECT_EQ(huge.at({"a", "1"}).backoff_limit, 1'000);
}

}  // namespace
}  // namespace fettle::node
