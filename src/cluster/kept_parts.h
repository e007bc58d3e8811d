#pragma once
/// What of the objects of a cluster a controller keeps in memory. It has all pods and all nodes of
/// the cluster, and most of what they say is for others: which field was written by whom is longer
/// than the rest, and a node lists its images. What is kept is shared where it is equal.
///
/// Of workloads and jobs everything is kept: who has written a field tells in which version.

#include "value/shared_json.h"
#include "value/shared_values.h"

namespace fettle::cluster {

/// Used by one at a time.
class KeptParts {
 public:
  /// Whether of objects of a kind less than all is kept.
  static bool are_less(std::string_view kind);
  /// Of an object from which `left_out` may be left out already.
  Value of(std::string_view kind, const Value& object);
  /// What need not even be read of an object of a kind: keys from the outside. Annotations are read
  /// of all: one of a bookmark ends a list.
  static std::vector<SharedJson::Path> left_out(std::string_view kind);

 private:
  SharedValues values_;
};

}  // namespace fettle::cluster
