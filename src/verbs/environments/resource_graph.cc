#include "verbs/environments/resource_graph.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.h"
#include "verbs/environments/explain.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// Sweeps over the columns; more of them hardly change anything.
constexpr int sweeps = 4;
/// Columns of a picture of groups.
constexpr uint32_t bands = 24;

using Neighbours = std::vector<std::vector<uint32_t>>;

/// The columns: one more than that of the last need. Of a circle, the first node that is left goes
/// first.
std::vector<uint32_t> ranks_of(const Neighbours& needs, const Neighbours& users) {
  const size_t count = needs.size();
  std::vector<uint32_t> ranks(count, 0), open(count);
  std::vector<uint32_t> ready;
  std::vector<char> is_done(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    open[i] = static_cast<uint32_t>(needs[i].size());
    if (open[i] == 0)
      ready.push_back(i);
  }
  size_t next_of_circle = 0;
  for (size_t done = 0; done < count;) {
    if (ready.empty()) {
      while (is_done[next_of_circle] != 0)
        ++next_of_circle;
      ready.push_back(static_cast<uint32_t>(next_of_circle));
    }
    const uint32_t node = ready.back();
    ready.pop_back();
    if (std::exchange(is_done[node], 1) != 0)
      continue;
    ++done;
    for (const uint32_t user : users[node]) {
      if (is_done[user] != 0)
        continue;
      ranks[user] = std::max(ranks[user], ranks[node] + 1);
      if (--open[user] == 0)
        ready.push_back(user);
    }
  }
  return ranks;
}

/// Sorts a column by the mean row of the neighbours of each node.
void sort_column(std::vector<uint32_t>& column, const Neighbours& neighbours,
                 std::vector<double>& rows) {
  std::vector<std::pair<double, uint32_t>> order;
  order.reserve(column.size());
  for (const uint32_t node : column) {
    double sum = 0;
    for (const uint32_t other : neighbours[node])
      sum += rows[other];
    order.emplace_back(
        neighbours[node].empty() ? rows[node] : sum / static_cast<double>(neighbours[node].size()),
        node);
  }
  std::ranges::stable_sort(order, {}, &std::pair<double, uint32_t>::first);
  // The middles of all columns stand at one height, so that rows of different columns compare.
  const double middle = static_cast<double>(column.size()) / 2;
  for (size_t row = 0; row < order.size(); ++row) {
    column[row] = order[row].second;
    rows[column[row]] = static_cast<double>(row) - middle;
  }
}

/// Who needs whom, in both directions.
struct Neighbourhood {
  Neighbours needs, users;

  Neighbourhood(size_t count, const std::vector<GraphEdge>& edges) : needs(count), users(count) {
    for (const GraphEdge& edge : edges) {
      if (edge.from == edge.to)
        continue;
      needs[edge.from].push_back(edge.to);
      users[edge.to].push_back(edge.from);
    }
  }
};

}  // namespace

std::vector<GraphPlace> places_of(size_t count, const std::vector<GraphEdge>& edges) {
  const auto [needs, users] = Neighbourhood(count, edges);
  const std::vector<uint32_t> ranks = ranks_of(needs, users);
  std::vector<std::vector<uint32_t>> columns;
  for (uint32_t i = 0; i < count; ++i) {
    if (columns.size() <= ranks[i])
      columns.resize(ranks[i] + 1);
    columns[ranks[i]].push_back(i);
  }
  std::vector<double> rows(count);
  for (const std::vector<uint32_t>& column : columns)
    for (size_t row = 0; row < column.size(); ++row)
      rows[column[row]] = static_cast<double>(row) - static_cast<double>(column.size()) / 2;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (size_t i = 1; i < columns.size(); ++i)
      sort_column(columns[i], needs, rows);
    for (size_t i = columns.size(); i-- > 1;)
      sort_column(columns[i - 1], users, rows);
  }
  std::vector<GraphPlace> places(count);
  for (uint32_t rank = 0; rank < columns.size(); ++rank)
    for (uint32_t row = 0; row < columns[rank].size(); ++row)
      places[columns[rank][row]] = {rank, row};
  return places;
}

namespace {

/// How much attention a state needs.
int urgency_of(std::string_view state) {
  constexpr std::array order{"done",      "under way",   "not finished",
                             "held back", "interrupted", "failed"};
  return static_cast<int>(std::ranges::find(order, state) - order.begin());
}

/// Everything that is recorded, in the order of keys. The nodes have no ids and labels yet: of ten
/// thousand, few are drawn.
ResourceGraph whole_graph(const Known& known, bool is_at_work) {
  ResourceGraph graph;
  std::vector<const Known::value_type*> sorted;
  sorted.reserve(known.size());
  for (const Known::value_type& entry : known)
    sorted.push_back(&entry);
  std::ranges::sort(sorted, {},
                    [](const Known::value_type* one) -> const Key& { return one->first; });
  std::unordered_map<const Record*, uint32_t> ids;
  ids.reserve(sorted.size());
  graph.nodes.reserve(sorted.size());
  for (const Known::value_type* one : sorted) {
    const auto& [key, record] = *one;
    ids.emplace(record.get(), static_cast<uint32_t>(graph.nodes.size()));
    const Resource* const resource = resource_of_then(*record);
    graph.nodes.push_back({{},
                           key,
                           key.kind,
                           {},
                           std::string(state_of(*record, is_at_work)),
                           resource == nullptr ? Name() : resource->origin,
                           1,
                           {}});
  }
  for (uint32_t i = 0; i < sorted.size(); ++i) {
    const Resource* const resource = resource_of_then(*sorted[i]->second);
    if (resource == nullptr)
      continue;
    const auto add = [&](const Key& key, Bond bond) {
      if (const auto found = known.find(key);
          found != known.end() && found->second != sorted[i]->second)
        graph.edges.push_back({i, ids.at(found->second.get()), bond});
    };
    for (const Need& need : resource->needs)
      for (const Key& key : need.keys)
        add(key, need.bond);
    for (const Output& hole : holes(resource->attributes))
      add({sorted[i]->first.environment, hole.kind, hole.name}, Bond::refresh);
  }
  graph.resources = graph.nodes.size();
  return graph;
}

/// Two needs of one resource by another are one edge: the first that is no mere order.
void join_edges(std::vector<GraphEdge>& edges) {
  const auto ends = [](const GraphEdge& edge) { return std::pair(edge.from, edge.to); };
  std::ranges::stable_sort(edges, [&](const GraphEdge& a, const GraphEdge& b) {
    return std::tuple(ends(a), a.bond == Bond::order) < std::tuple(ends(b), b.bond == Bond::order);
  });
  const auto rest = std::ranges::unique(edges, {}, ends);
  edges.erase(rest.begin(), rest.end());
}

void place_nodes(ResourceGraph& graph) {
  const std::vector<GraphPlace> places = places_of(graph.nodes.size(), graph.edges);
  for (size_t i = 0; i < places.size(); ++i)
    graph.nodes[i].place = places[i];
}

void name_nodes(ResourceGraph& graph) {
  for (GraphNode& node : graph.nodes) {
    if (!node.key)
      continue;
    node.id = to_string(*node.key);
    node.label = shown_key(*node.key);
  }
}

/// The groups of a graph: nodes of one kind in neighbouring columns. Rows do not matter, and to find
/// those of ten thousand nodes takes longer than all else.
struct Groups {
  std::vector<std::string> names;
  std::vector<uint32_t> of_node;
};

Groups groups_of(const ResourceGraph& graph) {
  const auto [needs, users] = Neighbourhood(graph.nodes.size(), graph.edges);
  const std::vector<uint32_t> ranks = ranks_of(needs, users);
  const uint32_t columns = ranks.empty() ? 1 : std::ranges::max(ranks) + 1;
  const uint32_t width = (columns + bands - 1) / bands;
  Groups groups;
  std::map<std::pair<Name, uint32_t>, uint32_t> numbers;
  groups.of_node.reserve(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    const uint32_t band = ranks[i] / width;
    const auto [found, is_new] = numbers.try_emplace(std::pair(graph.nodes[i].kind, band),
                                                     static_cast<uint32_t>(groups.names.size()));
    if (is_new)
      groups.names.push_back(cat(graph.nodes[i].kind, "@", band));
    groups.of_node.push_back(found->second);
  }
  return groups;
}

ResourceGraph grouped_graph(const ResourceGraph& whole, const Groups& groups) {
  ResourceGraph graph;
  graph.resources = whole.resources;
  for (const std::string& name : groups.names)
    graph.nodes.push_back({name, std::nullopt, {}, {}, "done", {}, 0, {}});
  for (size_t i = 0; i < whole.nodes.size(); ++i) {
    const GraphNode& node = whole.nodes[i];
    GraphNode& group = graph.nodes[groups.of_node[i]];
    group.kind = node.kind;
    ++group.members;
    if (urgency_of(node.state) > urgency_of(group.state))
      group.state = node.state;
  }
  for (GraphNode& group : graph.nodes)
    group.label = cat(group.kind, " × ", group.members);
  for (const GraphEdge& edge : whole.edges) {
    const uint32_t from = groups.of_node[edge.from], to = groups.of_node[edge.to];
    if (from != to)
      graph.edges.push_back({from, to, edge.bond});
  }
  return graph;
}

/// The members of a group, as many as a picture has.
ResourceGraph opened_graph(ResourceGraph whole, const Groups& groups, const std::string& group) {
  ResourceGraph graph;
  graph.resources = whole.resources;
  const auto number =
      static_cast<size_t>(std::ranges::find(groups.names, group) - groups.names.begin());
  std::vector<uint32_t> ids(whole.nodes.size(), UINT32_MAX);
  for (size_t i = 0; i < whole.nodes.size(); ++i) {
    if (groups.of_node[i] != number)
      continue;
    if (graph.nodes.size() == most_graph_nodes) {
      ++graph.left_out;
      continue;
    }
    ids[i] = static_cast<uint32_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(whole.nodes[i]));
  }
  for (const GraphEdge& edge : whole.edges)
    if (ids[edge.from] != UINT32_MAX && ids[edge.to] != UINT32_MAX)
      graph.edges.push_back({ids[edge.from], ids[edge.to], edge.bond});
  return graph;
}

}  // namespace

Result<ResourceGraph> graph_of(const Known& known, const std::string& group, bool is_at_work) {
  ResourceGraph graph = whole_graph(known, is_at_work);
  join_edges(graph.edges);
  if (!group.empty() || graph.nodes.size() > most_graph_nodes) {
    const Groups groups = groups_of(graph);
    graph = group.empty() ? grouped_graph(graph, groups)
                          : opened_graph(std::move(graph), groups, group);
    if (graph.nodes.empty())
      return user_error(cat("there is no group `", printable(group), "` of resources"));
    join_edges(graph.edges);
  }
  name_nodes(graph);
  place_nodes(graph);
  return graph;
}

}  // namespace fettle
