/// cluster_server NODES SETS PODS [LARGE]
///
/// The API server of the tests on a loopback port, with generated objects: NODES nodes with their
/// NodeImages, SETS CloneSets `set-1` … of PODS ready pods each, and `large` of LARGE. They are made
/// by the code that decides and writes, so a controller finds nothing to do, but for statuses. After
/// `port N` it carries out what is asked on its input, a line at a time, and answers with a line:
///
///   rate R SECONDS plain|ready  R status changes of pods a second: a restart is counted, or a pod is
///                               ready or not
///   pulse SET TIMES             changes the number of a set's pods, again and again: the times in ms
///                               from each change to the controller's first write of a pod
///   writes                      what the controller has written since the last time, without events

#include <atomic>
#include <cstdio>
#include <iostream>
#include <map>
#include <random>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/node_images.h"
#include "cluster/owners.h"
#include "cluster/pod_writes.h"
#include "cluster/types.h"
#include "kinds/revision.h"
#include "tests/kubernetes/api_server_face.h"
#include "value/json.h"
#include "value/with.h"
#include "workloads/decide/want.h"

namespace fettle {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ApiServer;
namespace types = cluster::types;

constexpr std::string_view merge_type = "application/merge-patch+json";
constexpr std::string_view strategic_type = "application/strategic-merge-patch+json";
constexpr Duration quiet = 500ms, longest_pulse = 10s;

[[noreturn]] void give_up(std::string_view why) {
  std::fprintf(stderr, "cluster_server: %.*s\n", static_cast<int>(why.size()), why.data());
  std::exit(1);
}

Value read(std::string_view text) {
  const Result<Value> value = read_json(text);
  return value ? *value : (give_up(to_string(value.error())), Value());
}

Value ask(ApiServer& server, std::string method, std::string target, const Value& body,
          std::string_view content_type = "application/json") {
  const ApiAnswer answer = server.handle({.method = std::move(method),
                                          .target = target,
                                          .content_type = std::string(content_type),
                                          .body = write_json(body)},
                                         now_from_clock());
  if (answer.status >= 300)
    give_up(cat(target, ": ", answer.status, " ", answer.body.text_at("message")));
  return answer.body;
}

std::string path_in_default(const kubernetes::ResourceType& type, const std::string& name = {},
                            std::string_view subresource = {}) {
  return path_of(type, {type.is_namespaced ? "default" : "", name}, subresource);
}

Value definition_of(const kubernetes::ResourceType& type) {
  return read(cat(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":")",
                  type.plural, ".", type.group, R"("},"spec":{"group":")", type.group,
                  R"(","scope":")", type.is_namespaced ? "Namespaced" : "Cluster",
                  R"(","names":{"plural":")", type.plural, R"(","singular":"one","kind":")",
                  type.kind, R"(","listKind":"List"},"versions":[{"name":")", type.version,
                  R"(","served":true,"storage":true,"subresources":{"status":{}},
    "schema":{"openAPIV3Schema":{"type":"object","properties":{
      "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
      "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})"));
}

std::string ready_condition(bool is_ready) {
  return cat(R"({"type":"Ready","status":")", is_ready ? "True" : "False",
             R"(","lastTransitionTime":")", write_moment(now_from_clock()), R"("})");
}

/// As long as that of a real node, of which most says something about images.
Value node_status(int number) {
  std::string images;
  for (int i = 0; i < 20; ++i)
    images += cat(i > 0 ? "," : "", R"({"names":["registry.example.com/team-)", i,
                  "/service@sha256:", std::string(64, 'a'), R"(","registry.example.com/team-)", i,
                  R"(/service:1.0.)", number % 10, R"("],"sizeBytes":123456789})");
  return read(cat(
      R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
      "capacity":{"cpu":"8","memory":"32Gi","pods":"110"},
      "allocatable":{"cpu":"8","memory":"30Gi","pods":"110"},
      "nodeInfo":{"kubeletVersion":"v1.36.0","containerRuntimeVersion":"containerd://1.7.2"},
      "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"DiskPressure","status":"False"},)",
      ready_condition(true), R"(],"images":[)", images, "]}}"));
}

Value pod_status(const Value& pod) {
  std::string containers;
  for (const Value& each : items_of(pod.at("spec").at("containers")))
    containers += cat(containers.empty() ? "" : ",", R"({"name":")", each.text_at("name"),
                      R"(","image":")", each.text_at("image"),
                      R"(","imageID":"registry.example.com/web@sha256:1d","restartCount":0,
      "containerID":"containerd://c1","ready":true,"started":true,
      "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}})");
  return read(cat(R"({"status":{"phase":"Running","podIP":"10.1.0.1","hostIP":"10.0.0.1",
      "startTime":"2026-01-01T00:00:00Z","containerStatuses":[)",
                  containers, R"(],"conditions":[{"type":"PodScheduled","status":"True"},
      {"type":"Initialized","status":"True"},{"type":"ContainersReady","status":"True"},)",
                  ready_condition(true), "]}}"));
}

/// Makes what there is at the start.
class Maker {
 public:
  Maker(ApiServer& server, int nodes) : server_(server), nodes_(nodes) {}

  void make_types() {
    for (const kubernetes::ResourceType& type : types::workloads)
      ask(server_, "POST", path_in_default(kubernetes::types::definitions), definition_of(type));
    ask(server_, "POST", path_in_default(kubernetes::types::definitions),
        definition_of(types::node_images));
    ask(server_, "POST", path_in_default(types::spaces),
        read(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kruise-system"}})"));
  }

  void make_nodes() {
    for (int i = 1; i <= nodes_; ++i) {
      const std::string name = cat("node-", i);
      const Value node =
          ask(server_, "POST", path_in_default(types::nodes),
              read(cat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                       R"(","labels":{"kubernetes.io/os":"linux","kubernetes.io/hostname":")", name,
                       R"("}}})")));
      ask(server_, "PATCH", path_in_default(types::nodes, name, "status"), node_status(i),
          merge_type);
      ask(server_, "POST", path_in_default(types::node_images), cluster::node_image_for(node));
    }
  }

  /// Returns the names of its pods.
  std::vector<std::string> make_set(const std::string& name, int pods) {
    const Value stored = ask(
        server_, "POST", path_in_default(types::clone_sets),
        read(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{"name":")",
                 name, R"("},"spec":{"replicas":)", pods, R"(,"selector":{"matchLabels":{"app":")",
                 name, R"("}},"template":{"metadata":{"labels":{"app":")", name,
                 R"("}},"spec":{"containers":[{"name":"main","image":"registry.example.com/web:1",
            "env":[{"name":"A","value":"b"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}},
            "updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":"20%"}}})")));
    const auto set = cluster::read_workload(stored, types::clone_sets);
    if (!set)
      give_up(to_string(set.error()));
    workloads::Fleet fleet("cluster");
    fleet.is_cluster = true;
    fleet.driver = cluster::driver_name;
    fleet.put(*set);
    std::vector<std::string> names;
    for (const Box<Resource>& resource :
         workloads::want(fleet, set->owner(), now_from_clock()).resources)
      if (resource->key.kind == "revision")
        ask(server_, "POST", path_in_default(types::revisions),
            cluster::revision_object(fettle::read<ControllerRevision>(resource->attributes), *set,
                                     stored.at("spec").at("template")));
      else if (resource->key.kind == "pod")
        names.push_back(make_pod(*resource, *set));
    return names;
  }

 private:
  std::string make_pod(const Resource& resource, const workloads::Object& set) {
    Value object = cluster::pod_object(resource.attributes, {.owner = &set});
    object = with(object, "spec",
                  with(object.at("spec"), "nodeName", cat("node-", 1 + made_++ % nodes_)));
    const Value pod = ask(server_, "POST", path_in_default(types::pods), object);
    const std::string name(pod.at("metadata").text_at("name"));
    const std::string status = path_in_default(types::pods, name, "status");
    const Value gates = cluster::gates_write(resource.attributes, pod, now_from_clock()).patch;
    if (!gates.is_null())
      ask(server_, "PATCH", status, gates, strategic_type);
    ask(server_, "PATCH", status, pod_status(pod), strategic_type);
    return name;
  }

  ApiServer& server_;
  const int nodes_;
  int made_ = 0;
};

/// What the controller writes. `note` is called while the server is locked.
class Writes {
 public:
  void note(const ApiRequest& request) {
    if (!request.user_agent.starts_with("fettle") || request.method == "GET" ||
        request.target.find("/events") != std::string::npos)
      return;
    const int64_t now = instant_from_clock().time_since_epoch().count();
    last_ = now;
    const std::string path = request.target.substr(0, request.target.find('?'));
    const bool is_pod = path.find("/pods") != std::string::npos;
    int64_t none = 0;
    if (is_pod)
      first_of_pods_.compare_exchange_strong(none, now);
    const std::lock_guard lock(mutex_);
    ++counts_[cat(request.method, " ", kind_in(path))];
  }
  void begin_pulse() { first_of_pods_ = 0; }
  /// 0: there was none yet.
  int64_t first_of_pods() const { return first_of_pods_; }
  void await_quiet() const {
    while (instant_from_clock().time_since_epoch().count() - last_ < quiet.count())
      std::this_thread::sleep_for(10ms);
  }
  std::map<std::string, int> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(counts_, {});
  }

 private:
  /// `pods`, `clonesets/status`
  static std::string kind_in(std::string_view path) {
    for (const std::string_view each :
         {"pods", "clonesets", "controllerrevisions", "nodeimages", "imagepulljobs"})
      if (path.find(cat("/", each)) != path.npos)
        return cat(each, path.ends_with("/status") ? "/status" : "");
    return std::string(path);
  }

  std::atomic<int64_t> last_ = 0, first_of_pods_ = 0;
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

class MeasuredCluster {
 public:
  MeasuredCluster(int nodes, int sets, int pods, int large) {
    face_.with([&](ApiServer& server) {
      Maker maker(server, nodes);
      maker.make_types();
      maker.make_nodes();
      for (int i = 1; i <= sets; ++i) {
        for (std::string& name : maker.make_set(cat("set-", i), pods))
          pods_.push_back(std::move(name));
        sizes_[cat("set-", i)] = pods;
      }
      if (large > 0) {
        maker.make_set("large", large);
        sizes_["large"] = large;
      }
      server.compact();
      server.fail(1,
                  [this](const ApiRequest& request) {
                    writes_.note(request);
                    return false;
                  },
                  {});
    });
  }
  int port() const { return face_.port(); }

  /// Answers a line.
  std::string carry_out(const std::string& line) {
    const std::vector<std::string_view> words = split(line, ' ');
    const auto number = [&](size_t at) {
      return words.size() > at ? std::atoi(std::string(words[at]).c_str()) : 0;
    };
    if (words[0] == "rate" && words.size() == 4)
      return rate(number(1), number(2), words[3] == "ready");
    if (words[0] == "pulse" && words.size() == 3)
      return pulse(std::string(words[1]), number(2));
    if (words[0] == "writes")
      return writes();
    give_up(cat("what is `", line, "`?"));
  }

 private:
  std::string rate(int each_second, int seconds, bool flips) {
    const Instant began = instant_from_clock();
    const int all = each_second * seconds;
    for (int i = 0; i < all; ++i) {
      std::this_thread::sleep_until(began + Duration(1s) * i / each_second);
      const size_t which = random_() % pods_.size();
      const std::string& name = pods_[which];
      const int count = ++changes_[which];
      const Value change =
          flips ? read(cat(R"({"status":{"conditions":[)", ready_condition(count % 2 == 0), "]}}"))
                : read(cat(R"({"status":{"containerStatuses":[{"name":"main","restartCount":)",
                           count, "}]}}"));
      face_.with([&](ApiServer& server) {
        ask(server, "PATCH", path_in_default(types::pods, name, "status"), change, strategic_type);
      });
    }
    const std::chrono::duration<double> took = instant_from_clock() - began;
    return cat(all, " changes in ", std::to_string(took.count()), " s");
  }

  std::string pulse(const std::string& set, int times) {
    std::string took;
    for (int i = 0; i < times; ++i) {
      writes_.await_quiet();
      const int replicas = sizes_.at(set) + (i % 2 == 0 ? 1 : 0);
      Instant began;
      face_.with([&](ApiServer& server) {
        writes_.begin_pulse();
        began = instant_from_clock();
        ask(server, "PATCH", path_in_default(types::clone_sets, set),
            read(cat(R"({"spec":{"replicas":)", replicas, "}}")), merge_type);
      });
      while (writes_.first_of_pods() == 0) {
        if (instant_from_clock() - began > longest_pulse)
          give_up(cat("nobody answers a change of `", set, "`"));
        std::this_thread::sleep_for(1ms);
      }
      const auto nanoseconds = writes_.first_of_pods() - began.time_since_epoch().count();
      took += cat(i > 0 ? " " : "", std::to_string(static_cast<double>(nanoseconds) / 1e6));
    }
    return took;
  }

  std::string writes() {
    std::string text;
    for (const auto& [what, count] : writes_.take())
      text += cat(text.empty() ? "" : ", ", count, " ", what);
    return text.empty() ? "none" : text;
  }

  std::vector<std::string> pods_;  ///< those of small sets
  std::map<std::string, int> sizes_;
  std::map<size_t, int> changes_;
  std::mt19937 random_{7};
  Writes writes_;
  kubernetes::ApiServerFace face_;  ///< ends first: its threads note writes
};

int serve(const std::vector<std::string>& words) {
  if (words.size() < 3 || words.size() > 4)
    give_up("usage: cluster_server NODES SETS PODS [LARGE]");
  const auto number = [&](size_t at) {
    return words.size() > at ? std::atoi(words[at].c_str()) : 0;
  };
  MeasuredCluster measured(std::max(1, number(0)), number(1), number(2), number(3));
  std::cout << "port " << measured.port() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << measured.carry_out(line) << std::endl;
  return 0;
}

}  // namespace
}  // namespace fettle

int main(int count, char** values) {
  return fettle::serve(std::vector<std::string>(values + 1, values + count));
}
