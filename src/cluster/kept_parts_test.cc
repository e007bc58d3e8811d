#include "cluster/kept_parts.h"

#include <gtest/gtest.h>

#include "cluster/node_images.h"
#include "cluster/status.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

TEST(KeptParts, APodIsAsItWasButForWhoHasWrittenWhat) {
  KeptParts parts;
  const Value pod = json(R"({"metadata":{"name":"a","labels":{"app":"web"},"annotations":{"b":"c"},
      "managedFields":[{"manager":"x"}]},"spec":{"containers":[{"name":"main"}]},
      "status":{"phase":"Running"}})");
  EXPECT_EQ(parts.of("Pod", pod),
            json(R"({"metadata":{"name":"a","labels":{"app":"web"},"annotations":{"b":"c"}},
      "spec":{"containers":[{"name":"main"}]},"status":{"phase":"Running"}})"));
}

TEST(KeptParts, OfANodeStaysWhatIsReadOfIt) {
  KeptParts parts;
  const Value node = json(R"({"metadata":{"name":"n1","uid":"u","resourceVersion":"7",
      "labels":{"type":"virtual-kubelet"},"annotations":{"a":"b"}},
      "spec":{"taints":[{"key":"a","effect":"NoSchedule"}],"podCIDR":"10.0.0.0/24"},
      "status":{"images":[{"names":["i"]}],"conditions":[{"type":"DiskPressure","status":"False"},
        {"type":"Ready","status":"True","lastTransitionTime":"2027-01-15T07:00:00Z"}]}})");
  const Value kept = parts.of("Node", node);
  EXPECT_EQ(kept.at("status").find("images"), nullptr);
  EXPECT_EQ(node_digest(kept), node_digest(node));
  EXPECT_EQ(node_image_for(kept), node_image_for(node));
  EXPECT_EQ(meta_of(kept).uid, "u");
  EXPECT_EQ(meta_of(kept).version, "7");
  EXPECT_EQ(read_node(kept).taints, read_node(node).taints);
  EXPECT_FALSE(read_node(kept).pulls_ahead);
  EXPECT_TRUE(read_node(parts.of("Node", json(R"({"metadata":{"name":"n2"}})"))).taints.is_null());
}

TEST(KeptParts, WhatIsLeftOutWhenItIsReadChangesNothing) {
  KeptParts parts;
  for (const std::string_view kind : {"Pod", "Node", "ControllerRevision", "NodeImage"}) {
    const std::string_view text =
        R"({"metadata":{"name":"a","annotations":{"a":"b"},"managedFields":[{"manager":"x"}]},
            "spec":{"taints":[{"key":"a"}]},"status":{"images":[{"names":["i"]}],"conditions":[]}})";
    SharedJson reader(KeptParts::left_out(kind));
    EXPECT_EQ(parts.of(kind, *reader.read(text)), parts.of(kind, json(text))) << kind;
  }
  EXPECT_TRUE(KeptParts::left_out("CloneSet").empty());
}

TEST(KeptParts, OfAWorkloadEverythingStays) {
  KeptParts parts;
  const Value set = json(R"({"metadata":{"name":"a","managedFields":[{"manager":"x"}]}})");
  EXPECT_EQ(parts.of("CloneSet", set), set);
  EXPECT_FALSE(KeptParts::are_less("ImagePullJob"));
}

TEST(KeptParts, NonsenseIsPassedOver) {
  KeptParts parts;
  for (const char* text : {"7", "[]", "{}", R"({"metadata":7,"spec":[],"status":"a"})",
                           R"({"metadata":{"labels":7},"status":{"conditions":7}})"}) {
    EXPECT_NO_FATAL_FAILURE(parts.of("Node", json(text)));
    EXPECT_NO_FATAL_FAILURE(parts.of("Pod", json(text)));
  }
  EXPECT_EQ(parts.of("Pod", json(R"({"spec":7})")).at("spec"), Value(7));
}

}  // namespace
}  // namespace fettle::cluster
