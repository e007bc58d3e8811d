#pragma once
/// The resources of an environment as a picture: what needs what, and where each stands.
///
/// An environment may have 10,000 resources, and a picture of as many boxes shows nothing. Above a
/// limit, resources of one kind that stand near each other are drawn as one group, which is opened
/// on request. The columns are ranks: a resource stands behind everything that it needs. The usual
/// layouts in layers put a dummy node into each column that an edge crosses, which takes seconds for
/// a thousand resources with long edges; here an edge pulls its two ends only, and a picture costs
/// O((nodes + edges) log nodes).

#include <optional>
#include <string>
#include <vector>

#include "workplace/workplace.h"

namespace fettle {

/// The place of a node: its column and its row, both from 0.
struct GraphPlace {
  uint32_t rank = 0;
  uint32_t row = 0;
};

/// `from` needs `to`.
struct GraphEdge {
  uint32_t from = 0, to = 0;
  Bond bond = Bond::order;
};

/// Places for nodes 0 to `count` - 1. Of a circle, which records of different times may form, one
/// edge is taken as if it was not there. The same graph gets the same places.
std::vector<GraphPlace> places_of(size_t count, const std::vector<GraphEdge>& edges);

struct GraphNode {
  std::string id;          ///< `KIND/NAME`, or of a group `KIND@BAND`
  std::optional<Key> key;  ///< none: a group
  Name kind;
  std::string label;
  std::string state;  ///< as `show` has it; of a group, the one that needs most attention
  Name origin;
  size_t members = 1;
  GraphPlace place;
};

struct ResourceGraph {
  size_t resources = 0;  ///< of the environment, drawn or not
  size_t left_out = 0;   ///< members of an opened group that do not fit
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

/// Above so many nodes, groups are drawn; a group that is opened shows no more of its members.
constexpr size_t most_graph_nodes = 500;

/// The picture of what is recorded. `group`: the members of this one only; empty: everything. Error
/// (`Blame::user`): there is no such group. `is_at_work`: somebody acts on the environment now.
Result<ResourceGraph> graph_of(const Known& known, const std::string& group, bool is_at_work);

}  // namespace fettle
