#pragma once
/// From the attributes of a pod (`src/kinds/pod.cc`) to what an engine is asked for. Pure.
///
/// A pod is a holder, which owns the network namespace and mounts what has to be filled, and its
/// containers beneath it, which join the holder. What is asked of an engine follows from the
/// attributes and from where the pod is placed; what counts as another container is decided by
/// digests of the attributes alone, so that a newer fettle keeps what an older one made.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/key.h"
#include "drivers/engine/marks.h"
#include "value/value.h"

namespace fettle {

/// What is decided about a pod before its containers are made.
struct PodPlace {
  std::string network;  ///< name; empty: it has none of its own
  std::string address;  ///< inside the network
  std::string host_address;
  std::string uid;
  std::string holder;  ///< id of its container
  bool is_podman = false;
};

struct PodContainer {
  /// An init container comes before all others and ends; a sidecar comes among them and stays.
  enum class Sort { init, sidecar, plain };
  Sort sort = Sort::plain;
  std::string name;
  std::string image;
  Value spec;     ///< as a PodSpec has it
  Digest digest;  ///< another one: another container
  bool stays() const { return sort != Sort::init; }
};

/// In the order in which they are started: init containers first.
std::vector<PodContainer> pod_containers(const Value& attributes);

/// A volume that the engine keeps for a pod.
struct PodVolume {
  std::string name;   ///< in the pod
  std::string there;  ///< what the engine calls it; of a folder of the machine its path
  enum class Sort { empty, memory, folder, files, claim } sort = Sort::empty;
  bool makes_folder = false;                   ///< of a folder: made when it is not there
  std::map<std::string, std::string> files{};  ///< what is in it, by path
  std::map<std::string, unsigned> modes{};     ///< of each file
  std::string folder{};  ///< where the machine has it; needed to mount a part of it
};

/// Errors (`Blame::user`): a sort of volume that no engine has; a ConfigMap, Secret or key that is
/// not there.
Result<std::vector<PodVolume>> pod_volumes(const Key& key, const Value& attributes,
                                           const PodPlace& place);

/// What Kubernetes calls a container: `docker://ID`.
std::string container_uri(bool is_podman, std::string_view id);

/// `Always`, `OnFailure` or `Never`.
std::string_view pod_restart_policy(const Value& attributes);
/// Between the request to end and the end.
Duration pod_grace(const Value& attributes);
bool uses_host_network(const Value& attributes);
/// What it is called by others of its network: its name, and the name of its service.
std::vector<std::string> pod_aliases(const Value& attributes);

/// Of what the holder is made of: another one makes the pod anew.
Digest holder_digest(const Value& attributes);
Result<Value> holder_body(const Value& attributes, const PodPlace& place,
                          const std::vector<PodVolume>& volumes, const Labels& labels);
/// Errors (`Blame::user`): it mounts a volume that the pod does not have, takes a variable from
/// something that is not there, or wants what no engine can give.
Result<Value> container_body(const Value& attributes, const PodContainer& container,
                             const PodPlace& place, const std::vector<PodVolume>& volumes,
                             const Labels& labels);

/// The limits of a container: memory in bytes and processor time in billionths; 0: none.
struct PodLimits {
  int64_t memory = 0, nano_cpus = 0;
  bool operator==(const PodLimits&) const = default;
};
PodLimits pod_limits(const Value& container);

}  // namespace fettle
