#pragma once
/// Decides what is pulled on a node: which images to look for and to pull now, which of that to
/// end, and what the status of the NodeImage says.
///
/// The obvious daemon has a thread for each tag that looks, pulls, sleeps and pulls again. It
/// cannot be asked what it will do, sleeps while its tag is taken away, and begins from zero with
/// each start. So this is a pure state machine: the object, ends of looks and pulls and the time go
/// in, commands come out (`NodeStep`). It knows no thread and no clock; `daemon.h` is the loop
/// around it.
///
///   waiting → looking → (there: succeeded) → a free worker → pulling → succeeded
///                                                              ↓ ↑
///                                                            resting → … → failed
///
/// What is there needs no worker, so it never waits behind a pull that takes minutes. Among those
/// that wait for one, first tries go before repeated ones, and older orders before younger ones.
///
/// Invariants:
/// * A tag of a version is finished once: what its status says of the same version is never begun
///   again, not even after its time to live, at the end of which whoever ordered it takes it away.
///   Another version is another order, a lower one too, and so is another `createdAt`: whoever gives
///   an order counts from what the object says, which after a restore of the store is less than was
///   done. Owners do not count, since one that goes changes nothing about the pull.
/// * Objects of a watch come in order. One that is older than the answer to a write of the status is
///   on its way since before that write, and has the same spec; with another spec, or when a list
///   still has it, it is of a store that was put back, and counts.
/// * A daemon that starts goes on: what its predecessor was pulling keeps its start, and so its
///   deadline.
/// * After a step, what is under way is of an order that is there, and no more than may be at once.
/// * An end of which somebody else tells, such as a manager that has waited for too long, stays in
///   the status until the order ends here. Otherwise the two would write in turns for ever.
/// * The status counts each order in one phase. It is written when it differs from what the server
///   has; while one is being written, further changes are gathered.
/// * A runtime that is away costs no attempt until it is away for longer than an attempt may take.

#include <set>

#include "kubernetes/api_error.h"
#include "node/orders.h"

namespace fettle::node {

struct PullSettings {
  size_t most_pulls = 0;  ///< at once; 0: no limit
  size_t most_looks = 4;
  Duration shortest_pause = 1s, longest_pause = 30s;  ///< between attempts
  Duration write_pause = 100ms;                       ///< between two writes of the status
};

/// To look for an image, or to pull it. Whoever does it says how it ended by its number.
struct PullCommand {
  enum class Kind { look, pull };
  uint64_t id = 0;
  Kind kind = Kind::look;
  ImageOrder order{};
  Duration limit{0};  ///< of a pull
};

struct PullOutcome {
  enum class Kind {
    there,    ///< it was, or is now
    absent,   ///< of a look
    away,     ///< the runtime does not answer
    failed,   ///< it may succeed another time
    refused,  ///< it will not
  };
  Kind kind = Kind::failed;
  std::string image_id{};  ///< `sha256:…`
  std::string message{};   ///< why not
};

/// What is to be told as an Event.
struct PullNotice {
  bool is_warning = false;
  std::string reason{}, text{};
  Value about{};  ///< a reference to the object
};

struct NodeStep {
  std::vector<uint64_t> end{};
  std::vector<PullCommand> begin{};
  std::vector<PullNotice> notices{};
  std::optional<Value> status{};  ///< a merge patch; `status_written` says what became of it
  std::optional<Instant> wake{};  ///< none: only news can change anything
};

class NodePulls {
 public:
  explicit NodePulls(PullSettings settings) : settings_(settings) {}

  /// The NodeImage as a watch or a list tells of it.
  void take_object(const Value& object, const Moment& now);
  /// A list is complete: what it has told is what there is.
  void listed(const Moment& now);
  void object_gone();
  /// A command has ended. One that is not under way any more is passed over.
  void ended(uint64_t id, const PullOutcome& outcome, const Moment& now);
  /// The answer of the server, which is newer than what a watch has told.
  void status_written(const kubernetes::ApiResult<Value>& answer, const Moment& now);
  NodeStep step(const Moment& now);

  /// How many orders have ended here in either way.
  size_t succeeded() const { return succeeded_; }
  size_t failed() const { return failed_; }

 private:
  enum class Stage { to_look, looking, to_pull, pulling, resting, done };
  struct Task {
    ImageOrder order;
    Stage stage = Stage::to_look;
    uint64_t command = 0;  ///< under way; 0: none
    int64_t failures = 0;
    Duration pause{0};  ///< the last one
    Instant rests_until{};
    std::optional<Instant> away_since{}, deadline{};
    std::optional<Time> started{}, completed{};
    bool has_succeeded = false;
    std::string image_id{}, message{};
    Value told{};       ///< the status that a predecessor has finished it with; null: none
    Value overruled{};  ///< the one with which others have ended it while it goes on; null: none
  };
  struct Command {
    ImageAndTag key;
    PullCommand::Kind kind;
  };
  using Tasks = std::map<ImageAndTag, Task>;

  void learn(const Value& object, const Moment& now);
  Task adopted(const ImageOrder& order, const Moment& now) const;
  void go_on(Task& task, ImageOrder order) const;
  void drop(Task& task);
  void forget_all();
  void end_overdue(const Moment& now);
  void begin_due(NodeStep& step, const Moment& now);
  void begin(Task& task, const ImageAndTag& key, NodeStep& step, const Moment& now);
  void take_away(Task& task, const PullOutcome& outcome, const Moment& now);
  void fail_attempt(Task& task, const PullOutcome& outcome, const Moment& now);
  void rest(Task& task, const Moment& now) const;
  void finish(Task& task, bool has_succeeded, std::string text, const Moment& now);
  size_t under_way(PullCommand::Kind kind) const;
  Value status() const;
  void offer_status(NodeStep& step, const Moment& now);
  std::optional<Instant> next_wake() const;

  PullSettings settings_;
  Tasks tasks_;
  std::map<uint64_t, Command> commands_;
  uint64_t last_command_ = 0;
  std::vector<uint64_t> ends_;
  std::vector<PullNotice> notices_;
  Value object_;          ///< null: there is none
  Value passed_over_;     ///< since the last answer; null: nothing was
  std::string answered_;  ///< the version of an answer of which no watch has told; empty: none
  // Of the status: what the server has, and what was written last with the answer to it.
  Value wanted_at_write_, seen_after_write_;
  std::string version_at_write_;
  bool may_differ_ = false;  ///< something has changed since they were compared
  bool is_writing_ = false;
  bool was_outrun_ = false;  ///< by somebody else's write
  Duration refused_pause_{0};
  Instant writes_from_{};
  size_t succeeded_ = 0, failed_ = 0;
};

/// The entries of a status that lead from one to another; null: there are none.
Value status_change(const Value& seen, const Value& wanted);

}  // namespace fettle::node
