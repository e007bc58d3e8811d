/// What deciding about rollouts costs: a CloneSet of 10,000 and of 100,000 pods is asked after each
/// of many changes, and a fleet of 5,000 nodes and 50,000 pods is held. Prints targets and results.

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "base/text.h"
#include "kinds/pod.h"
#include "value/json.h"
#include "workloads/want.h"

namespace fettle::workloads {
namespace {

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
  Value status(const Value& attributes, bool is_ready, int number) const {
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
  void make(const Resource& resource, const Name& owner, int number) {
    auto record = std::make_shared<Record>();
    record->applied = resource;
    record->outputs = Value::dict({});
    record->wanted_by[owner] = {};
    records.push_back(record);
    fleet.know(resource.key, record);
    if (resource.key.kind != "pod")
      return;
    pods.push_back(resource.key);
    fleet.see(resource.key, status(resource.attributes, true, number));
  }
  void bring_about(const Name& owner) {
    const Wanted wanted = want(fleet, owner, now);
    fleet.accept(owner, wanted.intent);
    int number = 0;
    for (const Resource& resource : wanted.intent.resources.at(owner))
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
  bed.fleet.accept(owner, first.intent);
  std::vector<double> times;
  const size_t rounds = count >= 100'000 ? 60 : 300;
  for (size_t i = 0; i < rounds; ++i) {
    const Key& key = bed.pods[i * 7919 % bed.pods.size()];
    const Pod* pod = bed.fleet.pod(key.name);
    bed.now += 1s;
    bed.fleet.see(key, bed.status(pod->resource.attributes, i % 2 == 1, static_cast<int>(i)));
    const double begin = own_time();
    const Wanted wanted = want(bed.fleet, owner, bed.now);
    times.push_back(own_time() - begin);
    bed.fleet.accept(owner, wanted.intent);
    if (wanted.intent.resources.at(owner).size() < count)
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
  if (wanted.intent.resources.begin()->second.size() < 10'000)
    std::printf("too few resources\n");
}

int run() {
  measure_memory();
  measure(10'000, false, 5, "want of 10,000 pods, at rest");
  measure(10'000, true, 5, "want of 10,000 pods, rolling");
  measure(100'000, false, 80, "want of 100,000 pods, at rest");
  measure(100'000, true, 80, "want of 100,000 pods, rolling");
  return 0;
}

}  // namespace
}  // namespace fettle::workloads

int main() { return fettle::workloads::run(); }
