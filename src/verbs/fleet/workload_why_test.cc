#include "verbs/fleet/workload_why.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

Value status_of_pods(int64_t available, int64_t expected, std::string_view reason = "") {
  return Value::dict({{"updatedReplicas", available},
                      {"updatedAvailableReplicas", available},
                      {"expectedUpdatedReplicas", expected},
                      {"reason", reason}});
}

TEST(RolloutText, PodsThatAreUpdatedAreCountedAgainstThoseThatAreToBe) {
  EXPECT_EQ(rollout_text("CloneSet", status_of_pods(0, 3)), "0 of 3 updated pods are available");
  EXPECT_EQ(rollout_text("CloneSet", status_of_pods(3, 3)), "3 of 3 updated pods are available");
  EXPECT_EQ(rollout_text("CloneSet", status_of_pods(1, 3, "pod web-1: it is slow")),
            "1 of 3 updated pods are available: pod web-1: it is slow");
}

// Where a partition grew again, they are no part of what it asks for.
TEST(RolloutText, MoreThanAPartitionAsksForAreNoPartOfIt) {
  EXPECT_EQ(rollout_text("CloneSet", status_of_pods(3, 1)),
            "3 updated pods are available, and the partition asks for 1");
  EXPECT_EQ(rollout_text("CloneSet", status_of_pods(1, 0)),
            "1 updated pod is available, and the partition asks for 0");
}

TEST(RolloutText, OtherKindsCountWhatTheyHave) {
  EXPECT_EQ(rollout_text("SidecarSet", Value::dict({{"matchedPods", 3}, {"updatedReadyPods", 2}})),
            "2 of 3 pods are updated and ready");
  EXPECT_EQ(rollout_text("ImageListPullJob",
                         Value::dict({{"desired", 3}, {"succeeded", 1}, {"completed", 2}})),
            "1 of 3 images are on all nodes");
  EXPECT_EQ(rollout_text("ImagePullJob",
                         Value::dict({{"desired", 2}, {"succeeded", 1}, {"reason", "n2 is away"}})),
            "1 of 2 nodes have the image: n2 is away");
  // A field that another manager has added says nothing of the kind.
  EXPECT_EQ(rollout_text("ImagePullJob",
                         Value::dict({{"desired", 2}, {"succeeded", 1}, {"completed", 1}})),
            "1 of 2 nodes have the image");
}

}  // namespace
}  // namespace fettle
