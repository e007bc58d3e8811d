#pragma once
/// News about the nodes of a fleet: what users say about them, and which of them answer.
///
/// A command such as `node drain` says that something is done only when the controller will place
/// no pod there any more. So the controller writes what it has heard of into a note in the store,
/// but not before that is true: whatever was on a lost node is forgotten, and new nodes were asked,
/// so that the next pod may go there.

#include "controller/async_question.h"
#include "controller/fleet_cache.h"

namespace fettle {

class NodeNews {
 public:
  /// `answered` is called from another thread when an answer of nodes can be taken.
  NodeNews(const Workplace& place, FleetCache& cache, Edit& edit, std::function<void()> answered);

  /// Reads what the store says by now. Returns whether it says something new.
  Result<bool> hear();
  /// Notes that somebody else has just asked the nodes.
  void were_asked(Instant now) { asked_ = now; }
  /// Takes the answer of nodes, and asks again if it is time. Returns whether a node is back: it
  /// may have other images and other pods, and whatever waited for it need not wait any longer.
  Result<bool> watch();
  /// Forgets what was on nodes that never come back. Only while nothing is under way there.
  Status forget_lost();

 private:
  Status tell_heard();
  Result<bool> learn(const std::map<Name, bool>& answers);

  const Workplace& place_;
  FleetCache& cache_;
  Edit& edit_;
  std::string heard_;         ///< the mark of the nodes that were heard of last
  bool has_to_tell_ = false;  ///< it has heard of them, and nobody was told yet
  std::vector<Name> lost_;    ///< nodes whose records have to be forgotten
  std::set<Name> unasked_;    ///< new nodes of which nobody knows yet whether they answer
  Instant asked_;
  AsyncQuestion<std::map<Name, bool>> looks_;
};

}  // namespace fettle
