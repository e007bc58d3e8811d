#pragma once
/// KNOWN and SEEN. A record is written before the act that it describes and completed after it, so
/// that a crash at any moment loses nothing. It embeds the resource as applied, because a removal
/// needs the needs and the driver of then.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/boxed.h"
#include "base/time.h"
#include "core/resource.h"
#include "core/verb.h"

namespace fettle {

/// What a resource relied on when it acted. Zero parts were not relied on.
struct Version {
  Key key;
  uint64_t incarnation = 0;  ///< of a host: the one it happened in
  uint64_t changes = 0;      ///< of what refreshes it: how often that had changed
  Digest outputs;     ///< of the outputs in use; of a host, its history up to the resource's place
  uint64_t life = 0;  ///< of a host: the one it happened in, as the driver numbers them; 0: unknown
  bool operator==(const Version&) const = default;
};

/// How far an act has come that is called again until it settles. Times are those during which
/// somebody ran.
struct Course {
  int calls = 0;      ///< that have ended
  Duration spent{0};  ///< since the first began
  Duration pause{0};  ///< left until the next
  Value so_far;
  Digest progress;        ///< what the last call came to
  int alike = 0;          ///< calls in a row that came to it
  Duration alike_for{0};  ///< since the first of these
};

/// An act that was begun and has not settled.
struct Attempt {
  Boxed<Resource> resource;
  Verb verb = Verb::keep;  ///< what was to be done; `keep`: it ended at its first look
  Time started;
  bool failed = false;             ///< else nobody knows how it ended
  std::string error;               ///< what was said about it, if anything was
  uint64_t host_incarnation = 0;   ///< of the host it was begun in, if any
  std::optional<Course> course{};  ///< between two calls: somebody will call again
};

/// What somebody asked for by hand, against what is wanted: until it is as wanted again, it is to
/// be found so.
enum class ByHand { nothing, stopped, removed };

struct Record {
  Boxed<Resource> applied;  ///< the last success; holes as wanted, not filled
  Outputs outputs;
  std::string remote_id;     ///< what the driver calls it
  uint64_t incarnation = 0;  ///< counts how often it was made anew; what is inside dies with it
  uint64_t changes = 0;      ///< counts how often an act changed it
  uint64_t sequence = 0;     ///< grows with each success in an environment: the order of the past
  uint64_t run = 0;          ///< the run that last acted on it
  Time finished;
  std::vector<Version> acted_on;
  Boxed<Attempt> attempt;
  std::map<Name, Digest> wanted_by;  ///< which sets want it, as what; zero: did
  ByHand by_hand = ByHand::nothing;
  /// Taken over from the world by its marks: nobody knows which attributes it was made with.
  bool is_adopted = false;
  /// Something was at its place before the first act, which may have changed it.
  bool was_found = false;
};

/// Whether it was there before any act of ours, so that it is not ours to remove: it was found, or
/// nothing has ever changed it.
inline bool existed_before(const Record& record) {
  return record.applied &&
         (record.was_found || (record.changes == 0 && !record.attempt && !record.is_adopted));
}

/// The resource as last applied, else as last attempted; none when there was neither.
inline const Resource* resource_of_then(const Record& record) {
  if (record.applied)
    return &*record.applied;
  return record.attempt ? &*record.attempt->resource : nullptr;
}

using RecordPointer = std::shared_ptr<const Record>;
using Known = std::unordered_map<Key, RecordPointer, KeyHash>;

/// What a driver found just now. No state: it is not there.
struct Observation {
  std::optional<State> state;
  bool content_is_lost = false;  ///< something that it put out is among the contents no more
  std::string unavailable{};     ///< why nobody could look; then the rest says nothing
  /// From a start to the end of what runs is one life, and a thing may have many in an incarnation.
  /// Any number that no other one of its lives has; 0: it does not live, or nobody can tell.
  uint64_t life = 0;
};
/// What was looked at; a key that is missing was not.
using Seen = std::unordered_map<Key, Observation, KeyHash>;

}  // namespace fettle
