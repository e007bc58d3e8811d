#pragma once
/// Carries out an intent. Decides only: no thread, no clock, no IO. Inputs go in (an act ended, a
/// timer is due, somebody asks to stop), commands come out (write this record, log this, start this
/// act, wake me then), to be obeyed in their order: whatever is written stands before the act that
/// follows it. The same inputs at the same times give the same commands.
///
/// A pass builds the graph and settles node after node: a node is decided at the moment when all
/// its needs are settled, so an output that turns out unchanged keeps those that use it. When a
/// decision cannot be carried out in this pass (a host that was kept has to be made anew after
/// all), the pass ends as far as it can and the next one begins with what is known then.

#include <deque>
#include <set>
#include <span>
#include <variant>

#include "base/prng.h"
#include "core/driver.h"
#include "core/event.h"
#include "plan/decide.h"

namespace fettle {

struct RunOptions {
  PlanOptions plan;
  int parallelism = 4;  ///< acts in flight at once; what is pending does not count
  int anew_limit = 3;   ///< how often a host is made anew before what does not settle is given up
  uint64_t seed = 1;    ///< of the random pauses
  uint64_t number = 0;  ///< of the run, for the records
};

struct WriteRecord {
  Key key;
  RecordPointer record;  ///< none: forget it
};
struct LogEvent {
  Event event;
};
struct StartAct {
  Act act;
  Name driver;
};
struct WakeAt {
  Instant instant;
};
struct Finish {};
using Order = std::variant<WriteRecord, LogEvent, StartAct, WakeAt, Finish>;

struct ActEnded {
  Key key;
  Result<Outcome> outcome;
};
struct TimerDue {};
/// Starts nothing new and ends when what is in flight has ended.
struct StopAsked {};
using Input = std::variant<ActEnded, TimerDue, StopAsked>;

struct Failure {
  Key key;
  Name origin;
  Error error;
};

/// An act that was left for another run.
struct Skip {
  Key key;
  Name origin;
  std::string why;
};

struct Summary {
  size_t done = 0;  ///< acts that succeeded
  size_t kept = 0;
  size_t blocked = 0;
  size_t leftovers = 0;  ///< known, no longer wanted, kept
  std::vector<Failure> failures;
  std::vector<Skip> skips;
  bool stopped = false;  ///< somebody asked to stop before all was settled
  bool good() const { return failures.empty() && skips.empty() && blocked == 0 && !stopped; }
};

class Run {
 public:
  /// `kinds` must outlive the run. Errors: as `Graph::build`.
  static Result<Run> make(std::shared_ptr<const Intent> intent, Known known, Seen seen,
                          const Kinds& kinds, RunOptions options);

  std::vector<Order> start(Moment now);
  /// All that has come since the last call, in one go.
  std::vector<Order> on(std::span<const Input> inputs, Moment now);

  bool finished() const { return finished_; }
  const Summary& summary() const { return summary_; }
  const Known& known() const { return known_; }

  /// The last step that was decided for a key in this run; none before that.
  const Step* step(const Key& key) const;
  /// What something that looks for itself and was only to report put out; none when it did not.
  const Value* looked(const Key& key) const;
  /// Whether an act for a key was begun and has not ended.
  bool is_under_way(const Key& key) const;
  /// How far a key has come; `open` for one that nobody wants or knows.
  Standing standing(const Key& key) const;

 private:
  struct Flight {
    Step step;
    Act act;
    std::optional<Instant> began;
    std::string waits_for;
  };

  /// A budget of acts in flight, and what waits for a free slot, by place in the order.
  struct Pool {
    int depth = 1;
    int in_use = 0;
    std::set<std::pair<uint32_t, NodeId>> ready;
  };

  Run(std::shared_ptr<const Intent> intent, Known known, Seen seen, const Kinds& kinds,
      RunOptions options);

  void begin_pass();
  void end_pass();
  bool goes_on() const;
  void give_up_on_hosts();
  void take(const Input& input);
  void proceed();
  void decide(NodeId id);
  void keep(NodeId id);
  void begin_act(NodeId id);
  void start_act(NodeId id);
  void start_what_fits();
  void settle(NodeId id, Standing standing);
  void act_ended(NodeId id, const Result<Outcome>& outcome);
  void act_done(NodeId id, const Done& done);
  void request_done(NodeId id, const Done& done, bool was_kept);
  void act_pending(NodeId id, const Pending& pending);
  void act_failed(NodeId id, Error error);
  void act_skipped(NodeId id, const Skipped& skipped);
  void write_attempt(NodeId id, bool failed, const std::string& said);
  const Name& origin_of(NodeId id) const;
  void wake_pending();
  void write(NodeId id, RecordPointer record);
  void forget(NodeId id);
  void log(EventType type, NodeId id, Verb verb, std::string text, Value detail = {});
  Pool& pool_of(NodeId id);
  const Resource& resource_at(NodeId id) const;
  bool looks_only(NodeId id) const;
  std::optional<Value> filled_attributes(NodeId id, std::string& missing) const;

  std::shared_ptr<const Intent> intent_;
  Known known_;
  Known forgotten_;  ///< keeps the keys that the graph borrows
  Seen seen_;
  const Kinds* kinds_;
  RunOptions options_;
  Prng prng_;

  std::unique_ptr<Graph> graph_;
  std::vector<Standing> standings_;
  std::vector<uint32_t> open_needs_;
  std::vector<uint32_t> dependants_begin_;
  std::vector<NodeId> dependants_;
  std::vector<NodeId> decidable_;  ///< a heap by place in the order, smallest first
  std::vector<uint32_t> place_;    ///< of a node in the graph's order
  std::map<Name, Pool> pools_;
  std::unordered_map<NodeId, Flight> flights_;
  std::set<std::pair<Instant, NodeId>> timers_;
  std::unordered_map<Key, Step, KeyHash> steps_;
  std::unordered_map<Key, Value, KeyHash> looks_;
  std::unordered_map<Key, Standing, KeyHash> outcomes_;
  std::unordered_map<Key, int, KeyHash> made_anew_;  ///< in this run
  int acting_ = 0;
  size_t done_before_ = 0;  ///< acts that had succeeded when the pass began
  bool replan_ = false;
  bool stopping_ = false;
  bool finished_ = false;
  uint64_t sequence_ = 0;
  Summary summary_;
  Moment now_{};
  std::vector<Order> commands_;
};

/// What a set wants of a resource, as one digest: its attributes and its needs.
Digest wish_of(const Resource& resource);

}  // namespace fettle
