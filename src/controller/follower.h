#pragma once
/// Waits for what somebody else carries out. A controller has the right to act on a fleet for as
/// long as it runs, so every other command only observes. It reads the fleet again each time, since
/// its own idea of what should be done is not what is done.

#include <optional>

#include "controller/account.h"
#include "controller/notifier.h"
#include "controller/pod_looks.h"
#include "controller/store_source.h"

namespace fettle {

class Follower {
 public:
  Follower(const Workplace& place, const Name& environment, const BringOptions& options);
  /// None: the one who acted has ended, and nobody has taken its place.
  Result<std::optional<BringResult>> follow();

 private:
  Status learn();
  bool is_over() const;
  /// Whether the controller still acts.
  Result<bool> catch_up();
  uint64_t last_success() const;

  const Workplace& place_;
  const Name environment_;
  const BringOptions& options_;
  Account account_;
  StoreSource source_;
  FleetCache cache_;
  Notifier notifier_;
  PodLooks pods_;
  Instant learned_, changed_;
};

}  // namespace fettle
