/// `make_plan` over many resources of which one changed, and the run over a world that answers at
/// once. Prints targets and results.

#include <sys/resource.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "base/text.h"
#include "plan/make_plan.h"
#include "reconcile/run.h"

namespace fettle {
namespace {

class OneKind : public Kind, public Kinds {
 public:
  Name name() const override { return "thing"; }
  Sort sort() const override { return Sort::action; }
  const Kind* find(const Name&) const override { return this; }
};

/// The processor time of this program in seconds: what others do on the machine does not count.
double own_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_since(double began) { return own_time() - began; }

size_t resident_kb() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4;
}

/// Things in chains of ten, each after the one before, the attributes shared.
std::shared_ptr<Intent> intent_of(size_t count) {
  auto intent = std::make_shared<Intent>();
  intent->environment = "e";
  intent->sets["p"] = Leftover::keep;
  std::vector<Resource>& resources = intent->resources["p"];
  resources.reserve(count);
  const Value attributes = Value::dict({{"image", "a"}, {"env", Value::dict({{"A", "1"}})}});
  const Name kind = "thing", environment = "e", driver = "d", origin = "main.star:1:1";
  for (size_t i = 0; i < count; ++i) {
    Resource resource;
    resource.key = {environment, kind, std::to_string(i)};
    resource.attributes = attributes;
    resource.driver = driver;
    resource.origin = origin;
    if (i % 10 != 0)
      resource.needs.push_back({{resources.back().key}});
    resources.push_back(std::move(resource));
  }
  return intent;
}

Known known_of(const Intent& intent) {
  Known known;
  uint64_t sequence = 0;
  for (const Resource& resource : intent.resources.at("p")) {
    auto record = std::make_shared<Record>();
    record->applied = resource;
    record->incarnation = 1;
    record->sequence = ++sequence;
    record->wanted_by["p"] = wish_of(resource);
    known.emplace(resource.key, std::move(record));
  }
  return known;
}

void measure_plan(size_t count, double target_ms) {
  OneKind kinds;
  const std::shared_ptr<Intent> intent = intent_of(count);
  const Known known = known_of(*intent);
  intent->resources["p"][count / 2].attributes = Value::dict({{"image", "b"}});
  double best = 1e9;
  const size_t before = resident_kb();
  size_t used = 0;
  for (int i = 0; i < 5; ++i) {
    const auto began = own_time();
    const Result<Plan> plan = make_plan(*intent, known, {}, kinds);
    best = std::min(best, seconds_since(began));
    used = std::max(used, resident_kb() - std::min(before, resident_kb()));
    size_t due = 0;
    for (const Step& step : plan->steps)
      due += step.verb != Verb::keep ? 1 : 0;
    if (due != 1)
      std::printf("wrong: %zu steps are due\n", due);
  }
  std::printf("make_plan, %zu resources, one changed: %.0f ms", count, best * 1e3);
  if (target_ms > 0)
    std::printf(" (target %.0f)", target_ms);
  std::printf(", %.0f bytes a resource (target 1000)\n",
              1024.0 * static_cast<double>(used) / static_cast<double>(count));
}

void measure_run(size_t count) {
  OneKind kinds;
  RunOptions options;
  options.parallelism = 16;
  Run run = *Run::make(intent_of(count), {}, {}, kinds, options);
  const auto began = own_time();
  std::vector<Key> in_flight;
  size_t steps = 0;
  const auto obey = [&](std::vector<Order> orders) {
    for (Order& order : orders)
      if (auto* start = std::get_if<StartAct>(&order))
        in_flight.push_back(start->act.key);
  };
  obey(run.start({Instant(1s), Time(1s)}));
  for (size_t next = 0; !run.finished(); ++next, ++steps)
    obey(run.on(std::array<Input, 1>{ActEnd{in_flight[next], Outcome(Done{})}},
                {Instant(2s), Time(2s)}));
  std::printf("run over a world that answers at once: %.0f steps/s (target 100000)\n",
              static_cast<double>(steps) / seconds_since(began));
}

}  // namespace
}  // namespace fettle

/// With `run` as its argument it measures the run only, for a look with a profiler.
int main(int count, char** arguments) {
  if (count < 2 || std::string_view(arguments[1]) != "run") {
    fettle::measure_plan(100'000, 150);
    fettle::measure_plan(1'000'000, 0);
  }
  fettle::measure_run(200'000);
}
