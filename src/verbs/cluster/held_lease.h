#pragma once
/// The lease of both managers, held by whoever hands back: they answer, and do not act.
///
/// It runs out after two minutes, so that a process that dies holds nobody up for long, and then
/// OpenKruise's manager acts. Handing back may take longer than that in one place: a server that is
/// slow, many objects. So it is renewed before each object and in each pause, and whoever finds it in
/// other hands has been too slow and must stop.

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kubernetes/client.h"
#include "verbs/cluster/install.h"

namespace fettle {

class HeldLease {
 public:
  /// `patience` without pauses in which the lease is kept.
  HeldLease(kubernetes::Client& client, kubernetes::ObjectName name,
            const ClusterPatience& patience, std::stop_token stop)
      : client_(client), name_(std::move(name)), patience_(patience), stop_(std::move(stop)) {}

  /// Takes it, from whomever, or keeps it.
  Status hold();
  /// Renews it in time, if it is held. Error: it was, and somebody else has taken it.
  Status keep();
  /// If it is held here, be it since an earlier run.
  Status give_back();

 private:
  /// False: somebody has written it since.
  Result<bool> written(const Value& there, std::string_view holder, Duration time);

  kubernetes::Client& client_;
  const kubernetes::ObjectName name_;
  const ClusterPatience& patience_;
  const std::stop_token stop_;
  std::optional<Instant> renewed_;  ///< when; none: it is not held
};

}  // namespace fettle
