#pragma once
/// Everything that a plan is about, as one graph: what is wanted, what is known of it and what
/// needs what. Built once a pass; nodes and edges are flat arrays, since a million resources have
/// to fit.
///
/// A node is a key that is wanted or known. Its edges are its needs: those of the resource, one for
/// each resource that its holes name, and, for something that has to go, everything that used it.

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/kind.h"
#include "core/record.h"
#include "plan/key_table.h"

namespace fettle {

using NodeId = uint32_t;
constexpr NodeId no_node = KeyTable::none;

struct Edge {
  NodeId node = no_node;  ///< `no_node`: nobody wants or knows it
  When when = When::succeeded;
  Unmet unmet = Unmet::fail;
  Bond bond = Bond::order;
  bool hole = false;   ///< the attributes embed an output of it
  bool reads = false;  ///< nothing else of it is needed: what a failure has put out is enough
  uint16_t group = 0;  ///< edges of one number above 0: one of them is enough
  const Key* key = nullptr;
};

struct Node {
  const Key* key = nullptr;
  const Resource* wanted = nullptr;
  const Name* set = nullptr;  ///< who wants it; empty: nobody, it is made so by hand
  std::optional<Verb> asked;  ///< by hand: start, stop or remove
  RecordPointer known;
  const Observation* seen = nullptr;
  const Kind* kind = nullptr;
  NodeId host = no_node;  ///< what it happens inside of
  Role role = Role::none;
  std::optional<Leftover> leftover;  ///< a set of the intent wanted it once, and none does now
  Digest place;                      ///< inside a host: the wanted history before it
  uint32_t edges_begin = 0, edges_count = 0;

  /// Whether an act that nobody saw the end of may have left something in the world.
  bool has_remains() const {
    return known != nullptr && known->attempt && !known->attempt->failed && kind != nullptr &&
           kind->leaves_remains();
  }
};

class Graph {
 public:
  /// Errors (`Blame::user`): something is wanted twice, something unknown is asked for, needs form
  /// a cycle. The intent and the kinds must outlive the graph.
  static Result<Graph> build(const Intent& intent, const Known& known, const Seen& seen,
                             const Kinds& kinds);

  size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  std::span<const Edge> needs(NodeId id) const {
    return std::span(edges_).subspan(nodes_[id].edges_begin, nodes_[id].edges_count);
  }
  /// Nodes in an order that the needs allow, as near to the intent's as possible.
  std::span<const NodeId> order() const { return order_; }
  NodeId find(const Key& key) const { return ids_.find(key); }
  /// `kind/name` as people read it, for a sentence.
  std::string shown(const Key& key) const;
  /// The acts inside a host that are wanted, in their order.
  std::span<const NodeId> history(NodeId host) const;
  struct Reader {
    NodeId id;
    size_t acts_before;  ///< how many acts of the wanted history stand before it
  };
  /// What only reads inside a host.
  std::span<const Reader> readers(NodeId host) const;
  /// Records of what happened inside a host, as far as a set of the intent wants or wanted it.
  std::span<const NodeId> happened(NodeId host) const;
  /// What holds something that this one takes, and waits for it all the same: they exchange it.
  std::span<const NodeId> releases(NodeId id) const;
  /// Whether anything happens, or has happened, inside anything.
  bool has_hosts() const { return !history_.empty() || !happened_.empty() || !readers_.empty(); }
  const std::vector<Key>& leftovers() const { return leftovers_; }

  /// After an act: the record as it is now.
  void set_known(NodeId id, RecordPointer record) { nodes_[id].known = std::move(record); }
  /// After an act: what was seen before it says nothing any more.
  void forget_seen(NodeId id) { nodes_[id].seen = nullptr; }

 private:
  using Hosts = std::unordered_map<NodeId, std::vector<NodeId>>;

  Status add_wanted(const Intent& intent, const Kinds& kinds);
  void add_known(const Intent& intent, const Known& known, const Kinds& kinds);
  std::vector<const Known::value_type*> add_records(const Known& known);
  void add_stranger(const Known::value_type& entry, const Intent& intent, const Kinds& kinds);
  void find_happened(const Intent& intent);
  Status add_requests(const Intent& intent);
  void revive(NodeId id);
  void add_edges(const Resource& resource);
  void add_order_of_requests();
  void add_users_of_then();
  void set_edges(NodeId id, std::vector<Edge> edges);
  Status sort();
  void find_history();
  void chain(NodeId before, NodeId after);
  void append(NodeId id, const Edge& edge);
  bool is_needed_by(NodeId need, NodeId id) const;
  void add_exchanges();
  bool lets_go(NodeId id, const std::string& thing) const;
  void add_exchange(NodeId taker, NodeId holder);

  const Kinds* kinds_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<NodeId> order_;
  KeyTable ids_;
  std::deque<Key> missing_;       ///< keys that holes name and nobody wants or knows
  std::deque<Resource> revived_;  ///< as they were applied, for what is started by hand
  Hosts history_, happened_;
  Hosts releases_;
  std::unordered_map<NodeId, std::vector<Reader>> readers_;
  std::vector<Key> leftovers_;
};

/// What becomes of a record when the intent's sets do not want it any more: what the resource says,
/// else the mildest of what they say; `keep` when another set wants it still.
Leftover leftover_of(const Record& record, const Intent& intent);

}  // namespace fettle
