#pragma once
/// A container that keeps running and is found by its name.

#include <string_view>

#include "core/key.h"
#include "kinds/members.h"

namespace fettle {

struct Service {
  Hole<Name> image, image_id;
  Dict ports;         ///< of `Port` by id
  Dict public_ports;  ///< the same for pinned ports: the number is the port on this machine
  Dict files;         ///< by path: a list of `ArtifactMount`, or a `DirectoryMount`
  List entrypoint, cmd;
  Dict env;
  Hole<Name> address_placeholder = "KURTOSIS_IP_ADDR_PLACEHOLDER";
  Hole<int64_t> cpu_min, cpu_max, memory_min, memory_max;
  Dict labels, user;
  Hole<bool> tini = true, tty;
  List devices, capabilities;
  Hole<bool> privileged, host_pid, publish_udp;
  Dict bind_mounts, gpu;
  Hole<Name> restart = "no";
  Dict node_selectors;
  List tolerations;
  Hole<bool> purged;
  Dict moved_files;  ///< by a path in `files`: the path at which that file is instead
  Hole<Name> working_dir;
  Dict extra_hosts;
  List tmpfs, aliases;
  static const Members& members();
};

struct Port {
  Hole<int64_t> number;
  Name transport = "TCP";
  Hole<Name> application = Value(), wait = Value(), url = Value();
  bool is_awaited = false;
  static const Members& members();
};

/// The `user` of a service.
struct ContainerUser {
  Value uid, gid;
  static const Members& members();
};

/// The `gpu` of a service.
struct Gpu {
  Value driver;
  int64_t count = 0, shm_size = 0;
  List device_ids;
  Dict ulimits;
  static const Members& members();
};

struct ArtifactMount {
  Hole<Name> artifact, digest;
  static const Members& members();
};

struct DirectoryMount {
  Hole<Name> directory, volume;
  static const Members& members();
};

/// The volume of a persistent directory as a mount.
DirectoryMount mounted_directory(std::string_view name);

struct PortOutputs {
  int64_t number = 0;
  Name transport = "TCP";
  std::optional<int64_t> public_port;
  static const Members& members();
};

/// uuid, address and public ports survive restarts and replacement.
struct ServiceOutputs {
  Name uuid, ip_address, hostname;
  Dict ports;  ///< of `PortOutputs` by id
  Name container;
  int64_t started = 0;
  bool has_ended = false;
  Name digest;
  static const Members& members();
};

struct ServiceSeen {
  Name status{};
  std::optional<int64_t> exit_code{};
  Name container{}, digest{};
  bool is_cut_off = false;
  static const Members& members();
};

/// The name of a service. `web~1` was a `web` that was removed before another one came.
std::string_view service_name(const Key& key);

}  // namespace fettle
