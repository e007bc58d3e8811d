#pragma once
/// KNOWN and SEEN. A record is written before the act that it describes and completed after it, so
/// that a crash at any moment loses nothing. It embeds the resource as applied, because a removal
/// needs the needs and the driver of that time.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/box.h"
#include "base/time.h"
#include "core/resource.h"
#include "core/verb.h"

namespace fettle {

/// The versions that a resource relied on when it acted. It did not rely on parts that are zero.
struct Version {
  Key key;
  uint64_t incarnation = 0;  ///< for a host: the one it happened in
  uint64_t changes = 0;      ///< for a refreshing need: how often it had changed
  Digest outputs;  ///< of the used outputs; for a host, of its history up to the resource's place
  uint64_t life = 0;  ///< for a host: the one it happened in, by the driver's number; 0: unknown
  bool operator==(const Version&) const = default;
};

/// The progress of an act that is called again until it settles. Times count only while a run is
/// active.
struct Course {
  int calls = 0;      ///< number of finished calls
  Duration spent{0};  ///< since the first started
  Duration pause{0};  ///< left until the next call
  Value so_far;
  Digest progress;        ///< the result of the last call
  int alike = 0;          ///< consecutive calls with that result
  Duration alike_for{0};  ///< since the first of these
};

/// An act that has started and not settled.
struct Attempt {
  Box<Resource> resource;
  Verb verb = Verb::keep;  ///< the verb of the step; `keep`: it ended at its first look
  Time started;
  bool failed = false;             ///< otherwise its end is unknown
  std::string error;               ///< the error message, if there was one
  uint64_t host_incarnation = 0;   ///< of the host it started in, if any
  std::optional<Course> course{};  ///< between two calls: it will be called again
};

/// A manual request that contradicts the wish: until the resource is as wanted again, it is
/// expected to be found like this.
enum class ByHand { nothing, stopped, removed };

struct Record {
  Box<Resource> applied;  ///< the last success; holes are kept, not filled
  Outputs outputs;
  std::string remote_id;     ///< the driver's name for it
  uint64_t incarnation = 0;  ///< counts recreations; everything inside dies with it
  uint64_t changes = 0;      ///< counts the acts that changed it
  uint64_t sequence = 0;     ///< grows with each success in an environment, as their order
  uint64_t run = 0;          ///< the run that last acted on it
  Time finished;
  std::vector<Version> acted_on;
  Box<Attempt> attempt;
  std::map<Name, Digest> wanted_by;  ///< the sets that want it, and as what; zero: formerly
  ByHand by_hand = ByHand::nothing;
  /// Adopted from the world by its marks: the attributes it was made with are unknown.
  bool is_adopted = false;
  /// Something was at its place before the first act, which may have changed it.
  bool was_found = false;
};

/// Whether it existed before any act of ours, so that it is not ours to remove: it was found, or no
/// act has ever changed it.
inline bool existed_before(const Record& record) {
  return record.applied &&
         (record.was_found || (record.changes == 0 && !record.attempt && !record.is_adopted));
}

/// The resource as last applied, else as last attempted; none if there was neither.
inline const Resource* resource_of_then(const Record& record) {
  if (record.applied)
    return &*record.applied;
  return record.attempt ? &*record.attempt->resource : nullptr;
}

using RecordPointer = std::shared_ptr<const Record>;
using Known = std::unordered_map<Key, RecordPointer, KeyHash>;

/// The findings of a driver. No state: the thing does not exist.
struct Observation {
  std::optional<State> state;
  bool content_is_lost = false;  ///< one of the contents that it produced is gone
  std::string unavailable{};     ///< why the look failed; the rest then means nothing
  /// A life lasts from a start to the end of what runs, and a thing may have many in an
  /// incarnation. Any number that differs from those of its other lives; 0: it is not alive, or
  /// unknown.
  uint64_t life = 0;
};
/// All observations; a missing key was not looked at.
using Seen = std::unordered_map<Key, Observation, KeyHash>;

}  // namespace fettle
