#include "workloads/host_ports.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::workloads {
namespace {

bool is_everywhere(std::string_view address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

bool clashes(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.address == b.address || is_everywhere(a.address) || is_everywhere(b.address));
}

void add_ports(const Value& containers, bool is_on_host, std::vector<HostPort>& found) {
  for (const Value& container : items_of(containers))
    for (const Value& port : items_of(container.at("ports"))) {
      const int64_t taken =
          port.integer_at("hostPort", is_on_host ? port.integer_at("containerPort") : 0);
      if (taken > 0)
        found.push_back({taken, std::string(port.text_at("protocol", "TCP")),
                         std::string(port.text_at("hostIP"))});
    }
}

}  // namespace

std::vector<HostPort> host_ports_of(const Value& spec) {
  std::vector<HostPort> found;
  for (const char* part : {"containers", "initContainers"})
    add_ports(spec.at(part), spec.bool_at("hostNetwork"), found);
  return found;
}

const HostPort* clash(const std::vector<HostPort>& ports, const std::vector<HostPort>& taken) {
  const auto found = std::ranges::find_if(ports, [&](const HostPort& port) {
    return std::ranges::any_of(taken, [&](const HostPort& other) { return clashes(port, other); });
  });
  return found == ports.end() ? nullptr : &*found;
}

std::string to_string(const HostPort& port) {
  return cat(port.address, port.address.empty() ? "" : ":", port.port,
             port.protocol == "TCP" ? "" : cat("/", port.protocol));
}

}  // namespace fettle::workloads
