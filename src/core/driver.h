#pragma once
/// The only code that touches the world. Calls block and come from a thread of the loop's pool;
/// each takes a stop token and returns soon after it is triggered. Any call may come again after a
/// crash.
///
/// To add a driver: a folder in `src/drivers/`, a place in `Workplace::driver`
/// (`src/workplace/workplace.h`), and tests next to it that check the promises of this header.

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

/// One act to perform: a step whose holes are filled.
struct Act {
  Verb verb = Verb::create;
  Key key;
  Attributes attributes;  ///< as wanted, every hole filled; for a removal, as last applied
  RecordPointer known;    ///< the last success and its effects; none if there was none
  std::vector<RecordPointer> needs;  ///< records of what it needs, hosts first; all have succeeded
  std::vector<Key> events;           ///< needs that refresh it and changed since it last acted
  std::optional<Observation> seen;   ///< from the start of the run, if it was looked at
  /// Resources that hold something that this act takes (`Kind::holds`) and release it only later in
  /// this run, such as two that exchange ports. They are stopped first, and continue if this act
  /// fails.
  std::vector<RecordPointer> releases;
  Value so_far;              ///< what the last `Pending` of this act said
  uint64_t incarnation = 0;  ///< the number that this one gets if it is recreated
  int attempt = 1;           ///< counts the calls of this act in this run
  bool looks_only = false;   ///< nothing may be changed; `Done::changed` says whether something
                             ///< would be
  const Kind* compares = nullptr;  ///< for looks, except at ensuring kinds: the comparing kind
  bool is_instant = false;         ///< it never blocks and may be called where others wait

  /// The record of the first need of a kind; none if there is no such need.
  const Record* need(std::string_view kind) const;
};

/// An act that has an answer but has not settled: it will be called again.
struct Again {
  std::string what;               ///< for people: `the cluster is CREATING`
  std::optional<Duration> after;  ///< otherwise the resource's pace applies
  Value so_far;                   ///< given back with the next call
  /// The result so far. Repeating the same one exhausts the resource's patience; zero does not: it
  /// means not ready, and the calls continue until the deadline.
  Digest progress;
  std::vector<Key> watch;  ///< a hint about one of these calls it at once
};

/// The act succeeded. If it has not settled, resources that need it go on, and it acts again.
struct Done {
  Outputs outputs;  ///< a dict
  std::string remote_id{};
  bool changed = true;                 ///< whether the act changed the world
  std::optional<Again> again{};        ///< none: it has settled
  std::vector<std::string> printed{};  ///< lines that users' code printed for people
  uint64_t life = 0;                   ///< for an act inside a host: the host's life; 0: unknown
  bool is_anew = false;  ///< it could not be started and was recreated: its contents are gone
  bool is_vain = false;  ///< it reports a change whose result is unknown
};

/// The act failed, and its result is kept. If it has not settled, resources that need it wait, and
/// it acts again. A driver's `Error` is a failure that keeps nothing and has settled, unless the
/// resource says otherwise.
struct Failed {
  Error error;
  Outputs outputs;  ///< a dict, or null: as before
  std::optional<Again> again{};
  bool has_only_looked = false;        ///< nothing was touched
  std::vector<std::string> printed{};  ///< lines that users' code printed for people
  bool has_changed = false;            ///< it reports that it changed something before it failed
};

/// The act has started and is not complete: call again after the pause.
struct Pending {
  std::string what;                     ///< for people: `port http of web does not answer yet`
  std::optional<Duration> retry_after;  ///< otherwise the resource's pace applies
  Value so_far;                         ///< given back with the next call
  std::vector<Key> watch{};             ///< a hint about one of these calls it at once
};

/// The act was left for another run: it cannot be done now, which is not a failure. Resources that
/// need it wait with it.
struct Skipped {
  std::string why;
};

using Outcome = std::variant<Done, Pending, Skipped, Failed>;

/// Progress of a long act: pulls, builds, the output of a command.
struct Progress {
  std::string text;   ///< one line
  int64_t done = 0;   ///< bytes or items
  int64_t total = 0;  ///< 0: unknown
};
using ProgressSink = std::function<void(const Progress&)>;

/// A resource to look at.
struct Subject {
  Key key;
  const Resource* wanted = nullptr;
  RecordPointer known;
  bool asks_life = false;  ///< something happened in it, so `Observation::life` is useful
};

/// A thing that a driver found in the world by its own marks after the store was lost. Its record
/// has `applied`, with empty attributes, its driver, and the things it builds on as needs.
struct Found {
  Key key;
  Record record;
};

class Driver {
 public:
  virtual ~Driver() = default;

  /// Whether its world can be reached and has room for the wanted resources; asked before a run
  /// starts, so that impossible wishes are reported before anything is changed.
  virtual Status ready(std::span<const Resource* const> wanted, std::stop_token stop);

  /// Looks at all subjects (of one environment) in as few calls as the world allows; the answers
  /// are in the order of the subjects.
  virtual Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                                   std::stop_token stop) = 0;

  /// An error with `unknown_outcome` means that the act may or may not have happened.
  virtual Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                                std::stop_token stop) = 0;

  /// Everything that carries the marks of an environment (of any if it is empty), with records as
  /// good as the marks allow. Starts nothing to find out.
  virtual Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) = 0;

  /// Calls `hint` with keys that should be looked at again, until stopped. Hints may be late,
  /// doubled or missing. The default has none.
  virtual void watch(const Name& environment, const std::function<void(const Key&)>& hint,
                     std::stop_token stop);

  /// The engine that commands ask, for a container driver; null: it drives no containers.
  virtual ContainerEngine* container_engine() { return nullptr; }
};

/// Applies an act. A look at an observable resource is an observation that is compared.
Result<Outcome> perform(Driver& driver, const Act& act, const ProgressSink& progress,
                        std::stop_token stop);

}  // namespace fettle
