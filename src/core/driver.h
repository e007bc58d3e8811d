#pragma once
/// The only code that touches the world. Calls block and come from a thread of the loop's pool;
/// each takes a stop token and returns soon after it is triggered. Any call may come again after a
/// crash.
///
/// To add a driver: a folder in `src/drivers/`, a place in `Workplace::driver`
/// (`src/workplace/workplace.h`), tests beside it that hold it to what is said here.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/blobs.h"
#include "core/record.h"
#include "core/step.h"

namespace fettle {

class ContainerEngine;
class Kind;

/// One act to be done: a step whose holes are filled.
struct Act {
  Verb verb = Verb::create;
  Key key;
  Attributes attributes;  ///< as wanted, every hole filled; of a removal as applied then
  RecordPointer known;    ///< the last success and what it left; none when there was none
  std::vector<RecordPointer> needs;  ///< records of what it needs, hosts first; all have succeeded
  std::vector<Key> events;           ///< what refreshes it and changed since it last acted
  std::optional<Observation> seen;   ///< as of the beginning of the run, when it was looked at
  /// What holds something that this act takes (`Kind::holds`) and lets go of it only afterwards, in
  /// this run: two that exchange ports. It is stopped first, and goes on if this act fails.
  std::vector<RecordPointer> releases;
  Value so_far;              ///< what the last `Pending` of this act said
  uint64_t incarnation = 0;  ///< the number this one gets if it is made anew
  int attempt = 1;           ///< counts the calls for this act within this run
  bool looks_only = false;   ///< nothing may be changed; `Done::changed` says whether something
                             ///< would be
  const Kind* compares = nullptr;  ///< of a look at what is not of an ensuring kind: by whom
  bool is_instant = false;         ///< it blocks nowhere and may be called where others wait

  /// The record of the first need of a kind; none when there is none.
  const Record* need(std::string_view kind) const;
};

/// What has come to an answer and has not settled: it is to be called again.
struct Again {
  std::string what;               ///< for people: `the cluster is CREATING`
  std::optional<Duration> after;  ///< else as the resource's pace says
  Value so_far;                   ///< given back with the next call
  /// What it came to. The same one over and over wears out the resource's patience; zero does not:
  /// it is not ready, and goes on until its deadline.
  Digest progress;
  std::vector<Key> watch;  ///< a hint about one of these calls it at once
};

/// The act succeeded. One that has not settled lets those go on that need it, and acts again.
struct Done {
  Outputs outputs;  ///< a dict
  std::string remote_id{};
  bool changed = true;                 ///< whether the world is another one than before the act
  std::optional<Again> again{};        ///< none: it has settled
  std::vector<std::string> printed{};  ///< lines that code of users said to people
  uint64_t life = 0;     ///< of what happened in a host: in which of its lives; 0: unknown
  bool is_anew = false;  ///< a start could not be, and it was made anew: what was in it is gone
  bool is_vain = false;  ///< it says that it changed something, and nobody knows what came of it
};

/// The act failed, and what it came to is kept. One that has not settled holds those that need it,
/// and acts again. A driver's `Error` is a failure that keeps nothing and has settled, unless the
/// resource says otherwise.
struct Failed {
  Error error;
  Outputs outputs;  ///< a dict, or null: as before
  std::optional<Again> again{};
  bool has_only_looked = false;        ///< nothing was touched
  std::vector<std::string> printed{};  ///< lines that code of users said to people
  bool has_changed = false;            ///< it says itself what it has changed before it failed
};

/// The act was begun and is not complete: call again after the pause.
struct Pending {
  std::string what;                     ///< for people: `port http of web does not answer yet`
  std::optional<Duration> retry_after;  ///< else as the resource's pace says
  Value so_far;                         ///< given back with the next call
  std::vector<Key> watch{};             ///< a hint about one of these calls it at once
};

/// The act was left for another run: it cannot be done now, and that is no failure. What needs it
/// waits with it.
struct Skipped {
  std::string why;
};

using Outcome = std::variant<Done, Pending, Skipped, Failed>;

/// Progress of an act that takes long: pulls, builds, the output of a command.
struct Progress {
  std::string text;   ///< one line
  int64_t done = 0;   ///< bytes or items
  int64_t total = 0;  ///< 0: unknown
};
using ProgressSink = std::function<void(const Progress&)>;

/// What is to be looked at.
struct Subject {
  Key key;
  const Resource* wanted = nullptr;
  RecordPointer known;
  bool asks_life = false;  ///< something happened in it, and `Observation::life` is of use
};

/// A thing that a driver found in the world by its own marks, when the store is gone. Its record
/// has `applied`, with empty attributes, its driver, and what it stands on as needs.
struct Found {
  Key key;
  Record record;
};

class Driver {
 public:
  virtual ~Driver() = default;

  /// Whether its world can be reached and has room for what is wanted; asked before a run begins,
  /// so that what cannot be is said before anything was changed.
  virtual Status ready(std::span<const Resource* const> wanted, std::stop_token stop);

  /// Looks at all subjects (of one environment) in as few calls as the world allows; the answers
  /// stand in the order of the subjects.
  virtual Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                                   std::stop_token stop) = 0;

  /// An error with `unknown_outcome`: the act may have happened, and nobody knows.
  virtual Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                                std::stop_token stop) = 0;

  /// All that carries the marks of an environment (of any when it is empty), with records as good
  /// as the marks allow. Starts nothing in order to find out.
  virtual Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) = 0;

  /// Calls `hint` with keys that should be looked at again, until stopped. Hints may be late,
  /// doubled or missing. The default has none.
  virtual void watch(const Name& environment, const std::function<void(const Key&)>& hint,
                     std::stop_token stop);

  /// What commands ask of a driver of containers; null: it drives none.
  virtual ContainerEngine* container_engine() { return nullptr; }
};

/// Applies an act. A look at what a driver observes is its observation, compared.
Result<Outcome> perform(Driver& driver, const Act& act, const ProgressSink& progress,
                        std::stop_token stop);

}  // namespace fettle
