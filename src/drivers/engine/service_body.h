#pragma once
/// From the attributes of a service to what an engine is asked for. Pure.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "drivers/engine/marks.h"
#include "value/value.h"

namespace fettle {

/// What is decided about a container before it is made.
struct Placement {
  std::string network;  ///< name; empty: none
  std::string network_id;
  std::string address;                        ///< inside the network
  std::string alias;                          ///< the name by which others find it
  std::map<std::string, int> public_ports{};  ///< of this machine, by port id
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

/// Where files artifacts come in: a path and the digests of the tars that are unpacked there.
struct Mount {
  std::string path;
  std::vector<std::string> digests;
};
std::vector<Mount> mounts_in(const Value& files);

/// Whether a port is to be reached from this machine.
bool is_published(const Value& attributes, const Port& port);

/// The `ports` of a service's outputs.
Value port_outputs(const Value& attributes, const Placement& placement);

/// The body of a create call. `attributes` are a service's, without secret marks.
Result<Value> service_body(const Value& attributes, const Placement& placement);
/// The same of a task.
Result<Value> task_body(const Value& attributes, const Placement& placement);

}  // namespace fettle
