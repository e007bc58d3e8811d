#pragma once
/// Makes the copies of Secrets that OpenKruise's daemon pulls with (`cluster/secret_copies.h`), when
/// they are ordered with. A thousand nodes are told of a job one after the other, so a source is read
/// once in ten seconds and not for each.

#include "cluster/secret_copies.h"
#include "kubernetes/object_cache.h"

namespace fettle {

class SecretCopier {
 public:
  /// All outlive it. `copies`: null: nothing is ever copied.
  SecretCopier(kubernetes::Client& client, kubernetes::ObjectCache& objects,
               cluster::SecretCopies* copies)
      : client_(client), objects_(objects), copies_(copies) {}

  /// The copies that an order of a job is to name, which are there now. None: the daemon reads
  /// Secrets where they are.
  std::optional<std::vector<kubernetes::ObjectName>> copies_for(const Value& job, Instant now,
                                                                const std::stop_token& stop);

 private:
  /// The same, unless that was found out just now.
  std::string keep(const kubernetes::ObjectName& source, Instant now, const std::stop_token& stop);
  /// Why not; empty: it is there.
  std::string copy(const kubernetes::ObjectName& source, const std::stop_token& stop);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  cluster::SecretCopies* const copies_;
};

}  // namespace fettle
