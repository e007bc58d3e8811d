#include "cluster/daemon_pods.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

TEST(DaemonPods, TheNodeTakesThePlaceOfWhatTheTemplateRequires) {
  const Value spec = spec_on_node(json(R"({"containers":[],"nodeName":"n1","affinity":{
      "podAffinity":{"a":1},
      "nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[],
        "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}}}})"),
                                  "n1");
  EXPECT_EQ(spec.at("affinity"), json(R"({"podAffinity":{"a":1},
      "nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[],
        "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}})"));
  EXPECT_EQ(node_of_spec(spec), "n1");
  EXPECT_EQ(spec.find("nodeName"), nullptr) << "the scheduler binds it";
}

TEST(DaemonPods, WhatATemplateToleratesStaysAndIsThereOnce) {
  const Value own = json(R"({"key":"own","operator":"Exists"})");
  const Value pressure = json(
      R"({"key":"node.kubernetes.io/disk-pressure","operator":"Exists","effect":"NoSchedule"})");
  const Value spec =
      spec_on_node(Value::dict({{"tolerations", Value::list({own, pressure})}}), "n1");
  const auto all = items_of(spec.at("tolerations"));
  EXPECT_EQ(all.front(), own);
  EXPECT_EQ(std::ranges::count(all, pressure), 1);
  EXPECT_EQ(all.size(), 7u);
}

TEST(DaemonPods, OneOnTheNetworkOfTheHostDoesNotWaitForAnother) {
  const auto count = [](std::string_view spec) {
    const Value made = spec_on_node(json(spec), "n1");
    return items_of(made.at("tolerations")).size();
  };
  EXPECT_EQ(count(R"({"hostNetwork":true})"), count("{}") + 1);
}

TEST(DaemonPods, APodWithoutAnAffinityWasMadeForTheNodeItIsOn) {
  EXPECT_EQ(node_of_spec(json(R"({"nodeName":"n2"})")), "n2");
  EXPECT_EQ(node_of_spec(json("{}")), "");
}

}  // namespace
}  // namespace fettle::cluster
