#pragma once
/// Turns the attributes of a service into requests to an engine. Pure.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "drivers/engine/marks.h"
#include "value/value.h"

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

/// A port as attributes describe it.
struct Port {
  std::string id;
  int number = 0;
  std::string transport = "TCP";
  std::optional<std::string> wait;  ///< how long it is awaited; none: not at all
};
std::vector<Port> ports_in(const Value& ports);

/// A place for files artifacts: a path, and the digests of the tars that are unpacked there.
struct Mount {
  std::string path;
  std::vector<std::string> digests;
};
std::vector<Mount> mounts_in(const Value& files);

/// Whether a port has to be reachable from this machine.
bool is_published(const Value& attributes, const Port& port);

/// The `ports` of a service's outputs.
Value port_outputs(const Value& attributes, const Placement& placement);

/// The body of a create call. `attributes` are a service's, without marks of secrets.
Result<Value> service_body(const Value& attributes, const Placement& placement);
/// The same for a task.
Result<Value> task_body(const Value& attributes, const Placement& placement);

}  // namespace fettle
