/// A hundred nodes with three hundred pods of three workloads, all of whose images change at once:
/// what holds for three pods has to hold where writes, answers and events of many cross each other.

#include "tests/fixtures/sanitized.h"
#include "tests/kubernetes/cluster_controller.h"

namespace fettle {
namespace {

/// Everything is several times slower under a sanitizer.
constexpr int nodes = is_sanitized ? 20 : 100;
constexpr int clones = nodes * 3 / 2, members = nodes / 2;
constexpr int all_pods = nodes + clones + members;

class ManyPods : public ClusterController {
 protected:
  ManyPods() {
    for (int i = 0; i < nodes; ++i)
      add_ready_node(node(i));
    server_.with([this](kubernetes::ApiServer& server) {
      server.fail(1, [this](const kubernetes::ApiRequest& request) { return note(request); }, {});
    });
  }

  /// It asks with a token, by which its writes are known.
  std::unique_ptr<Controller> known_controller() {
    return std::make_unique<Controller>(server_.config("controller"), home_.store(), home_.blobs(),
                                        ClusterSettings{.client = {.qps = 0}});
  }

  void make_workloads() {
    make_workload(types::clone_sets, "web", cat(R"("replicas":)", clones),
                  R"("podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":"20%")");
    make_workload(
        types::stateful_sets, "db",
        cat(R"("serviceName":"db","podManagementPolicy":"Parallel","replicas":)", members),
        R"("podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":"20%")");
    make_workload(types::daemon_sets, "agent", R"("minReadySeconds":0)",
                  R"("rollingUpdateType":"InPlaceIfPossible","maxUnavailable":"20%")");
  }
  /// Puts each pod on a node, a DaemonSet's on its own one.
  void schedule() {
    int next = 0;
    for (const Value& pod : pods()) {
      const std::string own = cluster::node_of_spec(pod.at("spec")).str();
      const std::string name(pod.at("metadata").text_at("name"));
      const auto bound = client_->create(
          types::pods, {"default", name},
          json(cat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", name,
                   R"("},"target":{"apiVersion":"v1","kind":"Node","name":")",
                   own.empty() ? node(next++ % nodes) : std::string(own), R"("}})")),
          {.subresource = "binding"}, {});
      ASSERT_TRUE(bound) << to_string(bound.error());
    }
  }
  void set_images(int number) {
    for (const auto& [type, name] : workloads_)
      ASSERT_TRUE(client_->patch(type, {"default", name}, kubernetes::PatchType::merge,
                                 json(cat(R"({"spec":{"template":{"spec":{"containers":[
                                   {"name":"c","image":")",
                                          name, ":", number, R"("}]}}}})")),
                                 {}, {}));
  }
  bool await_images(int number) {
    return await([&] {
      if (!has_statuses())
        return false;
      const std::vector<Value> now = pods();
      return now.size() == all_pods && std::ranges::all_of(now, [&](const Value& pod) {
               const std::string_view app = pod.at("metadata").at("labels").text_at("app");
               return items_of(pod.at("spec").at("containers"))[0].text_at("image") ==
                      cat(app, ":", number);
             });
    });
  }
  /// All of them say that all pods are ready and of the newest revision.
  bool has_statuses() {
    const auto has = [&](const kubernetes::ResourceType& type, const char* name, const char* ready,
                         const char* updated, int64_t count) {
      const auto found = client_->get(type, {"default", name}, {});
      return found && found->at("status").integer_at(ready, -1) == count &&
             found->at("status").integer_at(updated, -1) == count;
    };
    return has(types::clone_sets, "web", "readyReplicas", "updatedReadyReplicas", clones) &&
           has(types::stateful_sets, "db", "readyReplicas", "updatedReadyReplicas", members) &&
           has(types::daemon_sets, "agent", "numberReady", "updatedNumberScheduled", nodes);
  }
  std::string told() {
    std::string text;
    for (const auto& [type, name] : workloads_)
      if (const auto found = client_->get(type, {"default", name}, {}))
        text += cat(name, " ", write_json(found->at("status")), "\n");
    return text;
  }
  /// At no moment had a workload fewer ready pods than it may.
  void expect_budgets() {
    const std::map<std::string, int> least = kubelet_.take_least_ready_by_app();
    EXPECT_GE(least.at("web"), clones - clones / 5);
    EXPECT_GE(least.at("db"), members - members / 5);
    EXPECT_GE(least.at("agent"), nodes - (nodes + 4) / 5) << "a DaemonSet's share is rounded up";
  }
  /// What the controller has written since the last call: `PATCH pods/status` and how often.
  std::map<std::string, int> take_writes() {
    std::map<std::string, int> taken;
    server_.with([&](kubernetes::ApiServer&) { taken = std::exchange(writes_, {}); });
    return taken;
  }

 private:
  static std::string node(int number) { return cat("node-", number); }

  void make_workload(const kubernetes::ResourceType& type, const std::string& name,
                     std::string_view spec, std::string_view rolling) {
    workloads_.emplace_back(type, name);
    const auto made = client_->create(
        type, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":")", type.kind,
                 R"(","metadata":{"name":")", name, R"(","namespace":"default","annotations":{
          "fettle/image-predownload-mode":"wait",
          "apps.kruise.io/image-predownload-parallelism":"100"}},"spec":{)",
                 spec, R"(,"selector":{"matchLabels":{"app":")", name,
                 R"("}},"template":{"metadata":{"labels":{"app":")", name,
                 R"("}},"spec":{"containers":[{"name":"c","image":")", name,
                 R"(:1"}]}},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{)", rolling,
                 "}}}}")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }

  /// Called while the server is locked.
  bool note(const kubernetes::ApiRequest& request) {
    if (request.method == "GET" || request.token != "controller")
      return false;
    const std::string path = request.target.substr(0, request.target.find('?'));
    for (const char* const plural : {"pods", "nodeimages", "events"})
      if (path.find(cat("/", plural)) != std::string::npos)
        ++writes_[cat(request.method, " ", plural, path.ends_with("/status") ? "/status" : "")];
    return false;
  }

  std::vector<std::pair<kubernetes::ResourceType, std::string>> workloads_;
  std::map<std::string, int> writes_;
};

TEST_F(ManyPods, AreUpdatedInPlaceWithinTheirBudgets) {
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  auto keeping = known_controller();
  make_workloads();
  ASSERT_TRUE(await([&] { return pods().size() == all_pods; })) << told();
  schedule();
  ASSERT_TRUE(await_images(1)) << told();
  const std::set<std::string> before = uids();
  kubelet_.take_least_ready_by_app();
  take_writes();

  set_images(2);
  ASSERT_TRUE(await_images(2)) << told();
  EXPECT_EQ(uids(), before);
  expect_budgets();
  ASSERT_TRUE(await([&] { return jobs().empty(); }));
  std::map<std::string, int> writes = take_writes();
  // The gate closes, the image changes, the gate opens. A write that loses against one of the kubelet
  // is sent again.
  const int images = writes["PATCH pods"], gates = writes["PATCH pods/status"];
  EXPECT_GE(images, all_pods);
  EXPECT_LT(images, all_pods * 3 / 2);
  EXPECT_GE(gates, 2 * all_pods);
  EXPECT_LT(gates, 3 * all_pods);
  EXPECT_EQ(writes["POST pods"] + writes["DELETE pods"], 0);

  // Another one takes over in the middle.
  set_images(3);
  ASSERT_TRUE(await([&] { return pods_with("web:3") > 0; })) << told();
  keeping.reset();
  keeping = known_controller();
  ASSERT_TRUE(await_images(3)) << told();
  EXPECT_EQ(uids(), before);
  expect_budgets();
  ASSERT_TRUE(await([&] { return jobs().empty(); }));
}

}  // namespace
}  // namespace fettle
