#pragma once
/// Versions of what environments should be, in the store. A piece of a version (a named set, a
/// piece of the rest) is stored once for all versions in a row between which nobody touched it; a
/// commit writes what it changes and nothing else.

#include <functional>
#include <memory>
#include <optional>
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

class Versions {
 public:
  virtual ~Versions() = default;

  /// Oldest first.
  virtual Result<std::vector<VersionHead>> heads(const Name& environment) = 0;
  /// None when there is no such version.
  virtual Result<std::optional<VersionHead>> head(const Name& environment, uint64_t number) = 0;
  /// To read a version; the newest for none. The newest has the number 0 when there is no version.
  /// Only the newest one tells `holders`. Errors (`Blame::user`): there is no such version.
  virtual Result<std::unique_ptr<Snapshot>> open(const Name& environment,
                                                 std::optional<uint64_t> number) = 0;

  /// Decides on the newest version and stores what was decided, in one transaction: nobody else
  /// commits in between. An error of `decide` leaves everything as it was.
  virtual Status commit(const Name& environment, Time now,
                        const std::function<Result<Delta>(const Snapshot& newest)>& decide) = 0;

  /// Parts that differ between two versions, or were changed there and back.
  virtual Result<std::vector<Piece>> touched_between(const Name& environment, uint64_t older,
                                                     uint64_t newer) = 0;

  /// Errors (`Blame::user`): there is no such version, or a newer one is released already.
  virtual Status release(const Name& environment, uint64_t number, Time now) = 0;

  /// Takes away all but the newest `keep` versions; the last released one and newer ones stay.
  virtual Status forget_old(const Name& environment, size_t keep) = 0;
};

}  // namespace fettle
