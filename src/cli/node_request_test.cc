#include "cli/node_request.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

using Options = std::map<std::string, std::vector<std::string>>;

Result<NodeRequest> asked(Options options) {
  CommandLine line;
  line.options = std::move(options);
  return node_asked(line);
}

TEST(NodeRequest, WithoutOptionsThePodSaysWhichClusterAndNode) {
  const auto request = asked({});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->cluster.kubeconfig, "");
  EXPECT_EQ(request->node, "");
  EXPECT_EQ(request->socket, "");
  EXPECT_EQ(request->most_pulls, 0u);
  EXPECT_EQ(request->cluster.qps, 5);
  EXPECT_EQ(request->cluster.burst, 10);
  EXPECT_EQ(request->probe_address, ":10221");
}

TEST(NodeRequest, OutsideAClusterNobodyIsToldHowItFares) {
  EXPECT_EQ(asked({{"kubeconfig", {"k"}}})->probe_address, "");
  EXPECT_EQ(asked({{"kubeconfig", {"k"}}, {"addr", {"127.0.0.1:9"}}})->probe_address,
            "127.0.0.1:9");
  EXPECT_EQ(asked({{"addr", {"0"}}})->probe_address, "");
}

TEST(NodeRequest, OptionsAreThoseOfTheOriginal) {
  const auto request = asked({{"kubeconfig", {"k"}},
                              {"node-name", {"n1"}},
                              {"socket-file", {"crio/crio.sock"}},
                              {"max-workers-for-pull-image", {"2"}},
                              {"rest-config-qps", {"20"}},
                              {"rest-config-burst", {"0"}},
                              {"addr", {":10222"}}});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->cluster.kubeconfig, "k");
  EXPECT_EQ(request->node, "n1");
  EXPECT_EQ(request->socket, "crio/crio.sock");
  EXPECT_EQ(request->most_pulls, 2u);
  EXPECT_EQ(request->cluster.qps, 20);
  EXPECT_EQ(request->cluster.burst, 10);
  EXPECT_EQ(request->probe_address, ":10222");
  EXPECT_EQ(asked({{"max-workers-for-pull-image", {"-1"}}})->most_pulls, 0u);
}

TEST(NodeRequest, WhatMakesNoSenseIsAnError) {
  for (const Options& options :
       std::vector<Options>{{{"context", {"x"}}},
                            {{"kubeconfig", {"k"}}, {"in-cluster", {"true"}}},
                            {{"rest-config-qps", {"-1"}}},
                            {{"rest-config-burst", {"many"}}},
                            {{"addr", {"10221"}}},
                            {{"max-workers-for-pull-image", {"two"}}}}) {
    const auto request = asked(options);
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().blame, Blame::user);
  }
}

}  // namespace
}  // namespace fettle
