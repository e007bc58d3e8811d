#pragma once
/// Turns the attributes of a service into requests to an engine. Pure.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "drivers/engine/marks.h"
#include "kinds/service.h"
#include "kinds/task.h"

namespace fettle {

/// Decisions about a container before it is made.
struct Placement {
  std::string network;  ///< its name; empty: none
  std::string network_id;
  std::string address;                        ///< inside the network
  std::string alias;                          ///< the name by which others find it
  std::map<std::string, int> public_ports{};  ///< those of this machine, by port id
  Labels labels{};
};

/// A port, and whether somebody waits for it.
struct ServicePort {
  std::string id;
  int number = 0;
  std::string transport;
  std::optional<std::string> wait;  ///< how long it is awaited; none: not at all
};
std::vector<ServicePort> ports_of(const Service& service);

/// A file or folder of a tar that is put elsewhere. `folder` is the innermost place with a volume of
/// its own, for what is put at `/` does not reach into volumes on every engine.
struct MovedFile {
  std::string from;    ///< its path in the tar
  std::string folder;  ///< an absolute path
  std::string to;      ///< below `folder`
};

/// A place for files artifacts: a path, and the digests of the tars that are unpacked there.
struct Mount {
  std::string path;
  std::vector<std::string> digests;
  std::vector<MovedFile> moved{};  ///< if there are any, nothing is put at `path`
};
/// `moved_files`: absolute paths below one of the mounts, and where that is put instead.
std::vector<Mount> mounts_in(const Dict& files, const Dict& moved_files = {});

/// Whether a port is to be reached from this machine.
bool is_published(const Service& service, const ServicePort& port);

/// The `ports` of a service's outputs.
Dict port_outputs(const Service& service, const Placement& placement);

/// The body of a create call, of a service without secret marks.
Result<Value> service_body(const Service& service, const Placement& placement);
/// The same of a task.
Result<Value> task_body(const ContainerTask& task, const Placement& placement);

}  // namespace fettle
