#pragma once
/// Turns the attributes of a pod (`src/kinds/pod.cc`) into requests to an engine. Pure.
///
/// A pod is a holder, which owns the network namespace and mounts what has to be filled, and
/// containers that join the holder. The requests depend on the attributes and on where the pod is
/// placed. Whether a container has to be another one depends on digests of the attributes alone, so
/// that a newer fettle keeps what an older one made.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/key.h"
#include "core/payload.h"
#include "drivers/engine/marks.h"
#include "value/value.h"

namespace fettle {

/// Decisions about a pod before its containers are made.
struct PodPlace {
  std::string network;  ///< its name; empty: the pod has none of its own
  std::string address;  ///< inside the network
  std::string host_address;
  std::string uid;
  std::string holder;  ///< the id of its container
  bool is_podman = false;
};

struct PodContainer {
  /// An init container comes before all others and ends; a sidecar starts among them and stays.
  enum class Sort { init, sidecar, plain };
  Sort sort = Sort::plain;
  std::string name;
  std::string image;
  Value spec;     ///< as a PodSpec has it
  Digest digest;  ///< if it changes, the container is recreated
  bool stays() const { return sort != Sort::init; }
};

/// The containers in the order in which they are started: init containers first.
std::vector<PodContainer> pod_containers(const Attributes& attributes);

/// A volume that the engine keeps for a pod.
struct PodVolume {
  std::string name;   ///< its name in the pod
  std::string there;  ///< its name at the engine; for a folder of the machine, its path
  enum class Sort { empty, memory, folder, files, claim } sort = Sort::empty;
  bool makes_folder = false;                   ///< for a folder: it is made if it is not there
  std::map<std::string, std::string> files{};  ///< its contents, by path
  std::map<std::string, unsigned> modes{};     ///< the mode of each file
  std::string folder{};  ///< its place on the machine; needed to mount a part of it
};

/// Errors (`Blame::user`): no engine has this sort of volume, or a ConfigMap, Secret or key is not
/// there.
Result<std::vector<PodVolume>> pod_volumes(const Key& key, const Attributes& attributes,
                                           const PodPlace& place);

/// Kubernetes' name for a container: `docker://ID`.
std::string container_uri(bool is_podman, std::string_view id);

/// `Always`, `OnFailure` or `Never`.
std::string_view pod_restart_policy(const Attributes& attributes);
/// The time between the request to end and the end.
Duration pod_grace(const Attributes& attributes);
bool uses_host_network(const Attributes& attributes);
/// The names by which others on its network find it: its own, and that of its service.
std::vector<std::string> pod_aliases(const Attributes& attributes);

/// The digest of all that makes up the holder. If it changes, the pod is recreated.
Digest holder_digest(const Attributes& attributes);
Result<Value> holder_body(const Attributes& attributes, const PodPlace& place,
                          const std::vector<PodVolume>& volumes, const Labels& labels);
/// Errors (`Blame::user`): it mounts a volume that the pod does not have, takes a variable from
/// something that is not there, or wants something that no engine can give.
Result<Value> container_body(const Attributes& attributes, const PodContainer& container,
                             const PodPlace& place, const std::vector<PodVolume>& volumes,
                             const Labels& labels);

/// The limits of a container: memory in bytes and processor time in billionths; 0: none.
struct PodLimits {
  int64_t memory = 0, nano_cpus = 0;
  bool operator==(const PodLimits&) const = default;
};
PodLimits pod_limits(const Value& container);

}  // namespace fettle
