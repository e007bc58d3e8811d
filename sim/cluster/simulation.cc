#include "sim/cluster/simulation.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "base/wait.h"
#include "cluster/types.h"
#include "sim/cluster/fleet.h"
#include "sim/cluster/process.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

namespace types = cluster::types;

constexpr uint64_t most_turns = 3'000'000;
constexpr Duration end_limit = 20min;  ///< from the last fault to the end of the last rollout
constexpr Duration settle_time = 3min, rest_time = 4min;
constexpr int64_t history_limit = 3;

Value definition_of_type(const kubernetes::ResourceType& type) {
  return *read_json(cat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":")",
      type.plural, ".", type.group, R"("},"spec":{"group":")", type.group, R"(","scope":")",
      type.is_namespaced ? "Namespaced" : "Cluster", R"(","names":{"plural":")", type.plural,
      R"(","singular":"one","kind":")", type.kind, R"(","listKind":"List"},"versions":[{"name":")",
      type.version,
      R"(","served":true,"storage":true,"subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})"));
}

/// A cluster, and what happens to it.
class Course {
 public:
  explicit Course(uint64_t seed) : seed_(seed), world_(seed) {}
  ClusterReport play();

 private:
  uint64_t below(uint64_t limit) { return world_.prng.below(limit); }
  bool chance(unsigned percent) { return world_.prng.chance(percent); }
  Duration up_to(Duration longest) {
    return Duration(static_cast<int64_t>(below(static_cast<uint64_t>(longest.count()))));
  }
  bool goes_on() const { return world_.problem().empty(); }

  void choose_options();
  void define_types();
  void make_workloads();
  void begin_process(size_t number);
  void restart_what_is_over();
  void pass(Duration time);
  void make_trouble();
  void act_as_user();
  void change_wish(SimulatedWorkload& workload);
  void touch_pod(SimulatedWorkload& workload);
  void disturb();
  void restart_server();
  void disturb_process(size_t number);
  void end_trouble();
  void await_end();
  std::string leftovers();
  void check_rest();

  const uint64_t seed_;
  World world_;
  std::unique_ptr<Nodes> nodes_;
  std::vector<std::unique_ptr<SimulatedWorkload>> workloads_;
  std::unique_ptr<SimulatedSidecars> sidecars_;  ///< null: there are none
  std::vector<std::unique_ptr<Process>> processes_;
  Wildness wild_;
  double qps_ = 0;
  uint64_t actions_ = 20, begun_ = 0, crashes_ = 0;
  int64_t tags_ = 1;
};

void Course::choose_options() {
  if (chance(70))
    wild_ = {.lost = static_cast<unsigned>(below(6)),
             .unanswered = static_cast<unsigned>(below(6)),
             .refused = static_cast<unsigned>(below(8)),
             .doubtful = static_cast<unsigned>(below(4)),
             .far = static_cast<unsigned>(below(10)),
             .longest_way = 5ms + up_to(2s),
             .longest_watch_way = 2ms + up_to(chance(30) ? Duration(5s) : Duration(50ms))};
  qps_ = chance(50) ? 0 : 30;
  world_.has_leases = chance(50);
  world_.server.has_watch_lists = chance(80);
  actions_ = 20 + below(40);
}

void Course::define_types() {
  std::vector<kubernetes::ResourceType> all = types::workloads;
  all.push_back(types::node_images);
  for (const kubernetes::ResourceType& type : all)
    world_.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
               definition_of_type(type));
  world_.ask("POST", "/api/v1/namespaces", *read_json(R"({"apiVersion":"v1","kind":"Namespace",
               "metadata":{"name":"kruise-system"}})"));
}

void Course::make_workloads() {
  nodes_ = std::make_unique<Nodes>(world_, 2 + below(4));
  nodes_->longest_step = chance(30) ? Duration(4s) : Duration(100ms);
  nodes_->longest_pull = chance(30) ? Duration(20s) : Duration(500ms);
  const auto add = [&](SimulatedWorkload::Wish wish) {
    wish.pulls_ahead = chance(40);
    workloads_.push_back(std::make_unique<SimulatedWorkload>(world_, std::move(wish)));
  };
  const auto policy = [&] { return chance(75) ? "InPlaceIfPossible" : "ReCreate"; };
  const uint64_t which = 1 + below(7);
  if ((which & 1) != 0 && chance(30))
    sidecars_ = std::make_unique<SimulatedSidecars>(world_, "web");
  if ((which & 1) != 0)
    add({.kind = "CloneSet",
         .name = "web",
         .policy = policy(),
         .replicas = 2 + static_cast<int64_t>(below(6)),
         .unavailable = 1 + static_cast<int64_t>(below(2)),
         .surge = chance(30) ? 1 : 0,
         .more_unavailable = sidecars_ != nullptr ? 1 : 0});
  if ((which & 2) != 0)
    add({.kind = "StatefulSet",
         .name = "db",
         .policy = policy(),
         .replicas = 2 + static_cast<int64_t>(below(3)),
         .is_parallel = chance(60),
         .has_claims = chance(30)});
  if ((which & 4) != 0)
    add({.kind = "DaemonSet",
         .name = "agent",
         .policy = chance(75) ? "InPlaceIfPossible" : "Standard",
         .replicas = static_cast<int64_t>(nodes_->names().size())});
  for (const auto& workload : workloads_)
    world_.listen([one = workload.get()](std::string_view type, const Value& object) {
      if (object.at("spec").find("containers") != nullptr)
        one->take(type, object);
    });
}

void Course::begin_process(size_t number) {
  ++begun_;
  const std::string name = cat(number == 0 ? "a" : "b", begun_);
  world_.note(cat(name, " starts"));
  processes_[number] =
      std::make_unique<Process>(world_, ProcessSettings{.name = name,
                                                        .group = static_cast<int>(begun_),
                                                        .qps = qps_,
                                                        .has_lease = world_.has_leases,
                                                        .seed = seed_ + begun_});
}

void Course::restart_what_is_over() {
  for (size_t number = 0; number < processes_.size(); ++number) {
    const Process* const process = processes_[number].get();
    if (process != nullptr && !process->is_over())
      continue;
    crashes_ += process != nullptr && processes_[number]->line().is_cut() ? 1 : 0;
    processes_[number].reset();
    begin_process(number);
  }
}

/// Lets time pass, and starts again what has ended.
void Course::pass(Duration time) {
  const Instant end = instant_from_clock() + time;
  while (goes_on() && instant_from_clock() < end) {
    std::ignore = pause_for(std::min<Duration>(end - instant_from_clock(), 500ms), {});
    restart_what_is_over();
  }
}

ClusterReport Course::play() {
  world_.turns.on_end(most_turns, [this](const char* why) {
    std::fprintf(stderr, "%s./dev sim --cluster --seed %llu: %s\n", world_.history().c_str(),
                 static_cast<unsigned long long>(seed_), why);
    std::abort();
  });
  choose_options();
  define_types();
  world_.begin();
  make_workloads();
  processes_.resize(world_.has_leases ? 2 : 1);
  restart_what_is_over();
  if (sidecars_ != nullptr) {
    sidecars_->make();
    pass(5s);
  }
  for (const auto& workload : workloads_)
    workload->make();
  pass(20s);
  world_.wildness = wild_;
  make_trouble();
  end_trouble();
  await_end();
  check_rest();
  processes_.clear();
  ClusterReport report{.good = goes_on(),
                       .problem = world_.problem(),
                       .history = world_.history(),
                       .faults = world_.faults,
                       .crashes = crashes_,
                       .writes = world_.writes,
                       .digest = world_.turns.digest()};
  for (const auto& workload : workloads_)
    report.rollouts += workload->rollouts();
  return report;
}

void Course::make_trouble() {
  for (uint64_t i = 0; i < actions_ && goes_on(); ++i) {
    if (chance(65))
      act_as_user();
    else
      disturb();
    pass(chance(30) ? up_to(300ms) : up_to(12s));
  }
}

void Course::act_as_user() {
  SimulatedWorkload& workload = *workloads_[below(workloads_.size())];
  if (sidecars_ != nullptr && chance(15))
    sidecars_->set_tag(cat(++tags_));
  else if (chance(70) && (workload.is_rolled_out() || chance(40)))
    change_wish(workload);
  else
    touch_pod(workload);
}

void Course::change_wish(SimulatedWorkload& workload) {
  const bool is_clone_set = workload.wish().kind == "CloneSet";
  const uint64_t what = below(20);
  if (what < 11)
    workload.set_template(cat(++tags_), workload.environment());
  else if (what < 12)
    workload.set_template(cat("missing-", ++tags_), workload.environment());
  else if (what < 13)
    workload.set_template(workload.tag(), workload.environment() + 1);
  else if (what < 14)
    workload.set_template(cat(std::max<int64_t>(1, tags_ - 1)), workload.environment());
  else if (what < 16 && workload.wish().kind != "DaemonSet")
    workload.scale(1 + static_cast<int64_t>(below(is_clone_set ? 8 : 4)));
  else if (what < 18)
    workload.set_partition(static_cast<int64_t>(below(3)));
  else
    workload.set_paused(chance(40));
}

/// As somebody else does.
void Course::touch_pod(SimulatedWorkload& workload) {
  const std::vector<Value> pods = workload.pods();
  if (pods.empty())
    return;
  const Value& pod = pods[below(pods.size())];
  const std::string uid(pod.at("metadata").text_at("uid")), path = path_of_pod(pod);
  const uint64_t what = below(10);
  if (what < 2) {
    workload.excuse(uid);
    world_.ask("DELETE", path, what == 0 ? Value() : *read_json(R"({"gracePeriodSeconds":0})"));
  } else if (what < 5) {
    workload.excuse(uid);
    nodes_->break_pod(path);
  } else if (what < 8) {
    world_.ask("PATCH", path,
               *read_json(cat(R"({"metadata":{"annotations":{"others":")", below(100), R"("}}})")));
  } else {
    world_.ask("PATCH", workload.path() + "/status",
               *read_json(R"({"status":{"readyReplicas":77,"numberReady":77}})"));
  }
}

void Course::disturb() {
  const uint64_t what = below(10);
  if (what < 2)
    world_.server.compact();
  else if (what < 4)
    for (const auto& [number, line] : world_.lines)
      line->break_streams();
  else if (what < 5)
    restart_server();
  else
    disturb_process(below(processes_.size()));
}

/// It forgets nothing but old versions.
void Course::restart_server() {
  world_.note("the server is away");
  world_.is_away = true;
  for (const auto& [number, line] : world_.lines)
    line->break_streams();
  pass(up_to(30s));
  world_.is_away = false;
  if (chance(50))
    world_.server.compact();
  world_.note("the server is back");
}

void Course::disturb_process(size_t number) {
  restart_what_is_over();
  Process& process = *processes_[number];
  const uint64_t what = below(10);
  const Duration time = up_to(chance(30) ? Duration(40s) : Duration(4s));
  if (what < 4) {
    process.line().cut_after(1 + below(12));
  } else if (what < 5) {
    process.line().cut();
  } else if (what < 6) {
    processes_[number].reset();  // in order
  } else if (what < 8) {
    process.line().part(true);
    pass(time);
    if (processes_[number] != nullptr) {
      processes_[number]->line().part(false);
      if (chance(50))
        processes_[number]->line().break_streams();
    }
  } else {
    const int group = process.settings().group;
    world_.note(cat(process.settings().name, " is paused"));
    process.line().hold(true);
    world_.turns.pause_group(group, true);
    std::ignore = pause_for(time, {});
    world_.turns.pause_group(group, false);
    process.line().hold(false);
    world_.note(cat(process.settings().name, " goes on"));
  }
}

void Course::end_trouble() {
  if (!goes_on())
    return;
  world_.note("no more trouble");
  world_.wildness = {};
  nodes_->longest_step = 100ms;
  nodes_->longest_pull = 500ms;
  nodes_->bring_missing_images();
  for (const auto& process : processes_)
    if (process != nullptr)
      process->line().part(false);
  for (const auto& workload : workloads_) {
    workload->set_paused(false);
    workload->set_partition(0);
    workload->set_template(cat(++tags_), workload->environment());
  }
}

/// What stays undone; empty: nothing.
std::string Course::leftovers() {
  for (const auto& workload : workloads_)
    if (std::string undone = workload->unfinished(); !undone.empty())
      return undone;
  if (sidecars_ != nullptr)
    if (std::string undone = sidecars_->unfinished(workloads_[0]->pods()); !undone.empty())
      return undone;
  if (const auto jobs = world_.list("/apis/apps.kruise.io/v1beta1/imagepulljobs"); !jobs.empty())
    return cat("a job is left: ", write_json(jobs[0]));
  std::map<std::string, int64_t> revisions;
  for (const Value& each : world_.list("/apis/apps/v1/controllerrevisions"))
    for (const Value& owner : items_of(each.at("metadata").at("ownerReferences")))
      ++revisions[std::string(owner.text_at("name"))];
  for (const auto& [owner, count] : revisions)
    if (count > history_limit + 2)
      return cat(count, " revisions of ", owner, " are left");
  return {};
}

void Course::await_end() {
  const Instant end = instant_from_clock() + end_limit;
  std::string undone = leftovers();
  while (goes_on() && !undone.empty() && instant_from_clock() < end) {
    pass(2s);
    undone = leftovers();
  }
  if (!undone.empty() && goes_on())
    world_.complain(cat("it does not end: ", undone));
}

void Course::check_rest() {
  pass(settle_time);
  const uint64_t before = world_.writes;
  pass(rest_time);
  if (goes_on() && world_.writes != before)
    world_.complain(cat("at rest there are ", world_.writes - before, " writes"));
  if (const std::string undone = goes_on() ? leftovers() : std::string(); !undone.empty())
    world_.complain(cat("it did not stay: ", undone));
}

}  // namespace

ClusterReport simulate_cluster(uint64_t seed) { return Course(seed).play(); }

}  // namespace fettle::sim
