#include "workloads/place.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/quantity.h"

namespace fettle::workloads {
namespace {

/// A limit without a request is a request.
int64_t request_of(const Value& container, std::string_view amount) {
  const Value& resources = container.at("resources");
  const Value& request = resources.at("requests").at(amount);
  return quantity_milli(request.is_null() ? resources.at("limits").at(amount) : request)
      .value_or(0);
}

/// Whether one of the terms matches: its labels, and its fields, of which only the name exists.
bool matches_affinity(const Value& required, const Node& node) {
  const Value& terms = required.at("nodeSelectorTerms");
  if (!terms.is_list())
    return true;
  for (const Value& term : terms.items()) {
    const Selector labels{requirements_of(term.at("matchExpressions"))};
    const Selector fields{requirements_of(term.at("matchFields"))};
    const Value field = Value::dict({{"metadata.name", node.name}});
    const bool is_empty = labels.is_empty() && fields.is_empty();
    if (!is_empty && labels.matches(node.labels) && fields.matches(field))
      return true;
  }
  return false;
}

}  // namespace

Requests requests_of(const Value& spec) {
  Requests sum;
  if (const Value& containers = spec.at("containers"); containers.is_list())
    for (const Value& container : containers.items()) {
      sum.cpu += request_of(container, "cpu");
      sum.memory += request_of(container, "memory");
    }
  // Init containers run one after another, before the others.
  if (const Value& containers = spec.at("initContainers"); containers.is_list())
    for (const Value& container : containers.items()) {
      sum.cpu = std::max(sum.cpu, request_of(container, "cpu"));
      sum.memory = std::max(sum.memory, request_of(container, "memory"));
    }
  return sum;
}

bool is_allowed_on(const Value& spec, const Node& node) {
  if (const std::string_view named = spec.text_at("nodeName"); !named.empty())
    return named == node.name;
  if (const Value& selector = spec.at("nodeSelector"); selector.is_dict())
    for (const Entry& entry : selector.entries())
      if (node.labels.at(entry.key) != entry.value)
        return false;
  const Value& affinity = spec.at("affinity").at("nodeAffinity");
  return matches_affinity(affinity.at("requiredDuringSchedulingIgnoredDuringExecution"), node);
}

const Value& daemon_tolerations(const Value& spec) {
  static const auto made = [](bool is_on_host_network) {
    std::vector<Value> rows;
    const auto add = [&](std::string_view key, std::string_view effect) {
      rows.push_back(Value::dict(
          {{"key", cat("node.kubernetes.io/", key)}, {"operator", "Exists"}, {"effect", effect}}));
    };
    for (const char* key : {"not-ready", "unreachable"})
      add(key, "NoExecute");
    for (const char* key : {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"})
      add(key, "NoSchedule");
    // What brings the network to a node must not wait for it.
    if (is_on_host_network)
      add("network-unavailable", "NoSchedule");
    return Value::list(std::move(rows));
  };
  static const Value usual = made(false), on_host_network = made(true);
  return spec.bool_at("hostNetwork") ? on_host_network : usual;
}

namespace {

bool tolerates(const Value& toleration, const Value& taint) {
  const std::string_view key = toleration.text_at("key"), effect = toleration.text_at("effect");
  const bool is_any = toleration.text_at("operator") == "Exists";
  return (effect.empty() || effect == taint.text_at("effect")) &&
         ((key.empty() && is_any) || key == taint.text_at("key")) &&
         (is_any || toleration.text_at("value") == taint.text_at("value"));
}

}  // namespace

bool is_tolerated(const Value& spec, const Node& node, bool is_there) {
  return std::ranges::all_of(items_of(node.taints), [&](const Value& taint) {
    const std::string_view effect = taint.text_at("effect");
    if (effect != "NoExecute" && (effect != "NoSchedule" || is_there))
      return true;
    const auto by = [&](const Value& each) { return tolerates(each, taint); };
    return std::ranges::any_of(items_of(spec.at("tolerations")), by) ||
           std::ranges::any_of(items_of(daemon_tolerations(spec)), by);
  });
}

Placement::Placement(const Fleet& fleet, std::vector<int64_t> counts)
    : fleet_(fleet),
      counts_(std::move(counts)),
      more_(fleet.node_numbers()),
      more_ports_(fleet.node_numbers()) {
  counts_.resize(fleet.node_numbers());
}

/// The nodes that a spec allows, found once for all pods that are alike.
Placement::Candidates& Placement::candidates(const Value& spec) {
  const auto [found, is_new] = candidates_.try_emplace(spec.digest());
  Candidates& candidates = found->second;
  if (!is_new)
    return candidates;
  candidates.requests = requests_of(spec);
  candidates.ports = host_ports_of(spec);
  for (const auto& [name, node] : fleet_.nodes()) {
    if (!is_allowed_on(spec, node))
      ++candidates.refused;
    else if (!node.is_ready || node.is_cordoned)
      ++candidates.away;
    else
      candidates.by_count.insert({counts_[node.number], &name, &node});
  }
  return candidates;
}

bool Placement::has_room(const Node& node, const Requests& requests) const {
  const Fleet::NodeUse used = fleet_.used(node.number);
  const Fleet::NodeUse& more = more_[node.number];
  return (node.cpu < 0 || used.cpu + more.cpu + requests.cpu <= node.cpu) &&
         (node.memory < 0 || used.memory + more.memory + requests.memory <= node.memory);
}

std::optional<Name> Placement::place(const Value& spec, const Name& must_be) {
  if (fleet_.nodes().empty() || fleet_.is_cluster)
    return Name();
  Candidates& found = candidates(spec);
  size_t others = 0, full = 0, taken = 0, ending = 0;
  std::string holder;
  for (auto it = found.by_count.begin(); it != found.by_count.end(); ++it) {
    const Node& node = *it->node;
    if (!must_be.empty() && node.name != must_be) {
      ++others;
      continue;
    }
    if (!has_room(node, found.requests)) {
      ++full;
      continue;
    }
    if (clash(found.ports, more_ports_[node.number]) != nullptr) {
      ++taken;
      continue;
    }
    if (const FleetPod* pod = fleet_.port_holder(node.number, found.ports)) {
      ++taken;
      ending += pod->is_leaving ? 1 : 0;
      holder = cat(" (port ", to_string(*clash(found.ports, pod->ports)), ": pod ", pod->space, "/",
                   pod->name, ")");
      continue;
    }
    more_ports_[node.number].insert(more_ports_[node.number].end(), found.ports.begin(),
                                    found.ports.end());
    more_[node.number].cpu += found.requests.cpu;
    more_[node.number].memory += found.requests.memory;
    ++counts_[node.number];
    found.by_count.erase(it);
    found.by_count.insert({counts_[node.number], &node.name, &node});
    return node.name;
  }
  std::string why;
  const auto add = [&](auto count, const std::string& one, const std::string& many) {
    if (count > 0)
      why += cat(why.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  add(found.refused + others, " does not match", " do not match");
  add(found.away, " is away or cordoned", " are away or cordoned");
  add(full, " has too little CPU or memory left", " have too little CPU or memory left");
  add(taken, cat(" has a port taken", holder), cat(" have a port taken", holder));
  is_soon_ = ending > 0;
  why_not_ = cat("0 of ", fleet_.nodes().size(), " nodes are available: ", why);
  return std::nullopt;
}

}  // namespace fettle::workloads
