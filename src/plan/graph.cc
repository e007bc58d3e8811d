#include "plan/graph.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/text.h"
#include "core/ready_condition.h"
#include "core/state_tag.h"

namespace fettle {
namespace {

/// Each resource that the holes of the attributes name, once.
std::vector<Key> embedded(const Resource& resource) {
  std::vector<Key> keys;
  for (const Output& hole : holes(resource.attributes)) {
    Key key{resource.key.environment, hole.kind, hole.name};
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(std::move(key));
  }
  return keys;
}

bool concerns(const Record& record, const Intent& intent) {
  return std::any_of(record.wanted_by.begin(), record.wanted_by.end(),
                     [&](const auto& wish) { return intent.sets.contains(wish.first); });
}

/// Whether a set that the intent does not speak for wants it. A zero wish says that the set once
/// wanted it.
bool is_wanted_by_others(const Record& record, const Intent& intent) {
  return std::any_of(record.wanted_by.begin(), record.wanted_by.end(), [&](const auto& wish) {
    return wish.second != Digest{} && !intent.sets.contains(wish.first);
  });
}

using Strangers = std::vector<const Known::value_type*>;

/// Leaves out records that other sets want, that stand by themselves, or that nothing here needs.
/// So the cost of an intent of a few sets depends only on these sets, however much else is known.
void leave_out_others(const Intent& intent, Strangers& strangers) {
  if (strangers.empty() || !intent.requests.empty())
    return;
  std::unordered_set<Key, KeyHash> needed;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources) {
      for (const Need& need : resource.needs)
        needed.insert(need.keys.begin(), need.keys.end());
      if (resource.attributes.has_deferred())
        for (Key& key : embedded(resource))
          needed.insert(std::move(key));
    }
  std::erase_if(strangers, [&](const Known::value_type* entry) {
    const auto& [key, record] = *entry;
    const Resource* const then = resource_of_then(*record);
    return then != nullptr && then->needs.empty() && !then->attributes.has_deferred() &&
           !concerns(*record, intent) && !needed.contains(key);
  });
}

}  // namespace

Leftover leftover_of(const Record& record, const Intent& intent) {
  Leftover mildest = Leftover::remove;
  if (!concerns(record, intent) || is_wanted_by_others(record, intent))
    return Leftover::keep;
  for (const auto& [set, wish] : record.wanted_by)
    if (const auto spoken = intent.sets.find(set); spoken != intent.sets.end())
      mildest = std::min(mildest, spoken->second);
  const Resource* then = resource_of_then(record);
  return then == nullptr ? mildest : then->leftover.value_or(mildest);
}

std::string Graph::shown(const Key& key) const {
  const Kind* const kind = kinds_->find(key.kind);
  if (const std::optional<StateTag> tag = StateTag::parse(key.name))
    return tag->shown();
  if (std::optional<std::string> ready = shown_ready_condition(key))
    return *std::move(ready);
  return kind == nullptr ? to_string(key) : cat(key.kind, "/", kind->shown(key.name));
}

Result<Graph> Graph::build(const Intent& intent, const Known& known, const Seen& seen,
                           const Kinds& kinds) {
  Graph graph;
  graph.kinds_ = &kinds;
  size_t wanted = 0;
  for (const auto& [set, resources] : intent.resources)
    wanted += resources.size();
  graph.nodes_.reserve(wanted + known.size());
  graph.ids_.reserve(wanted + known.size());
  graph.edges_.reserve(wanted * 2);
  TRY(graph.add_wanted(intent, kinds));
  graph.add_known(intent, known, kinds);
  TRY(graph.add_requests(intent));
  if (!seen.empty())
    for (Node& node : graph.nodes_)
      if (const auto found = seen.find(*node.key); found != seen.end())
        node.seen = &found->second;
  for (NodeId id = 0; id < graph.nodes_.size(); ++id) {
    graph.nodes_[id].edges_begin = static_cast<uint32_t>(graph.edges_.size());
    if (graph.nodes_[id].wanted != nullptr)
      graph.add_edges(*graph.nodes_[id].wanted);
    graph.nodes_[id].edges_count =
        static_cast<uint32_t>(graph.edges_.size()) - graph.nodes_[id].edges_begin;
  }
  // Finds the host of each node.
  for (NodeId id = 0; id < graph.nodes_.size(); ++id) {
    Node& node = graph.nodes_[id];
    for (const Edge& edge : graph.needs(id))
      if (edge.bond == Bond::inside && node.host == no_node)
        node.host = edge.node;
    if (node.wanted != nullptr && node.host != no_node && node.kind != nullptr)
      node.role = node.kind->role(node.wanted->attributes);
  }
  graph.add_users_of_then();
  graph.add_order_of_requests();
  graph.add_exchanges();
  TRY(graph.sort());
  graph.find_history();
  return graph;
}

Status Graph::add_wanted(const Intent& intent, const Kinds& kinds) {
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources) {
      const auto id = static_cast<NodeId>(nodes_.size());
      if (const NodeId there = ids_.add(resource.key, id); there != id)
        return user_error(cat("`", shown(resource.key), "` is described twice, at ",
                              nodes_[there].wanted->origin, " and at ", resource.origin));
      Node node;
      node.key = &resource.key;
      node.wanted = &resource;
      node.set = &set;
      node.kind = kinds.find(resource.key.kind);
      nodes_.push_back(std::move(node));
    }
  return {};
}

void Graph::add_known(const Intent& intent, const Known& known, const Kinds& kinds) {
  Strangers strangers = add_records(known);
  leave_out_others(intent, strangers);
  std::sort(strangers.begin(), strangers.end(),
            [](auto* a, auto* b) { return a->first < b->first; });
  for (const Known::value_type* entry : strangers)
    add_stranger(*entry, intent, kinds);
  find_happened(intent);
}

/// Gives the wanted nodes their records, and returns the records that are not wanted. Several keys
/// are looked up at once, because each one is elsewhere in memory.
std::vector<const Known::value_type*> Graph::add_records(const Known& known) {
  std::vector<const Known::value_type*> strangers;
  struct LookUp {
    const Known::value_type* entry;
    uint64_t hash;
  };
  std::array<LookUp, 16> batch{};
  for (auto next = known.begin(); next != known.end();) {
    size_t count = 0;
    for (; count < batch.size() && next != known.end(); ++next, ++count) {
      batch[count] = {&*next, KeyTable::hash_of(next->first)};
      ids_.prefetch(batch[count].hash);
    }
    for (const LookUp& one : std::span(batch).first(count)) {
      const NodeId id = ids_.find(one.entry->first, one.hash);
      if (id == no_node)
        strangers.push_back(one.entry);
      else
        nodes_[id].known = one.entry->second;
    }
  }
  return strangers;
}

void Graph::add_stranger(const Known::value_type& entry, const Intent& intent, const Kinds& kinds) {
  const auto& [key, record] = entry;
  Node node;
  node.key = &key;
  node.known = record;
  node.kind = kinds.find(key.kind);
  if (concerns(*record, intent)) {
    node.leftover = leftover_of(*record, intent);
    // A half-made thing is never worth keeping.
    if (node.has_remains() && !is_wanted_by_others(*record, intent))
      node.leftover = Leftover::remove;
    const bool in_world = node.kind != nullptr && node.kind->sort() != Sort::action;
    const bool is_left = node.leftover == Leftover::keep && !is_wanted_by_others(*record, intent);
    if (is_left && in_world)
      leftovers_.push_back(key);
  }
  ids_.add(key, static_cast<NodeId>(nodes_.size()));
  nodes_.push_back(std::move(node));
}

/// Finds the acts inside each host, by the records.
void Graph::find_happened(const Intent& intent) {
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    const Resource* then = node.known == nullptr ? nullptr : resource_of_then(*node.known);
    if (then == nullptr || node.kind == nullptr ||
        node.kind->role(then->attributes) != Role::acts || !concerns(*node.known, intent))
      continue;
    for (const Need& need : then->needs)
      if (need.bond == Bond::inside)
        if (const NodeId host = find(need.keys.front()); host != no_node)
          happened_[host].push_back(id);
  }
  for (auto& [host, acts] : happened_)
    std::sort(acts.begin(), acts.end(), [&](NodeId a, NodeId b) {
      return nodes_[a].known->sequence < nodes_[b].known->sequence;
    });
}

/// Adds the requests by hand. A thing to be started may have lost the things it builds on, which
/// are then made as they were.
Status Graph::add_requests(const Intent& intent) {
  for (const Request& request : intent.requests) {
    const NodeId id = find(request.key);
    if (id == no_node || nodes_[id].known == nullptr ||
        resource_of_then(*nodes_[id].known) == nullptr)
      return user_error(cat("nothing is recorded about `", shown(request.key), "`"));
    nodes_[id].asked = request.verb;
    if (request.verb == Verb::start)
      revive(id);
  }
  return {};
}

void Graph::revive(NodeId root) {
  static const Name nobody;
  std::vector<NodeId> open{root};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    Node& node = nodes_[id];
    const Resource* then = node.known == nullptr ? nullptr : resource_of_then(*node.known);
    // A start does not repeat the actions that the thing needed.
    if (node.wanted != nullptr || then == nullptr ||
        (id != root && (node.kind == nullptr || node.kind->sort() != Sort::observable)))
      continue;
    revived_.push_back(*then);
    Resource& resource = revived_.back();
    // Only things that are still there can be waited for.
    std::erase_if(resource.needs, [&](const Need& need) {
      return std::ranges::none_of(need.keys, [&](const Key& key) { return find(key) != no_node; });
    });
    node.wanted = &resource;
    node.set = &nobody;
    node.leftover.reset();
    for (const Need& need : resource.needs)
      if (need.bond != Bond::past)
        for (const Key& key : need.keys)
          if (const NodeId needed = find(key); needed != no_node)
            open.push_back(needed);
    for (const Key& key : embedded(resource))
      if (const NodeId needed = find(key); needed != no_node)
        open.push_back(needed);
  }
}

/// A thing that is stopped or removed by hand waits for those that needed it, if they are stopped
/// or removed, too.
void Graph::add_order_of_requests() {
  const auto leaves = [](const Node& node) {
    return node.asked == Verb::stop || node.asked == Verb::remove;
  };
  std::unordered_map<NodeId, std::vector<Edge>> after;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (!leaves(nodes_[id]))
      continue;
    const Resource& then = *resource_of_then(*nodes_[id].known);
    const auto used = [&](const Key& key) {
      const NodeId need = find(key);
      if (need != no_node && need != id && leaves(nodes_[need]))
        after[need].push_back(
            {id, When::finished, Unmet::fail, Bond::order, false, false, 0, nodes_[id].key});
    };
    for (const Need& need : then.needs)
      if (need.bond != Bond::past)
        std::ranges::for_each(need.keys, used);
    std::ranges::for_each(embedded(then), used);
  }
  for (auto& [id, edges] : after)
    set_edges(id, std::move(edges));
}

/// Sorts the edges in an order that does not depend on that of the resources, because the first one
/// that holds is reported.
void Graph::set_edges(NodeId id, std::vector<Edge> edges) {
  std::ranges::stable_sort(edges, {}, [](const Edge& edge) -> const Key& { return *edge.key; });
  nodes_[id].edges_begin = static_cast<uint32_t>(edges_.size());
  nodes_[id].edges_count = static_cast<uint32_t>(edges.size());
  edges_.insert(edges_.end(), edges.begin(), edges.end());
}

void Graph::add_edges(const Resource& resource) {
  uint16_t group = 0;
  for (const Need& need : resource.needs) {
    if (need.bond == Bond::past)
      continue;
    group = static_cast<uint16_t>(group + (need.any ? 1 : 0));
    for (const Key& key : need.keys)
      edges_.push_back({find(key), need.when, need.unmet, need.bond, false, false,
                        need.any ? group : uint16_t{0}, &key});
  }
  if (!resource.attributes.has_deferred())
    return;
  const auto own = static_cast<std::ptrdiff_t>(edges_.size());
  const auto first = static_cast<std::ptrdiff_t>(nodes_[find(resource.key)].edges_begin);
  for (Key& key : embedded(resource)) {
    const NodeId id = find(key);
    const auto same =
        std::find_if(edges_.begin() + first, edges_.begin() + own, [&](const Edge& edge) {
          return edge.node == id && edge.when == When::succeeded && edge.group == 0 &&
                 (id != no_node || *edge.key == key);
        });
    if (same != edges_.begin() + own) {
      same->hole = true;
      continue;
    }
    if (id == no_node)
      missing_.push_back(std::move(key));
    edges_.push_back({id, When::succeeded, Unmet::fail, Bond::order, true, true, 0,
                      id == no_node ? &missing_.back() : nodes_[id].key});
  }
}

/// A thing that has to go waits for everything that used it, by the needs of that time, and for the
/// host to whose history it belongs. A thing that is still needed stays.
void Graph::add_users_of_then() {
  if (std::none_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.leftover; }))
    return;
  for (const Edge& edge : edges_)
    if (edge.node != no_node && nodes_[edge.node].leftover == Leftover::remove)
      nodes_[edge.node].leftover = Leftover::keep;
  std::unordered_map<NodeId, std::vector<Edge>> after;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    if (node.known == nullptr)
      continue;
    // An action that nobody wants any more lives as long as the host in which it happened.
    const bool leaving =
        node.leftover && (node.leftover != Leftover::keep ||
                          (node.kind != nullptr && node.kind->sort() == Sort::action));
    const auto goes = [&](const Node& one) { return one.leftover == Leftover::remove; };
    const auto used = [&](const Key& key, Bond bond) {
      const NodeId need = find(key);
      if (need == no_node || need == id)
        return;
      if (goes(nodes_[need]) && (node.wanted != nullptr || goes(node)))
        after[need].push_back(
            {id, When::succeeded, Unmet::fail, Bond::order, false, false, 0, node.key});
      if (leaving && bond == Bond::inside && nodes_[need].wanted != nullptr)
        after[id].push_back(
            {need, When::finished, Unmet::fail, Bond::order, false, false, 0, nodes_[need].key});
    };
    const Record& record = *node.known;
    for (const Resource* then : {record.applied ? &*record.applied : nullptr,
                                 record.attempt ? &*record.attempt->resource : nullptr}) {
      if (then == nullptr)
        continue;
      for (const Need& need : then->needs)
        for (const Key& key : need.keys)
          if (need.bond != Bond::past)
            used(key, need.bond);
      for (const Key& key : embedded(*then))
        used(key, Bond::order);
    }
  }
  for (auto& [id, edges] : after)
    set_edges(id, std::move(edges));
}

/// Finds the acts in each host, in the order in which they will be done.
void Graph::find_history() {
  for (const NodeId id : order_) {
    Node& node = nodes_[id];
    if (node.wanted == nullptr || node.host == no_node || node.role == Role::none)
      continue;
    std::vector<NodeId>& history = history_[node.host];
    if (!history.empty()) {
      const Node& before = nodes_[history.back()];
      node.place = combine(combine(before.place, before.key->name.digest()),
                           before.wanted->attributes.digest());
    }
    if (node.role == Role::acts) {
      if (!history.empty())
        chain(history.back(), id);
      history.push_back(id);
    } else {
      readers_[node.host].push_back({id, history.size()});
    }
  }
}

/// Two acts in one host never run at the same time, whatever they need.
void Graph::chain(NodeId before, NodeId after) {
  const std::span<const Edge> own = needs(after);
  if (std::ranges::any_of(own, [&](const Edge& edge) { return edge.node == before; }))
    return;
  append(after,
         {before, When::succeeded, Unmet::fail, Bond::order, false, false, 0, nodes_[before].key});
}

/// The edges of one node are contiguous, so they move to the end.
void Graph::append(NodeId id, const Edge& edge) {
  const auto begin = static_cast<uint32_t>(edges_.size());
  for (uint32_t i = 0; i < nodes_[id].edges_count; ++i)
    edges_.push_back(Edge(edges_[nodes_[id].edges_begin + i]));
  edges_.push_back(edge);
  nodes_[id].edges_begin = begin;
  ++nodes_[id].edges_count;
}

/// Whether `need` has to come before `id`, directly or through others.
bool Graph::is_needed_by(NodeId need, NodeId id) const {
  std::vector<bool> visited(nodes_.size());
  std::vector<NodeId> open{id};
  while (!open.empty()) {
    const NodeId next = open.back();
    open.pop_back();
    if (next == need)
      return true;
    if (visited[next])
      continue;
    visited[next] = true;
    for (const Edge& edge : needs(next))
      if (edge.node != no_node)
        open.push_back(edge.node);
  }
  return false;
}

/// If only one node can hold a thing (a port of the machine), the one that releases it comes before
/// the one that takes it. In a ring of those, one takes it from a holder that comes later.
void Graph::add_exchanges() {
  std::unordered_map<std::string, NodeId> holders;
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (const Node& node = nodes_[id];
        node.kind != nullptr && node.known != nullptr && node.known->applied)
      for (std::string& thing : node.kind->holds(node.known->applied->attributes))
        holders.emplace(std::move(thing), id);
  if (holders.empty())
    return;
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (const Node& node = nodes_[id]; node.wanted != nullptr && node.kind != nullptr)
      for (const std::string& thing : node.kind->holds(node.wanted->attributes))
        if (const auto holder = holders.find(thing);
            holder != holders.end() && holder->second != id && lets_go(holder->second, thing))
          add_exchange(id, holder->second);
}

/// Whether the node should release the thing.
bool Graph::lets_go(NodeId id, const std::string& thing) const {
  const Node& node = nodes_[id];
  if (node.wanted == nullptr)
    return node.leftover == Leftover::remove;
  const std::vector<std::string> wanted = node.kind->holds(node.wanted->attributes);
  return std::ranges::find(wanted, thing) == wanted.end();
}

void Graph::add_exchange(NodeId taker, NodeId holder) {
  if (is_needed_by(taker, holder))
    releases_[taker].push_back(holder);
  else
    append(taker,
           {holder, When::finished, Unmet::fail, Bond::order, false, false, 0, nodes_[holder].key});
}

std::span<const NodeId> Graph::releases(NodeId id) const {
  const auto found = releases_.find(id);
  return found == releases_.end() ? std::span<const NodeId>() : std::span(found->second);
}

std::span<const NodeId> Graph::history(NodeId host) const {
  const auto found = history_.find(host);
  return found == history_.end() ? std::span<const NodeId>() : std::span(found->second);
}

std::span<const Graph::Reader> Graph::readers(NodeId host) const {
  const auto found = readers_.find(host);
  return found == readers_.end() ? std::span<const Reader>() : std::span(found->second);
}

std::span<const NodeId> Graph::happened(NodeId host) const {
  const auto found = happened_.find(host);
  return found == happened_.end() ? std::span<const NodeId>() : std::span(found->second);
}

/// Walks depth first in the order of the nodes, needs before their dependants, on a stack of its
/// own.
Status Graph::sort() {
  enum class Mark : uint8_t { white, open, done };
  std::vector<Mark> marks(nodes_.size(), Mark::white);
  std::vector<std::pair<NodeId, uint32_t>> stack;
  order_.reserve(nodes_.size());
  for (NodeId root = 0; root < nodes_.size(); ++root) {
    if (marks[root] != Mark::white)
      continue;
    stack.emplace_back(root, 0);
    marks[root] = Mark::open;
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == nodes_[id].edges_count) {
        marks[id] = Mark::done;
        order_.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId need = edges_[nodes_[id].edges_begin + next++].node;
      if (need == no_node || marks[need] == Mark::done)
        continue;
      if (marks[need] == Mark::open) {
        std::string path = shown(*nodes_[need].key);
        bool within = false;
        for (const auto& [open, edge] : stack) {
          if (within)
            path += " needs " + shown(*nodes_[open].key);
          within |= open == need;
        }
        return user_error(cat("dependency cycle: ", path, " needs ", shown(*nodes_[need].key)));
      }
      marks[need] = Mark::open;
      stack.emplace_back(need, 0);
    }
  }
  return {};
}

}  // namespace fettle
