#pragma once
/// Everything that a plan is about, as one graph: the wishes, the records and the needs. It is
/// built once per pass; nodes and edges are flat arrays, because a million resources must fit.
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
  bool reads = false;  ///< only its outputs are needed: those of a failure are enough
  uint16_t group = 0;  ///< of edges with the same number above 0, one is enough
  const Key* key = nullptr;
};

struct Node {
  const Key* key = nullptr;
  const Resource* wanted = nullptr;
  const Name* set = nullptr;  ///< who wants it; empty: nobody, it was requested by hand
  std::optional<Verb> asked;  ///< by hand: start, stop or remove
  RecordPointer known;
  const Observation* seen = nullptr;
  const Kind* kind = nullptr;
  NodeId host = no_node;  ///< the thing that it happens inside of
  Role role = Role::none;
  std::optional<Leftover> leftover;  ///< a set of the intent once wanted it, and none does now
  Digest place;                      ///< inside a host: the wanted history before it
  uint32_t edges_begin = 0, edges_count = 0;

  /// Whether an act whose end was not seen may have left something in the world.
  bool has_remains() const {
    return known != nullptr && known->attempt && !known->attempt->failed && kind != nullptr &&
           kind->leaves_remains();
  }
};

class Graph {
 public:
  /// Errors (`Blame::user`): a thing is wanted twice, an unknown thing is requested, or needs form
  /// a cycle. The intent and the kinds must outlive the graph.
  static Result<Graph> build(const Intent& intent, const Known& known, const Seen& seen,
                             const Kinds& kinds);

  size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  std::span<const Edge> needs(NodeId id) const {
    return std::span(edges_).subspan(nodes_[id].edges_begin, nodes_[id].edges_count);
  }
  /// The nodes in an order that the needs allow, as close to the intent's as possible.
  std::span<const NodeId> order() const { return order_; }
  NodeId find(const Key& key) const { return ids_.find(key); }
  /// `kind/name` as people read it, to be put into a sentence.
  std::string shown(const Key& key) const;
  /// The wanted acts inside a host, in their order.
  std::span<const NodeId> history(NodeId host) const;
  struct Reader {
    NodeId id;
    size_t acts_before;  ///< the number of acts before it in the wanted history
  };
  /// The acts that only read inside a host.
  std::span<const Reader> readers(NodeId host) const;
  /// The records of acts inside a host, if a set of the intent wants it or once wanted it.
  std::span<const NodeId> happened(NodeId host) const;
  /// The nodes that hold something that this one takes although they wait for this one: an
  /// exchange.
  std::span<const NodeId> releases(NodeId id) const;
  /// Whether anything happens, or has happened, inside a host.
  bool has_hosts() const { return !history_.empty() || !happened_.empty() || !readers_.empty(); }
  const std::vector<Key>& leftovers() const { return leftovers_; }

  /// After an act: stores the present record.
  void set_known(NodeId id, RecordPointer record) { nodes_[id].known = std::move(record); }
  /// After an act: drops the observation from before it, which says nothing any more.
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
  std::deque<Resource> revived_;  ///< resources as they were applied, to be started by hand
  Hosts history_, happened_;
  Hosts releases_;
  std::unordered_map<NodeId, std::vector<Reader>> readers_;
  std::vector<Key> leftovers_;
};

/// The fate of a record that the intent's sets no longer want: what its resource says, else the
/// mildest that the sets say. `keep` if another set still wants it.
Leftover leftover_of(const Record& record, const Intent& intent);

}  // namespace fettle
