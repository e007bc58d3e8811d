#include "sim/simulation.h"

#include <deque>

#include "base/text.h"
#include "reconcile/carry_out.h"
#include "sim/generate.h"
#include "sim/memory.h"
#include "sim/world.h"
#include "sim/world_check.h"
#include "store/record_codec.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

/// How likely things are to go wrong, in percent; many seeds switch some of it off altogether.
struct Faults {
  unsigned fails_before = 0, fails_after = 0, pends = 0, crashes = 0, store_fails = 0, drifts = 0;
  unsigned stops = 0, jumps = 0, losses = 0, steals = 0, full = 0;
  unsigned unsettled = 0, hints = 0, changes_of_mind = 0;
};

Faults draw_faults(Prng& prng) {
  const auto rate = [&](unsigned most) {
    return prng.chance(40) ? 0 : static_cast<unsigned>(prng.below(most + 1));
  };
  return {rate(15), rate(15), rate(40), rate(5), rate(3),  rate(30), rate(8),
          rate(20), rate(30), rate(2),  rate(5), rate(50), rate(10), rate(3)};
}

/// One seed: processes one after the other on one store, one disk and one world. Each carries an
/// intent out by the way that all verbs take.
class Simulation : public Executor, public Driver, public Audience {
 public:
  Simulation(uint64_t seed, StoreSort sort)
      : prng_(seed),
        faults_(draw_faults(prng_)),
        memory_(sort == StoreSort::file ? make_file_memory() : make_server_memory()),
        loss_prng_(seed ^ 0x10575) {
    report_.digest = seed;
    if (memory_->has_disk())
      return;
    // What happens to disks does not happen here.
    faults_.losses = faults_.full = 0;
    loss_rate_ = loss_prng_.chance(20) ? 0 : 1 + loss_prng_.below(40);
  }

  Report run() {
    sketch_ = make_sketch(prng_);
    const uint64_t edits = prng_.below(4);
    for (uint64_t i = 0; i <= edits && report_.good; ++i) {
      const uint64_t tries = 1 + prng_.below(3);
      for (uint64_t t = 0; t < tries && report_.good; ++t) {
        happen_between();
        run_package(some_sets(), prng_.chance(15));
      }
      if (i < edits)
        edit(sketch_, prng_);
    }
    faults_ = {};
    loss_rate_ = 0;
    memory_->set_full(false);
    for (int i = 0; i < 6 && report_.good && !run_package({"p", "q"}, false); ++i)
      continue;
    if (report_.good)
      check_end();
    note_records();
    return std::move(report_);
  }

  // The executor that the loop stands on.

  Moment now() override { return {now_, Time(now_.time_since_epoch()) + wall_is_off_}; }

  void start(Job job) override {
    if (dead_)
      return;
    check_start(job.act);
    paused_.erase(job.act.key);
    in_flight_[job.act.key] = {job.act,
                               now_ + Duration(1ms) * static_cast<int64_t>(1 + prng_.below(500))};
  }

  void end(const Key& key) override {
    if (const auto flight = in_flight_.find(key); flight != in_flight_.end())
      flight->second.ends = now_;
  }
  using Driver::watch;
  void watch(Driver&, const Name&) override {}

  News wait(std::optional<Instant> until) override {
    if (prng_.chance(faults_.jumps))
      wall_is_off_ += Duration(1min) * (static_cast<int64_t>(prng_.below(600)) - 300);
    News news;
    news.leave = dead_ || !report_.good;
    if (news.leave)
      return news;
    if (prng_.chance(faults_.stops))
      return ask_to_stop();
    if (prng_.chance(10))
      clean_beside();
    if (prng_.chance(faults_.hints) && !paused_.empty()) {
      auto hinted = paused_.begin();
      std::advance(hinted, static_cast<std::ptrdiff_t>(prng_.below(paused_.size())));
      news.hints.push_back(hinted->first);
      paused_.erase(hinted);
      return news;
    }
    auto first = in_flight_.end();
    for (auto it = in_flight_.begin(); it != in_flight_.end(); ++it)
      if (first == in_flight_.end() || it->second.ends < first->second.ends)
        first = it;
    if (first == in_flight_.end() && !until) {
      complain("nothing is under way and the run waits");
      news.leave = true;
    } else if (first == in_flight_.end() || (until && *until <= first->second.ends)) {
      now_ = std::max(now_, *until);
    } else {
      end_acts(first->second.ends, news);
    }
    return news;
  }

  // The driver.

  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token) override {
    std::vector<Observation> seen;
    for (const Subject& subject : subjects)
      seen.push_back(world_.observe(subject.key));
    return seen;
  }
  Result<Outcome> apply(const Act& act, const ProgressSink&, std::stop_token) override {
    return effect(act);
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }

  // Who listens.

  void moved(const Run& run) override { run_ = &run; }

 private:
  struct InFlight {
    Act act;
    Instant ends;
  };

  static bool is_meant(const Error& error) {
    return error.message.find("on purpose") != error.message.npos ||
           error.message.find("was lost") != error.message.npos;
  }

  void complain(std::string problem) {
    if (!report_.good)
      return;
    report_.good = false;
    report_.problem = std::move(problem);
    for (const std::string& line : history_)
      report_.history += line + "\n";
  }

  /// `words`: what may be said otherwise without that anything else happens.
  void note(std::string line, std::string_view words = {}) {
    report_.course = hash64(cat(report_.course, line));
    line += words;
    report_.digest = hash64(cat(report_.digest, line));
    history_.push_back(std::move(line));
    if (history_.size() > 400)
      history_.pop_front();
  }

  /// What is recorded in the end, in the order of the keys.
  void note_records() {
    std::map<std::string, const Record*> records;
    for (const auto& [key, record] : memory_->known())
      records.emplace(to_string(key), &*record);
    for (const auto& [key, record] : records)
      report_.course = hash64(cat(report_.course, key, encode(*record)));
  }

  std::set<std::string> some_sets() {
    const uint64_t dice = prng_.below(10);
    return dice == 0   ? std::set<std::string>{"p"}
           : dice == 1 ? std::set<std::string>{"q"}
                       : std::set<std::string>{"p", "q"};
  }

  /// What others do between two processes, and what people do by hand.
  void happen_between() {
    if (prng_.chance(faults_.drifts) && !world_.things.empty()) {
      auto lost = world_.things.begin();
      std::advance(lost, static_cast<std::ptrdiff_t>(prng_.below(world_.things.size())));
      note("lost " + to_string(lost->first));
      world_.lose(Key(lost->first));
      world_.restart_hosts();
    }
    if (prng_.chance(faults_.losses)) {
      const auto harm = static_cast<SimDisk::Harm>(prng_.below(3));
      note(cat("a content is harmed, ", static_cast<int>(harm)));
      is_changed_ |= harm == SimDisk::Harm::change;
      memory_->harm(prng_, harm);
    }
    memory_->set_full(prng_.chance(faults_.full));
    if (prng_.chance(25))
      run_by_hand();
  }

  /// Somebody starts, stops or removes something that is known.
  void run_by_hand() {
    std::vector<Key> keys;
    for (const auto& [key, record] : memory_->known())
      if ((key.kind == "host" || key.kind == "file" || key.kind == "pack") && record->applied)
        keys.push_back(key);
    if (keys.empty())
      return;
    std::sort(keys.begin(), keys.end());
    auto intent = std::make_shared<Intent>();
    intent->environment = "e";
    intent->sets["cli"] = Leftover::keep;
    constexpr std::array verbs{Verb::start, Verb::stop, Verb::remove};
    const Verb verb = verbs[prng_.below(verbs.size())];
    for (const Key& key : keys)
      if ((key.kind == "host" || verb == Verb::remove) && prng_.chance(40))
        intent->requests.push_back({key, verb});
    note(cat("-- by hand: ", to_string(verb), " ", intent->requests.size()));
    const bool good = carry(intent, {});
    if (good && report_.good)
      check_by_hand(*intent);
  }

  void check_by_hand(const Intent& intent) {
    for (const Request& request : intent.requests) {
      const auto thing = world_.things.find(request.key);
      const bool there = thing != world_.things.end();
      if (request.verb == Verb::start && !(there && thing->second.runs))
        complain(to_string(request.key) + " was started by hand and does not run");
      if (request.verb == Verb::stop && there && thing->second.runs)
        complain(to_string(request.key) + " was stopped by hand and runs");
      if (request.verb == Verb::remove && there)
        complain(to_string(request.key) + " was removed by hand and is there");
    }
  }

  /// Null: it could not even begin.
  std::unique_ptr<Memory::Process> begin_process() {
    auto begun =
        memory_->begin({[this] { return before_write(); },
                        [this](std::span<const Change> changes) { return after_write(changes); },
                        [this](Saying saying) { return draw_loss(saying); },
                        [this](std::string problem) { complain(std::move(problem)); }});
    if (begun)
      return *std::move(begun);
    if (!is_meant(begun.error()))
      complain("no process begins: " + to_string(begun.error()));
    note("-- cannot begin");
    return nullptr;
  }

  /// A connection is lost while nothing is said, and others act before it is made again.
  void happen_before_write() {
    if (loss_prng_.below(1'000) < loss_rate_ * 5) {
      ++report_.losses;
      note("-- the connections are lost");
      process_->lose_connections();
    }
    if (loss_prng_.chance(30))
      clean_beside();
  }

  /// What becomes of a connection to a server at a statement.
  Loss draw_loss(Saying saying) {
    if (dead_)
      return Loss::dead;
    // A commit is where most can go wrong.
    if (loss_prng_.below(1'000) >= (saying == Saying::commit ? loss_rate_ * 4 : loss_rate_))
      return Loss::none;
    ++report_.losses;
    constexpr std::array losses{Loss::before, Loss::after, Loss::away};
    const Loss loss = losses[loss_prng_.below(losses.size())];
    note(cat("-- a connection is lost, ", static_cast<int>(saying), " ", static_cast<int>(loss)));
    return loss;
  }

  bool run_package(const std::set<std::string>& sets, bool edit_in_place) {
    auto intent = std::make_shared<const Intent>(intent_of(sketch_, sets));
    check_order_is_irrelevant(*intent, sets);
    RunOptions options;
    options.plan.edit_in_place = edit_in_place;
    // Who speaks for acts alone repeats them in a host of others.
    if (edit_in_place || sets.size() == 1)
      for (const auto& [key, record] : memory_->known())
        edited_.insert(key);
    note(cat("-- a run begins", edit_in_place ? ", in place" : ""));
    return carry(intent, options, sets);
  }

  /// One process: look, plan, act, tell. True when it ended well.
  bool carry(std::shared_ptr<const Intent> intent, RunOptions options,
             const std::set<std::string>& sets = {}) {
    options.parallelism = 1 + static_cast<int>(prng_.below(4));
    options.seed = prng_.next();
    parallelism_ = options.parallelism;
    dead_ = false;
    has_stopped_ = false;
    in_flight_.clear();
    paused_.clear();
    run_ = nullptr;
    intent_ = intent;
    const auto process = begin_process();
    if (process == nullptr)
      return false;
    process_ = process.get();
    FileBlobs& blobs = process->blobs();
    blobs_ = &blobs;
    const RunContext run_context{
        kinds_, [this](const Name&) -> Driver* { return this; }, &blobs, {}};
    RunRequest run_request;
    run_request.intent = intent;
    Result<Known> known = process->known();
    if (!known) {
      note("-- cannot read");
      blobs_ = nullptr;
      return false;
    }
    run_request.known = *std::move(known);
    run_request.options = options;
    run_request.audience = this;
    run_request.wants =
        [&, was_given = false](const Run&) mutable -> Result<std::shared_ptr<const Intent>> {
      if (was_given || sets.empty() || !prng_.chance(faults_.changes_of_mind))
        return nullptr;
      was_given = true;
      note("-- something else is wanted");
      paused_.clear();
      if (options.plan.edit_in_place)
        for (const auto& [key, record] : memory_->known())
          edited_.insert(key);
      sim::edit(sketch_, prng_);
      intent_ = std::make_shared<const Intent>(intent_of(sketch_, sets));
      return intent_;
    };
    steps_before_ = report_.steps;
    const Result<RunResult> run_result =
        carry_out(run_context, process->edit(), *this, std::move(run_request));
    if (!run_result && !dead_ && !is_meant(run_result.error()))
      complain("the intent is refused: " + to_string(run_result.error()));
    const bool good = run_result && run_result->summary && run_result->summary->good();
    if (run_result && run_result->summary && !run_result->summary->stopped && !in_flight_.empty())
      complain("the run ended with acts in flight");
    if (good && !is_changed_ && report_.good)
      if (const auto lost =
              lost_content(*intent_, memory_->known(), kinds_, process->blobs_as_seen()))
        complain(cat("the run tells success, and ", *lost));
    end_process(dead_ ? "crash" : "end");
    return good;
  }

  /// What was in flight may have happened or not; nobody will ever tell.
  void end_process(std::string_view how) {
    for (const auto& [key, flight] : in_flight_)
      if (prng_.chance(50)) {
        note("happened all the same: " + to_string(key));
        static_cast<void>(world_.apply(flight.act, *blobs_));
      }
    in_flight_.clear();
    blobs_ = nullptr;
    run_ = nullptr;
    note(cat("-- ", how));
    if (!dead_)
      return;
    ++report_.crashes;
    if (memory_->has_disk() && prng_.chance(30)) {
      note("-- the power was cut");
      // Of what was done last no record may be left, and an act in a host cannot be looked at.
      for (const auto& [key, record] : memory_->known())
        edited_.insert(key);
      memory_->cut_power(prng_);
    }
  }

  Status before_write() {
    if (!memory_->has_disk())
      happen_before_write();
    if (prng_.chance(faults_.crashes) && prng_.chance(30))
      return die();
    if (prng_.chance(faults_.store_fails))
      return world_error("the store failed on purpose");
    if (prng_.chance(faults_.steals) && prng_.chance(20)) {
      note("-- somebody takes the right");
      memory_->take_right();
    }
    return {};
  }

  Status after_write(std::span<const Change> changes) {
    for (const Change& change : changes)
      if (change.type == Change::event)
        check_event(change.logged);
    return prng_.chance(faults_.crashes) && prng_.chance(30) ? die() : Status();
  }

  Error die() {
    dead_ = true;
    return world_error("the process died on purpose");
  }

  /// Another process clears contents away that nobody refers to.
  void clean_beside() { memory_->clean(); }

  News ask_to_stop() {
    News news;
    news.leave = has_stopped_ && prng_.chance(50);
    news.stop = !news.leave && !std::exchange(has_stopped_, true);
    note(news.leave ? "-- asked to leave" : "-- asked to stop");
    return news;
  }

  /// All that end at one instant are told at once.
  void end_acts(Instant instant, News& news) {
    now_ = std::max(now_, instant);
    for (auto it = in_flight_.begin(); it != in_flight_.end();) {
      if (it->second.ends > instant) {
        ++it;
        continue;
      }
      const Act act = it->second.act;
      it = in_flight_.erase(it);
      if (++report_.steps - steps_before_ > 5'000)
        complain("the run does not come to an end");
      news.ended.push_back({act.key, apply(act, [](const Progress&) {}, {})});
      paused_.erase(act.key);
      if (again_of(news.ended.back().outcome) && act.needs.empty())
        paused_[act.key] = now_;
    }
  }

  static bool again_of(const Result<Outcome>& outcome) {
    if (!outcome)
      return false;
    if (const auto* done = std::get_if<Done>(&*outcome))
      return done->again.has_value();
    if (const auto* failed = std::get_if<Failed>(&*outcome))
      return failed->again.has_value();
    return std::holds_alternative<Pending>(*outcome);
  }

  /// What looks for itself, and what puts out values, may need several calls until it settles.
  std::optional<Again> draw_again(const Act& act) {
    if (act.attempt > 4 || (act.key.kind != "config" && act.key.kind != "value") ||
        !prng_.chance(faults_.unsettled))
      return std::nullopt;
    Again again{cat("on its way, ", act.attempt), {}, Value(act.attempt), {}, {}};
    if (prng_.chance(50))
      again.progress = {1 + prng_.below(2), 0};
    if (prng_.chance(20))
      again.watch.push_back(Key{"e", "file", "f0"});
    return again;
  }

  /// What an act comes to, faults included.
  Result<Outcome> effect(const Act& act) {
    if (act.attempt < 4 && prng_.chance(faults_.pends))
      return Pending{cat("not yet, ", act.attempt), {}, {}};
    if (prng_.chance(faults_.fails_before)) {
      // Every third is left for another run.
      if (++report_.faults % 3 == 0)
        return Skipped{"not now"};
      if (std::optional<Again> again = draw_again(act))
        return Failed{world_error("refused"), {}, std::move(again)};
      return world_error("refused");
    }
    const bool lost = prng_.chance(faults_.fails_after);
    if (act.key.kind == "act" && prng_.chance(faults_.fails_before))
      return world_error("exit code 1");  // an act that fails leaves no mark of success
    Result<Outcome> outcome = world_.apply(act, *blobs_);
    if (lost) {
      ++report_.faults;
      Error error = world_error("the answer was lost");
      error.unknown_outcome = true;
      return error;
    }
    if (auto* done = outcome ? std::get_if<Done>(&*outcome) : nullptr; done != nullptr)
      done->again = draw_again(act);
    return outcome;
  }

  void check_event(const Event& event) {
    note(cat(to_string(event.type), " ", to_string(event.verb), " ", to_string(event.key), ": "),
         event.text);
    const bool has_reason = event.type == EventType::started || event.type == EventType::failed ||
                            event.type == EventType::skipped || event.type == EventType::blocked;
    if (has_reason && event.text.empty())
      complain("an event does not say why: " + to_string(event.key));
    if (cat(event.text, write_json(event.detail)).find(secret_text) != std::string::npos)
      complain("a secret is in an event of " + to_string(event.key));
  }

  void check_start(const Act& act) {
    if (in_flight_.contains(act.key))
      complain("two acts at once for " + to_string(act.key));
    if (in_flight_.size() + 1 > static_cast<size_t>(parallelism_))
      complain("more acts at once than allowed");
    if (const auto paused = paused_.find(act.key);
        paused != paused_.end() && act.attempt > 1 && now_ - paused->second < 10ms)
      complain(to_string(act.key) + " is asked again without a pause");
    const auto record = memory_->known().find(act.key);
    if (record == memory_->known().end() || !record->second->attempt ||
        record->second->attempt->verb != act.verb)
      complain("an act begins without a record: " + to_string(act.key));
    const bool leaves = act.verb == Verb::remove || act.verb == Verb::stop;
    if (!leaves && act.verb != Verb::start && act.attributes.has_deferred())
      complain("an act begins with holes: " + to_string(act.key));
    const Step* step = run_ == nullptr ? nullptr : run_->step(act.key);
    if (step != nullptr && step->why.empty())
      complain("a step without a reason: " + to_string(act.key));
    for (const Resource* resource : wanted_of(*intent_))
      if (resource->key == act.key)
        check_wanted(*resource, act);
  }

  void check_wanted(const Resource& resource, const Act& act) {
    size_t slow = resource.pool == "slow" ? 1 : 0;
    for (const Resource* other : wanted_of(*intent_))
      slow += other->pool == "slow" && in_flight_.contains(other->key) ? 1 : 0;
    if (resource.pool == "slow" && slow > slow_depth)
      complain("more acts in a pool than allowed");
    if (act.verb == Verb::remove || act.attempt > 1)
      return;
    for (const Need& need : resource.needs)
      for (const Key& key : need.keys) {
        if (need.bond == Bond::past || may_be_missing(key))
          continue;
        const auto done = memory_->known().find(key);
        // What this run does not speak for is used as it was left.
        const bool is_wanted = std::ranges::any_of(
            wanted_of(*intent_), [&](const Resource* other) { return other->key == key; });
        if (done == memory_->known().end() || !done->second->applied ||
            (is_wanted && done->second->attempt && !done->second->attempt->course))
          complain(cat(to_string(act.key), " begins before ", to_string(key), " is done"));
      }
  }

  /// What waits for a change is fine without ever having been made.
  bool may_be_missing(const Key& key) const {
    for (const Resource* resource : wanted_of(*intent_))
      if (resource->key == key)
        return std::ranges::any_of(resource->needs,
                                   [](const Need& n) { return n.when == When::changed; });
    return false;
  }

  void check_order_is_irrelevant(const Intent& intent, const std::set<std::string>& sets) {
    const Known& known = memory_->known();
    Seen seen;
    for (const Resource* resource : wanted_of(intent))
      seen[resource->key] = world_.observe(resource->key);
    for (const auto& [key, record] : known)
      seen[key] = world_.observe(key);
    const auto steps = [&](const Intent& of) {
      std::set<std::string> lines;
      const Result<Plan> plan = make_plan(of, known, seen, kinds_);
      if (!plan) {
        complain("no plan: " + to_string(plan.error()));
        return lines;
      }
      for (const Step& step : plan->steps)
        lines.insert(cat(to_string(step.key), " ", to_string(step.verb), " ", step.why));
      return lines;
    };
    const Intent other = intent_of(sketch_, sets, &prng_);
    const std::set<std::string> here = steps(intent), there = steps(other);
    std::vector<std::string> apart;
    std::ranges::set_symmetric_difference(here, there, std::back_inserter(apart));
    if (!apart.empty())
      complain("the plan depends on the order of the resources: " + join(apart, "; "));
  }

  void check_end() {
    const Intent intent = intent_of(sketch_);
    Seen seen;
    for (const Resource* resource : wanted_of(intent))
      seen[resource->key] = world_.observe(resource->key);
    const Result<Plan> plan = make_plan(intent, memory_->known(), seen, kinds_);
    if (!plan || !due_in(*plan).empty())
      complain("after convergence the plan is not empty: " +
               (plan ? due_in(*plan) : to_string(plan.error())));
    if (plan)
      check_replay(intent, seen, *plan);
    if (const auto flaw = first_flaw(intent, memory_->known(), world_, edited_))
      complain(*flaw);
  }

  /// What would be repeated on request is what the plan names as not repeated.
  void check_replay(const Intent& intent, const Seen& seen, const Plan& plan) {
    const Result<Plan> replayed =
        make_plan(intent, memory_->known(), seen, kinds_, {.replay = true});
    std::map<Key, const Step*> repeated;
    for (const Step& step : replayed->steps)
      repeated[step.key] = &step;
    for (const Step& step : plan.steps)
      if (const Step& then = *repeated.at(step.key); step.is_outlived && then.verb != Verb::run)
        complain(cat("`", to_string(step.key), "` is named as not repeated and would not be: ",
                     to_string(then.verb), ": ", then.why));
  }

  Prng prng_;
  Faults faults_;
  Report report_;
  Sketch sketch_;
  std::shared_ptr<const Intent> intent_;
  SimKinds kinds_;
  World world_;
  std::unique_ptr<Memory> memory_;
  Prng loss_prng_;
  uint64_t loss_rate_ = 0;              ///< of connections to a server, per thousand statements
  Memory::Process* process_ = nullptr;  ///< that runs
  FileBlobs* blobs_ = nullptr;          ///< its own
  const Run* run_ = nullptr;
  std::map<Key, InFlight> in_flight_;
  std::map<Key, Instant> paused_;  ///< when what is pending last said so
  std::set<Key> edited_;           ///< wanted when acts may have been repeated
  Instant now_{Duration(1h)};
  Duration wall_is_off_{0};
  bool dead_ = false, has_stopped_ = false, is_changed_ = false;
  uint64_t steps_before_ = 0;
  int parallelism_ = 1;
  std::deque<std::string> history_;
};

}  // namespace

Report simulate(uint64_t seed, StoreSort sort) { return Simulation(seed, sort).run(); }

}  // namespace fettle::sim
