#pragma once
/// Carries out an intent. Decides only: no thread, no clock, no IO. Inputs go in (an act ended, a
/// timer is due, somebody asks to stop), commands come out (write this record, log this, start this
/// act, wake me then), to be obeyed in their order.
///
/// The obvious way is to plan everything and then carry out the plan. It is wrong, because a plan
/// made before anything has happened has to assume what comes of it. If a service is made anew,
/// does it get another address? Assume that it does, and everything that uses the address is done
/// again for nothing; assume that it does not, and it keeps an address that is gone. So nothing is
/// assumed. A *pass* builds the graph and settles node after node, and a node is decided at the
/// moment when all its needs are settled (`Ready`): an output that turns out unchanged keeps those
/// that use it.
///
/// The life of a node in a pass: open, until its needs are settled; decided (`Decider`), and kept,
/// blocked or to be acted on; then a flight, which waits for a slot (`Slots`), acts, is judged
/// (`Retries`) and called again at its time (`Timers`) until it settles; then its outcome is
/// announced, and others are open no longer.
///
/// Three things are not so simple.
/// * An act may succeed and not have settled. Those that need it go on with that success, and are
///   decided once more if it turns into another one.
/// * What happens inside a host is judged with the host, before anything else happens in it. When
///   it turns out in the middle that a host that was kept has to be made anew after all, it is too
///   late in this pass: what can be done is done, and the next pass begins with what is known then.
///   A pass that did nothing is never repeated, and no host is made anew for ever (`anew_limit`).
/// * Somebody may want something else meanwhile (`want`). What is wanted as before keeps its
///   standing, and what is under way comes to its end, as it was begun.
///
/// Invariants:
/// * A record says that an act was begun before it begins, so that whoever comes after a process that
///   was killed knows what may have happened. What is instant or only looks needs no such record.
/// * The same inputs at the same times give the same commands.
/// * At most one act for a key is in flight, whoever wants what.
/// * A run that is told to stop starts nothing more, and ends when what is in flight has ended.

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
  int parallelism = 4;    ///< acts in flight at once; what is pending does not count
  int anew_limit = 3;     ///< how often a host is made anew before what does not settle is given up
  uint64_t seed = 1;      ///< of the random pauses
  uint64_t number = 0;    ///< of the edit, for the records
  uint64_t sequence = 0;  ///< of the last success, when the run is not told of every record
  uint64_t continues = 0;   ///< the edit whose run was killed and goes on; 0: it begins
  Duration deadline{0};     ///< when what has not settled is given up; 0: never
  bool keeps_seen = false;  ///< `seen_before` is asked for
  /// What stands for an output that a look did not tell, since only the act will; none: the look of
  /// whoever needs it fails. Empty: nothing stands for it.
  std::function<std::optional<Value>(const Output& hole, const Value& look)> yet_to_come{};
};

struct WriteRecord {
  Key key;
  RecordPointer record;  ///< none: forget it
};
struct LogEvent {
  Event event;
  bool is_kept = true;  ///< else it is told and not written
  bool is_told = true;  ///< else it was, and is written now
};
struct StartAct {
  Act act;
  Name driver;
};
/// An act that takes too long is told to stop.
struct EndAct {
  Key key;
};
/// A driver may know when something has to be called again.
struct Watch {
  Name driver;
};
struct WakeAt {
  Instant instant;
};
struct Finish {};
using Order = std::variant<WriteRecord, LogEvent, StartAct, EndAct, Watch, WakeAt, Finish>;

struct ActEnded {
  Key key;
  Result<Outcome> outcome;
};
struct TimerDue {};
/// Starts nothing new and ends when what is in flight has ended.
struct StopAsked {};
/// Something may be another one now.
struct Hint {
  Key key;
};
using Input = std::variant<ActEnded, TimerDue, StopAsked, Hint>;

struct Failure {
  Key key;
  Name origin;
  Error error;
  std::optional<Output> missing{};     ///< why it was not called: nothing has put this out
  bool has_outputs = false;            ///< it left some, and the record has them
  std::string late{};                  ///< which deadline ended it, if one did and does not say so
  std::vector<std::string> printed{};  ///< lines that code of users said to people
  bool has_changed = false;            ///< it changed something before it failed
};

/// An act that was left for another run.
struct Skip {
  Key key;
  Name origin;
  std::string why;
};

/// An act that succeeded, has not settled, and is waited for no longer.
struct Unsettled {
  Key key;
  Name origin;
  std::string what;  ///< what it came to at last, and why nobody waits
};

struct Summary {
  size_t done = 0;  ///< acts that succeeded
  size_t kept = 0;
  size_t blocked = 0;
  size_t unmet = 0;      ///< not needed, since what they wait for has not come about
  size_t leftovers = 0;  ///< known, no longer wanted, kept
  std::vector<Failure> failures;
  std::vector<Skip> skips;
  std::vector<Unsettled> unsettled;
  bool stopped = false;  ///< somebody asked to stop before all was settled
  bool is_late = false;  ///< the deadline of the run came before
  bool good() const {
    return failures.empty() && skips.empty() && unsettled.empty() && blocked == 0 && !stopped;
  }
};

/// Something that is called again, for people.
struct Waiting {
  Key key;
  std::string what;
  int calls = 0;  ///< that have ended
  Instant due;
};

class Run {
 public:
  /// `kinds` must outlive the run. Errors: as `Graph::build`.
  static Result<Run> make(std::shared_ptr<const Intent> intent, Known known, Seen seen,
                          const Kinds& kinds, RunOptions options);

  std::vector<Order> start(Moment now);
  /// All that has come since the last call, in one go.
  std::vector<Order> on(std::span<const Input> inputs, Moment now);
  /// Somebody wants something else meanwhile. What is wanted as before keeps its standing, what is
  /// under way comes to its end. `seen`: what was looked at for it. `also_known`: records of what
  /// the run has not heard of yet. Errors: as `Graph::build`; then nothing is another one.
  Result<std::vector<Order>> want(std::shared_ptr<const Intent> intent, Seen seen, Moment now,
                                  Known also_known = {});

  bool finished() const { return is_finished_; }
  const Summary& summary() const { return summary_; }
  const Known& known() const { return known_; }
  /// What was seen before it, but for what it has acted on since.
  const Seen& seen() const { return seen_.now; }
  /// What was looked at before this run acted on it; none: it was not looked at.
  const Observation* seen_before(const Key& key) const;

  /// Gives up what a finished run does not need to tell of itself: standings, steps and what is
  /// known stay. The steps do not say any more what was wanted.
  void let_go();
  /// What was known at its end, taken out of it.
  Known take_known() { return std::move(known_); }

  /// The last step that was decided for a key in this run; none before that.
  const Step* step(const Key& key) const { return past(key).step ? &*past(key).step : nullptr; }
  /// What something that looks for itself and was only to report put out; none when it did not.
  const Value* looked(const Key& key) const { return past(key).look ? &*past(key).look : nullptr; }
  /// How often the driver was called again for a key, in this run and in those that it continues.
  int calls_again(const Key& key) const { return past(key).calls_again; }
  /// Whether an act for a key was begun and has not ended.
  bool is_under_way(const Key& key) const;
  /// All of these, in no order.
  std::vector<Key> under_way() const;
  /// How far a key has come; `open` for one that nobody wants or knows.
  Standing standing(const Key& key) const { return past(key).outcome; }
  /// What waits to be called again, the next one first.
  std::vector<Waiting> waiting() const;

 private:
  /// Where a step is between its decision and its end.
  enum class Phase {
    queued,    ///< decided, and not begun
    acting,    ///< a call is under way
    stopping,  ///< it is, has taken too long, and was told to stop
    waiting,   ///< between two calls: for its time, or for a slot
  };
  /// What came since the last call began; the later one says more.
  enum class Notice {
    none,
    hint,  ///< it is called again at once
    need,  ///< what it needs has changed: that, and decided once more when it settles
  };

  /// A step that is carried out, from its decision until it has settled.
  struct Flight {
    bool has_begun() const { return phase != Phase::queued; }
    bool is_acting() const { return phase == Phase::acting || phase == Phase::stopping; }

    Step step;
    Act act;
    Boxed<Resource> resource;  ///< as it was when the act began
    Retries retries;
    Phase phase = Phase::queued;
    Notice notice = Notice::none;
    // What it has come to by now, whatever its phase.
    bool is_answered = false;       ///< it is recorded as a success, and those that need it go on
    bool has_changed = false;       ///< something, with any of its calls
    bool has_unclear_past = false;  ///< an act before it may have changed something, unrecorded
    bool is_stale = false;          ///< another one is wanted by now: to be decided anew
    std::vector<Key> watch;
    std::vector<Version> relies_on;
    std::optional<Failure> failure;
    /// That it began, of what looks for itself: written as soon as there is more to tell.
    std::optional<Event> beginning;
  };

  /// What has become of a key in this run.
  struct Past {
    std::optional<Step> step{};   ///< the last one that was decided
    std::optional<Value> look{};  ///< what was put out by what was only to report
    Standing outcome = Standing::open;
    int times_anew = 0;   ///< a host was made so
    int calls_again = 0;  ///< after the first of an act
  };
  struct Sight {
    Seen now;
    Seen before{};  ///< of what has been acted on since, when somebody asks for it
  };
  struct Wanted {
    std::shared_ptr<const Intent> intent{};
    std::unique_ptr<Graph> graph{};  ///< none: when it is adopted, other things will be known
  };
  struct Pass {
    size_t done_before = 0;    ///< acts that had succeeded when it began
    bool is_repeated = false;  ///< something could not be carried out in this one
    Known forgotten{};         ///< keeps the keys that the graph borrows
  };
  enum class Ending {
    none,
    asked,  ///< nothing new is started
    late,   ///< nor is anything waited for: the run has come to its deadline
  };

  /// How a call that was no success is recorded.
  struct AttemptEnd {
    std::string said;
    Value outputs{};
    bool has_failed = true;        ///< else nobody knows how it ended
    bool has_only_looked = false;  ///< it failed before it touched anything
    bool is_waiting = false;       ///< to be called again
  };

  Run(std::shared_ptr<const Intent> intent, Known known, Seen seen, const Kinds& kinds,
      RunOptions options);

  const Past& past(const Key& key) const;
  void forget_seen(NodeId id);
  bool is_ending() const { return ending_ != Ending::none; }
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
  void forget_what_neither_knows(const Graph& before);
  void point_steps_at_what_is_wanted();
  void start_what_fits();
  void settle(NodeId id, Standing standing);
  void announce(NodeId id, Standing standing);
  void decide_again(NodeId id, NodeId need);
  void take_back(NodeId id);
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
  void fail(NodeId id, Failure failure, const Value& outputs = {}, bool has_only_looked = false);
  Failure failure_of(NodeId id, Error error) const;
  Failure failure_of(NodeId id, const Failed& failed) const;
  void call_again(NodeId id, const Verdict& verdict, const Value& outputs = {});
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
  std::optional<Value> filled_attributes(NodeId id, std::optional<Output>& missing) const;

  std::shared_ptr<const Intent> intent_;
  std::unique_ptr<Graph> graph_;
  Wanted next_;  ///< as soon as it can be judged
  Known known_;
  Sight seen_;
  const Kinds* kinds_;
  RunOptions options_;
  Prng prng_;

  // What is going on in this pass.
  Ready ready_;
  Slots slots_;
  Timers timers_;
  Watchers watchers_;
  std::unordered_map<NodeId, Flight> flights_;
  Pass pass_;

  std::unordered_map<Key, Past, KeyHash> pasts_;
  Ending ending_ = Ending::none;
  bool is_finished_ = false;
  Summary summary_;
  Moment now_{};
  std::vector<Order> commands_;
};

/// What a set wants of a resource, as one digest: its attributes and its needs.
Digest wish_of(const Resource& resource);

}  // namespace fettle
