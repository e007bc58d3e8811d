/// What deciding about rollouts costs: a CloneSet of 10,000 and of 100,000 pods is asked after each
/// of many changes, a fleet of 5,000 nodes and 50,000 pods is held, changed and ordered to act, and
/// pulls are ordered on many nodes. Prints targets and results; times are those of one processor.

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "base/text.h"
#include "controller/fleet_wishes.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "reconcile/run.h"
#include "value/json.h"
#include "workloads/decide/want.h"

namespace fettle::workloads {
namespace {

class FleetKinds : public Kinds {
 public:
  const Kind* find(const Name& name) const override {
    for (const Kind* kind : {&pod_kind(), &claim_kind(), &revision_kind(), &pull_job_kind(),
                             &notice_kind(), &image_kind()})
      if (kind->name() == name)
        return kind;
    return nullptr;
  }
};

/// The processor time of this program in milliseconds: what others do on the machine does not
/// count.
double own_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Object clone_set(std::string_view name, size_t replicas, std::string_view image) {
  Object object;
  object.kind = "CloneSet";
  object.space = "default";
  object.name = name;
  object.document = *read_json(cat(
      R"({"metadata":{},"spec":{"replicas":)", replicas, R"(,"selector":{"matchLabels":{"app":")",
      name, R"("}},"template":{"metadata":{"labels":{"app":")", name,
      R"("}},"spec":{"containers":[{"name":"main","image":")", image,
      R"(","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}},"updateStrategy":{"rollingUpdate":)",
      R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":"10%"}}}})"));
  return object;
}

/// A fleet and the records that it was told of, as whoever keeps it has them.
struct Bed {
  Fleet fleet{"fleet"};
  Time now{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
  std::vector<RecordPointer> records;
  std::vector<Key> pods;

  void add_nodes(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Node node;
      node.name = cat("node-", i);
      node.cpu = 100'000;
      node.memory = 400'000'000'000'000;
      fleet.put_node(std::move(node));
    }
  }
  Value status(const Attributes& attributes, bool is_ready, int number) const {
    const std::string image(pod_image(attributes, "main"));
    return Value::dict(
        {{"phase", "Running"},
         {"startTime", "2026-01-01T00:00:00Z"},
         {"conditions",
          Value::list({Value::dict({{"type", "Ready"},
                                    {"status", is_ready ? "True" : "False"},
                                    {"lastTransitionTime", "2026-01-01T00:00:01Z"}})})},
         {"containerStatuses", Value::list({Value::dict({{"name", "main"},
                                                         {"image", image},
                                                         {"imageID", cat("sha256:", image)},
                                                         {"containerID", cat("c", number)},
                                                         {"ready", is_ready},
                                                         {"restartCount", 0}})})}});
  }
  void make(const Box<Resource>& resource, const Name& owner, int number) {
    auto record = std::make_shared<Record>();
    record->applied = resource;
    record->outputs = Value::dict({});
    record->wanted_by[owner] = wish_of(*resource);
    records.push_back(record);
    fleet.know(resource->key, record);
    if (resource->key.kind != "pod")
      return;
    pods.push_back(resource->key);
    fleet.see(resource->key, status(resource->attributes, true, number));
  }
  void bring_about(const Name& owner) {
    const Wanted wanted = want(fleet, owner, now);
    fleet.accept(wanted);
    int number = 0;
    for (const Box<Resource>& resource : wanted.resources)
      make(resource, owner, ++number);
  }
};

void report(const char* what, double value, const char* unit, double target) {
  std::printf("%-58s %9.2f %s  target %g %s  %s\n", what, value, unit, target, unit,
              value <= target ? "met" : "MISSED");
}

/// One pod after another changes; each time the owner is asked. `is_rolling`: an update is under
/// way.
void measure(size_t count, bool is_rolling, double target, const char* what) {
  Bed bed;
  bed.add_nodes(count / 10);
  const Name owner = "CloneSet/default/web";
  bed.fleet.put(clone_set("web", count, "web:1"));
  bed.bring_about(owner);
  if (is_rolling)
    bed.fleet.put(clone_set("web", count, "web:2"));
  const Wanted first = want(bed.fleet, owner, bed.now);
  bed.fleet.accept(first);
  std::vector<double> times;
  const size_t rounds = count >= 100'000 ? 60 : 300;
  for (size_t i = 0; i < rounds; ++i) {
    const Key& key = bed.pods[i * 7919 % bed.pods.size()];
    const FleetPod* pod = bed.fleet.pod(key.name);
    bed.now += 1s;
    bed.fleet.see(key, bed.status(pod->resource->attributes, i % 2 == 1, static_cast<int>(i)));
    const double begin = own_time();
    const Wanted wanted = want(bed.fleet, owner, bed.now);
    times.push_back(own_time() - begin);
    bed.fleet.accept(wanted);
    if (wanted.resources.size() < count)
      std::printf("too few resources\n");
  }
  std::ranges::sort(times);
  report(cat(what, ", median").c_str(), times[times.size() / 2], "ms", target);
  report(cat(what, ", p99").c_str(), times[times.size() * 99 / 100], "ms", target);
}

void measure_memory() {
  const double before = peak_mb(), begin = own_time();
  Bed bed;
  bed.add_nodes(5'000);
  for (size_t i = 0; i < 500; ++i) {
    const std::string name = cat("web-", i);
    bed.fleet.put(clone_set(name, i == 0 ? 10'000 : i < 81 ? 96 : 77, "web:1"));
    bed.bring_about(cat("CloneSet/default/", name));
  }
  std::printf("%zu pods in 500 workloads on 5,000 nodes, made in %.0f ms\n", bed.pods.size(),
              own_time() - begin);
  report("memory, records included", peak_mb() - before, "MB", 150);
  // A start: everything is told anew, and the first decision is made.
  const double start = own_time();
  Fleet again("fleet");
  for (const auto& [name, node] : bed.fleet.nodes())
    again.put_node(node);
  for (size_t i = 0; i < 500; ++i)
    again.put(clone_set(cat("web-", i), i == 0 ? 10'000 : i < 81 ? 96 : 77, "web:1"));
  for (const RecordPointer& record : bed.records)
    again.know(record->applied->key, record);
  const Wanted wanted = want(again, "CloneSet/default/web-0", bed.now);
  report("start to the first decision", (own_time() - start) / 1000, "s", 5);
  if (wanted.resources.size() < 10'000)
    std::printf("too few resources\n");
}

/// Has what some owners want carried out, as a controller does: how many acts of a kind it orders.
size_t order(const FleetWishes& wishes, const std::set<Name>& owners, const FleetRecords& records,
             Time now, const Name& kind) {
  static const FleetKinds kinds;
  RunOptions options;
  options.parallelism = wishes.acts_at_once();
  options.sequence = records.sequence();
  Due due = wishes.due(owners, records, {});
  Result<Run> made = Run::make(std::move(due.intent), std::move(due.known), {}, kinds, options);
  if (!made)
    return 0;
  size_t count = 0;
  for (const fettle::Order& each : made->start({Instant{}, now}))
    if (const auto* start = std::get_if<StartAct>(&each))
      count += start->act.key.kind == kind ? 1 : 0;
  return count;
}

size_t pods_of_workload(size_t number) { return number == 0 ? 10'000 : number < 81 ? 96 : 77; }

/// Users change the image of one workload after another, the largest one each second time.
void measure_change() {
  Bed bed;
  bed.add_nodes(5'000);
  Known known;
  for (size_t i = 0; i < 500; ++i) {
    const std::string name = cat("web-", i);
    bed.fleet.put(clone_set(name, pods_of_workload(i), "web:1"));
    bed.bring_about(cat("CloneSet/default/", name));
  }
  for (const RecordPointer& record : bed.records)
    known.emplace(record->applied->key, record);
  const FleetRecords records(known);
  const double start = own_time();
  FleetWishes wishes(bed.fleet);
  for (const auto& [owner, workload] : bed.fleet.workloads())
    wishes.add(owner);
  wishes.ask(bed.now);
  const size_t at_rest = order(wishes, wishes.take_changed(), records, bed.now, "pod");
  report("start to the right decision about all of it", (own_time() - start) / 1000, "s", 5);
  if (at_rest != 0)
    std::printf("%zu acts although nothing is to be done\n", at_rest);
  std::vector<double> large, small;
  for (size_t i = 0; i < 200; ++i) {
    const size_t number = i % 2 == 0 ? 0 : 1 + i * 7919 % 499;
    const std::string name = cat("web-", number);
    bed.now += 1s;
    const double begin = own_time();
    bed.fleet.put(clone_set(name, pods_of_workload(number), "web:2"));
    wishes.ask(bed.now);
    const size_t acts = order(wishes, wishes.take_changed(), records, bed.now, "image");
    (number == 0 ? large : small).push_back(own_time() - begin);
    if (acts != 1)
      std::printf("%zu pulls are ordered, not one\n", acts);
    bed.fleet.put(clone_set(name, pods_of_workload(number), "web:1"));
    wishes.ask(bed.now);
    wishes.take_changed();
  }
  std::ranges::sort(large);
  std::ranges::sort(small);
  report("change to act ordered, 10,000 of 50,000 pods, p99", large[large.size() * 99 / 100], "ms",
         50);
  report("change to act ordered, 77 of 50,000 pods, p99", small[small.size() * 99 / 100], "ms", 50);
}

Object pull_job(std::string_view name, std::string_view spec) {
  Object object;
  object.kind = "ImagePullJob";
  object.space = "default";
  object.name = name;
  object.document = *read_json(cat(R"({"metadata":{},"spec":)", spec, "}"));
  return object;
}

void measure_orders_of_pulls() {
  Bed bed;
  bed.add_nodes(1'000);
  FleetWishes wishes(bed.fleet);
  const double begin = own_time();
  bed.fleet.put(pull_job("all", R"({"image":"web:2","parallelism":1000})"));
  wishes.ask(bed.now);
  Known nothing;
  const size_t acts = order(wishes, wishes.take_changed(), FleetRecords(nothing), bed.now, "image");
  report("ordering pulls on 1,000 nodes", (own_time() - begin) / 1000, "s", 2);
  if (acts != 1'000)
    std::printf("%zu pulls are ordered, not 1,000\n", acts);
}

/// The shape in which OpenKruise's manager spent 94.6 % of a core (its issue 2483): many jobs that
/// never complete, on many nodes that all have the images. Once a second an image is looked at
/// anew.
void measure_many_jobs() {
  constexpr int jobs = 198, nodes = 989, rounds = 200;
  Bed bed;
  bed.add_nodes(nodes);
  FleetWishes wishes(bed.fleet);
  for (int i = 0; i < jobs; ++i)
    bed.fleet.put(pull_job(
        cat("job-", i), cat(R"({"image":"web:)", i, R"(","completionPolicy":{"type":"Never"}})")));
  for (int node = 0; node < nodes; ++node)
    for (int i = 0; i < jobs; ++i)
      bed.fleet.see_image(cat("node-", node), cat("web:", i), "", true);
  wishes.ask(bed.now);
  const double begin = own_time();
  for (int i = 0; i < rounds; ++i) {
    bed.now += 1s;
    for (int look = 0; look < 5; ++look)
      wishes.ask(bed.now);
    bed.fleet.see_image(cat("node-", i), cat("web:", i % jobs), "", i % 2 == 0);
    wishes.ask(bed.now);
  }
  report("198 jobs on 989 nodes, a change a second: share of a core",
         (own_time() - begin) / rounds / 10, "%", 2);
}

/// `part`: one measurement, for who profiles it; empty: all of them.
int run(std::string_view part) {
  const auto is_asked = [&](std::string_view name) { return part.empty() || part == name; };
  if (is_asked("memory"))
    measure_memory();
  if (is_asked("change"))
    measure_change();
  if (is_asked("pulls"))
    measure_orders_of_pulls();
  if (is_asked("jobs"))
    measure_many_jobs();
  if (is_asked("rest"))
    measure(10'000, false, 5, "want of 10,000 pods, at rest");
  if (is_asked("rolling"))
    measure(10'000, true, 5, "want of 10,000 pods, rolling");
  if (is_asked("large-rest"))
    measure(100'000, false, 80, "want of 100,000 pods, at rest");
  if (is_asked("large-rolling"))
    measure(100'000, true, 80, "want of 100,000 pods, rolling");
  return 0;
}

}  // namespace
}  // namespace fettle::workloads

int main(int count, char** words) { return fettle::workloads::run(count > 1 ? words[1] : ""); }
