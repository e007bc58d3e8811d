#pragma once
/// Takes a cluster over from OpenKruise, and hands it back.
///
/// The obvious way deletes OpenKruise and installs fettle: with its definitions all workloads would
/// go. And the obvious order, stop the old and then change the rest, leaves a cluster in which no pod
/// can be made: webhooks stand that nobody answers. So each step leaves a cluster that goes on, and
/// what is taken away is stored in the cluster before (`put_aside.h`).
///
/// Taking over: 1. webhook configurations and definitions are stored; 2. the webhook configurations
/// go; 3. whoever acts stops, OpenKruise's manager and a controller of ours; 4. definitions get our
/// schemas and convert nothing; 5. each workload is rewritten into the version in which its owner
/// writes it; 6. fettle is installed. From 3 to 6 nobody acts, and nobody reads a workload in a
/// version in which it was not written.
///
/// Handing back: 1. our controller goes, and its lease is held, so that OpenKruise's manager may
/// answer but not act; 2. workloads are rewritten into the version that OpenKruise stores; 3. the
/// webhook configurations come, without webhooks, since its manager does not start where they are
/// missing, and with them no pod of it could be made; 4. its manager starts and is ready; 5. its
/// definitions come, after one more look at the workloads of each; 6. the webhooks come; 7. they are
/// asked for their words of what was written meanwhile, and revisions get them
/// (`handed_revisions.h`); 8. the lease is given back, and all of ours goes.
///
/// Invariants: no definition is deleted; what is written over was stored before, and a stored copy is
/// replaced only while what it is of still stands; a mark on each object says in the same write what
/// was done to it, so a second run needs no memory, and either way may be begun while the other one
/// is half done.

#include <stop_token>

#include "verbs/cluster/install.h"

namespace fettle {

struct ExchangeRequest {
  InstallationRequest installation{};
  bool is_accepted = false;  ///< that some of what is used is not done any more
  ClusterPatience patience{};
};

/// Only looks.
Result<InstallationReport> check_take_over(kubernetes::Client& client,
                                           const ExchangeRequest& request,
                                           const std::stop_token& stop);
/// Begun once, it can be called again and goes on.
Result<InstallationReport> take_over(kubernetes::Client& client, const ExchangeRequest& request,
                                     const std::stop_token& stop);
/// The same.
Result<InstallationReport> hand_back(kubernetes::Client& client, const ExchangeRequest& request,
                                     const std::stop_token& stop);

}  // namespace fettle
