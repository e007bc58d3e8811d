/// The daemon of a node from end to end: reflector, decisions, pulls and statuses, over HTTP and a
/// socket. The API server is our own; the runtime is played, or a real containerd.

#include <gtest/gtest.h>

#include <atomic>

#include "base/base64.h"
#include "base/rfc3339.h"
#include "base/wait.h"
#include "node/daemon.h"
#include "tests/kubernetes/api_server_face.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_runtime.h"
#include "tests/kubernetes/real_containerd.h"

namespace fettle {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;

constexpr const char* definition = R"({
  "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"nodeimages.apps.kruise.io"},
  "spec":{"group":"apps.kruise.io","scope":"Cluster",
    "names":{"plural":"nodeimages","singular":"nodeimage","kind":"NodeImage","listKind":"List"},
    "versions":[{"name":"v1beta1","served":true,"storage":true,"subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";

/// One process, until it is stopped.
class DaemonProcess {
 public:
  DaemonProcess(const kubernetes::ApiServerFace& server, node::DaemonSettings settings)
      : client_(server.client()), settings_(std::move(settings)) {
    settings_.shortest_pause = 10ms;
    settings_.tell = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      told_ += text + "\n";
    };
    settings_.found = [this] { has_runtime_ = true; };
    thread_ = std::jthread([this](const std::stop_token& stop) {
      node::run_daemon(*client_, http_, settings_, stop);
    });
  }
  ~DaemonProcess() {
    thread_.request_stop();
    thread_.join();
  }
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  std::string told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  bool has_runtime() const { return has_runtime_; }

 private:
  std::unique_ptr<kubernetes::Client> client_;
  HttpClient http_;
  node::DaemonSettings settings_;
  mutable std::mutex mutex_;
  std::string told_;
  std::atomic<bool> has_runtime_ = false;
  std::jthread thread_;
};

class NodeDaemonProcess : public testing::Test {
 protected:
  NodeDaemonProcess() {
    make(kubernetes::types::definitions, "", json(definition));
    make(kubernetes::types::nodes, "",
         json(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})"));
    tell_runtime("containerd://1.7.2");
    make(node::node_images, "", json(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"NodeImage",
                  "metadata":{"name":"n1"},"spec":{"images":{}}})"));
    link_socket("containerd/containerd.sock", runtime_.socket());
    server_.with([this](kubernetes::ApiServer& server) {
      server.fail(1,
                  [this](const kubernetes::ApiRequest& request) {
                    if (request.method != "GET" && request.user_agent == "fettle")
                      writes_.insert(request.method + " " +
                                     request.target.substr(0, request.target.find('?')));
                    return false;
                  },
                  {});
    });
  }

  void make(const kubernetes::ResourceType& type, const std::string& space, const Value& object) {
    const auto made = user_->create(type, {space, ""}, object, {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  void tell_runtime(std::string_view version) {
    const auto told = user_->patch(
        kubernetes::types::nodes, {"", "n1"}, kubernetes::PatchType::merge,
        json(cat(R"({"status":{"nodeInfo":{"containerRuntimeVersion":")", version, R"("}}})")),
        {.subresource = "status"}, {});
    ASSERT_TRUE(told) << to_string(told.error());
  }
  void link_socket(const char* place, const Path& socket) {
    const Path path = folder_->path() / place;
    ASSERT_TRUE(make_directories(path.parent_path()));
    std::filesystem::create_symlink(socket, path);
  }
  /// Changes `spec.images`.
  void order(std::string_view images) {
    const auto changed = user_->patch(node::node_images, {"", "n1"}, kubernetes::PatchType::merge,
                                      json(cat(R"({"spec":{"images":)", images, "}}")), {}, {});
    ASSERT_TRUE(changed) << to_string(changed.error());
  }
  std::unique_ptr<DaemonProcess> daemon(node::PullSettings pulls = {}) {
    return std::make_unique<DaemonProcess>(
        server_,
        node::DaemonSettings{
            .node = "n1", .pulls = pulls, .run_folder = folder_->path(), .snap_folder = "/none"});
  }

  Value status() {
    const auto object = user_->get(node::node_images, {"", "n1"}, {});
    return object ? object->at("status") : Value();
  }
  Value tag(std::string_view image, std::string_view tag = "1") {
    const Value all = status();
    for (const Value& each : items_of(all.at("imageStatuses").at(image).at("tags")))
      if (each.text_at("tag") == tag)
        return each;
    return {};
  }
  bool is_in(std::string_view image, std::string_view phase) {
    return tag(image).text_at("phase") == phase;
  }
  /// The limit is for a failing test.
  static bool await(const std::function<bool()>& holds) {
    for (int i = 0; i < 3'000; ++i) {
      if (holds())
        return true;
      EXPECT_TRUE(pause_for(5ms, {}));
    }
    return false;
  }

  std::set<std::string> writes_;  ///< of daemons
  kubernetes::ApiServerFace server_;
  std::unique_ptr<kubernetes::Client> user_ = server_.client({.qps = 0, .user_agent = "user"});
  PlayedRuntime runtime_;
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(NodeDaemonProcess, WhatIsOrderedIsPulledAndNothingElseIsWritten) {
  runtime_.offer("a:1", {.id = "sha256:ab"});
  runtime_.have("b:1");
  const auto keeping = daemon();
  order(R"({"a":{"tags":[{"tag":"1","version":1}]},"b":{"tags":[{"tag":"1","version":1}]},
            "c":{"tags":[{"tag":"1","version":1,"pullPolicy":{"backoffLimit":0},"ownerReferences":[
              {"apiVersion":"apps.kruise.io/v1beta1","kind":"ImagePullJob",
               "namespace":"kube-system","name":"j","uid":"u"}]}]}})");
  ASSERT_TRUE(await([&] { return is_in("a", "Succeeded") && is_in("b", "Succeeded"); }))
      << write_json(status());
  ASSERT_TRUE(await([&] { return is_in("c", "Failed"); })) << write_json(status());
  EXPECT_EQ(tag("a").text_at("imageID"), "a@sha256:ab");
  EXPECT_EQ(tag("c").text_at("message"), "no image c:1");
  EXPECT_EQ(status().integer_at("desired"), 3);
  EXPECT_EQ(status().integer_at("succeeded"), 2);
  EXPECT_EQ(status().integer_at("failed"), 1);
  EXPECT_EQ(runtime_.count("pull b:1"), 0u);
  ASSERT_TRUE(await([&] {
    const auto events = user_->list(kubernetes::types::events, "kube-system", {}, {});
    return events && events->items.size() == 1;
  }));
  const auto event = user_->list(kubernetes::types::events, "kube-system", {}, {});
  EXPECT_EQ(event->items[0].text_at("reason"), "PullImageFailed");
  EXPECT_EQ(event->items[0].at("involvedObject").text_at("name"), "j");
  server_.with([&](kubernetes::ApiServer&) {
    for (const std::string& write : writes_)
      EXPECT_TRUE(write == "PATCH /apis/apps.kruise.io/v1beta1/nodeimages/n1/status" ||
                  (write.starts_with("POST ") && write.ends_with("/events")))
          << write;
  });
}

TEST_F(NodeDaemonProcess, WhatIsTakenBackIsBrokenOff) {
  runtime_.offer("a:1");
  runtime_.hold("a:1");
  const auto keeping = daemon();
  order(R"({"a":{"tags":[{"tag":"1"}]}})");
  ASSERT_TRUE(await([&] { return is_in("a", "Pulling"); })) << write_json(status());
  order(R"({"a":null})");
  ASSERT_TRUE(await([&] { return runtime_.count("broken off a:1") == 1; }));
  EXPECT_TRUE(await([&] { return status().integer_at("desired", -1) == 0; }));
}

TEST_F(NodeDaemonProcess, TheNextDaemonGoesOn) {
  runtime_.offer("a:1");
  runtime_.have("b:1");
  runtime_.hold("a:1");
  auto keeping = daemon();
  order(R"({"a":{"tags":[{"tag":"1"}]},"b":{"tags":[{"tag":"1"}]}})");
  ASSERT_TRUE(await([&] { return is_in("a", "Pulling") && is_in("b", "Succeeded"); }));
  const Value began = tag("a").at("startTime"), ended = tag("b");
  keeping.reset();
  ASSERT_TRUE(await([&] { return runtime_.count("broken off a:1") == 1; }));
  EXPECT_TRUE(is_in("a", "Pulling"));
  runtime_.release("a:1");
  keeping = daemon();
  ASSERT_TRUE(await([&] { return is_in("a", "Succeeded"); }));
  EXPECT_EQ(tag("a").at("startTime"), began);
  EXPECT_EQ(tag("b"), ended);
}

TEST_F(NodeDaemonProcess, WorkersAreLimited) {
  std::string images;
  for (const char* const image : {"a", "b", "c", "d", "e", "f"}) {
    runtime_.offer(cat(image, ":1"));
    images += cat(images.empty() ? "{" : ",", "\"", image, R"(":{"tags":[{"tag":"1"}]})");
  }
  const auto keeping = daemon({.most_pulls = 2});
  order(images + "}");
  ASSERT_TRUE(await([&] { return status().integer_at("succeeded") == 6; })) << write_json(status());
  EXPECT_LE(runtime_.most_pulls(), 2);
}

TEST_F(NodeDaemonProcess, APrivateImageIsPulledWithItsSecret) {
  runtime_.offer("r.test/a:1", {.login = "me:open"});
  make({"", "v1", "secrets", "Secret"}, "default",
       json(cat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"default"},
                    "data":{".dockerconfigjson":")",
                base64_encode(R"({"auths":{"r.test":{"username":"me","password":"open"}}})"),
                R"("}})")));
  const auto keeping = daemon();
  order(
      R"({"r.test/a":{"pullSecrets":[{"namespace":"default","name":"s"}],"tags":[{"tag":"1"}]}})");
  ASSERT_TRUE(await([&] { return is_in("r.test/a", "Succeeded"); })) << write_json(status());
}

TEST_F(NodeDaemonProcess, ItPullsIntoTheRuntimeOfTheKubeletOrNowhere) {
  PlayedRuntime other("containerd", "2.0.4-k3s2");
  link_socket("k3s/containerd/containerd.sock", other.socket());
  other.offer("a:1");
  tell_runtime("containerd://3.0.0");
  order(R"({"a":{"tags":[{"tag":"1"}]}})");
  const auto keeping = daemon();
  ASSERT_TRUE(await([&] {
    return keeping->told().find("no socket is of it") != std::string::npos;
  })) << keeping->told();
  EXPECT_TRUE(status().is_null()) << "what nobody can pull is left to others";
  EXPECT_FALSE(keeping->has_runtime());
  tell_runtime("containerd://2.0.4-k3s2");
  ASSERT_TRUE(await([&] { return is_in("a", "Succeeded"); })) << keeping->told();
  EXPECT_TRUE(keeping->has_runtime());
  EXPECT_TRUE(runtime_.log().empty());
  EXPECT_EQ(other.count("pulled a:1"), 1u);
}

TEST_F(NodeDaemonProcess, ARealContainerdPullsTagsAndDigests) {
  LoopbackRegistry registry;
  RealContainerd containerd;
  const LoopbackRegistry::Pushed pushed = registry.push("a/b", "1");
  EXPECT_TRUE(containerd.version().starts_with("containerd://"));
  tell_runtime(containerd.version());
  link_socket("k0s/containerd.sock", containerd.socket());
  const auto keeping = daemon();
  const std::string image = cat(registry.name(), "/a/b");
  order(cat("{\"", image, R"(":{"tags":[{"tag":"1","version":1},{"tag":")", pushed.digest,
            R"(","version":1},{"tag":"none","version":1,"pullPolicy":{"backoffLimit":0}}]}})"));
  ASSERT_TRUE(await([&] {
    const Value all = status();
    return all.integer_at("succeeded") + all.integer_at("failed") == 3;
  })) << write_json(status())
      << keeping->told();
  for (const std::string& each : {std::string("1"), pushed.digest}) {
    EXPECT_EQ(tag(image, each).text_at("phase"), "Succeeded") << write_json(tag(image, each));
    EXPECT_EQ(tag(image, each).text_at("imageID"), cat(image, "@", pushed.id));
  }
  EXPECT_EQ(tag(image, "none").text_at("phase"), "Failed");
  EXPECT_TRUE(tag(image, "none").text_at("message").ends_with("/a/b:none: not found"))
      << write_json(tag(image, "none"));
  EXPECT_TRUE(runtime_.log().empty());
}

}  // namespace
}  // namespace fettle
