#pragma once
/// Versions of what environments should be, in the store. A piece of a version (a named set, a
/// piece of the rest) is stored once for all versions in a row between which nobody touched it; a
/// push writes what it changes and nothing else.
///
/// A push takes its turn, decides on the newest version and stages what it decided: in pieces, so
/// that nobody waits for it, and seen by nobody. A wish then adds the version in no time.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "versions/version.h"

namespace fettle {

struct VersionHead {
  uint64_t number = 0;
  Time created;
  std::optional<Time> released;
  Value detail;  ///< a dict
};

/// The version that was released last, which need not be the newest of them; none when none was.
std::optional<uint64_t> current_release(std::span<const VersionHead> heads);

/// A delta that waits to be added as a version; dropped without a trace when it is not. Made by a
/// `PushTurn`, and added by a `Wish`.
class StagedVersion {
 public:
  virtual ~StagedVersion() = default;
};

/// The right to add the next version, given back at the end. Its holder reads the same newest
/// version all the time.
class PushTurn {
 public:
  virtual ~PushTurn() = default;
  virtual const Snapshot& newest() const = 0;
  virtual Result<std::unique_ptr<StagedVersion>> stage(Delta delta) = 0;
  /// Takes away all but the newest `keep` versions; the one released last and newer ones stay.
  virtual Status forget_old(size_t keep) = 0;
};

class Versions {
 public:
  virtual ~Versions() = default;

  /// Oldest first.
  virtual Result<std::vector<VersionHead>> heads(const Name& environment) = 0;
  /// None: there is no such version.
  virtual Result<std::optional<VersionHead>> head(const Name& environment, uint64_t number) = 0;
  /// Opens a version to be read; none: the newest, which has the number 0 if there is no version.
  /// Errors (`Blame::user`): there is no such version.
  virtual Result<std::unique_ptr<Snapshot>> open(const Name& environment,
                                                 std::optional<uint64_t> number) = 0;
  /// Parts that differ between two versions, or were changed there and back.
  virtual Result<std::vector<Piece>> touched_between(const Name& environment, uint64_t older,
                                                     uint64_t newer) = 0;
  /// None: somebody else pushes to the environment just now.
  virtual Result<std::unique_ptr<PushTurn>> begin_push(const Name& environment) = 0;
};

}  // namespace fettle
