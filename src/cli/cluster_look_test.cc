/// Commands that ask about a cluster, as people type them: what they print, and their exit codes.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/workload_common.h"
#include "controller/cluster_access.h"
#include "tests/kubernetes/api_server_face.h"
#include "tests/kubernetes/json_text.h"

namespace fettle {
Command why_command();
Command events_command();

namespace {

using kubernetes::json;
using kubernetes::ResourceType;

const ResourceType clone_sets{"apps.kruise.io", "v1beta1", "clonesets", "CloneSet"};
/// Those that this cluster serves.
const std::vector<ResourceType> kept_types{
    clone_sets,
    {"apps.kruise.io", "v1beta1", "statefulsets", "StatefulSet"},
    {"apps.kruise.io", "v1beta1", "daemonsets", "DaemonSet"}};

class ClusterFace : public Face {
 public:
  ClusterFace(Workplace& place, kubernetes::Client& client) : place_(place), client_(client) {}
  Result<Workplace*> workplace() override { return &place_; }
  std::pair<std::vector<Diagnosis>, bool> diagnosis() override { return {}; }
  Result<EngineState> engine(EngineVerb) override { return EngineState{}; }
  Result<ClusterAccess> cluster(const ClusterRequest&) override {
    return world_error("nobody acts here");
  }
  Result<ClusterReach> reach_cluster(const ClusterRequest& request) override {
    if (request.kubeconfig != "k")
      return user_error("there is no such file");
    return ClusterReach{client_, "shop"};
  }
  Result<PullTally> serve_node(const NodeRequest&) override { return world_error("there is none"); }
  Build build() const override { return {}; }
  void show_work(const std::string&) override {}

 private:
  Workplace& place_;
  kubernetes::Client& client_;
};

Value definition_in_shop(const ResourceType& type) {
  return json(cat(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":")",
                  type.plural, ".", type.group, R"("},"spec":{"group":")", type.group,
                  R"(","scope":"Namespaced","names":{"plural":")", type.plural,
                  R"(","singular":"one","kind":")", type.kind, R"(","listKind":"List"},
      "versions":[{"name":"v1beta1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
          "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})"));
}

constexpr std::string_view web_in_yaml = R"(apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - {name: c, image: "web:1"}
)";

class ClusterCommands : public testing::Test {
 protected:
  ClusterCommands() {
    for (const ResourceType& type : kept_types)
      EXPECT_TRUE(
          client_->create(kubernetes::types::definitions, {}, definition_in_shop(type), {}, {}));
    EXPECT_TRUE(client_->create({"", "v1", "namespaces", "Namespace", false}, {},
                                json(R"({"apiVersion":"v1","kind":"Namespace",
                                     "metadata":{"name":"shop"}})"),
                                {}, {}));
    place_.clock = now_from_clock;
    place_.interrupt = &interrupt_;
    commands_ = {workload_get_command(), workload_plan_command(), why_command(), events_command()};
    for (Command& command : rollout_commands())
      commands_.push_back(std::move(command));
  }

  void make(const ResourceType& type, std::string_view object) {
    const auto made = client_->create(type, {"shop", ""}, json(object), {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  void make_web() {
    make(clone_sets, R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet",
        "metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
        "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
          {"name":"c","image":"web:1"}]}}}})");
  }

  /// What a command prints; or its error, with `error: ` before it.
  std::string run(const std::string& line) {
    std::vector<std::string> words;
    for (const std::string_view word : split(line, ' '))
      words.emplace_back(word);
    ClusterFace face(place_, *client_);
    const Result<const Command*> command = parse_command(commands_, words, face.parsed);
    if (!command) {
      code_ = 2;
      return cat("error: ", command.error().message);
    }
    face.output = face.parsed.text("output", "text");
    face.json = face.output == "json";
    testing::internal::CaptureStdout();
    const Result<int> code = (*command)->run(face);
    const std::string printed = testing::internal::GetCapturedStdout();
    code_ = code ? *code : code.error().blame == Blame::user ? 2 : 1;
    return code ? printed : cat("error: ", to_string(code.error()));
  }

  kubernetes::ApiServerFace server_;
  std::unique_ptr<kubernetes::Client> client_ = server_.client();
  Interrupt interrupt_;
  Workplace place_;
  std::vector<Command> commands_;
  int code_ = 0;
};

TEST_F(ClusterCommands, GetReadsTheNamespaceOfTheContext) {
  make_web();
  EXPECT_EQ(run("get clonesets --kubeconfig k -o name"), "cloneset.apps.kruise.io/web\n");
  EXPECT_EQ(run("get clonesets --kubeconfig k -n default -o name"), "");
  const std::string table = run("get clone -A --no-headers --kubeconfig k");
  EXPECT_TRUE(table.starts_with("shop")) << table;
  EXPECT_EQ(run("get cloneset nobody --kubeconfig k"),
            "error: there is no CloneSet `nobody` in the namespace `shop`");
  EXPECT_EQ(code_, 2);
}

TEST_F(ClusterCommands, APodOfWhichNobodyHasSaidAnythingIsPending) {
  make(kubernetes::types::pods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},
      "spec":{"containers":[{"name":"c","image":"a:1"},{"name":"d","image":"a:1"}]}})");
  const std::string table = run("get pods -o wide --no-headers --kubeconfig k");
  EXPECT_EQ(code_, 0) << table;
  EXPECT_NE(table.find("0/2"), std::string::npos) << table;
  EXPECT_EQ(split(table, '<').size(), 3u) << "neither address nor node: " << table;
}

TEST_F(ClusterCommands, WhatIsNotReadIsSaid) {
  EXPECT_NE(run("get secrets --kubeconfig k").find("reads no Secrets"), std::string::npos);
  EXPECT_EQ(code_, 2);
  EXPECT_NE(run("get sidecarsets --kubeconfig k").find("does not serve `sidecarsets`"),
            std::string::npos);
  EXPECT_EQ(code_, 2);
  make_web();
  EXPECT_EQ(run("get all --kubeconfig k -o name"), "cloneset.apps.kruise.io/web\n");
}

TEST_F(ClusterCommands, APlanHasTheFormOfAPlanOnEngines) {
  const Path file = Path(testing::TempDir()) / cat("web-", getpid(), ".yaml");
  ASSERT_TRUE(write_file(file, web_in_yaml));
  const std::string words = cat("diff -f ", file.string(), " --kubeconfig k");
  const std::string printed = run(words);
  EXPECT_EQ(code_, 0) << printed;
  EXPECT_TRUE(printed.starts_with("CloneSet/shop/web created\n")) << printed;
  EXPECT_NE(printed.find(": it does not exist"), std::string::npos) << printed;
  run(cat(words, " --detailed-exitcode"));
  EXPECT_EQ(code_, 4);
  const std::string document = run(cat(words, " -o json"));
  EXPECT_NE(document.find("CloneSet/shop/web"), std::string::npos) << document;
  ASSERT_TRUE(write_file(file, replace_all(web_in_yaml, "replicas: 2", "replicas: many")));
  run(words);
  EXPECT_EQ(code_, 2);
  std::filesystem::remove(file);
}

TEST_F(ClusterCommands, RolloutStatusHasItsExitCodes) {
  make_web();
  EXPECT_EQ(run("rollout status clone/web --kubeconfig k"),
            "CloneSet/shop/web progressing: 0 of 2 updated pods are available: no controller has "
            "seen it yet\n");
  EXPECT_EQ(code_, 3);
  run("rollout status clone/nobody --kubeconfig k");
  EXPECT_EQ(code_, 2);
  run("rollout status configmap/web --kubeconfig k");
  EXPECT_EQ(code_, 2);
}

TEST_F(ClusterCommands, WhySaysWhatIsWaitedFor) {
  make_web();
  for (const char* what : {"web", "clone/web", "CloneSet/shop/web"}) {
    const std::string printed = run(cat("why ", what, " --kubeconfig k"));
    EXPECT_TRUE(printed.starts_with("CloneSet/shop/web is progressing: ")) << printed;
    EXPECT_NE(printed.find("no controller has seen it yet"), std::string::npos) << printed;
  }
  EXPECT_EQ(run("why web --namespace default --kubeconfig k"),
            "error: there is no workload `web` in the namespace `default` of the cluster");
  EXPECT_EQ(code_, 2);
}

TEST_F(ClusterCommands, EventsAreTheLastOnesOfTheNamespace) {
  for (const char* name : {"1", "2", "3"})
    make(kubernetes::types::events,
         cat(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e)", name,
             R"("},"type":"Normal","reason":"R)", name, R"(","message":"text","involvedObject":{
             "kind":"Pod","namespace":"shop","name":"a"},"lastTimestamp":"2026-01-0)",
             name, R"(T00:00:00Z"})"));
  EXPECT_EQ(run("events --kubeconfig k -n 2"),
            "2026-01-02T00:00:00.000Z Normal R2 Pod/shop/a: text\n"
            "2026-01-03T00:00:00.000Z Normal R3 Pod/shop/a: text\n");
  EXPECT_NE(run("events --kubeconfig k -o json").find("\"object\": \"Pod/shop/a\""),
            std::string::npos);
  run("events shop --kubeconfig k");
  EXPECT_EQ(code_, 2);
}

TEST_F(ClusterCommands, WrongWordsAreWrongInput) {
  for (const char* line :
       {"get pods --kubeconfig", "get pods --kubeconfig=", "get pods --kubeconfig other",
        "get pods --context x", "get pods --kubeconfig k -e fleet", "why web --namespace shop",
        "why web --kubeconfig k -e fleet", "events --kubeconfig k -n -1",
        "rollout pause clone/web --kubeconfig k", "rollout pause clone/web --kubeconfig k --wait",
        "images --kubeconfig k", "images --all --kubeconfig k"}) {
    const std::string told = run(line);
    EXPECT_EQ(code_, 2) << line << ": " << told;
    EXPECT_TRUE(told.starts_with("error: ")) << line << ": " << told;
  }
}

TEST_F(ClusterCommands, AClusterThatIsAwayIsNoWrongInput) {
  server_.with([](kubernetes::ApiServer& server) {
    server.fail(
        1'000, [](const kubernetes::ApiRequest&) { return true; },
        kubernetes::refusal(500, "InternalError", "etcd is away"));
  });
  const std::string told = run("get pods --kubeconfig k");
  EXPECT_EQ(code_, 1);
  EXPECT_NE(told.find("etcd is away"), std::string::npos) << told;
}

}  // namespace
}  // namespace fettle
