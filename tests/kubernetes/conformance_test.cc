/// What code may rely on, of a real API server and of that in the test process alike: both have to
/// pass. By default it is the one in the process; `$FETTLE_TEST_KUBECONFIG` names another one.

#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "base/wait.h"
#include "kubernetes/discovery.h"
#include "kubernetes/lease.h"
#include "kubernetes/reflector.h"
#include "tests/kubernetes/cluster.h"
#include "tests/kubernetes/patches.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

const ResourceType revisions{"apps", "v1", "controllerrevisions", "ControllerRevision"};
constexpr std::string_view cel_rule = "!has(self.replicas) || self.replicas <= 5000";

Value pod_named(std::string_view name, std::string_view image = "a:1") {
  return *read_json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                        R"(","labels":{"app":"x"}},"spec":{"containers":[{"name":"main","image":")",
                        image, R"("},{"name":"side","image":"b:1"}]}})"));
}

Value config_map(std::string_view name, std::string_view value, std::string_view label = "x") {
  return *read_json(cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name,
                        R"(","labels":{"app":")", label, R"("}},"data":{"a":")", value, R"("}})"));
}

std::string image_of(const Value& pod, size_t container) {
  return std::string(pod.at("spec").at("containers").items()[container].text_at("image"));
}

std::string version_of(const Value& object) {
  return std::string(object.at("metadata").text_at("resourceVersion"));
}

template <typename T>
std::string told(const ApiResult<T>& result) {
  return result ? "done" : std::string(to_string(result.error().reason));
}

/// What a watch tells, gathered.
class Told {
 public:
  WatchLines::Take take() {
    return [this](WatchEvent event) {
      const std::lock_guard lock(mutex_);
      const Value& about = event.object.at("metadata");
      const bool is_bookmark = event.type == WatchEvent::Type::bookmark;
      if (is_bookmark && !ends_initial_events(event))
        return;
      static constexpr std::array<const char*, 4> words{"added", "modified", "deleted", "synced"};
      told_.push_back(cat(words.at(static_cast<size_t>(event.type)), is_bookmark ? "" : " ",
                          is_bookmark ? "" : about.text_at("name")));
      last_version_ = about.text_at("resourceVersion");
      grown_.notify_all();
    };
  }
  Client::WatchDone done() {
    return [this](const ApiResult<void>& result) {
      const std::lock_guard lock(mutex_);
      ended_ = kubernetes::told(result);
      grown_.notify_all();
    };
  }
  std::string wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    grown_.wait_for(lock, 20s, [&] { return told_.size() >= count || !ended_.empty(); });
    std::string all;
    for (const std::string& each : told_)
      all += (all.empty() ? "" : ", ") + each;
    return all;
  }
  std::string wait_for_end() {
    std::unique_lock lock(mutex_);
    grown_.wait_for(lock, 20s, [&] { return !ended_.empty(); });
    return ended_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable grown_;
  std::vector<std::string> told_;
  std::string ended_, last_version_;
};

class Conformance : public testing::Test {
 protected:
  Conformance() {
    if (!cluster.is_real())
      cluster.own().with([](ApiServer& server) {
        server.know_rule(std::string(cel_rule),
                         [](const Value& self) { return self.integer_at("replicas") <= 5'000; });
      });
  }
  ~Conformance() override {
    // A real server keeps namespaces that nobody finalizes, so nothing is left to it in them.
    for (const std::string& name : pods_)
      std::ignore = client.remove(types::pods, cluster.name(name), {.grace = Duration(0)}, {});
  }
  ApiResult<Value> create_pod(const Value& pod) {
    pods_.emplace_back(pod.at("metadata").text_at("name"));
    return client.create(types::pods, {cluster.space(), ""}, pod, {}, {});
  }
  ApiResult<Value> create_map(const Value& map) {
    return client.create(config_maps, {cluster.space(), ""}, map, {}, {});
  }
  /// Defines a type whose objects have a status, a scale and a rule, and waits until it is served.
  ResourceType define(const std::string& plural) {
    const ResourceType type{"test.fettle.example", "v1alpha1", plural, "Thing"};
    const Value definition = *read_json(cat(
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")",
        plural,
        R"(.test.fettle.example"},"spec":{"group":"test.fettle.example","scope":"Namespaced","names":{"plural":")",
        plural, R"(","singular":")", plural.substr(0, plural.size() - 1),
        R"(","kind":"Thing","listKind":"ThingList"},"versions":[{"name":"v1alpha1","served":true,"storage":true,)",
        R"("subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},)",
        R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",)",
        R"("x-kubernetes-preserve-unknown-fields":true,"properties":{"replicas":{"type":"integer","minimum":0}},)",
        R"("x-kubernetes-validations":[{"rule":")", cel_rule,
        R"(","message":"replicas must be at most 5000"}]},)",
        R"("status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})"));
    EXPECT_TRUE(cluster.made("v1", "customresourcedefinitions", "CustomResourceDefinition", false,
                             write_json(definition), "apiextensions.k8s.io"));
    for (int i = 0; i < 500; ++i) {
      if (client.list(type, cluster.space(), {}, {}))
        return type;
      EXPECT_TRUE(pause_for(20ms, {}));
    }
    ADD_FAILURE() << "the type is never served";
    return type;
  }
  Value thing(std::string_view name, int replicas) const {
    return *read_json(
        cat(R"({"apiVersion":"test.fettle.example/v1alpha1","kind":"Thing","metadata":{"name":")",
            name, R"("},"spec":{"replicas":)", replicas, R"(,"unknown":{"a":1}}})"));
  }

  Cluster cluster;
  Client& client = cluster.client();

 private:
  std::vector<std::string> pods_;
};

TEST_F(Conformance, WhatIsCreatedCanBeReadAndNotCreatedTwice) {
  const auto made = create_pod(pod_named("a"));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->at("status").text_at("phase"), "Pending");
  EXPECT_FALSE(made->at("metadata").text_at("uid").empty());
  EXPECT_FALSE(made->at("metadata").text_at("creationTimestamp").empty());
  const auto read = client.get(types::pods, cluster.name("a"), {});
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, *made);
  const auto again = create_pod(pod_named("a"));
  EXPECT_EQ(told(again), "already exists");
  EXPECT_EQ(again.error().code, 409);
  EXPECT_EQ(again.error().details.text_at("name"), "a");
  EXPECT_EQ(told(client.get(types::pods, cluster.name("b"), {})), "not found");
  EXPECT_EQ(told(client.list({"", "v1", "gophers", "Gopher"}, "", {}, {})), "not found");
  Value nowhere = pod_named("c");
  EXPECT_EQ(told(client.create(types::pods, {cluster.space() + "-gone", ""}, nowhere, {}, {})),
            "not found");
  EXPECT_EQ(
      told(client.create(types::pods, cluster.name(""), with(nowhere, "kind", "Gopher"), {}, {})),
      "bad request");
}

TEST_F(Conformance, ANameIsMadeFromAPrefix) {
  Value pod = pod_named("x");
  pod = with(pod, "metadata", Value::dict({{"generateName", "web-"}}));
  const auto made = client.create(types::pods, cluster.name(""), pod, {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  const std::string name(made->at("metadata").text_at("name"));
  EXPECT_TRUE(name.starts_with("web-") && name.size() == 9) << name;
  EXPECT_TRUE(client.remove(types::pods, cluster.name(name), {.grace = Duration(0)}, {}));
}

TEST_F(Conformance, AnImageIsPatchedInPlaceByThreeTypesOfPatches) {
  ASSERT_TRUE(create_pod(pod_named("a")));
  const ObjectName name = cluster.name("a");
  const auto strategic = client.patch(
      types::pods, name, PatchType::strategic,
      *read_json(R"({"spec":{"containers":[{"name":"main","image":"a:2"}]}})"), {}, {});
  ASSERT_TRUE(strategic) << to_string(strategic.error());
  EXPECT_EQ(image_of(*strategic, 0), "a:2");
  EXPECT_EQ(image_of(*strategic, 1), "b:1");
  // Containers would get the order of the patch.
  EXPECT_EQ(told(client.patch(types::pods, name, PatchType::strategic, *read_json(R"({"spec":
      {"containers":[{"name":"side","image":"b:2"},{"name":"main","image":"a:3"}]}})"),
                              {}, {})),
            "invalid");
  const auto json = client.patch(types::pods, name, PatchType::json, *read_json(R"([
      {"op":"test","path":"/spec/containers/0/image","value":"a:2"},
      {"op":"replace","path":"/spec/containers/0/image","value":"a:3"}])"),
                                 {}, {});
  ASSERT_TRUE(json) << to_string(json.error());
  EXPECT_EQ(image_of(*json, 0), "a:3");
  EXPECT_EQ(told(client.patch(
                types::pods, name, PatchType::json,
                *read_json(R"([{"op":"test","path":"/spec/containers/0/image","value":"a:2"}])"),
                {}, {})),
            "invalid");
  const auto merge =
      client.patch(types::pods, name, PatchType::merge,
                   *read_json(R"({"metadata":{"labels":{"app":null,"b":"c"}}})"), {}, {});
  ASSERT_TRUE(merge) << to_string(merge.error());
  EXPECT_EQ(write_json(merge->at("metadata").at("labels")), R"({"b":"c"})");
  EXPECT_EQ(merge->at("metadata").text_at("uid"), strategic->at("metadata").text_at("uid"));
}

TEST_F(Conformance, WhatMayNotChangeIsInvalid) {
  ASSERT_TRUE(create_pod(pod_named("a")));
  const auto refused = client.patch(types::pods, cluster.name("a"), PatchType::merge,
                                    *read_json(R"({"spec":{"hostname":"other"}})"), {}, {});
  EXPECT_EQ(told(refused), "invalid");
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_GE(items_of(refused.error().details.at("causes")).size(), 1u);
}

TEST_F(Conformance, AVersionThatIsNotTheLastIsAConflict) {
  const auto made = create_map(config_map("a", "1"));
  ASSERT_TRUE(made);
  const ObjectName name = cluster.name("a");
  const auto next =
      client.replace(config_maps, name, with(*made, "data", Value::dict({{"a", "2"}})), {}, {});
  ASSERT_TRUE(next) << to_string(next.error());
  EXPECT_NE(version_of(*next), version_of(*made));
  EXPECT_EQ(told(client.replace(config_maps, name, *made, {}, {})), "conflict");
  const Value stale =
      Value::dict({{"metadata", Value::dict({{"resourceVersion", version_of(*made)}})},
                   {"data", Value::dict({{"a", "3"}})}});
  EXPECT_EQ(told(client.patch(config_maps, name, PatchType::merge, stale, {}, {})), "conflict");
  const auto same = client.patch(config_maps, name, PatchType::merge,
                                 *read_json(R"({"data":{"a":"2"}})"), {}, {});
  ASSERT_TRUE(same);
  EXPECT_EQ(version_of(*same), version_of(*next)) << "what changes nothing makes no version";
}

TEST_F(Conformance, ADryRunChangesNothing) {
  ASSERT_TRUE(create_map(config_map("a", "1")));
  const auto tried = client.patch(config_maps, cluster.name("a"), PatchType::merge,
                                  *read_json(R"({"data":{"a":"2"}})"), {.is_dry_run = true}, {});
  ASSERT_TRUE(tried) << to_string(tried.error());
  EXPECT_EQ(tried->at("data").text_at("a"), "2");
  EXPECT_EQ(client.get(config_maps, cluster.name("a"), {})->at("data").text_at("a"), "1");
  ASSERT_TRUE(
      client.create(config_maps, cluster.name(""), config_map("b", "1"), {.is_dry_run = true}, {}));
  EXPECT_EQ(told(client.get(config_maps, cluster.name("b"), {})), "not found");
}

TEST_F(Conformance, TheStatusOfAPodTakesLabelsAndAnnotationsAlong) {
  const auto made = create_pod(pod_named("a"));
  ASSERT_TRUE(made);
  const auto patched =
      client.patch(types::pods, cluster.name("a"), PatchType::strategic, *read_json(R"({
      "metadata":{"labels":{"l":"1"},"annotations":{"n":"2"}},
      "status":{"conditions":[{"type":"InPlaceUpdateReady","status":"False"}]},
      "spec":{"containers":[{"name":"main","image":"a:9"}]}})"),
                   {.subresource = "status"}, {});
  ASSERT_TRUE(patched) << to_string(patched.error());
  EXPECT_EQ(patched->at("metadata").at("labels").text_at("l"), "1");
  EXPECT_EQ(patched->at("metadata").at("annotations").text_at("n"), "2");
  EXPECT_EQ(image_of(*patched, 0), "a:1") << "the spec is not changed there";
  bool has_condition = false;
  for (const Value& each : items_of(patched->at("status").at("conditions")))
    has_condition = has_condition || each.text_at("type") == "InPlaceUpdateReady";
  EXPECT_TRUE(has_condition);
}

TEST_F(Conformance, ApplyingOwnsFieldsAndMeetsOtherOwners) {
  const ObjectName name = cluster.name("a");
  const WriteOptions one{.field_manager = "one"}, two{.field_manager = "two"};
  const auto document = [](std::string_view data) {
    return *read_json(
        cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)", data, "}"));
  };
  const auto made =
      client.patch(config_maps, name, PatchType::apply, document(R"({"a":"1","b":"1"})"), one, {});
  ASSERT_TRUE(made) << to_string(made.error());
  const auto refused =
      client.patch(config_maps, name, PatchType::apply, document(R"({"a":"2"})"), two, {});
  EXPECT_EQ(told(refused), "conflict");
  EXPECT_EQ(refused.error().details.at("causes").items()[0].text_at("reason"),
            "FieldManagerConflict");
  EXPECT_EQ(refused.error().details.at("causes").items()[0].text_at("field"), ".data.a");
  WriteOptions forced = two;
  forced.is_forced = true;
  const auto taken = client.patch(config_maps, name, PatchType::apply,
                                  document(R"({"a":"2","c":"2"})"), forced, {});
  ASSERT_TRUE(taken) << to_string(taken.error());
  EXPECT_EQ(write_json(taken->at("data")), R"({"a":"2","b":"1","c":"2"})");
  // Who applies less gives up what only they own.
  const auto less =
      client.patch(config_maps, name, PatchType::apply, document(R"({"c":"2"})"), two, {});
  ASSERT_TRUE(less) << to_string(less.error());
  EXPECT_EQ(write_json(less->at("data")), R"({"b":"1","c":"2"})");
  std::set<std::string> managers;
  for (const Value& each : items_of(less->at("metadata").at("managedFields")))
    managers.insert(std::string(each.text_at("manager")));
  EXPECT_EQ(managers, (std::set<std::string>{"one", "two"}));
}

TEST_F(Conformance, AListIsReadInPagesOfOneVersion) {
  for (const char* name : {"a", "b", "c", "d", "e"})
    ASSERT_TRUE(create_map(config_map(name, "1", "pages")));
  ListOptions options{.label_selector = "app=pages", .limit = 2};
  std::vector<std::string> names;
  std::set<std::string> versions;
  for (int page = 0; page < 9; ++page) {
    const auto got = client.list(config_maps, cluster.space(), options, {});
    ASSERT_TRUE(got) << to_string(got.error());
    for (const Value& item : got->items)
      names.emplace_back(item.at("metadata").text_at("name"));
    versions.insert(got->resource_version);
    options.rest = got->rest;
    if (page == 0) {
      ASSERT_TRUE(create_map(config_map("bb", "1", "pages")));
    }
    if (got->rest.empty())
      break;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(versions.size(), 1u);
}

TEST_F(Conformance, SelectorsSelect) {
  ASSERT_TRUE(create_map(config_map("a", "1", "x")));
  ASSERT_TRUE(create_map(config_map("b", "1", "y")));
  const auto names = [&](const ListOptions& options) {
    const auto got = client.list(config_maps, cluster.space(), options, {});
    std::string all = got ? "" : told(got);
    for (const Value& item : got ? got->items : std::vector<Value>())
      if (const std::string_view name = item.at("metadata").text_at("name"); name.size() == 1)
        all += name;
    return all;
  };
  EXPECT_EQ(names({.label_selector = "app=x"}), "a");
  EXPECT_EQ(names({.label_selector = "app in (x, y)"}), "ab");
  EXPECT_EQ(names({.label_selector = "app notin (x),app"}), "b");
  EXPECT_EQ(names({.label_selector = "app,app!=x"}), "b");
  EXPECT_EQ(names({.label_selector = "nothing"}), "");
  EXPECT_EQ(names({.field_selector = "metadata.name=b"}), "b");
  EXPECT_EQ(names({.field_selector = "data.a=1"}), "bad request");
}

TEST_F(Conformance, AWatchTellsInOrder) {
  const auto first = create_map(config_map("a", "1", "seen"));
  ASSERT_TRUE(first);
  Told told;
  std::stop_source stop;
  client.watch(config_maps, cluster.space(),
               {.label_selector = "app=seen", .resource_version = version_of(*first)}, told.take(),
               stop.get_token(), told.done());
  ASSERT_TRUE(create_map(config_map("b", "1", "seen")));
  ASSERT_TRUE(create_map(config_map("unseen", "1")));
  const auto relabel = [&](const char* name, const char* label) {
    return client.patch(config_maps, cluster.name(name), PatchType::merge,
                        *read_json(cat(R"({"metadata":{"labels":{"app":")", label, R"("}}})")), {},
                        {});
  };
  ASSERT_TRUE(client.patch(config_maps, cluster.name("a"), PatchType::merge,
                           *read_json(R"({"data":{"a":"2"}})"), {}, {}));
  ASSERT_TRUE(relabel("a", "other"));
  ASSERT_TRUE(relabel("unseen", "seen"));
  ASSERT_TRUE(client.remove(config_maps, cluster.name("b"), {}, {}));
  EXPECT_EQ(told.wait_for(5), "added b, modified a, deleted a, added unseen, deleted b");
  stop.request_stop();
  EXPECT_EQ(told.wait_for_end(), "cancelled");
}

TEST_F(Conformance, AWatchMayBeginWithAllThatIsThere) {
  ASSERT_TRUE(create_map(config_map("a", "1", "seen")));
  ASSERT_TRUE(create_map(config_map("b", "1", "seen")));
  Told told;
  std::stop_source stop;
  client.watch(config_maps, cluster.space(),
               {.label_selector = "app=seen", .sends_initial_events = true}, told.take(),
               stop.get_token(), told.done());
  const std::string first = told.wait_for(3);
  // Servers 1.33 have this switched off: a reflector lists by pages there.
  if (cluster.is_real() && first.empty()) {
    EXPECT_EQ(told.wait_for_end(), "invalid");
    return;
  }
  EXPECT_EQ(first, "added a, added b, synced");
  ASSERT_TRUE(create_map(config_map("c", "1", "seen")));
  EXPECT_EQ(told.wait_for(4), "added a, added b, synced, added c");
  stop.request_stop();
  EXPECT_EQ(told.wait_for_end(), "cancelled");
}

TEST_F(Conformance, AWatchEndsAfterItsTime) {
  Told told;
  client.watch(config_maps, cluster.space(), {.limit = 1s}, told.take(), {}, told.done());
  EXPECT_EQ(told.wait_for_end(), "done");
}

TEST_F(Conformance, AVersionBeforeAllIsGone) {
  // A real server remembers until it is restarted or its store compacted: not ours to do.
  if (cluster.is_real())
    return;
  cluster.own().with([](ApiServer& server) { server.compact(); });
  Told told;
  client.watch(config_maps, cluster.space(), {.resource_version = "1"}, told.take(), {},
               told.done());
  EXPECT_EQ(told.wait_for_end(), "expired");
}

TEST_F(Conformance, AFinalizerKeepsAnObjectUntilItGoes) {
  Value map = config_map("a", "1");
  map = with_path(map, {"metadata", "finalizers"}, Value::list({"fettle.example/wait"}));
  ASSERT_TRUE(create_map(map));
  const ObjectName name = cluster.name("a");
  const auto removed = client.remove(config_maps, name, {}, {});
  ASSERT_TRUE(removed) << to_string(removed.error());
  const auto leaving = client.get(config_maps, name, {});
  ASSERT_TRUE(leaving);
  EXPECT_FALSE(leaving->at("metadata").text_at("deletionTimestamp").empty());
  ASSERT_TRUE(client.patch(config_maps, name, PatchType::merge,
                           *read_json(R"({"metadata":{"finalizers":null}})"), {}, {}));
  EXPECT_EQ(told(client.get(config_maps, name, {})), "not found");
}

TEST_F(Conformance, ARemovalHasPreconditions) {
  const auto made = create_map(config_map("a", "1"));
  ASSERT_TRUE(made);
  const ObjectName name = cluster.name("a");
  const std::string uid(made->at("metadata").text_at("uid"));
  EXPECT_EQ(told(client.remove(config_maps, name, {.uid = "another"}, {})), "conflict");
  EXPECT_EQ(told(client.remove(config_maps, name, {.uid = uid, .resource_version = "1"}, {})),
            "conflict");
  EXPECT_EQ(told(client.remove(config_maps, name, {.is_dry_run = true}, {})), "done");
  EXPECT_EQ(told(client.remove(config_maps, name,
                               {.uid = uid, .resource_version = version_of(*made)}, {})),
            "done");
  EXPECT_EQ(told(client.remove(config_maps, name, {}, {})), "not found");
}

TEST_F(Conformance, OrphaningAndForegroundAreFinalizers) {
  for (const auto& [propagation, finalizer] :
       {std::pair(Propagation::foreground, "foregroundDeletion"),
        std::pair(Propagation::orphan, "orphan")}) {
    ASSERT_TRUE(create_map(config_map(lower_case(finalizer), "1")));
    const ObjectName name = cluster.name(lower_case(finalizer));
    ASSERT_TRUE(client.remove(config_maps, name, {.propagation = propagation}, {}));
    const auto leaving = client.get(config_maps, name, {});
    if (leaving) {  // a garbage collector may have been faster
      EXPECT_EQ(write_json(leaving->at("metadata").at("finalizers")), cat("[\"", finalizer, "\"]"));
      std::ignore = client.patch(config_maps, name, PatchType::merge,
                                 *read_json(R"({"metadata":{"finalizers":null}})"), {}, {});
    }
    EXPECT_EQ(told(client.get(config_maps, name, {})), "not found");
  }
}

TEST_F(Conformance, APodOnANodeLeavesWhenTheNodeSaysSo) {
  ASSERT_TRUE(create_pod(pod_named("a")));
  const ObjectName name = cluster.name("a");
  const Value target = *read_json(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},
      "target":{"apiVersion":"v1","kind":"Node","name":"no-such-node"}})");
  const WriteOptions binding{.subresource = "binding"};
  const auto bound = client.create(types::pods, name, target, binding, {});
  ASSERT_TRUE(bound) << to_string(bound.error());
  EXPECT_EQ(client.get(types::pods, name, {})->at("spec").text_at("nodeName"), "no-such-node");
  EXPECT_EQ(told(client.create(types::pods, name, target, binding, {})), "conflict");
  const auto on_node = client.list(types::pods, cluster.space(),
                                   {.field_selector = "spec.nodeName=no-such-node"}, {});
  ASSERT_TRUE(on_node);
  EXPECT_EQ(on_node->items.size(), 1u);
  ASSERT_TRUE(client.remove(types::pods, name, {.grace = 30s}, {}));
  const auto leaving = client.get(types::pods, name, {});
  ASSERT_TRUE(leaving) << "the node has not ended it";
  EXPECT_FALSE(leaving->at("metadata").text_at("deletionTimestamp").empty());
  ASSERT_TRUE(client.remove(types::pods, name, {.grace = Duration(0)}, {}));
  EXPECT_EQ(told(client.get(types::pods, name, {})), "not found");
}

TEST_F(Conformance, APodIsEvicted) {
  ASSERT_TRUE(create_pod(pod_named("a")));
  const auto evicted = client.create(
      types::pods, cluster.name("a"),
      *read_json(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}})"),
      {.subresource = "eviction"}, {});
  ASSERT_TRUE(evicted) << to_string(evicted.error());
  EXPECT_EQ(told(client.get(types::pods, cluster.name("a"), {})), "not found");
}

TEST_F(Conformance, ATypeIsDefined) {
  const ResourceType type = define("shapes");
  const auto made = client.create(type, cluster.name(""), thing("a", 2), {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(write_json(made->at("spec").at("unknown")), R"({"a":1})");
  EXPECT_EQ(made->at("metadata").integer_at("generation"), 1);
  const ObjectName name = cluster.name("a");
  // A rule of one object, a type and a bound.
  EXPECT_EQ(told(client.create(type, cluster.name(""), thing("b", 5'001), {}, {})), "invalid");
  EXPECT_EQ(told(client.create(type, cluster.name(""), thing("b", -1), {}, {})), "invalid");
  const auto refused = client.patch(type, name, PatchType::merge,
                                    *read_json(R"({"spec":{"replicas":9999}})"), {}, {});
  EXPECT_EQ(told(refused), "invalid");
  EXPECT_NE(refused.error().message.find("replicas must be at most 5000"), std::string::npos);
  // The status changes neither spec nor generation, the spec not the status.
  const Value both = *read_json(R"({"spec":{"replicas":7},"status":{"replicas":1}})");
  const auto status =
      client.patch(type, name, PatchType::merge, both, {.subresource = "status"}, {});
  ASSERT_TRUE(status) << to_string(status.error());
  EXPECT_EQ(status->at("spec").integer_at("replicas"), 2);
  EXPECT_EQ(status->at("status").integer_at("replicas"), 1);
  EXPECT_EQ(status->at("metadata").integer_at("generation"), 1);
  const auto spec =
      client.patch(type, name, PatchType::merge,
                   *read_json(R"({"spec":{"replicas":3},"status":{"replicas":9}})"), {}, {});
  ASSERT_TRUE(spec) << to_string(spec.error());
  EXPECT_EQ(spec->at("status").integer_at("replicas"), 1);
  EXPECT_EQ(spec->at("metadata").integer_at("generation"), 2);
  EXPECT_EQ(told(client.patch(type, name, PatchType::strategic, both, {}, {})),
            "unsupported media type");
}

TEST_F(Conformance, AScaleIsReadAndWritten) {
  const ResourceType type = define("scales");
  ASSERT_TRUE(client.create(type, cluster.name(""), thing("a", 2), {}, {}));
  const ObjectName name = cluster.name("a");
  const auto scale = client.get(type, name, {}, "scale");
  ASSERT_TRUE(scale) << to_string(scale.error());
  EXPECT_EQ(scale->text_at("kind"), "Scale");
  EXPECT_EQ(scale->at("spec").integer_at("replicas"), 2);
  const auto scaled =
      client.patch(type, name, PatchType::merge, *read_json(R"({"spec":{"replicas":5}})"),
                   {.subresource = "scale"}, {});
  ASSERT_TRUE(scaled) << to_string(scaled.error());
  const auto after = client.get(type, name, {});
  EXPECT_EQ(after->at("spec").integer_at("replicas"), 5);
  EXPECT_EQ(after->at("metadata").integer_at("generation"), 2);
}

TEST_F(Conformance, ADefinedTypeIsApplied) {
  const ResourceType type = define("applieds");
  const ObjectName name = cluster.name("a");
  const WriteOptions one{.field_manager = "one"};
  const auto made = client.patch(type, name, PatchType::apply, thing("a", 2), one, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->at("spec").integer_at("replicas"), 2);
  const auto again = client.patch(type, name, PatchType::apply, thing("a", 2), one, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(version_of(*again), version_of(*made)) << "what is applied twice is applied once";
  EXPECT_EQ(
      told(client.patch(type, name, PatchType::apply, thing("a", 3), {.field_manager = "two"}, {})),
      "conflict");
  EXPECT_EQ(told(client.patch(type, name, PatchType::apply, thing("a", 3), {}, {})), "invalid")
      << "without a name there is no owner";
}

TEST_F(Conformance, WhoIsUnknownMayNothing) {
  Config config = cluster.config();
  config.tls.certificate_text.clear();
  config.tls.key_text.clear();
  config.identity = {};
  const auto reason = [&] {
    Client other(std::make_unique<HttpTransport>(config), {.qps = 0});
    return told(other.list(config_maps, cluster.space(), {}, {}));
  };
  if (!cluster.is_real())
    cluster.own().with([](ApiServer& server) { server.know_token("somebody", true); });
  EXPECT_EQ(reason(), "forbidden");
  config.identity.token = "nobody";
  EXPECT_EQ(reason(), "unauthorized");
}

TEST_F(Conformance, OnesOwnRightsAreReviewed) {
  const ResourceType reviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                             "SelfSubjectAccessReview", false};
  const auto answer = client.create(
      reviews, {},
      *read_json(R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",
        "spec":{"resourceAttributes":{"verb":"create","group":"","resource":"pods",
        "namespace":"default"}}})"),
      {}, {});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_TRUE(answer->at("status").bool_at("allowed"));
}

TEST_F(Conformance, RevisionsAreKept) {
  const Value revision = *read_json(R"({"apiVersion":"apps/v1","kind":"ControllerRevision",
      "metadata":{"name":"a"},"revision":3,"data":{"spec":{"x":[1,{"y":null}]}}})");
  const auto made = client.create(revisions, cluster.name(""), revision, {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->integer_at("revision"), 3);
  EXPECT_EQ(made->at("data").at("spec").at("x").items()[0].integer(), 1);
  const auto numbered = client.patch(revisions, cluster.name("a"), PatchType::merge,
                                     *read_json(R"({"revision":4})"), {}, {});
  ASSERT_TRUE(numbered) << to_string(numbered.error());
  EXPECT_EQ(numbered->integer_at("revision"), 4);
  const auto changed = client.patch(revisions, cluster.name("a"), PatchType::merge,
                                    *read_json(R"({"data":{"spec":{"x":[2]}}})"), {}, {});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().reason, ApiReason::invalid);
}

TEST_F(Conformance, WhatIsServedIsFound) {
  const ResourceType type = define("founds");
  for (int round = 0; round < 200; ++round) {
    const auto found = Discovery::ask(client, {});
    ASSERT_TRUE(found) << to_string(found.error());
    if (found->find(type.group, "Thing") == nullptr && round < 199) {
      ASSERT_TRUE(pause_for(50ms, {}));  // discovery follows a definition a moment later
      continue;
    }
    const ServedType* const pods = found->find("", "pods");
    ASSERT_NE(pods, nullptr);
    EXPECT_EQ(pods->type, types::pods);
    EXPECT_TRUE(pods->subresources.contains("status") && pods->subresources.contains("eviction"));
    EXPECT_TRUE(pods->verbs.contains("watch"));
    EXPECT_FALSE(found->find("", "Node")->type.is_namespaced);
    const ServedType* const ours = found->find(type.group, "founds");
    ASSERT_NE(ours, nullptr);
    EXPECT_EQ(ours->type, type);
    EXPECT_EQ(ours->subresources, (std::set<std::string>{"scale", "status"}));
    EXPECT_EQ(found->find("coordination.k8s.io", "v1", "Lease")->type, types::leases);
    EXPECT_EQ(found->find("nobody.example", "things"), nullptr);
    return;
  }
}

/// Names that are there, told by a reflector on a thread of its own.
class Names : public ObjectListener {
 public:
  void put(const ObjectName& name, const Value&) override {
    const std::lock_guard lock(mutex_);
    names_.insert(name.name);
    changed_.notify_all();
  }
  void gone(const ObjectName& name, const std::string&) override {
    const std::lock_guard lock(mutex_);
    names_.erase(name.name);
    changed_.notify_all();
  }
  void synced() override {}
  bool become(const std::set<std::string>& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return names_ == wanted; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> names_;
};

TEST_F(Conformance, AReflectorFollowsByStreamsAndByPages) {
  for (const bool streams : {true, false}) {
    const std::string label = streams ? "streams" : "pages";
    const auto name = [&](const char* rest) { return cat(label, "-", rest); };
    for (const char* rest : {"a", "b", "c"})
      ASSERT_TRUE(create_map(config_map(name(rest), "1", label)));
    Names names;
    Reflector reflector({.type = config_maps,
                         .space = cluster.space(),
                         .label_selector = "app=" + label,
                         .streams_lists = streams,
                         .page = 2},
                        names, 1);
    const std::jthread thread(
        [&](const std::stop_token& stop) { follow(client, reflector, stop); });
    EXPECT_TRUE(names.become({name("a"), name("b"), name("c")}));
    ASSERT_TRUE(create_map(config_map(name("d"), "1", label)));
    ASSERT_TRUE(client.remove(config_maps, cluster.name(name("b")), {}, {}));
    EXPECT_TRUE(names.become({name("a"), name("c"), name("d")}));
  }
}

TEST_F(Conformance, ALeaseIsHandedOver) {
  const auto settings = [&](const char* identity) {
    return LeaseSettings{
        .lease = cluster.name("leader"), .identity = identity, .retry = Duration(200ms)};
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::string leader;
  const auto stand = [&](const char* identity, uint64_t seed) {
    return std::jthread([&, identity, seed](const std::stop_token& stop) {
      Candidate candidate(client, settings(identity), seed);
      candidate.run(
          [&](bool leads) {
            const std::lock_guard lock(mutex);
            leader = leads ? identity : leader == identity ? "" : leader;
            changed.notify_all();
          },
          stop);
    });
  };
  const auto wait_for = [&](const char* identity) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 30s, [&] { return leader == identity; });
  };
  std::jthread one = stand("one", 1);
  ASSERT_TRUE(wait_for("one"));
  const std::jthread two = stand("two", 2);
  one.request_stop();
  ASSERT_TRUE(wait_for("two"));
  const auto lease = client.get(types::leases, cluster.name("leader"), {});
  ASSERT_TRUE(lease) << to_string(lease.error());
  EXPECT_EQ(lease->at("spec").text_at("holderIdentity"), "two");
  EXPECT_EQ(lease->at("spec").integer_at("leaseTransitions"), 1);
}

}  // namespace
}  // namespace fettle::kubernetes
