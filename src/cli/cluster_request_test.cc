#include "cli/cluster_request.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

CommandLine words(std::map<std::string, std::vector<std::string>> options) {
  CommandLine line;
  line.options = std::move(options);
  return line;
}

TEST(ClusterRequest, WithoutItsOptionsNoClusterIsMeant) {
  const auto asked = cluster_asked(words({{"feature-gates", {"KruiseDaemon=false"}}}));
  ASSERT_TRUE(asked);
  EXPECT_FALSE(*asked);
}

TEST(ClusterRequest, AKubeconfigNamesOne) {
  const auto asked = cluster_asked(words({{"kubeconfig", {"k"}}, {"rest-config-qps", {"100"}}}));
  ASSERT_TRUE(asked && *asked);
  EXPECT_EQ((*asked)->kubeconfig, "k");
  EXPECT_EQ((*asked)->qps, 100);
  EXPECT_EQ((*asked)->burst, 50);
  EXPECT_TRUE((*asked)->elects);
  EXPECT_EQ((*asked)->lease_name, "kruise-manager");
}

TEST(ClusterRequest, InAClusterItTellsHowItFares) {
  const auto inside = cluster_asked(words({{"in-cluster", {"true"}}}));
  ASSERT_TRUE(inside && *inside);
  EXPECT_EQ((*inside)->metrics_address, ":8080");
  EXPECT_EQ((*inside)->probe_address, ":8000");
  const auto outside = cluster_asked(words({{"kubeconfig", {"k"}}}));
  ASSERT_TRUE(outside && *outside);
  EXPECT_EQ((*outside)->metrics_address, "");
  EXPECT_EQ((*outside)->probe_address, "");
}

TEST(ClusterRequest, AnAddressIsGivenOrSwitchedOff) {
  const auto asked = cluster_asked(words(
      {{"in-cluster", {"true"}}, {"metrics-addr", {"127.0.0.1:9"}}, {"health-probe-addr", {"0"}}}));
  ASSERT_TRUE(asked && *asked);
  EXPECT_EQ((*asked)->metrics_address, "127.0.0.1:9");
  EXPECT_EQ((*asked)->probe_address, "");
}

TEST(ClusterRequest, OptionsThatDoNotFitTogetherAreErrors) {
  using Options = std::map<std::string, std::vector<std::string>>;
  for (const Options& options :
       std::vector<Options>{{{"context", {"x"}}},
                            {{"rest-config-qps", {"9"}}},
                            {{"kubeconfig", {"k"}}, {"in-cluster", {"true"}}},
                            {{"in-cluster", {"true"}}, {"context", {"x"}}},
                            {{"kubeconfig", {"k"}}, {"rest-config-burst", {"0"}}},
                            {{"kubeconfig", {"k"}}, {"metrics-addr", {"8080"}}},
                            {{"kubeconfig", {"k"}}, {"health-probe-addr", {":x"}}},
                            {{"health-probe-addr", {":8000"}}},
                            {{"kubeconfig", {"k"}}, {"rest-config-qps", {"many"}}}}) {
    const auto asked = cluster_asked(words(options));
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().blame, Blame::user);
  }
}

TEST(ClusterRequest, WhoAsksAboutAClusterNeverActs) {
  const auto asked = cluster_looked_at(words({{"kubeconfig", {"k"}}, {"context", {"x"}}}));
  ASSERT_TRUE(asked && *asked);
  EXPECT_EQ((*asked)->kubeconfig, "k");
  EXPECT_EQ((*asked)->context, "x");
  EXPECT_FALSE((*asked)->elects);
  const auto nobody = cluster_looked_at(words({{"namespace", {"shop"}}, {"enclave", {"e"}}}));
  ASSERT_TRUE(nobody);
  EXPECT_FALSE(*nobody);
}

TEST(ClusterRequest, AFleetAndAClusterAreTwoThings) {
  using Options = std::map<std::string, std::vector<std::string>>;
  for (const Options& options : std::vector<Options>{{{"context", {"x"}}},
                                                     {{"kubeconfig", {""}}},
                                                     {{"kubeconfig", {"k"}}, {"enclave", {"e"}}}}) {
    const auto asked = cluster_looked_at(words(options));
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().blame, Blame::user);
  }
}

}  // namespace
}  // namespace fettle
