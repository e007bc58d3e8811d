/// What waits to be called again: many resources with random waits on a clock of their own, to see
/// what a call costs, and a thousand on the real clock beside one that waits for a minute, to see
/// how late calls are. Everything is recorded in a real store. Prints targets and results.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "reconcile/loop.h"
#include "store/sqlite_store.h"

namespace fettle {
namespace {

class StateKind : public Kind {
 public:
  Name name() const override { return "state"; }
  Sort sort() const override { return Sort::ensuring; }
};

class OneKind : public Kinds {
 public:
  const Kind* find(const Name&) const override {
    static const StateKind kind;
    return &kind;
  }
};

/// Answers `calls` times that it waits, then that it is done; measures how late it is called.
class Waits : public Driver {
 public:
  Waits(int calls, std::function<Instant()> clock) : calls_(calls), clock_(std::move(clock)) {}

  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token) override {
    return std::vector<Observation>(subjects.size());
  }
  Result<Outcome> apply(const Act& act, const ProgressSink&, std::stop_token) override {
    const Instant now = clock_();
    const std::lock_guard lock(mutex_);
    ++applied;
    if (const auto due = due_.find(act.key); due != due_.end())
      lateness.push_back(now - due->second);
    if (act.attempt > calls_)
      return Outcome(Done{Value::dict({{"result", true}}), {}, true, {}});
    const bool is_long = dict_of(act.attributes).bool_at("is_long");
    // Whole seconds in the one, anything in the other.
    const Duration wait = is_long ? Duration(60s)
                          : unit_ == Duration(1s)
                              ? unit_ * static_cast<int>(1 + prng_.below(10))
                              : 200ms + unit_ * static_cast<int>(prng_.below(1800));
    due_[act.key] = now + wait;
    return Outcome(Pending{"not yet", wait, {}, {}});
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }

  void set_unit(Duration unit) { unit_ = unit; }
  size_t applied = 0;
  std::vector<Duration> lateness;

 private:
  int calls_;
  std::function<Instant()> clock_;
  Duration unit_{1s};
  Prng prng_{1};
  std::mutex mutex_;
  std::unordered_map<Key, Instant, KeyHash> due_;
};

/// A clock that jumps to whatever is next.
class VirtualGround : public Executor {
 public:
  Moment now() override { return {now_, Time(now_.time_since_epoch())}; }
  void start(Job job) override {
    news_.ended.push_back({job.act.key, job.driver->apply(job.act, [](const Progress&) {}, {})});
  }
  void end(const Key&) override {}
  void watch(Driver&, const Name&) override {}
  News wait(std::optional<Instant> until) override {
    if (news_.ended.empty() && until)
      now_ = std::max(now_, *until);
    return std::exchange(news_, {});
  }

 private:
  Instant now_{Duration(1h)};
  News news_;
};

std::shared_ptr<const Intent> intent_of(size_t count, bool with_long_one) {
  auto intent = std::make_shared<Intent>();
  intent->environment = "e";
  intent->sets["s"] = Leftover::keep;
  for (size_t i = 0; i < count; ++i) {
    Resource resource;
    resource.key = {"e", "state", cat("s", i)};
    resource.attributes = Value::dict({{"is_long", with_long_one && i == 0}});
    resource.driver = "state";
    resource.is_instant = true;
    intent->resources["s"].push_back(std::move(resource));
  }
  return intent;
}

Duration at(const std::vector<Duration>& sorted, double part) {
  return sorted.empty()
             ? Duration(0)
             : sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

double milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

/// The processor's seconds that a run takes.
double carry_out(Executor& executor, Waits& driver, std::shared_ptr<const Intent> intent) {
  const TemporaryDirectory folder = *TemporaryDirectory::make();
  const auto store = *open_sqlite_store((folder.path() / "fettle.db").string());
  auto begun = *store->begin_edit("e", this_process("bench", now_from_clock()));
  auto& edit = std::get<std::unique_ptr<Edit>>(begun);
  const OneKind kinds;
  RunOptions options;
  options.number = edit->number();
  Run run = *Run::make(std::move(intent), {}, {}, kinds, options);
  const std::clock_t began = std::clock();
  const Result<Summary> summary =
      Loop(run, *edit, executor, [&](const Name&) { return &driver; }, nullptr).carry_out();
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  if (!summary || !summary->good())
    std::printf("wrong: the run did not succeed\n");
  return seconds;
}

void on_a_clock_of_its_own() {
  VirtualGround executor;
  Waits driver(20, [&] { return executor.now().instant; });
  const double seconds = carry_out(executor, driver, intent_of(10'000, false));
  const auto early = std::ranges::count_if(driver.lateness, [](Duration d) { return d < 0s; });
  std::printf(
      "10,000 pending, random waits, a clock of their own: %.0f calls/s (target 100,000); "
      "%td of %zu before they were due (target 0)\n",
      static_cast<double>(driver.applied) / seconds, early, driver.applied);
}

void on_the_real_clock() {
  Interrupt interrupt;
  Threads executor(interrupt);
  Waits driver(3, [&] { return executor.now().instant; });
  driver.set_unit(1ms);
  carry_out(executor, driver, intent_of(1'000, false));
  std::vector<Duration> late = driver.lateness;
  std::ranges::sort(late);
  std::printf(
      "1,000 pending, the real clock: called %.2f ms after they were due at p50, %.2f at "
      "p99 (target 10), %.2f at most\n",
      milliseconds(at(late, 0.5)), milliseconds(at(late, 0.99)), milliseconds(late.back()));
}

/// One waits for a minute, on the clock that jumps: the others end as without it.
void beside_a_long_one() {
  const auto last = [](bool with_long_one) {
    VirtualGround executor;
    Waits driver(1, [&] { return executor.now().instant; });
    driver.set_unit(1ms);
    carry_out(executor, driver, intent_of(1'000, with_long_one));
    std::ranges::sort(driver.lateness);
    return milliseconds(driver.lateness.back());
  };
  std::printf(
      "1,000 pending beside a wait of 60 s: called %.3f ms after they were due at most "
      "(target 1), without it %.3f\n",
      last(true), last(false));
}

}  // namespace
}  // namespace fettle

int main() {
  fettle::on_a_clock_of_its_own();
  fettle::on_the_real_clock();
  fettle::beside_a_long_one();
}
