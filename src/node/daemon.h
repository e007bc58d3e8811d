#pragma once
/// The daemon of a node: follows the node's own NodeImage, pulls what it orders into the runtime of
/// the node's kubelet, and writes the status.
///
/// One thread decides (`pulls.h`); each look and each pull has a thread of its own as long as it
/// takes, and so does a write of the status, since the API server may be slow when a pull is to be
/// ended. The daemon writes the status of its NodeImage and Events, and nothing else.

#include <functional>
#include <memory>

#include "drivers/cri/sockets.h"
#include "kubernetes/client.h"
#include "node/pulls.h"

namespace fettle::node {

struct DaemonSettings {
  std::string node{};  ///< its name
  PullSettings pulls{};
  Path socket{};                                        ///< of the runtime; empty: it is found
  Path run_folder = "/run", snap_folder = "/var/snap";  ///< where sockets are looked for
  Duration shortest_pause = 1s, longest_pause = 30s;    ///< between two looks for a runtime
  std::function<void(const std::string&)> tell{};       ///< to people; may be empty
  std::function<void()> found{};                        ///< the runtime; may be empty
};

/// How many orders ended while the daemon ran.
struct PullCounts {
  size_t succeeded = 0, failed = 0;
};

/// Runs until a stop is asked for. Waits as long as it takes for the API server and the runtime,
/// and says what it waits for.
PullCounts run_daemon(kubernetes::Client& client, HttpClient& http, const DaemonSettings& settings,
                      const std::stop_token& stop);

/// The socket of the runtime of the node's kubelet, or of that which was named. Error: why none can
/// be used now.
Result<Path> find_runtime(kubernetes::Client& client, HttpClient& http,
                          const DaemonSettings& settings, const std::stop_token& stop);

}  // namespace fettle::node
