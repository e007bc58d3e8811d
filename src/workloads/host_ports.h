#pragma once
/// Ports of a node's machine that pods take (Kubernetes: `hostPort`, and every port of a pod with
/// `hostNetwork`). Two pods on one node cannot have the same port, not even for a short time: a pod
/// that ends keeps its ports until it is gone.

#include <string>
#include <vector>

#include "value/value.h"

namespace fettle::workloads {

struct HostPort {
  int64_t port = 0;
  std::string protocol;  ///< `TCP`
  std::string address;   ///< empty: all addresses
  bool operator==(const HostPort&) const = default;
};

/// The host ports of a PodSpec.
std::vector<HostPort> host_ports_of(const Value& spec);

/// The first of `ports` that clashes with one of `taken`. Null: none does.
const HostPort* clash(const std::vector<HostPort>& ports, const std::vector<HostPort>& taken);

/// For people: `80`, `127.0.0.1:53/UDP`.
std::string to_string(const HostPort& port);

}  // namespace fettle::workloads
