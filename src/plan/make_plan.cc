#include "plan/make_plan.h"

namespace fettle {
namespace {

/// The standing that others have to assume while nothing has been done yet.
Standing assumed(const Step& step) {
  switch (step.verb) {
    case Verb::keep:
    case Verb::forget:
      return Standing::kept;
    case Verb::blocked:
      return Standing::blocked;
    case Verb::create:
    case Verb::replace:
    case Verb::run:
      return step.maybe ? Standing::maybe : Standing::anew;
    default:
      return Standing::maybe;
  }
}

}  // namespace

Result<Plan> make_plan(const Intent& intent, const Known& known, const Seen& seen,
                       const Kinds& kinds, PlanOptions options) {
  const Graph graph = TRY(Graph::build(intent, known, seen, kinds));
  std::vector<Standing> standings(graph.size(), Standing::open);
  options.lives = std::make_shared<std::unordered_map<Key, uint64_t, KeyHash>>();
  const Decider decider(graph, standings, options);
  Plan plan;
  plan.steps.reserve(graph.size());
  plan.leftovers = graph.leftovers();
  std::ranges::sort(plan.leftovers);
  std::vector<Step> going;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    Step step = decider.decide(id);
    standings[id] = assumed(step);
    if (step.verb == Verb::start)
      options.lives->insert_or_assign(step.key, unnumbered_life);
    if (node.wanted != nullptr)
      plan.steps.push_back(std::move(step));
    else if (node.leftover.value_or(Leftover::keep) != Leftover::keep || step.verb == Verb::forget)
      going.push_back(std::move(step));
  }
  std::move(going.begin(), going.end(), std::back_inserter(plan.steps));
  return plan;
}

}  // namespace fettle
