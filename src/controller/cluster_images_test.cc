#include "controller/cluster_images.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"

namespace fettle {
namespace {

using kubernetes::json;

std::vector<std::string> told_images(std::string_view node_image) {
  std::vector<std::string> lines;
  for (const ImageView& view : images_asked_of_node(json(node_image)))
    lines.push_back(cat(view.node, " ", view.image, " ", view.status, " ", view.owner,
                        view.why.empty() ? "" : ": ", view.why));
  return lines;
}

TEST(ClusterImages, EachOrderOfANodeHasItsResult) {
  EXPECT_EQ(told_images(R"({"metadata":{"name":"n1"},"spec":{"images":{
      "web":{"tags":[{"tag":"1","version":2},{"tag":"2","version":2,"ownerReferences":[
        {"kind":"ImagePullJob","namespace":"shop","name":"j"}]},{"tag":"3"},
        {"tag":"sha256:ab"}]},
      "db":{"tags":[{"tag":"1","ownerReferences":[{"kind":"ImagePullJob","name":"k"}]}]}}},
      "status":{"imageStatuses":{
        "web":{"tags":[{"tag":"1","version":2,"phase":"Succeeded"},
          {"tag":"2","version":1,"phase":"Succeeded"},{"tag":"3","phase":"Waiting"},
          {"tag":"sha256:ab","phase":"Pulling","progress":40}]},
        "db":{"tags":[{"tag":"1","phase":"Failed","message":"no such image"}]}}}})"),
            (std::vector<std::string>{"n1 db:1 Failed ImagePullJob//k: no such image",
                                      "n1 web:1 Present ", "n1 web:2 Pulling ImagePullJob/shop/j",
                                      "n1 web:3 Pulling ", "n1 web@sha256:ab Pulling "}));
}

TEST(ClusterImages, OfWhatIsNoNodeImageNothingIsKnown) {
  for (const char* text : {"7", "[]", R"({"spec":{"images":[]}})",
                           R"({"spec":{"images":{"a":7}},"status":{"imageStatuses":7}})"})
    EXPECT_EQ(told_images(text), std::vector<std::string>()) << text;
  EXPECT_EQ(told_images(R"({"spec":{"images":{"a":{"tags":[7]}}},"status":[]})"),
            (std::vector<std::string>{" a: Pulling "}));
}

}  // namespace
}  // namespace fettle
