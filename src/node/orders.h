#pragma once
/// What a node is to pull: the spec of its NodeImage, read as far as it makes sense. Whoever writes
/// it may be OpenKruise's manager, fettle's controller or a person, and a server with other
/// definitions checks nothing, so a field that is none counts as absent.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kubernetes/resource_type.h"
#include "value/value.h"

namespace fettle::node {

inline const kubernetes::ResourceType node_images{"apps.kruise.io", "v1beta1", "nodeimages",
                                                  "NodeImage", false};

/// `redis` and `7`, or a digest.
using ImageAndTag = std::pair<std::string, std::string>;

/// A tag of a NodeImage. Limits that are absent are those of OpenKruise.
struct ImageOrder {
  std::string image{}, tag{};
  int64_t version = 0;  ///< another one means: once more
  Time created{};
  bool is_always_pulled = false;              ///< even if the image is there
  Duration timeout = 10min;                   ///< of one attempt
  int64_t backoff_limit = 3;                  ///< attempts after the first one
  std::optional<Duration> active_deadline{};  ///< of all attempts together
  std::vector<Value> owners{};                ///< references to the jobs that want it
  std::vector<kubernetes::ObjectName> secrets{};
  std::map<std::string, std::string> labels{},
      annotations{};  ///< of the pod for which it is pulled

  /// `redis:7`, `redis@sha256:…`
  std::string reference() const;
};

std::map<ImageAndTag, ImageOrder> read_orders(const Value& node_image);

}  // namespace fettle::node
