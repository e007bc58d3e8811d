/// Whether the recorded act still matches the description: its host, the acts in the host, the
/// world, the attributes, and the things it relied on.

#include <algorithm>

#include "base/text.h"
#include "core/open_payload.h"
#include "core/output_at.h"
#include "plan/decide.h"
#include "plan/decide_parts.h"
#include "plan/presence.h"

namespace fettle {

Digest outputs_in_use(const Resource& resource, const Key& need, const Record* record) {
  Digest digest{0, 1};
  for (const Output& hole : holes(resource.attributes)) {
    if (hole.kind != need.kind || hole.name != need.name)
      continue;
    const auto output = record == nullptr ? std::nullopt : output_at(*record, hole.path.view());
    digest = combine(combine(digest, hole.path.digest()), output ? output->digest() : Digest{});
  }
  return digest;
}

std::string fields_text(const std::vector<std::string>& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size() && i < 4; ++i)
    text += cat(i == 0 ? "" : ", ", "`", fields[i].empty() ? "it" : fields[i], "`");
  if (fields.size() > 4)
    text += cat(" and ", fields.size() - 4, " more");
  return text;
}

const Version* find_version(const std::vector<Version>& versions, const Key& key) {
  const auto found = std::find_if(versions.begin(), versions.end(),
                                  [&](const Version& v) { return v.key == key; });
  return found == versions.end() ? nullptr : &*found;
}

bool stop_was_interrupted(const Node& node) {
  return node.known->attempt && !node.known->attempt->failed &&
         node.known->attempt->verb == Verb::stop && node.known->applied && node.seen != nullptr;
}

std::string interrupted_stop_text(const Node& node) {
  return cat("its stop was interrupted on ", to_string(node.known->attempt->started));
}

/// An act inside a host dies with the host's incarnation.
std::optional<Step> Decider::check_host(NodeId id) const {
  const Node& node = graph_.node(id);
  for (const Edge& edge : graph_.needs(id)) {
    if (edge.bond != Bond::inside)
      continue;
    const Version* before = find_version(node.known->acted_on, *edge.key);
    const Record* host = graph_.node(edge.node).known.get();
    const bool due = standings_[edge.node] == Standing::anew;
    if (due || before == nullptr || host == nullptr || before->incarnation != host->incarnation)
      return again(id, cat(named(*edge.key), " ", due ? "is recreated" : "was recreated"),
                   edge.key);
  }
  return std::nullopt;
}

/// Whether a value that the record embeds has changed since, as far as records show now.
bool Decider::embeds_changed(NodeId id) const {
  const Node& node = graph_.node(id);
  for (const Edge& edge : graph_.needs(id)) {
    if (!edge.hole || edge.bond == Bond::inside || edge.node == no_node)
      continue;
    const Version* before = find_version(node.known->acted_on, *edge.key);
    if (before == nullptr || before->outputs != outputs_in_use(*node.wanted, *edge.key,
                                                               graph_.node(edge.node).known.get()))
      return true;
  }
  return false;
}

/// A host in which an act was under way when the process was killed may hold half of it, or all.
std::optional<Step> Decider::check_interrupted(NodeId id) const {
  const Node& host = graph_.node(id);
  // Only the process that is at work just now knows how far the act came.
  if (options_.edit_in_place || !options_.at_work.empty())
    return std::nullopt;
  for (const NodeId act : graph_.happened(id)) {
    const Box<Attempt>& attempt = graph_.node(act).known->attempt;
    if (attempt && !attempt->failed && attempt->host_incarnation == host.known->incarnation)
      return again(id, cat("unknown whether ", named(*graph_.node(act).key), " finished in it"),
                   graph_.node(act).key);
  }
  return std::nullopt;
}

/// If the wanted history of a host does not start with the recorded one, the host is not as
/// described.
std::optional<Step> Decider::check_history(NodeId id) const {
  const Node& host = graph_.node(id);
  if (options_.edit_in_place)
    return std::nullopt;
  const auto wanted = graph_.history(id);
  size_t place = 0, left_at = 0;  // acts until the host was left stopped or absent; 0: it was not
  for (const NodeId act : graph_.happened(id)) {
    const Node& node = graph_.node(act);
    const Record& record = *node.known;
    const Version* inside = find_version(record.acted_on, *host.key);
    const std::string name = named(*node.key);
    if (!record.applied || inside == nullptr || inside->incarnation != host.known->incarnation)
      continue;
    const bool still = place < wanted.size() && wanted[place] == act;
    if (!still) {
      const bool later = std::find(wanted.begin(), wanted.end(), act) != wanted.end();
      return again(id,
                   cat(name, later ? " is now preceded by something else"
                                   : ", which was done in it, is no longer wanted"),
                   node.key);
    }
    ++place;
    if (const auto leaves = node.kind->leaves_host())
      left_at = leaves == Presence::running ? 0 : place;
    if (record.applied->attributes != node.wanted->attributes)
      return again(id, cat(name, ", which was done in it, changed"), node.key);
    if (embeds_changed(act))
      return again(id, cat("a value in ", name, ", which was done in it, changed"), node.key);
  }
  for (const Graph::Reader& reader : graph_.readers(id))
    if (reader.acts_before < left_at && reader_is_due(reader.id))
      return again(id,
                   cat(named(*graph_.node(reader.id).key),
                       " is due in it, at a point before it was stopped"),
                   graph_.node(reader.id).key);
  return std::nullopt;
}

/// Whether an act that only reads has to run in the present incarnation of its host.
bool Decider::reader_is_due(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.known == nullptr || !node.known->applied || node.known->attempt ||
      node.wanted->redo == Redo::always || node.wanted->redo == Redo::resolved ||
      node.known->applied->attributes != node.wanted->attributes || embeds_changed(id))
    return true;
  for (Version now : versions(id)) {
    const Version* before = find_version(node.known->acted_on, now.key);
    now.life = before == nullptr ? 0 : before->life;
    if (before == nullptr || *before != now)
      return true;
  }
  return false;
}

/// The presence in which the last transition left the host.
Presence Decider::expected_presence(NodeId host) const {
  LastTransition last(*graph_.node(host).key, graph_.node(host).known->incarnation);
  for (const NodeId act : graph_.happened(host))
    if (const Node& node = graph_.node(act); node.kind != nullptr)
      last.see(*node.known, *node.kind);
  if (last.left() != Presence::running)
    return last.left();
  for (const Graph::Reader& reader : graph_.readers(host))
    if (const Node& node = graph_.node(reader.id); node.kind->awaits_host(node.wanted->attributes))
      return Presence::serving;
  return Presence::running;
}

std::optional<Step> Decider::check_observation(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.kind->sort() != Sort::observable || node.seen == nullptr)
    return std::nullopt;
  const Presence expected = expected_presence(id);
  Comparison found = node.kind->compare(*node.known, *node.seen, expected);
  // If a stop was interrupted, a host that still runs may end at any moment.
  if (found.verb == Verb::keep && runs(expected) && node.seen->state && stop_was_interrupted(node))
    return step(id, Verb::start, interrupted_stop_text(node));
  if (found.verb == Verb::keep)
    return std::nullopt;
  // A difference that our own act left is not drift.
  const Box<Attempt>& attempt = node.known->attempt;
  const bool has_failed = attempt && attempt->failed && may_have_changed(*attempt);
  Step drift =
      step(id, found.verb,
           has_failed ? cat("it failed before: ", attempt->error) : cat("drift: ", found.why));
  if (node.seen->state)
    drift.seen = *node.seen->state;
  drift.fields = std::move(found.fields);
  return drift;
}

std::optional<Step> Decider::check_attributes(NodeId id) const {
  const Node& node = graph_.node(id);
  const Value& before = dict_of(node.known->applied->attributes);
  const Value& after = dict_of(node.wanted->attributes);
  if (before == after)
    return std::nullopt;
  // Only the driver knows whether it is the same thing. Nothing shows what was done in it.
  if (node.known->is_adopted && graph_.history(id).empty())
    return step(id, Verb::update, "found by its labels; it may already be as described");
  std::vector<std::string> fields = differences(before, after);
  std::string why = cat(fields_text(fields), " changed");
  if (!node.set->empty() && !node.known->is_adopted && !node.known->wanted_by.empty() &&
      !node.known->wanted_by.contains(*node.set))
    why += cat("; this overrides `", node.known->wanted_by.begin()->first, "`");
  Step changed = again(id, std::move(why));
  if (changed.verb == Verb::replace && node.kind->in_place_changes(before, after))
    changed.verb = Verb::update;
  changed.fields = std::move(fields);
  if (node.kind->sort() == Sort::observable && node.seen != nullptr && node.seen->state)
    if (!node.kind->compare(*node.known, *node.seen, expected_presence(id)).fields.empty())
      changed.seen = *node.seen->state;
  return changed;
}

/// Whether a wanted transition of its host comes after it. Then the end of the processes in the
/// host was intended.
bool Decider::is_before_a_transition(NodeId id) const {
  const auto history = graph_.history(graph_.node(id).host);
  const auto place = std::ranges::find(history, id);
  return std::any_of(place, history.end(),
                     [&](NodeId act) { return graph_.node(act).kind->leaves_host().has_value(); });
}

/// An act in a host that was started again since then no longer affects what runs there. It is
/// repeated only on request: a start is no reason to repeat it.
std::optional<Step> Decider::check_life(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.role != Role::acts || node.host == no_node || node.known->attempt)
    return std::nullopt;
  const Node& host = graph_.node(node.host);
  uint64_t life = host.seen == nullptr ? 0 : host.seen->life;
  if (options_.lives != nullptr)
    if (const auto begun = options_.lives->find(*host.key); begun != options_.lives->end())
      life = begun->second;
  const Version* before = find_version(node.known->acted_on, *host.key);
  if (before == nullptr || before->life == 0 || life == 0 || before->life == life ||
      is_before_a_transition(id))
    return std::nullopt;
  const std::string_view tense = is_doubtful(standings_[node.host]) ? " is" : " was";
  const std::string why = cat(named(*host.key), tense, " started again after it ran");
  if (options_.replay)
    return again(id, why, host.key);
  Step kept = step(id, Verb::keep, cat(why, "; not repeated"), host.key);
  kept.is_outlived = true;
  return kept;
}

/// In a preview: the host stays the same and is started, which does not undo the acts in it.
bool Decider::is_only_started(const Edge& edge) const {
  return edge.bond == Bond::inside && !edge.hole && options_.lives != nullptr &&
         options_.lives->contains(*edge.key);
}

/// A resource that it relied on when it acted has changed since, or may turn out to have changed.
std::optional<Step> Decider::check_versions(NodeId id) const {
  const Node& node = graph_.node(id);
  const Edge* doubtful = nullptr;
  for (Version now : versions(id)) {
    const auto edges = graph_.needs(id);
    const auto edge = std::find_if(edges.begin(), edges.end(),
                                   [&](const Edge& e) { return relies(e) && *e.key == now.key; });
    if (is_doubtful(standings_[edge->node]) && !is_only_started(*edge)) {
      doubtful = &*edge;
      continue;
    }
    const Version* before = find_version(node.known->acted_on, now.key);
    now.life = before == nullptr ? 0 : before->life;
    if (before != nullptr && *before == now)
      continue;
    if (edge->bond == Bond::inside && before != nullptr && before->outputs != now.outputs &&
        node.role == Role::acts)
      continue;  // the history was judged with the host
    const std::string what = edge->bond == Bond::inside
                                 ? cat("what is done in ", named(now.key), " before it changed")
                             : edge->hole ? cat("an output of ", named(now.key), " changed")
                                          : cat(named(now.key), " changed");
    // An act that succeeded cannot be repeated in a host that lives on: the next pass will see the
    // change in the history of the host.
    if (node.role == Role::acts && !options_.edit_in_place &&
        graph_.node(node.host).wanted != nullptr)
      return blocked(
          id, Obstacle::host,
          cat("again: ", what, ", so ", named(*graph_.node(node.host).key), " is recreated"),
          edge->key);
    return again_in_place(id, what, edge->key);
  }
  if (doubtful == nullptr)
    return std::nullopt;
  Step perhaps = again_in_place(
      id, cat(named(*doubtful->key), " is due, and its output may change"), doubtful->key);
  perhaps.maybe = true;
  return perhaps;
}

}  // namespace fettle
