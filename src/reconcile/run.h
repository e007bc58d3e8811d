#pragma once
/// Carries out an intent. It only decides: no thread, no clock, no IO. Inputs go in (an act ended,
/// a timer is due, a stop is requested), commands come out (write this record, log this, start this
/// act, wake me then), to be obeyed in their order.
///
/// The obvious way is to plan everything and then carry out the plan. It is wrong, because a plan
/// made before anything has happened has to assume the outcomes. If a service is replaced, does it
/// get another address? Assume that it does, and everything that uses the address is done again for
/// nothing. Assume that it does not, and everything keeps an address that is gone. So nothing is
/// assumed. A *pass* builds the graph and settles node after node, and a node is decided at the
/// moment when all its needs are settled (`Ready`): an output that turns out unchanged keeps those
/// that use it.
///
/// The life of a node in a pass: open, until its needs are settled; decided (`Decider`), and kept,
/// blocked or to be acted on; then a flight, which waits for a slot (`Slots`), acts, is judged
/// (`Retries`) and called again at its time (`Timers`) until it settles; then its outcome is
/// announced, and others are open no longer.
///
/// Three things are less simple.
/// * An act may succeed without having settled. Those that need it go on with that success, and are
///   decided once more if it changes.
/// * Acts inside a host are judged with the host, before anything else happens in it. If it turns
///   out in the middle that a kept host has to be recreated after all, it is too late in this pass:
///   everything possible is done, and the next pass starts with the records of that time. A pass
///   that did nothing is never repeated, and no host is recreated forever (`anew_limit`).
/// * The wish may change meanwhile (`want`), and so may the world, where others act as well.
///   Resources of which neither has changed keep their standing, and acts under way come to their
///   end as they started.
///
/// Invariants:
/// * A record says that an act has started before it starts. So after a kill, the next process
///   knows what may have happened. Acts that are instant or only look need no such record.
/// * The same inputs at the same times give the same commands.
/// * At most one act for a key is in flight, whatever the wishes.
/// * A run that is told to stop starts nothing more, and ends when the acts in flight have ended.

#include <functional>
#include <memory>
#include <span>
#include <variant>

#include "core/driver.h"
#include "core/event.h"
#include "plan/decide.h"
#include "reconcile/ready.h"
#include "reconcile/retries.h"
#include "reconcile/slots.h"
#include "reconcile/timers.h"

namespace fettle {

struct RunOptions {
  PlanOptions plan;
  int parallelism = 4;      ///< acts in flight at once; pending ones do not count
  int anew_limit = 3;       ///< recreations of a host before unsettled acts are given up
  uint64_t seed = 1;        ///< of the random pauses
  uint64_t number = 0;      ///< the number of the edit, for the records
  uint64_t sequence = 0;    ///< of the last success, for a run that does not get every record
  uint64_t continues = 0;   ///< the edit of a killed run that this one goes on with; 0: none
  Duration deadline{0};     ///< when acts that have not settled are given up; 0: never
  bool keeps_seen = false;  ///< somebody asks for `seen_before`
  /// Gives the value that stands for an output that a look did not tell, because only the act will.
  /// No value: the look of a resource that needs the output fails. Empty: there is never a value.
  std::function<std::optional<Value>(const Output& hole, const Outputs& look)> yet_to_come{};
};

struct WriteRecord {
  Key key;
  RecordPointer record;  ///< null: forget it
};
struct LogEvent {
  Event event;
  bool is_kept = true;  ///< otherwise it is told and not written
  bool is_told = true;  ///< otherwise it was told before, and is written now
};
struct StartAct {
  Act act;
  Name driver;
};
/// Tells an act that takes too long to stop.
struct EndAct {
  Key key;
};
/// Asks a driver for hints, because it may know when something has to be called again.
struct Watch {
  Name driver;
};
struct WakeAt {
  Instant instant;
};
struct Finish {};
using Order = std::variant<WriteRecord, LogEvent, StartAct, EndAct, Watch, WakeAt, Finish>;

struct ActEnd {
  Key key;
  Result<Outcome> outcome;
};
struct TimerDue {};
/// Lets the run start nothing new and end when the acts in flight have ended.
struct StopRequest {};
/// The thing with this key may have changed.
struct Hint {
  Key key;
};
using Input = std::variant<ActEnd, TimerDue, StopRequest, Hint>;

struct Failure {
  Key key;
  Name origin;
  Error error;
  std::optional<Output> missing{};     ///< why it was not called: nothing has produced this output
  bool has_outputs = false;            ///< it produced some, and the record has them
  std::string late{};                  ///< the deadline that ended it, if one did and the error
                                       ///< does not say so
  std::vector<std::string> printed{};  ///< lines that users' code printed for people
  bool has_changed = false;            ///< it changed something before it failed
};

/// An act was left for another run.
struct Skip {
  Key key;
  Name origin;
  std::string why;
};

/// An act that succeeded and has not settled, and for which the run waits no longer.
struct UnsettledAct {
  Key key;
  Name origin;
  std::string what;  ///< its last result, and why the run no longer waits
};

struct Summary {
  size_t done = 0;  ///< acts that succeeded
  size_t kept = 0;
  size_t blocked = 0;
  size_t unmet = 0;      ///< not needed: the event that they wait for did not happen
  size_t leftovers = 0;  ///< known, no longer wanted, kept
  std::vector<Failure> failures;
  std::vector<Skip> skips;
  std::vector<UnsettledAct> unsettled;
  bool stopped = false;  ///< a stop was requested before everything was settled
  bool is_late = false;  ///< the run reached its deadline before that
  bool good() const {
    return failures.empty() && skips.empty() && unsettled.empty() && blocked == 0 && !stopped;
  }
};

/// An act that waits to be called again, for people.
struct WaitingAct {
  Key key;
  std::string what;
  int calls = 0;  ///< those that have ended
  Instant due;
};

class Run {
 public:
  /// `kinds` must outlive the run. Errors: those of `Graph::build`.
  static Result<Run> make(std::shared_ptr<const Intent> intent, Known known, Seen seen,
                          const Kinds& kinds, RunOptions options);

  std::vector<Order> start(Moment now);
  /// Takes all inputs since the last call at once.
  std::vector<Order> on(std::span<const Input> inputs, Moment now);
  /// The wish has changed meanwhile. Resources with an unchanged wish keep their standing, and acts
  /// under way come to their end. `seen`: the observations for the new wish. `also_known`: records
  /// that the run does not know yet, or that others have changed; null: it is gone. What acts are
  /// under way on stays as the run knows it; anything else is decided anew. Errors: those of
  /// `Graph::build`; then the wish stays as it was.
  Result<std::vector<Order>> want(std::shared_ptr<const Intent> intent, Seen seen, Moment now,
                                  Known also_known = {});

  bool finished() const { return is_finished_; }
  const Summary& summary() const { return summary_; }
  const Known& known() const { return known_; }
  /// The observations from before the run, except of resources that it has acted on since.
  const Seen& seen() const { return seen_.now; }
  /// The look at a resource before this run acted on it. Null: there was none.
  const Observation* seen_before(const Key& key) const;

  /// Drops everything that a finished run no longer needs to report on itself. Standings, steps and
  /// records stay; the steps no longer have their wishes.
  void let_go();
  /// Moves out the records at its end.
  Known take_known() { return std::move(known_); }

  /// The last step that this run decided for a key. Null: none so far.
  const Step* step(const Key& key) const { return past(key).step ? &*past(key).step : nullptr; }
  /// The outputs of a resource that looks for itself and was only reported. Null: there are none.
  const Outputs* looked(const Key& key) const {
    return past(key).look ? &*past(key).look : nullptr;
  }
  /// How often the driver was called again for a key, in this run and in those that it goes on
  /// with.
  int calls_again(const Key& key) const { return past(key).calls_again; }
  /// Whether an act for a key has started and not ended.
  bool is_under_way(const Key& key) const;
  /// All keys with such acts, in no order.
  std::vector<Key> under_way() const;
  /// How far a key has come. `open`: it is neither wanted nor known.
  Standing standing(const Key& key) const { return past(key).outcome; }
  /// The acts that wait to be called again, the next one first.
  std::vector<WaitingAct> waiting() const;

 private:
  /// Where a step is between its decision and its end.
  enum class Phase {
    queued,    ///< decided, not started
    acting,    ///< a call is under way
    stopping,  ///< the call took too long and was told to stop
    waiting,   ///< between two calls: for its time, or for a slot
  };
  /// The news since the last call started. Later enumerators say more.
  enum class Notice {
    none,
    hint,  ///< it is called again at once
    need,  ///< a need has changed: called at once, and decided once more when it settles
  };

  /// A step that is carried out, from its decision until it has settled.
  struct Flight {
    bool has_begun() const { return phase != Phase::queued; }
    bool is_acting() const { return phase == Phase::acting || phase == Phase::stopping; }

    Step step;
    Act act;
    Box<Resource> resource;  ///< as it was when the act started
    Retries retries;
    Phase phase = Phase::queued;
    Notice notice = Notice::none;
    // Its results so far, whatever its phase.
    bool is_answered = false;       ///< a success is recorded, and those that need it go on
    bool has_changed = false;       ///< by any of its calls
    bool has_unclear_past = false;  ///< an earlier act may have made an unrecorded change
    bool is_stale = false;          ///< the wish has changed since: to be decided again
    std::vector<Key> watch;
    std::vector<Version> relies_on;
    std::optional<Failure> failure;
    /// The event of its start, if it looks for itself: written as soon as there is more to tell.
    std::optional<Event> beginning;
  };

  /// This run's knowledge of a key.
  struct Past {
    std::optional<Step> step{};     ///< the last one that was decided
    std::optional<Outputs> look{};  ///< the outputs of a resource that was only to report
    Standing outcome = Standing::open;
    int times_anew = 0;   ///< how often the host was recreated
    int calls_again = 0;  ///< after the first call of an act
  };
  struct Sight {
    Seen now;
    Seen before{};  ///< of resources that were acted on since, on request
  };
  struct Wanted {
    std::shared_ptr<const Intent> intent{};
    std::unique_ptr<Graph> graph{};  ///< null: the records will have changed when it is adopted
  };
  struct Pass {
    size_t done_before = 0;    ///< acts that had succeeded when it started
    bool is_repeated = false;  ///< something could not be carried out in this pass
    Known forgotten{};         ///< holds the keys that the graph borrows
  };
  enum class StopMode {
    none,
    asked,  ///< nothing new is started
    late,   ///< nor does the run wait: it has reached its deadline
  };

  /// How to record an unsuccessful call.
  struct AttemptEnd {
    std::string said;
    Outputs outputs{};
    bool has_failed = true;        ///< else nobody knows how it ended
    bool has_only_looked = false;  ///< it failed before it touched anything
    bool is_waiting = false;       ///< to be called again
  };

  Run(std::shared_ptr<const Intent> intent, Known known, Seen seen, const Kinds& kinds,
      RunOptions options);

  const Past& past(const Key& key) const;
  void forget_seen(NodeId id);
  bool is_ending() const { return ending_ != StopMode::none; }
  std::vector<Order> answer();
  void begin_pass();
  void end_pass();
  bool goes_on() const;
  void give_up_on_hosts();
  void take(const Input& input);
  void proceed();
  void decide(NodeId id);
  bool is_of_a_host(NodeId id) const;
  bool needs_what_is_done_again(NodeId id) const;
  Decider decider() const { return {*graph_, ready_.standings(), options_.plan}; }
  static bool has_moved(const Node& node);
  void keep(NodeId id);
  void remember_the_call(NodeId id, const Step& held);
  void adopt_when_possible();
  void adopt(Wanted next);
  std::set<Key> learn(const Known& also_known);
  void forget_what_neither_knows(const Graph& before);
  void point_steps_at_what_is_wanted();
  void start_what_fits();
  void settle(NodeId id, Standing standing);
  void announce(NodeId id, Standing standing);
  void decide_again(NodeId id, NodeId need);
  void take_back(NodeId id) { take_back(*graph_->node(id).key, ready_.standing(id)); }
  void take_back(const Key& key, Standing standing);
  void begin_act(NodeId id);
  bool resume(NodeId id);
  void start_act(NodeId id);
  void write_begin(NodeId id);
  void write_beginning(NodeId id);
  bool is_quiet(NodeId id) const;
  void release_slot(NodeId id);
  std::vector<RecordPointer> records_of_needs(NodeId id) const;
  void act_ended(NodeId id, const Result<Outcome>& ended);
  void act_answered(NodeId id, const Done& done, const Verdict& verdict);
  void act_answered(NodeId id, const Failed& failed, const Verdict& verdict);
  void act_answered(NodeId id, const Pending& pending, const Verdict& verdict);
  void act_answered(NodeId id, const Skipped& skipped, const Verdict& verdict);
  void wait_no_longer(NodeId id, std::string why);
  void act_done(NodeId id, const Done& done);
  bool record_success(NodeId id, const Done& done, bool goes_on);
  void note_life(NodeId id, const Done& done, Record& record);
  bool is_as_recorded(NodeId id, const Record& record) const;
  void request_done(NodeId id, const Done& done, bool was_kept);
  void fail(NodeId id, Failure failure, const Outputs& outputs = {}, bool has_only_looked = false);
  Failure failure_of(NodeId id, Error error) const;
  Failure failure_of(NodeId id, const Failed& failed) const;
  void call_again(NodeId id, const Verdict& verdict, const Outputs& outputs = {});
  void write_attempt(NodeId id, const AttemptEnd& end);
  const Name& origin_of(NodeId id) const;
  void time_passes();
  void call_now(NodeId id);
  void give_up_waiting();
  void take_hint(const Key& key);
  void watch_over_limits(NodeId id);
  std::shared_ptr<Record> record_of(NodeId id) const;
  void write(NodeId id, RecordPointer record);
  void forget(NodeId id);
  void log(EventType type, NodeId id, Verb verb, std::string text, Value detail = {},
           bool is_kept = true);
  void queue(NodeId id);
  const Resource& resource_at(NodeId id) const;
  bool looks_only(NodeId id) const;
  Value as_applied(const Record& record, const Resource& resource) const;
  std::optional<Attributes> filled_attributes(NodeId id, std::optional<Output>& missing) const;

  std::shared_ptr<const Intent> intent_;
  std::unique_ptr<Graph> graph_;
  Wanted next_;  ///< adopted as soon as it can be judged
  Known known_;
  Sight seen_;
  const Kinds* kinds_;
  RunOptions options_;
  Prng prng_;

  // The state of this pass.
  Ready ready_;
  Slots slots_;
  Timers timers_;
  Watchers watchers_;
  std::unordered_map<NodeId, Flight> flights_;
  Pass pass_;

  std::unordered_map<Key, Past, KeyHash> pasts_;
  StopMode ending_ = StopMode::none;
  bool is_finished_ = false;
  Summary summary_;
  Moment now_{};
  std::vector<Order> commands_;
};

/// One digest of everything that a set wants of a resource: its attributes and its needs.
Digest wish_of(const Resource& resource);

}  // namespace fettle
