#include "sim/simulation.h"

#include <deque>

#include "base/text.h"
#include "plan/make_plan.h"
#include "reconcile/run.h"
#include "sim/generate.h"
#include "sim/world.h"
#include "sim/world_check.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

/// How likely things are to go wrong, in percent; many seeds switch some of it off altogether.
struct Faults {
  unsigned fails_before = 0, fails_after = 0, pends = 0, crashes = 0, store_fails = 0, drifts = 0;
};

Faults draw_faults(Prng& prng) {
  const auto rate = [&](unsigned most) {
    return prng.chance(40) ? 0 : static_cast<unsigned>(prng.below(most + 1));
  };
  return {rate(15), rate(15), rate(40), rate(5), rate(3), rate(30)};
}

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : prng_(seed), faults_(draw_faults(prng_)) {
    report_.digest = seed;
  }

  Report run() {
    sketch_ = make_sketch(prng_);
    const uint64_t edits = prng_.below(4);
    for (uint64_t i = 0; i <= edits && report_.good; ++i) {
      const uint64_t tries = 1 + prng_.below(3);
      for (uint64_t t = 0; t < tries && report_.good; ++t)
        run_once();
      if (i < edits)
        edit(sketch_, prng_);
    }
    faults_ = {};
    for (int i = 0; i < 6 && report_.good && !run_once(); ++i)
      continue;
    if (report_.good)
      check_end();
    return std::move(report_);
  }

 private:
  struct InFlight {
    Act act;
    Time ends;
  };

  void complain(std::string problem) {
    if (!report_.good)
      return;
    report_.good = false;
    report_.problem = std::move(problem);
    for (const std::string& line : history_)
      report_.history += line + "\n";
  }

  void note(std::string line) {
    report_.digest = hash64(cat(report_.digest, line));
    history_.push_back(std::move(line));
    if (history_.size() > 60)
      history_.pop_front();
  }

  /// One process: observe, plan, act. True when it ended well.
  bool run_once() {
    if (prng_.chance(faults_.drifts) && !world_.things.empty()) {
      auto lost = world_.things.begin();
      std::advance(lost, static_cast<std::ptrdiff_t>(prng_.below(world_.things.size())));
      note("lost " + to_string(lost->first));
      world_.lose(Key(lost->first));
    }
    auto intent = std::make_shared<const Intent>(intent_of(sketch_));
    intent_ = intent;
    Seen seen;
    for (const Resource& resource : intent->resources.at("p"))
      seen[resource.key] = world_.observe(resource.key);
    for (const auto& [key, record] : store_)
      seen[key] = world_.observe(key);
    check_order_is_irrelevant(*intent, seen);
    RunOptions options;
    options.parallelism = 1 + static_cast<int>(prng_.below(4));
    options.seed = prng_.next();
    parallelism_ = options.parallelism;
    Result<Run> made = Run::make(intent, store_, seen, kinds_, options);
    if (!made) {
      complain("the intent is refused: " + to_string(made.error()));
      return false;
    }
    Run run = std::move(*made);
    in_flight_.clear();
    wake_ = {};
    note("-- a run begins");
    if (!obey(run, run.start(now_)))
      return crash();
    const size_t limit = report_.steps + 5'000;
    while (!run.finished() && report_.good) {
      if (report_.steps > limit) {
        complain("the run does not come to an end");
        return false;
      }
      const Input input = next_input();
      if (!report_.good)
        return false;
      if (!obey(run, run.on(input, now_)))
        return crash();
    }
    if (!in_flight_.empty())
      complain("the run ended with acts in flight");
    return run.summary().good();
  }

  /// The next thing that happens: an act ends or the timer is due.
  Input next_input() {
    auto first = in_flight_.end();
    for (auto it = in_flight_.begin(); it != in_flight_.end(); ++it)
      if (first == in_flight_.end() || it->second.ends < first->second.ends)
        first = it;
    if (first == in_flight_.end() && !wake_) {
      complain("nothing is under way and the run waits");
      return TimerDue{};
    }
    if (first == in_flight_.end() || (wake_ && *wake_ <= first->second.ends)) {
      now_ = std::max(now_, *wake_);
      wake_.reset();
      return TimerDue{};
    }
    now_ = std::max(now_, first->second.ends);
    const Act act = first->second.act;
    in_flight_.erase(first);
    ++report_.steps;
    return ActEnded{act.key, effect(act)};
  }

  /// What an act comes to, faults included.
  Result<Outcome> effect(const Act& act) {
    if (act.verb != Verb::remove && act.attempt < 4 && prng_.chance(faults_.pends))
      return Pending{cat("not yet, ", act.attempt), {}, {}};
    if (prng_.chance(faults_.fails_before)) {
      // Every third is left for another run.
      if (++report_.faults % 3 == 0)
        return Skipped{"not now"};
      return world_error("refused");
    }
    const bool lost = prng_.chance(faults_.fails_after);
    if (act.key.kind == "act" && prng_.chance(faults_.fails_before))
      return world_error("exit code 1");  // an act that fails leaves no mark of success
    Result<Outcome> outcome = world_.apply(act);
    if (lost) {
      ++report_.faults;
      Error error = world_error("the answer was lost");
      error.unknown_outcome = true;
      return error;
    }
    return outcome;
  }

  /// Carries commands out. False: the process died between two of them.
  bool obey(Run& run, const std::vector<Order>& commands) {
    for (const Order& command : commands) {
      if (prng_.chance(faults_.crashes) && prng_.chance(30))
        return false;
      if (const auto* write = std::get_if<WriteRecord>(&command)) {
        if (prng_.chance(faults_.store_fails))
          return false;
        if (write->record == nullptr)
          store_.erase(write->key);
        else
          store_[write->key] = write->record;
      } else if (const auto* log = std::get_if<LogEvent>(&command)) {
        check_event(log->event);
      } else if (const auto* start = std::get_if<StartAct>(&command)) {
        check_start(run, start->act);
        in_flight_[start->act.key] = {
            start->act, now_ + Duration(1ms) * static_cast<int64_t>(1 + prng_.below(500))};
      } else if (const auto* wake = std::get_if<WakeAt>(&command)) {
        if (wake->time < now_)
          complain("a timer in the past");
        wake_ = wake->time;
      }
    }
    return true;
  }

  /// What was in flight may have happened or not; nobody will ever tell.
  bool crash() {
    ++report_.crashes;
    note("-- crash");
    for (const auto& [key, flight] : in_flight_)
      if (prng_.chance(50)) {
        note("happened all the same: " + to_string(key));
        static_cast<void>(world_.apply(flight.act));
      }
    in_flight_.clear();
    return false;
  }

  void check_event(const Event& event) {
    note(cat(to_string(event.type), " ", to_string(event.verb), " ", to_string(event.key), ": ",
             event.text));
    if ((event.type == EventType::started || event.type == EventType::failed ||
         event.type == EventType::skipped || event.type == EventType::blocked) &&
        event.text.empty())
      complain("an event does not say why: " + to_string(event.key));
    if (cat(event.text, write_json(event.detail)).find(secret_text) != std::string::npos)
      complain("a secret is in an event of " + to_string(event.key));
  }

  void check_start(const Run& run, const Act& act) {
    if (in_flight_.contains(act.key))
      complain("two acts at once for " + to_string(act.key));
    if (in_flight_.size() + 1 > static_cast<size_t>(parallelism_))
      complain("more acts at once than allowed");
    const auto record = store_.find(act.key);
    if (record == store_.end() || !record->second->attempt)
      complain("an act begins without a record: " + to_string(act.key));
    if (act.verb != Verb::remove && act.attributes.has_deferred())
      complain("an act begins with holes: " + to_string(act.key));
    const Step* step = run.step(act.key);
    if (step != nullptr && step->why.empty())
      complain("a step without a reason: " + to_string(act.key));
    if (act.verb == Verb::remove)
      return;
    for (const Resource& resource : intent_->resources.at("p")) {
      if (resource.key != act.key)
        continue;
      for (const Need& need : resource.needs)
        for (const Key& key : need.keys)
          if (!store_.contains(key) || !store_[key]->applied || store_[key]->attempt)
            complain(cat(to_string(act.key), " begins before ", to_string(key), " is done"));
    }
  }

  void check_order_is_irrelevant(const Intent& intent, const Seen& seen) {
    const auto steps = [&](const Intent& of) {
      std::set<std::string> lines;
      const Result<Plan> plan = make_plan(of, store_, seen, kinds_);
      if (!plan) {
        complain("no plan: " + to_string(plan.error()));
        return lines;
      }
      for (const Step& step : plan->steps)
        lines.insert(cat(to_string(step.key), " ", to_string(step.verb), " ", step.why));
      return lines;
    };
    const Intent other = intent_of(sketch_, &prng_);
    if (steps(intent) != steps(other))
      complain("the plan depends on the order of the resources");
  }

  /// What looks for itself does so in every run, and what stands on it is judged after that.
  static std::string due_in(const Plan& plan) {
    std::string due;
    for (const Step& step : plan.steps)
      if (step.verb != Verb::keep && step.verb != Verb::ensure && !step.maybe)
        due += cat(to_string(step.verb), " ", to_string(step.key), ": ", step.why, "; ");
    return due;
  }

  void check_end() {
    const Intent intent = intent_of(sketch_);
    Seen seen;
    for (const Resource& resource : intent.resources.at("p"))
      seen[resource.key] = world_.observe(resource.key);
    const Result<Plan> plan = make_plan(intent, store_, seen, kinds_);
    if (!plan || !due_in(*plan).empty())
      complain("after convergence the plan is not empty: " +
               (plan ? due_in(*plan) : to_string(plan.error())));
    if (const auto flaw = first_flaw(intent, store_, world_))
      complain(*flaw);
  }

  Prng prng_;
  Faults faults_;
  Report report_;
  Sketch sketch_;
  std::shared_ptr<const Intent> intent_;
  SimKinds kinds_;
  World world_;
  Known store_;
  std::map<Key, InFlight> in_flight_;
  std::optional<Time> wake_;
  Time now_{Duration(1h)};
  int parallelism_ = 1;
  std::deque<std::string> history_;
};

}  // namespace

Report simulate(uint64_t seed) { return Simulation(seed).run(); }

}  // namespace fettle::sim
