#pragma once
/// An image that should be on many nodes. The pulls are separate resources (`image`); this one
/// remembers what they belong to and needs no act. Its key's name is `NAMESPACE/NAME`.

#include "kinds/members.h"

namespace fettle {

/// A job's memory of a node on which it has failed.
struct FailedPull {
  Name error, wish;  ///< `wish`: the digest of the wish for that node
  int64_t since = 0;
  static const Members& members();
};

/// A job's memory. Times are nanoseconds since 1970.
struct PullJobState {
  int64_t started = 0;
  std::optional<int64_t> completed, desired, succeeded;
  std::optional<Name> revision, digest, error;
  std::optional<Dict> failed;  ///< of `FailedPull` by node
  std::optional<List> failed_nodes;
  static const Members& members();
};

struct PullJob {
  Name name, space, owner, image;
  Dict labels, annotations;
  Dict spec;                          ///< as an ImagePullJob's, with all its defaults
  std::optional<PullJobState> state;  ///< none: a new one
  static const Members& members();
};

}  // namespace fettle
