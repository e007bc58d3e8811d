/// The needs of a node, and whether they are met.

#include "base/text.h"
#include "core/open_payload.h"
#include "core/output_at.h"
#include "plan/decide.h"

namespace fettle {
namespace {

std::string_view unmet_text(Standing standing) {
  switch (standing) {
    case Standing::failed:
      return " failed";
    case Standing::skipped:
      return " was skipped";
    case Standing::blocked:
      return " is blocked";
    case Standing::unmet:
      return " was not needed";
    default:
      return " does not exist";
  }
}

/// Whether the need waits for something to happen.
bool is_awaited(const Edge& edge) {
  return edge.when == When::changed || edge.when == When::stirred || edge.when == When::failed;
}

}  // namespace

/// Whether the need has seen the event that it waits for: a change, a failure, or an act that a
/// failure kept from running.
bool Decider::has_come(const Edge& edge) const {
  const Standing standing = standings_[edge.node];
  if (edge.when == When::failed)
    return standing == Standing::failed || standing == Standing::blocked;
  if (standing == Standing::changed || is_doubtful(standing))
    return true;
  if (edge.when == When::stirred && options_.changed_in_vain != nullptr &&
      options_.changed_in_vain->contains(*edge.key))
    return true;
  return options_.changed_before != nullptr && options_.changed_before->contains(*edge.key);
}

/// Each run makes its own look for those that need one: the result of an earlier look says nothing.
bool Decider::is_look(const Edge& edge) const {
  const Resource* wanted = edge.node == no_node ? nullptr : graph_.node(edge.node).wanted;
  return wanted != nullptr && wanted->mandate == Mandate::look;
}

bool Decider::is_called_for(NodeId id) const {
  bool is_any = false, is_open = false;
  uint16_t group = 0;
  for (const Edge& edge : graph_.needs(id)) {
    if (!is_awaited(edge))
      continue;
    const bool came = edge.node != no_node && has_come(edge);
    if (is_open && edge.group != group)
      return false;
    is_open = edge.group == 0 ? !came : (edge.group != group || is_open) && !came;
    if (is_open && edge.group == 0)
      return false;
    group = edge.group;
    is_any |= edge.when != When::failed && !is_look(edge);
  }
  return is_any && !is_open;
}

/// Whether a failure of this run has produced the outputs that the attributes embed. Outputs from
/// before the failure do not count.
bool Decider::reads_what_is_there(NodeId id, const Edge& edge) const {
  const Node& node = graph_.node(id);
  const Record* left = graph_.node(edge.node).known.get();
  if (!edge.reads || standings_[edge.node] != Standing::failed || node.wanted == nullptr ||
      left == nullptr || options_.edit == 0 || left->run != options_.edit)
    return false;
  return std::ranges::all_of(holes(node.wanted->attributes), [&](const Output& hole) {
    return hole.kind != edge.key->kind || hole.name != edge.key->name ||
           reach(dict_of(left->outputs), hole.path.view()).has_value();
  });
}

/// Needs that are not met, and the rule that a resource that waits for changes or failures is due
/// only when each such need has seen one. An act that did not succeed is due all the same, since
/// the change came before it. One that repairs a failure is not due if that failure no longer
/// happens. If a need was not needed, the resource is not needed either.
std::optional<Step> Decider::check_needs(NodeId id) const {
  bool waits = false, waits_for_failure = false, waits_for_look = false;
  const Edge* unmet = nullptr;  // of the step to be skipped
  uint16_t group = 0;
  bool group_met = true, group_awaits = false, group_came = false, group_fails = false;
  // A need without alternatives comes first, whatever the order.
  std::optional<Step> not_needed;
  const auto held_by = [&](const Edge& edge, bool is_unneeded,
                           const std::string& why) -> std::optional<Step> {
    if (edge.unmet != Unmet::skip && !is_unneeded)
      return blocked(id, Obstacle::need, why, edge.key);
    if (!not_needed)
      not_needed = blocked(id, Obstacle::unmet, cat("not needed: ", why), edge.key);
    return std::nullopt;
  };
  const auto edges = graph_.needs(id);
  for (size_t i = 0; i <= edges.size(); ++i) {
    // A group of alternatives is judged when its last edge is past.
    if (i == edges.size() || edges[i].group != group) {
      if (group != 0 && !group_met)
        if (auto held = held_by(
                edges[i - 1], !group_fails,
                cat("nothing that it waits for happened; the last was ", named(*edges[i - 1].key))))
          return held;
      if (group_awaits && !group_came) {
        waits = true;
        waits_for_failure |= edges[i - 1].when == When::failed;
        if (edges[i - 1].unmet == Unmet::skip)
          unmet = &edges[i - 1];
      }
      if (i == edges.size())
        break;
      group = edges[i].group;
      group_met = group == 0;
      group_awaits = group_came = group_fails = false;
    }
    const Edge& edge = edges[i];
    if (edge.node == no_node) {
      if (group == 0)
        return blocked(
            id, Obstacle::need,
            cat("it needs ", named(*edge.key), ", which is neither described nor recorded"),
            edge.key);
      group_fails = true;
      continue;
    }
    const Node& need = graph_.node(edge.node);
    const Standing standing = standings_[edge.node];
    const bool exists =
        need.wanted != nullptr ||
        (need.known != nullptr && (need.known->applied || !need.known->outputs.is_null()));
    bool met = is_good(standing) && exists;
    if (edge.when == When::finished)
      met = true;
    if (is_awaited(edge)) {
      const bool came = has_come(edge);
      group_awaits |= group != 0;
      group_came |= came;
      if (group == 0 && !came) {
        waits = true;
        waits_for_failure |= edge.when == When::failed;
        waits_for_look |= is_look(edge);
        if (edge.unmet == Unmet::skip)
          unmet = &edge;
      }
      met |= edge.when == When::failed || (edge.when == When::stirred && came);
    }
    met |= reads_what_is_there(id, edge);
    group_met |= met;
    group_fails |= !met && standing != Standing::unmet;
    if (group != 0 || met)
      continue;
    if (auto held =
            held_by(edge, standing == Standing::unmet, cat(named(*edge.key), unmet_text(standing))))
      return held;
  }
  if (not_needed)
    return not_needed;
  const Node& node = graph_.node(id);
  if (!waits || node.wanted == nullptr || ended_before_the_kill(id))
    return std::nullopt;
  if (node.known != nullptr && node.known->attempt && !waits_for_look &&
      (!waits_for_failure || !node.known->attempt->failed || node.known->attempt->course))
    return std::nullopt;
  if (unmet != nullptr)
    return blocked(id, Obstacle::unmet,
                   cat("not needed: ", named(*unmet->key), " has not ",
                       unmet->when == When::failed ? "failed" : "changed"),
                   unmet->key);
  return step(id, Verb::keep, "nothing that it waits for has changed");
}

}  // namespace fettle
