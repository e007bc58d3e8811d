#pragma once
/// Finds the socket of the runtime that the kubelet uses.
///
/// A machine may have several runtimes: containerd for Docker beside K3s with its own, one that was
/// installed and never used. To pull into a runtime that the kubelet does not ask is false success:
/// all is there, and the pod pulls again. So the first socket that answers will not do. The kubelet
/// writes into its Node with which runtime it works (`containerd://1.7.2`), and the socket is that
/// of the runtime which says the same of itself.

#include <vector>

#include "drivers/cri/client.h"

namespace fettle::cri {

/// Where the usual sockets are: containerd, CRI-O, cri-dockerd, K3s and RKE2, k0s below a folder
/// that is `/run` on the machine itself, and MicroK8s. Those that exist, one name for each.
std::vector<Path> existing_sockets(const Path& run_folder, const Path& snap_folder);

/// What the kubelet writes of a runtime: `containerd://1.6.20` of version `v1.6.20~ds1`.
std::string runtime_as_kubelets_tell(const RuntimeVersion& version);

/// A socket, and what its runtime says of itself or why it says nothing.
struct SocketAnswer {
  Path socket;
  GrpcResult<RuntimeVersion> version;
};
std::vector<SocketAnswer> ask_sockets(HttpClient& http, const std::vector<Path>& sockets,
                                      const std::stop_token& stop);

/// The socket whose runtime is `told`, of the Node. Errors say what is there instead: none, or
/// several that are alike.
Result<Path> choose_socket(const std::vector<SocketAnswer>& answers, std::string_view told);

}  // namespace fettle::cri
