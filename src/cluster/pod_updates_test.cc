/// Updates of pods in several steps: batches, hooks, labels and resizes.

#include <gtest/gtest.h>

#include "base/base64.h"
#include "tests/fixtures/cluster_rollout_fixture.h"

namespace fettle::cluster {
namespace {

using kubernetes::at_path;
using kubernetes::strategic_patch;
using kubernetes::with_path;
using rollouts::Cluster;

std::string manifest_with(std::string_view pod_template, std::string_view more = "") {
  return cat(
      R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{"name":"web"},)",
      R"("spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":)", pod_template,
      R"(,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":)",
      R"("InPlaceIfPossible","maxUnavailable":1}})", more, "}}");
}

/// Containers with a higher priority change, and are ready, before the others.
TEST(ClusterRollout, AnUpdateInBatchesGoesOnAfterEachWrite) {
  const auto with_images = [](std::string_view version) {
    const auto container = [&](std::string_view name, int priority) {
      return cat(R"({"name":")", name, R"(","image":")", name, ":", version,
                 R"(","env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":")", priority, R"("}]})");
    };
    return manifest_with(cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[)",
                             container("c0", 1), ",", container("side", 2), "]}}"));
  };
  Cluster cluster;
  cluster.put(with_images("1"));
  cluster.settle();
  cluster.put(with_images("2"));
  cluster.least_ready = 1'000;
  bool was_half_way = false;
  for (int round = 0; round < 60; ++round) {
    cluster.decide(1);
    cluster.run();
    cluster.least_ready = std::min(cluster.least_ready, cluster.ready());
    for (const auto& [name, pod] : cluster.pods) {
      const auto containers = items_of(pod.at("spec").at("containers"));
      const Value state = json_annotation(pod, annotation::update_state);
      EXPECT_TRUE(containers[1].text_at("image") == "side:2" ||
                  state.at("nextContainerImages").is_null())
          << "OpenKruise would begin with what comes next";
      was_half_way |=
          containers[0].text_at("image") == "c0:1" && containers[1].text_at("image") == "side:2";
      EXPECT_FALSE(containers[0].text_at("image") == "c0:2" &&
                   containers[1].text_at("image") == "side:1");
    }
  }
  EXPECT_TRUE(was_half_way);
  EXPECT_EQ(cluster.images(), (std::vector<std::string>{"c0:2", "c0:2"}));
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_EQ(cluster.least_ready, 1);
  EXPECT_FALSE(cluster.decide());
}

/// A label that the environment of a container takes changes with that container.
TEST(ClusterRollout, ABatchOfAnEnvironmentGoesOnAfterEachWrite) {
  const auto manifest = [](std::string_view version, std::string_view tier) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web","tier":")", tier, R"("}},"spec":{"containers":[)",
            R"({"name":"c0","image":"c0:)", version,
            R"(","env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"2"}]},)",
            R"({"name":"side","image":"side:1","env":[)",
            R"({"name":"KRUISE_CONTAINER_PRIORITY","value":"1"},{"name":"T","valueFrom":)",
            R"({"fieldRef":{"fieldPath":"metadata.labels['tier']"}}}]}]}})"));
  };
  Cluster cluster;
  cluster.gates.environment = true;
  cluster.put(manifest("1", "a"));
  cluster.settle();
  const auto before = cluster.pods;
  cluster.put(manifest("2", "b"));
  bool was_half_way = false;
  for (int round = 0; round < 60; ++round) {
    cluster.decide(1);
    cluster.run();
    for (const auto& [name, pod] : cluster.pods)
      was_half_way |= items_of(pod.at("spec").at("containers"))[0].text_at("image") == "c0:2" &&
                      pod.at("metadata").at("labels").text_at("tier") == "a";
  }
  EXPECT_TRUE(was_half_way);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(pod.at("metadata").at("labels").text_at("tier"), "b");
    EXPECT_EQ(at_path(pod, {"metadata", "uid"}), at_path(before.at(name), {"metadata", "uid"}));
  }
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_FALSE(cluster.decide());
}

/// OpenKruise names a pod anew at once, and changes its labels when it has drained.
TEST(ClusterRollout, APodThatOpenKruiseDrainsGetsTheNewLabels) {
  const auto manifest = [](std::string_view version, std::string_view labels) {
    return manifest_with(cat(R"({"metadata":{"labels":{"app":"web",)", labels,
                             R"(}},"spec":{"containers":[{"name":"c0","image":"web:)", version,
                             R"("}]}})"));
  };
  Cluster cluster;
  cluster.put(manifest("1", R"("tier":"a","old":"x")"));
  cluster.settle();
  const auto known = cluster.revisions;
  cluster.put(manifest("2", R"("tier":"b","more":"y")"));
  cluster.decide(0);
  ASSERT_EQ(cluster.revisions.size(), 2u);
  const auto made = std::ranges::find_if(
      cluster.revisions, [&](const auto& each) { return !known.contains(each.first); });
  const auto state = Value::dict(
      {{"revision", made->first},
       {"updateTimestamp", write_moment(cluster.now)},
       {"lastContainerStatuses", kubernetes::json(R"({"c0":{"imageID":"sha256:web:1"}})")}});
  const auto grace = Value::dict(
      {{"revision", made->first},
       {"metaDataPatch",
        base64_encode(R"({"metadata":{"labels":{"tier":"b","more":"y","old":null}}})")}});
  Value& pod = cluster.pods.begin()->second;
  pod = strategic_patch(
      pod,
      Value::dict(
          {{"metadata",
            Value::dict(
                {{"labels", Value::dict({{"controller-revision-hash", made->first},
                                         {"lifecycle.apps.kruise.io/state", "Updating"}})},
                 {"annotations", Value::dict({{annotation::update_state, write_json(state)},
                                              {annotation::update_grace, write_json(grace)}})}})},
           {"status", kubernetes::json(R"({"conditions":[
                    {"type":"InPlaceUpdateReady","status":"False"}]})")}}));
  cluster.settle();
  EXPECT_EQ(cluster.images(), (std::vector<std::string>{"web:2", "web:2"}));
  for (const auto& [name, each] : cluster.pods) {
    const Value& labels = each.at("metadata").at("labels");
    EXPECT_EQ(labels.text_at("tier"), "b") << name;
    EXPECT_EQ(labels.text_at("more"), "y") << name;
    EXPECT_TRUE(labels.at("old").is_null()) << name;
  }
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_FALSE(cluster.decide());
}

TEST(ClusterRollout, AHookHoldsAPodUntilItsLabelGoes) {
  const auto with_image = [](std::string_view image) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web","hold":"true"}},"spec":{"containers":[{"name":)",
            R"("c0","image":")", image, R"("}]}})"),
        R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}})");
  };
  Cluster cluster;
  cluster.put(with_image("web:1"));
  cluster.settle();
  cluster.put(with_image("web:2"));
  cluster.settle();
  EXPECT_EQ(cluster.images(), (std::vector<std::string>{"web:1", "web:1"}));
  const std::string stage = "lifecycle.apps.kruise.io/state";
  for (auto& [name, pod] : cluster.pods)
    if (pod.at("metadata").at("labels").text_at(stage) == "PreparingUpdate")
      pod = strategic_patch(pod, kubernetes::json(R"({"metadata":{"labels":{"hold":null}}})"));
  cluster.settle();
  EXPECT_EQ(std::ranges::count(cluster.images(), "web:2"), 1);
  const auto updated = std::ranges::find_if(cluster.pods, [&](const auto& each) {
    return each.second.at("metadata").at("labels").text_at(stage) == "Updated";
  });
  ASSERT_NE(updated, cluster.pods.end());
  updated->second = with_path(updated->second, {"metadata", "labels", "hold"}, "true");
  cluster.settle();
  EXPECT_EQ(updated->second.at("metadata").at("labels").text_at(stage), "Normal");
}

TEST(ClusterRollout, LabelsChangeWithoutAnotherContainer) {
  const auto with_label = [](std::string_view tier) {
    return manifest_with(cat(R"({"metadata":{"labels":{"app":"web","tier":")", tier,
                             R"("}},"spec":{"containers":[{"name":"c0","image":"web:1"}]}})"));
  };
  Cluster cluster;
  cluster.put(with_label("a"));
  cluster.settle();
  const auto before = cluster.pods;
  cluster.writes = 0;
  cluster.put(with_label("b"));
  cluster.settle();
  EXPECT_EQ(cluster.writes, 6);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(pod.at("metadata").at("labels").text_at("tier"), "b");
    EXPECT_EQ(pod.at("spec"), before.at(name).at("spec"));
  }
  EXPECT_EQ(cluster.ready(), 2);
}

/// A hook holds a pod by its finalizer, and what stays by mistake holds it for ever.
TEST(ClusterRollout, FinalizersOfTheTemplateComeAndGo) {
  const auto with_finalizers = [](std::string_view image, std::string_view finalizers) {
    return manifest_with(cat(R"({"metadata":{"labels":{"app":"web"})", finalizers,
                             R"(},"spec":{"containers":[{"name":"c0","image":")", image,
                             R"("}]}})"));
  };
  const auto all = [](const Cluster& cluster) {
    std::set<std::string> found;
    for (const auto& [name, pod] : cluster.pods)
      found.insert(write_json(pod.at("metadata").at("finalizers")));
    return found;
  };
  Cluster cluster;
  cluster.put(with_finalizers("web:1", ""));
  cluster.settle();
  const auto before = cluster.pods;
  cluster.put(with_finalizers("web:2", R"(,"finalizers":["x.org/b","x.org/hook"])"));
  cluster.settle();
  EXPECT_EQ(all(cluster), std::set<std::string>{R"(["x.org/b","x.org/hook"])"});
  EXPECT_FALSE(cluster.decide());
  Value& pod = cluster.pods.begin()->second;
  pod = strategic_patch(pod, kubernetes::json(R"({"metadata":{"finalizers":["of.others/x"]}})"));
  cluster.put(with_finalizers("web:3", R"(,"finalizers":["x.org/a","x.org/b"])"));
  cluster.settle();
  EXPECT_EQ(all(cluster), (std::set<std::string>{R"(["x.org/b","of.others/x","x.org/a"])",
                                                 R"(["x.org/b","x.org/a"])"}));
  cluster.put(with_finalizers("web:4", ""));
  cluster.settle();
  EXPECT_EQ(all(cluster), (std::set<std::string>{R"(["of.others/x"])", "null"}));
  for (const auto& [name, is] : before)
    EXPECT_EQ(at_path(cluster.pods[name], {"metadata", "uid"}), at_path(is, {"metadata", "uid"}));
}

auto with_cpu(std::string_view cpu) {
  return manifest_with(
      cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0",)",
          R"("image":"web:1","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})"));
}

TEST(ClusterRollout, AResizeDisturbsNobody) {
  Cluster cluster;
  cluster.gates.resize = true;
  cluster.put(with_cpu("100m"));
  cluster.settle(1);
  cluster.subresources.clear();
  cluster.least_ready = 1'000;
  cluster.put(with_cpu("200m"));
  cluster.settle();
  EXPECT_EQ(cluster.least_ready, 2);
  EXPECT_EQ(cluster.subresources, (std::vector<std::string>{"resize", "", "", "resize", "", ""}));
  for (const auto& [name, pod] : cluster.pods)
    EXPECT_EQ(pod.at("spec").at("containers").items()[0].at("resources"),
              kubernetes::json(R"({"requests":{"cpu":"200m"}})"));
}

TEST(ClusterRollout, AResizeIsDoneWhenTheStatusSaysSo) {
  Cluster cluster;
  cluster.gates.resize = true;
  cluster.put(with_cpu("100m"));
  cluster.settle();
  cluster.can_resize = false;
  cluster.put(with_cpu("200m"));
  const auto resized = [&] {
    return std::ranges::count_if(cluster.pods, [](const auto& each) {
      return each.second.at("spec").at("containers").items()[0].at("resources") ==
             kubernetes::json(R"({"requests":{"cpu":"200m"}})");
    });
  };
  cluster.settle();
  EXPECT_EQ(resized(), 1) << "the next one waits for the first";
  EXPECT_EQ(cluster.status.integer_at("updatedAvailableReplicas"), 0);
  cluster.can_resize = true;
  cluster.settle();
  EXPECT_EQ(resized(), 2);
  EXPECT_EQ(cluster.status.integer_at("updatedAvailableReplicas"), 2);
}

TEST(ClusterRollout, AResizeOfALimitIsOneOfTheRequest) {
  const auto with_cpu = [](std::string_view cpu) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0",)",
            R"("image":"web:1","resources":{"limits":{"memory":"1Gi","cpu":")", cpu, R"("}}}]}})"));
  };
  Cluster cluster;
  cluster.gates.resize = true;
  cluster.put(with_cpu("200m"));
  cluster.settle();
  for (const char* cpu : {"400m", "100m"}) {
    cluster.subresources.clear();
    cluster.put(with_cpu(cpu));
    cluster.settle();
    EXPECT_EQ(cluster.subresources.front(), "resize");
    for (const auto& [name, pod] : cluster.pods)
      EXPECT_EQ(pod.at("spec").at("containers").items()[0].at("resources").at("requests"),
                Value::dict({{"memory", "1Gi"}, {"cpu", cpu}}));
    EXPECT_FALSE(cluster.decide());
  }
}

/// The gate closes in the middle of the update, and the containers still to be changed are not
/// forgotten by a controller that dies right after that.
TEST(ClusterRollout, AResizeBeforeAnImageGoesOnAfterEachWrite) {
  const auto manifest = [](std::string_view image, std::string_view cpu) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0","image":")",
            image, R"(","env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"1"}]},)",
            R"({"name":"side","image":"side:1","resources":{"requests":{"cpu":")", cpu,
            R"("}},"env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"2"}]}]}})"));
  };
  Cluster cluster;
  cluster.gates.resize = true;
  cluster.put(manifest("c0:1", "100m"));
  cluster.settle();
  cluster.put(manifest("c0:2", "200m"));
  cluster.subresources.clear();
  for (int round = 0; round < 60; ++round) {
    cluster.decide(1);
    cluster.run();
  }
  EXPECT_EQ(cluster.images(), (std::vector<std::string>{"c0:2", "c0:2"}));
  EXPECT_EQ(cluster.ready(), 2);
  const std::vector<std::string> each{"resize", "", "status", "", "status"};
  ASSERT_GE(cluster.subresources.size(), 5u);
  EXPECT_EQ(std::vector(cluster.subresources.begin(), cluster.subresources.begin() + 5), each);
  EXPECT_FALSE(cluster.decide());
}

TEST(ClusterRollout, WhatCannotChangeInPlaceIsAnotherPod) {
  const auto with_port = [](int port) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0",)",
            R"("image":"web:1","ports":[{"containerPort":)", port, "}]}]}}"));
  };
  Cluster cluster;
  cluster.put(with_port(80));
  cluster.settle();
  const auto before = cluster.pods;
  cluster.least_ready = 1'000;
  cluster.put(with_port(81));
  cluster.settle(1);
  ASSERT_EQ(cluster.pods.size(), 2u);
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_GE(cluster.least_ready, 1);
  for (const auto& [name, pod] : cluster.pods)
    EXPECT_FALSE(before.contains(name)) << name;
}

}  // namespace
}  // namespace fettle::cluster
