#pragma once
/// Who waits for whom in a pass, how far each has come, and who is decided next.
///
/// Each node is decided at the moment when all its needs are settled. Sorting once and walking the
/// order would be simple and wrong: the walk would wait at the first node that takes an hour while
/// a thousand others could go on. Asking each node again whenever something has settled would be
/// right and quadratic. So each node knows how many of its needs are open. A node that settles
/// counts down at those that wait for it, and at zero they can be decided: each edge is touched
/// once.
///
/// Two things make it more than a topological sort.
/// * *An answer is not the end.* A success that has not settled is called again and may have
///   another answer later. Those that need it have gone on by then, and are never counted down
///   twice: they are told of the new answer, and only if it differs.
/// * *A need may be done again* while a node that needs it is to be decided. That node is deferred
///   until the need answers, whether with the same answer or another one.
///
/// Nodes that can be decided are taken in the order of the graph, not in that of their arrival: the
/// same inputs give the same run, and the first things in a file are done first when slots are few.
/// That order is a number, the *place* of a node.
///
/// A million resources must fit. The edges of the graph lead from a node to its needs. Here they
/// are needed the other way round: one flat array, and the start of each node's part.
///
/// Invariants:
/// * A node has answered once and for all: a count of open needs only goes down.
/// * A node that can be decided is open, or has answered and is decided once more.
/// * A node is taken out as often as it was put in. Deciding it twice has to be harmless.

#include <functional>
#include <queue>
#include <set>
#include <vector>

#include "plan/decide.h"

namespace fettle {

class Ready {
 public:
  Ready() = default;
  /// `graph` must outlive it. At first, nothing in it has an answer.
  explicit Ready(const Graph& graph);
  /// Gives a node the standing that it had as `then` in an earlier pass. Only before `count`.
  void carry_over(NodeId id, const Ready& before, NodeId then);
  /// Finds out which nodes wait for which, and puts in every open node that waits for none.
  void count();

  bool empty() const { return decidable_.empty(); }
  /// Takes the first node, in the order of the graph, that can be decided. There must be one.
  NodeId take();
  /// Marks a node to be decided, once more if it has answered.
  void put(NodeId id) { decidable_.push(places_[id]); }
  /// Marks a node to be decided when one of its needs answers.
  void defer(NodeId id) { deferred_.insert(id); }

  /// Notes the answer of a node; others know only its digest. Returns the nodes that went on with
  /// another answer of it.
  std::vector<NodeId> answer(NodeId id, Standing standing, Digest answer);
  void stand(NodeId id, Standing standing) { standings_[id] = standing; }

  const std::vector<Standing>& standings() const { return standings_; }
  Standing standing(NodeId id) const { return standings_[id]; }
  bool has_answered(NodeId id) const { return has_answered_[id] != 0; }
  bool waits(NodeId id) const { return open_needs_[id] != 0; }
  uint32_t place(NodeId id) const { return places_[id]; }

 private:
  template <typename Visit>
  void each_edge(const Visit& visit) const;

  const Graph* graph_ = nullptr;
  std::vector<Standing> standings_;
  std::vector<char> has_answered_;
  std::vector<Digest> answers_;
  std::vector<uint32_t> places_;  ///< of each node in the order of the graph
  std::vector<uint32_t> open_needs_;
  std::vector<uint32_t> dependants_begin_;
  std::vector<NodeId> dependants_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> decidable_;  ///< places
  std::set<NodeId> deferred_;
};

}  // namespace fettle
