#pragma once
/// Chooses the node of a pod: the one that it names, or, among those that its selector and its
/// required affinity allow and that have room, the one with the fewest pods of its owner. There is
/// no more to it: if that is not enough, there is Kubernetes.

#include <optional>
#include <vector>

#include "workloads/fleet.h"

namespace fettle::workloads {

/// The requests of the containers of a PodSpec, in thousandths.
struct Requests {
  int64_t cpu = 0;
  int64_t memory = 0;
};
Requests requests_of(const Value& spec);

/// Whether a node's labels and name match a PodSpec.
bool is_allowed_on(const Value& spec, const Node& node);

/// Those that each pod of a DaemonSet with this PodSpec has besides its own, as in Kubernetes.
const Value& daemon_tolerations(const Value& spec);
/// Whether a pod of a DaemonSet may come to a node, or stay if it is there.
bool is_tolerated(const Value& spec, const Node& node, bool is_there);

class Placement {
 public:
  /// `counts`: how many pods the owner has on each node, by the node's number.
  Placement(const Fleet& fleet, std::vector<int64_t> counts);

  /// The name of the node; empty if there are no nodes but this machine, or others choose. None: `why_not` has the
  /// reason. `must_be`: the node of the pod's claims.
  std::optional<Name> place(const Value& spec, const Name& must_be = {});
  const std::string& why_not() const { return why_not_; }
  /// Whether only pods on their way out are in its way.
  bool is_soon() const { return is_soon_; }

 private:
  struct Candidate {
    int64_t count;
    const Name* name;
    const Node* node;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : *name < *other.name;
    }
  };
  struct Candidates {
    Requests requests;
    std::vector<HostPort> ports;
    std::set<Candidate> by_count;
    size_t refused = 0, away = 0;
  };
  Candidates& candidates(const Value& spec);
  bool has_room(const Node& node, const Requests& requests) const;

  const Fleet& fleet_;
  std::vector<int64_t> counts_;
  std::vector<Fleet::NodeUse> more_;  ///< placed here, and not yet in the fleet
  std::vector<std::vector<HostPort>> more_ports_;
  std::map<Digest, Candidates> candidates_;
  std::string why_not_;
  bool is_soon_ = false;
};

}  // namespace fettle::workloads
