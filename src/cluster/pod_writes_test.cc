/// Rollouts over the objects of a cluster. Nothing is remembered between two decisions: each one is
/// made by a new fleet that is read from the objects, as if the controller had just started. So a
/// member that does not survive its way into an object and back shows as a rollout that stands
/// still, or that does something twice.

#include "cluster/pod_writes.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/names.h"
#include "cluster/owners.h"
#include "cluster/status.h"
#include "kinds/pod.h"
#include "kinds/pod_change.h"
#include "kinds/revision.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "value/json.h"
#include "workloads/decide/want.h"
#include "workloads/names.h"
#include "workloads/read/read.h"

namespace fettle::cluster {
namespace {

using kubernetes::at_path;
using kubernetes::strategic_patch;
using kubernetes::with_path;

const Name owner = "CloneSet/default/web";

std::string manifest_of(int replicas, std::string_view image, std::string_view rolling,
                        std::string_view more = "") {
  return cat(
      R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{"name":"web"},)",
      R"("spec":{"replicas":)", replicas,
      R"(,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":)",
      R"({"app":"web"}},"spec":{"containers":[{"name":"c0","image":")", image,
      R"("},{"name":"side","image":"side:1"}]}},"updateStrategy":{"rollingUpdate":{)",
      R"("podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1)", rolling, "}}", more, "}}");
}

/// With the hashes that OpenKruise's webhook would have written.
std::string sidecar_set_of(std::string_view image, std::string_view of_container = "",
                           std::string_view strategy = R"({"maxUnavailable":1})") {
  return cat(
      R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":{"name":"logs",)",
      R"("annotations":{"kruise.io/sidecarset-hash":"hash of )", image,
      R"(","kruise.io/sidecarset-hash-without-image":"w"}},"spec":{"selector":{"matchLabels":)",
      R"({"app":"web"}},"containers":[{"name":"log","image":")", image, "\"", of_container,
      R"(}],"updateStrategy":)", strategy, "}}");
}

/// The part of a server, a scheduler and a kubelet that rollouts see.
class Cluster {
 public:
  void put(const std::string& manifest) {
    const auto read = workloads::read_manifests(manifest, "web.json", {});
    ASSERT_EQ(read.errors.size(), 0u) << read.errors[0].message;
    set_ = read.objects.at(0);
    set_.uid = "uid-of-web";
    set_.generation = ++generation_;
  }

  void put_sidecars(const std::string& manifest) {
    const auto read = workloads::read_manifests(manifest, "logs.json", {});
    ASSERT_EQ(read.errors.size(), 0u) << read.errors[0].message;
    sidecars_ = read.objects.at(0);
    sidecars_->uid = "uid-of-logs";
    sidecars_->generation = ++generation_;
    owners_.put(*sidecars_);
  }

  /// One decision and its writes; at most so many. Whether there was anything to write.
  bool decide(int most = 1'000) {
    workloads::Fleet fleet("cluster");
    fleet.gates = gates;
    fleet.is_cluster = true;
    const std::vector<ControllerRevision> known_revisions = learn(fleet);
    if (sidecars_)
      keep_sidecars(fleet);
    const workloads::Wanted wanted = workloads::want(fleet, owner, now);
    fleet.accept(wanted);
    left_ = most;
    has_written_ = false;
    std::set<Name> kept;
    for (const auto& resource : wanted.resources) {
      kept.insert(resource->key.name);
      if (resource->key.kind == "revision")
        keep_revision(read<ControllerRevision>(resource->attributes));
      if (resource->key.kind == "pod")
        keep_pod(*resource, known_revisions);
    }
    for (auto it = pods.begin(); it != pods.end();)
      it = !kept.contains(cat("|default/", it->first)) && may_write() ? pods.erase(it) : ++it;
    if (left_ > 0)
      status =
          kubernetes::merge_patch(Value::dict({{"status", status}}),
                                  Value::dict({{"status", status_for(fleet, owner, status, now)}}))
              .at("status");
    if (sidecars_)
      sidecar_status = status_for(fleet, sidecars_->owner(), {}, now);
    return has_written_;
  }

  /// Kubelets run what the pods ask for, and compute whether they are ready.
  void run() {
    now += 1s;
    for (auto& [name, pod] : pods)
      pod = run_pod(pod);
  }

  /// Until nothing is written any more, and once more.
  void settle(int most = 1'000) {
    int rounds = 0;
    for (int quiet = 0; quiet < 3 && rounds < 200; ++rounds) {
      quiet = decide(most) ? 0 : quiet + 1;
      run();
      least_ready = std::min(least_ready, ready());
    }
    EXPECT_LT(rounds, 200) << write_json(status);
  }

  int ready() const {
    return static_cast<int>(std::ranges::count_if(
        pods, [](const auto& each) { return condition(each.second, "Ready") == "True"; }));
  }

  static std::string condition(const Value& pod, std::string_view type) {
    for (const Value& each : items_of(pod.at("status").at("conditions")))
      if (each.text_at("type") == type)
        return std::string(each.text_at("status"));
    return {};
  }

  std::vector<std::string> images() const {
    std::vector<std::string> found;
    for (const auto& [name, pod] : pods)
      found.emplace_back(pod.at("spec").at("containers").items()[0].text_at("image"));
    return found;
  }

  /// How many pods have a container with an image.
  int count_of(std::string_view container, std::string_view image) const {
    return static_cast<int>(std::ranges::count_if(pods, [&](const auto& each) {
      return std::ranges::any_of(
          items_of(each.second.at("spec").at("containers")), [&](const Value& one) {
            return one.text_at("name") == container && one.text_at("image") == image;
          });
    }));
  }

  workloads::Gates gates;
  Time now = Time(Duration(1'800'000'000'000'000'000));
  std::map<std::string, Value> pods, revisions, sidecar_revisions;
  Value status = Value::dict({}), sidecar_status;
  int least_ready = 1'000;
  bool can_resize = true;  ///< nodes have room
  int writes = 0;          ///< on pods
  std::vector<std::string> subresources;

 private:
  std::vector<ControllerRevision> learn(workloads::Fleet& fleet) {
    std::vector<ControllerRevision> known;
    for (const auto& [name, object] : revisions) {
      const auto revision = read_revision(object, set_.uid);
      EXPECT_TRUE(revision) << revision.error().message;
      known.push_back(*revision);
    }
    take_current(known, status);
    if (sidecars_)
      learn_sidecars(fleet);
    fleet.put(set_);
    for (const ControllerRevision& revision : known) {
      const RecordPointer record = record_of(revision, "cluster");
      fleet.know(record->applied->key, record);
    }
    records_.clear();
    const PodContext context{"cluster", "kubernetes", fleet.gates, &known, set_.uid};
    for (const auto& [name, object] : pods) {
      const auto pod = read_pod(object, context);
      EXPECT_TRUE(pod) << pod.error().message;
      if (pod->marks)
        fleet.put(*pod->marks);
      fleet.know(pod->key, pod->record);
      fleet.see(pod->key, pod->state);
      records_[pod->key.name] = pod->record;
    }
    return known;
  }

  void learn_sidecars(workloads::Fleet& fleet) {
    fleet.put(*sidecars_);
    for (const auto& [name, object] : sidecar_revisions) {
      const auto revision = read_revision(object, sidecars_->uid);
      ASSERT_TRUE(revision) << revision.error().message;
      const RecordPointer record = record_of(*revision, "cluster");
      fleet.know(record->applied->key, record);
      owners_.put(*revision);
    }
  }

  void keep_sidecars(workloads::Fleet& fleet) {
    const workloads::Wanted wanted = workloads::want(fleet, sidecars_->owner(), now);
    fleet.accept(wanted);
    for (const auto& resource : wanted.resources)
      if (resource->key.kind == "revision") {
        const auto revision = read<ControllerRevision>(resource->attributes);
        keep_revision_in(sidecar_revisions, revision, *sidecars_);
        owners_.put(revision);
      }
  }

  bool may_write() {
    if (left_ == 0)
      return false;
    --left_;
    return has_written_ = true;
  }

  void keep_revision(const ControllerRevision& revision) {
    keep_revision_in(revisions, revision, set_);
  }

  static void keep_revision_in(std::map<std::string, Value>& kept,
                               const ControllerRevision& revision, const workloads::Object& of) {
    Value& object = kept[revision.name.str()];
    if (object.is_null() || read_revision(object)->state != revision.state ||
        read_revision(object)->number != revision.number) {
      const Value before = object;
      object = before.is_null()
                   ? revision_object(revision, of)
                   : kubernetes::merge_patch(before, revision_change(revision, meta_of(before)));
    }
  }

  void keep_pod(const Resource& wanted, const std::vector<ControllerRevision>& known) {
    const std::string name = read_one<&Pod::name>(wanted.attributes).get().str();
    const auto record = records_.find(wanted.key.name);
    if (record == records_.end()) {
      if (may_write())
        pods[name] =
            stored(pod_object(wanted.attributes, {.owner = &set_, .hashes = hashes_for(wanted)}));
      return;
    }
    if (!record->second->applied) {
      if (may_write())
        patch(name, gates_write(wanted.attributes, pods[name], now));
      return;
    }
    for (const PodWrite& write : pod_writes(record->second->applied->attributes, wanted.attributes,
                                            pods[name], known, now, hashes_for(wanted)))
      if (may_write())
        patch(name, write);
  }

  HashesBySidecarSet hashes_for(const Resource& pod) const {
    return owners_.hashes_for(read_one<&Pod::sidecars>(pod.attributes).value());
  }

  /// A limit is a request as well.
  static Value with_requests(const Value& object) {
    std::vector<Value> containers;
    for (const Value& container : object.at("spec").at("containers").items()) {
      const Value& resources = container.at("resources");
      containers.push_back(
          resources.at("limits").is_dict()
              ? with_path(container, {"resources", "requests"},
                          kubernetes::merge_patch(resources.at("limits"),
                                                  resources.at("requests").is_dict()
                                                      ? resources.at("requests")
                                                      : Value::dict({})))
              : container);
    }
    return with_path(object, {"spec", "containers"}, Value::list(std::move(containers)));
  }

  static std::vector<Name> containers_of(const Value& pod) {
    std::vector<Name> names;
    for (const Value& container : pod.at("spec").at("containers").items())
      names.emplace_back(container.text_at("name"));
    return names;
  }

  Value stored(const Value& object) {
    const Value made =
        with_path(with_requests(object), {"metadata", "uid"}, cat("uid-", ++version_));
    return with_path(with_path(made, {"metadata", "resourceVersion"}, cat(version_)),
                     {"metadata", "creationTimestamp"}, write_moment(now));
  }

  void patch(const std::string& name, const PodWrite& write) {
    Value& pod = pods[name];
    const Value& metadata = write.patch.at("metadata");
    ASSERT_EQ(metadata.at("uid"), at_path(pod, {"metadata", "uid"}));
    if (metadata.find("resourceVersion") != nullptr) {
      ASSERT_EQ(metadata.at("resourceVersion"), at_path(pod, {"metadata", "resourceVersion"}));
    }
    ASSERT_EQ(write.subresource == "status", write.patch.find("status") != nullptr);
    const std::string_view quality = quality_of_service(pod.at("spec"));
    const std::vector<Name> order = containers_of(pod);
    pod = with_path(strategic_patch(pod, write.patch), {"metadata", "resourceVersion"},
                    cat(++version_));
    EXPECT_EQ(quality_of_service(pod.at("spec")), quality) << "a server refuses another one";
    EXPECT_EQ(containers_of(pod), order) << "as above";
    subresources.emplace_back(write.subresource);
    ++writes;
  }

  /// What a container asks for, or what it has while its node cannot give it that.
  Value given_to(const Value& pod, const Value& container) const {
    for (const Value& each : items_of(pod.at("status").at("containerStatuses")))
      if (!can_resize && each.at("name") == container.at("name"))
        return each.at("resources");
    const Value& wanted = container.at("resources");
    return wanted.is_dict() ? wanted : Value::dict({});
  }

  Value run_pod(const Value& pod) {
    std::vector<Value> statuses;
    for (const Value& container : items_of(pod.at("spec").at("containers"))) {
      const std::string image(container.text_at("image"));
      statuses.push_back(Value::dict({{"name", container.at("name")},
                                      {"image", image},
                                      {"imageID", cat("sha256:", image)},
                                      {"containerID", cat("c://", image)},
                                      {"ready", true},
                                      {"resources", given_to(pod, container)},
                                      {"state", Value::dict({{"running", Value::dict({})}})}}));
    }
    bool is_ready = true;
    for (const Value& gate : items_of(pod.at("spec").at("readinessGates")))
      is_ready &= condition(pod, gate.text_at("conditionType")) == "True";
    const Value conditions =
        Value::list({Value::dict({{"type", "Ready"},
                                  {"status", is_ready ? "True" : "False"},
                                  {"lastTransitionTime", write_moment(now)}})});
    return strategic_patch(
        pod, Value::dict(
                 {{"spec", Value::dict({{"nodeName", "n1"}})},
                  {"status", Value::dict({{"phase", "Running"},
                                          {"startTime", pod.at("metadata").at("creationTimestamp")},
                                          {"containerStatuses", Value::list(std::move(statuses))},
                                          {"conditions", conditions}})}}));
  }

  workloads::Object set_;
  std::optional<workloads::Object> sidecars_;
  Owners owners_;  ///< the SidecarSet
  int64_t generation_ = 0;
  int version_ = 0;
  int left_ = 0;
  bool has_written_ = false;
  std::map<Name, RecordPointer> records_;
};

TEST(ClusterRollout, PodsAreMadeOnceAndOpenTheirGates) {
  Cluster cluster;
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  ASSERT_EQ(cluster.pods.size(), 3u);
  EXPECT_EQ(cluster.ready(), 3);
  EXPECT_EQ(cluster.writes, 3) << "one for the gates of each";
  ASSERT_EQ(cluster.revisions.size(), 1u);
  const Value& pod = cluster.pods.begin()->second;
  const Value& labels = at_path(pod, {"metadata", "labels"});
  EXPECT_EQ(labels.text_at("controller-revision-hash"), cluster.revisions.begin()->first);
  EXPECT_EQ(cat("web-", labels.text_at("apps.kruise.io/cloneset-instance-id")),
            cluster.pods.begin()->first);
  EXPECT_EQ(at_path(pod, {"metadata", "ownerReferences"}).items()[0].text_at("uid"), "uid-of-web");
  EXPECT_EQ(pod.at("spec").at("readinessGates").items()[0].text_at("conditionType"),
            "InPlaceUpdateReady");
  EXPECT_EQ(cluster.status.integer_at("readyReplicas"), 3);
  EXPECT_EQ(cluster.status.text_at("currentRevision"), cluster.revisions.begin()->first);
}

/// A pod gets no gate later, and without it what was written could not be read again.
TEST(ClusterRollout, AHookThatMarksPodsNotReadyHasItsGateFromTheBeginning) {
  Cluster cluster;
  cluster.put(manifest_of(
      2, "web:1", "",
      R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"true"},"markPodNotReady":true}})"));
  cluster.settle();
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_FALSE(cluster.decide());
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(items_of(pod.at("spec").at("readinessGates")).size(), 2u);
    EXPECT_EQ(Cluster::condition(pod, "KruisePodReady"), "True");
  }
}

TEST(ClusterRollout, AnUpdateInPlaceIsThreeWrites) {
  Cluster cluster;
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  const auto before = cluster.pods;
  cluster.writes = 0;
  cluster.subresources.clear();
  cluster.least_ready = 1'000;
  cluster.put(manifest_of(3, "web:2", ""));
  cluster.settle();
  EXPECT_EQ(cluster.images(), (std::vector<std::string>(3, "web:2")));
  EXPECT_EQ(cluster.writes, 9);
  const std::vector<std::string> once{"status", "", "status"};
  EXPECT_EQ(std::vector(cluster.subresources.begin(), cluster.subresources.begin() + 3), once);
  EXPECT_EQ(cluster.least_ready, 2);
  EXPECT_EQ(cluster.ready(), 3);
  for (const auto& [name, pod] : before)
    EXPECT_EQ(at_path(cluster.pods[name], {"metadata", "uid"}), at_path(pod, {"metadata", "uid"}));
  EXPECT_EQ(cluster.status.integer_at("updatedReadyReplicas"), 3);
  EXPECT_EQ(cluster.status.at("currentRevision"), cluster.status.at("updateRevision"));
}

/// The controller dies after each write, wherever that is.
TEST(ClusterRollout, EachWriteMayBeTheLastOne) {
  for (const int grace : {0, 5}) {
    Cluster cluster;
    const std::string how = cat(R"(,"inPlaceUpdateStrategy":{"gracePeriodSeconds":)", grace, "}");
    cluster.put(manifest_of(3, "web:1", how));
    cluster.settle(1);
    ASSERT_EQ(cluster.ready(), 3);
    const auto before = cluster.pods;
    cluster.least_ready = 1'000;
    cluster.put(manifest_of(3, "web:2", how));
    for (int round = 0; round < 60; ++round) {
      cluster.decide(1);
      cluster.run();
      cluster.least_ready = std::min(cluster.least_ready, cluster.ready());
    }
    EXPECT_EQ(cluster.images(), (std::vector<std::string>(3, "web:2"))) << grace;
    EXPECT_EQ(cluster.ready(), 3);
    EXPECT_GE(cluster.least_ready, 2);
    for (const auto& [name, pod] : before)
      EXPECT_EQ(at_path(cluster.pods[name], {"metadata", "uid"}),
                at_path(pod, {"metadata", "uid"}));
    EXPECT_FALSE(cluster.decide());
  }
}

TEST(ClusterRollout, APodDrainsBeforeItsImageChanges) {
  Cluster cluster;
  const std::string how = R"(,"inPlaceUpdateStrategy":{"gracePeriodSeconds":5})";
  cluster.put(manifest_of(1, "web:1", how));
  cluster.settle();
  const Value before = cluster.status.at("currentRevision");
  cluster.put(manifest_of(1, "web:2", how));
  ASSERT_TRUE(cluster.decide());
  const Time began = cluster.now;
  cluster.run();
  const Value pod = cluster.pods.begin()->second;
  EXPECT_EQ(cluster.images(), std::vector<std::string>{"web:1"});
  EXPECT_EQ(Cluster::condition(pod, "Ready"), "False");
  EXPECT_EQ(at_path(pod, {"metadata", "labels"}).text_at("lifecycle.apps.kruise.io/state"),
            "Updating");
  EXPECT_EQ(at_path(pod, {"metadata", "labels"}).at("controller-revision-hash"), before)
      << "an update that is only announced can still be taken back";
  while (cluster.images()[0] == "web:1" && cluster.now < began + 1min) {
    cluster.decide();
    cluster.run();
  }
  EXPECT_EQ(cluster.now, began + 6s) << "the run of the write is one more";
  cluster.settle();
  EXPECT_EQ(cluster.ready(), 1);
}

TEST(ClusterRollout, PartitionScaleAndDeletion) {
  Cluster cluster;
  cluster.put(manifest_of(4, "web:1", ""));
  cluster.settle();
  cluster.put(manifest_of(4, "web:2", R"(,"partition":3)"));
  cluster.settle();
  EXPECT_EQ(std::ranges::count(cluster.images(), "web:2"), 1);
  EXPECT_EQ(cluster.status.integer_at("updatedReplicas"), 1);
  EXPECT_EQ(cluster.status.integer_at("expectedUpdatedReplicas"), 1);
  EXPECT_NE(cluster.status.at("currentRevision"), cluster.status.at("updateRevision"));
  cluster.put(manifest_of(2, "web:2", R"(,"partition":1)"));
  cluster.settle();
  EXPECT_EQ(cluster.pods.size(), 2u);
  const std::string name = cluster.pods.begin()->first;
  Value& pod = cluster.pods.begin()->second;
  pod = with_path(pod, {"metadata", "labels", "apps.kruise.io/specified-delete"}, "true");
  cluster.settle();
  EXPECT_EQ(cluster.pods.size(), 2u);
  EXPECT_FALSE(cluster.pods.contains(name));
  EXPECT_EQ(cluster.ready(), 2);
}

TEST(ClusterRollout, WhatOthersWriteIsNoReasonToWrite) {
  Cluster cluster;
  cluster.put(manifest_of(2, "web:1", ""));
  cluster.settle();
  cluster.writes = 0;
  Value& pod = cluster.pods.begin()->second;
  pod = with_path(pod, {"metadata", "labels", "team"}, "a");
  pod = with_path(pod, {"metadata", "annotations", "note"}, "b");
  pod = strategic_patch(pod, kubernetes::json(R"({"metadata":{"finalizers":["x.org/y"]},"spec":{
      "containers":[{"name":"c0","image":"mirror.org/web:1","resources":{}},
                    {"name":"mesh","image":"mesh:1"}]}})"));
  cluster.settle();
  EXPECT_EQ(cluster.writes, 0);
  EXPECT_EQ(cluster.pods.size(), 2u);
  cluster.put(manifest_of(2, "web:2", ""));
  cluster.settle();
  EXPECT_EQ(cluster.images(), (std::vector<std::string>{"web:2", "web:2"}));
  const Value& metadata = cluster.pods.begin()->second.at("metadata");
  EXPECT_EQ(metadata.at("labels").text_at("team"), "a");
  EXPECT_EQ(metadata.at("finalizers"), Value::list({"x.org/y"}));
  EXPECT_EQ(cluster.ready(), 2);
}

/// Whoever may edit a pod may pretend that it is being updated.
TEST(ClusterRollout, AStateThatNobodyCouldHaveWrittenDoesNoHarm) {
  for (const char* own : {R"({"since":1})", R"({"since":9223372036854775807,"grace":true})"}) {
    Cluster cluster;
    cluster.put(manifest_of(1, "web:1", ""));
    cluster.settle();
    Value& pod = cluster.pods.begin()->second;
    const std::string state = cat(R"({"revision":")", cluster.revisions.begin()->first,
                                  R"(","fettle":)", own, R"(,"nextContainerImages":{"c0":"x"}})");
    pod = with_path(pod, {"metadata", "annotations", annotation::update_state.view()}, state);
    pod = with_path(pod, {"metadata", "labels", "lifecycle.apps.kruise.io/state"}, "Updating");
    pod = strategic_patch(pod, kubernetes::json(R"({"spec":{"containers":[
        {"name":"c0","image":"other:1"}]}})"));
    cluster.settle();
    EXPECT_EQ(cluster.images(), std::vector<std::string>{"web:1"}) << own;
    EXPECT_EQ(cluster.ready(), 1) << own;
  }
}

/// OpenKruise closes the gate before it writes anything else, and may have died then.
TEST(ClusterRollout, AGateThatSomebodyClosedIsOpened) {
  Cluster cluster;
  cluster.put(manifest_of(1, "web:1", ""));
  cluster.settle();
  const auto change = [&](std::string_view patch) {
    Value& pod = cluster.pods.begin()->second;
    pod = strategic_patch(pod, kubernetes::json(patch));
    cluster.run();
    cluster.settle();
    return cluster.pods.begin()->second;
  };
  change(R"({"status":{"conditions":[{"type":"InPlaceUpdateReady","status":"False"}]}})");
  EXPECT_EQ(cluster.ready(), 1);
  const Value pod =
      change(R"({"metadata":{"labels":{"lifecycle.apps.kruise.io/state":"Updating"}}})");
  EXPECT_EQ(pod.at("metadata").at("labels").text_at("lifecycle.apps.kruise.io/state"), "Normal");
  EXPECT_EQ(cluster.ready(), 1);
}

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

TEST(ClusterRollout, AResizeDisturbsNobody) {
  const auto with_cpu = [](std::string_view cpu) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0",)",
            R"("image":"web:1","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})"));
  };
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
  const auto with_cpu = [](std::string_view cpu) {
    return manifest_with(
        cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0",)",
            R"("image":"web:1","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})"));
  };
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

std::set<std::string> uids_of(const Cluster& cluster) {
  std::set<std::string> uids;
  for (const auto& [name, pod] : cluster.pods)
    uids.emplace(pod.at("metadata").text_at("uid"));
  return uids;
}

/// In the patch, too: a server would put them into its order.
TEST(ClusterRollout, TwoContainersChangeAndKeepTheirOrder) {
  const auto manifest = [](int number) {
    const std::string text = manifest_of(2, cat("web:", number), "");
    return replace_all(replace_all(text, R"("side")", R"("a")"), "side:1", cat("side:", number));
  };
  Cluster cluster;
  cluster.put(manifest(1));
  cluster.settle();
  const std::set<std::string> before = uids_of(cluster);
  cluster.put(manifest(2));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("c0", "web:2"), 2);
  EXPECT_EQ(cluster.count_of("a", "side:2"), 2);
  EXPECT_EQ(uids_of(cluster), before);
}

TEST(ClusterSidecarRollout, NewPodsHaveThemAndAreKnownAgain) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(2, "web:1", ""));
  cluster.settle();
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_EQ(cluster.writes, 2) << "one for the gates of each";
  EXPECT_FALSE(cluster.decide());
  ASSERT_EQ(cluster.sidecar_revisions.size(), 1u);
  const auto& [revision, object] = *cluster.sidecar_revisions.begin();
  EXPECT_EQ(object.at("metadata").text_at("namespace"), "kruise-system");
  for (const auto& [name, pod] : cluster.pods) {
    const auto containers = items_of(pod.at("spec").at("containers"));
    ASSERT_EQ(containers.size(), 3u);
    EXPECT_EQ(containers[0].text_at("name"), "log");
    EXPECT_EQ(items_of(containers[0].at("env"))[0].text_at("name"), "IS_INJECTED");
    const Value& annotations = pod.at("metadata").at("annotations");
    EXPECT_EQ(annotations.text_at("kruise.io/sidecarset-injected-list"), "logs");
    const Value told = json_annotation(pod, annotation::sidecar_hash).at("logs");
    EXPECT_EQ(told.text_at("hash"), "hash of log:1");
    EXPECT_EQ(told.text_at("controllerRevision"), revision);
  }
  EXPECT_EQ(cluster.sidecar_status.integer_at("matchedPods"), 2);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedReadyPods"), 2);
}

TEST(ClusterSidecarRollout, AnImageChangesInOneWriteWithoutAGate) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  const std::set<std::string> before = uids_of(cluster);
  cluster.writes = 0;
  cluster.subresources.clear();
  cluster.put_sidecars(sidecar_set_of("log:2"));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 3);
  EXPECT_EQ(cluster.subresources, std::vector<std::string>(3));
  EXPECT_EQ(cluster.writes, 3);
  EXPECT_EQ(uids_of(cluster), before);
  EXPECT_EQ(cluster.images(), std::vector<std::string>(3, "log:2")) << "it stands first";
  EXPECT_FALSE(cluster.decide());
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedReadyPods"), 3);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(Cluster::condition(pod, "InPlaceUpdateReady"), "True");
    EXPECT_EQ(json_annotation(pod, annotation::sidecar_hash).at("logs").text_at("hash"),
              "hash of log:2");
    EXPECT_EQ(at_path(json_annotation(pod, annotation::sidecar_state),
                      {"logs", "lastContainerStatuses", "log", "imageID"}),
              Value("sha256:log:1"));
  }
}

/// What was seen still shows the container before, which is ready.
TEST(ClusterSidecarRollout, TheNextPodWaitsUntilTheNewContainerIsSeen) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  cluster.put_sidecars(sidecar_set_of("log:2"));
  for (int round = 0; round < 6; ++round)
    cluster.decide();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 1);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedPods"), 1);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedReadyPods"), 0);
  cluster.run();
  for (int round = 0; round < 6; ++round)
    cluster.decide();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 2);
}

TEST(ClusterSidecarRollout, EachWriteMayBeTheLastOne) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle(1);
  ASSERT_EQ(cluster.ready(), 3);
  const std::set<std::string> before = uids_of(cluster);
  cluster.least_ready = 1'000;
  cluster.put_sidecars(sidecar_set_of("log:2"));
  cluster.put(manifest_of(3, "web:2", ""));
  for (int round = 0; round < 80; ++round) {
    cluster.decide(1);
    cluster.run();
    cluster.least_ready = std::min(cluster.least_ready, cluster.ready());
  }
  EXPECT_EQ(cluster.count_of("log", "log:2"), 3);
  EXPECT_EQ(cluster.count_of("c0", "web:2"), 3);
  EXPECT_EQ(cluster.ready(), 3);
  EXPECT_GE(cluster.least_ready, 2);
  EXPECT_EQ(uids_of(cluster), before);
  EXPECT_FALSE(cluster.decide());
}

TEST(ClusterSidecarRollout, SomeKeepTheRevisionBefore) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(4, "web:1", ""));
  cluster.settle();
  cluster.put_sidecars(sidecar_set_of("log:2", "", R"({"maxUnavailable":1,"partition":3})"));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 1);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedPods"), 1);
  EXPECT_FALSE(cluster.decide());
  cluster.put_sidecars(sidecar_set_of("log:2"));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 4);
}

/// Its annotations are those of the sidecar, not of the pod.
TEST(ClusterSidecarRollout, AHotOneIsTwoContainersOfWhichOneWorks) {
  constexpr std::string_view hot =
      R"(,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"})";
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1", hot));
  cluster.put(manifest_of(2, "web:1", ""));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log-1", "log:1"), 2);
  EXPECT_EQ(cluster.count_of("log-2", "empty:1"), 2);
  EXPECT_FALSE(cluster.decide());
  const std::set<std::string> before = uids_of(cluster);
  cluster.put_sidecars(sidecar_set_of("log:2", hot));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log-1", "empty:1"), 2);
  EXPECT_EQ(cluster.count_of("log-2", "log:2"), 2);
  EXPECT_EQ(uids_of(cluster), before);
  for (const auto& [name, pod] : cluster.pods)
    EXPECT_EQ(at_path(pod, {"metadata", "annotations",
                            "kruise.io/sidecarset-working-hotupgrade-container"}),
              Value(R"({"log":"log-2"})"));
  EXPECT_FALSE(cluster.decide());
}

}  // namespace
}  // namespace fettle::cluster
