#include "plan/decide.h"

#include <algorithm>

#include "base/text.h"
#include "plan/decide_parts.h"

namespace fettle {
namespace {

const Name is_new("new");  // most steps have this reason

const Name unchanged_why = "unchanged";
const Name none;

/// A thing that existed before us is not ours to remove, unless its resource says so itself.
bool is_left_in_place(const Node& node) {
  const Record& known = *node.known;
  const bool says_so = known.applied && known.applied->leftover == Leftover::remove;
  return node.kind != nullptr && node.kind->sort() != Sort::action && existed_before(known) &&
         !says_so;
}

/// The failure of an act, or the reason why it was held back.
std::string text_of_failed(const Attempt& attempt) {
  return cat(attempt.verb == Verb::blocked ? "it was due before: " : "it failed before: ",
             attempt.error);
}

}  // namespace

Step Decider::step(NodeId id, Verb verb, Name why, const Key* because) const {
  const Node& node = graph_.node(id);
  Step step;
  step.verb = verb;
  step.key = *node.key;
  step.wanted = node.wanted;
  step.known = node.known;
  step.why = std::move(why);
  if (because != nullptr)
    step.because = *because;
  return step;
}

Step Decider::blocked(NodeId id, Obstacle obstacle, Name why, const Key* because) const {
  Step found = step(id, Verb::blocked, std::move(why), because);
  found.obstacle = obstacle;
  return found;
}

std::string Decider::named(const Key& key) const { return cat("`", graph_.shown(key), "`"); }

/// The thing is made again: replaced if it can be observed and exists, else created or run.
Step Decider::again(NodeId id, std::string why, const Key* because) const {
  const Node& node = graph_.node(id);
  Verb verb = node.kind->first_verb();
  if (verb == Verb::create && node.known != nullptr && node.known->applied) {
    const bool absent = node.seen != nullptr && !node.seen->state;
    verb = absent ? Verb::create : Verb::replace;
  }
  return step(id, verb, why, because);
}

/// The same for a resource whose attributes have not changed: it is updated in place if it can be.
Step Decider::again_in_place(NodeId id, std::string why, const Key* because) const {
  const Node& node = graph_.node(id);
  Step found = again(id, std::move(why), because);
  if (found.verb == Verb::replace &&
      node.kind->in_place_changes(node.wanted->attributes, node.wanted->attributes))
    found.verb = Verb::update;
  return found;
}

std::vector<Version> Decider::versions(NodeId id) const {
  const Node& node = graph_.node(id);
  std::vector<Version> found;
  for (const Edge& edge : graph_.needs(id)) {
    if (!relies(edge) || edge.node == no_node)
      continue;
    const Record* record = graph_.node(edge.node).known.get();
    Version version{*edge.key, 0, 0, {}};
    if (edge.bond == Bond::inside) {
      version.incarnation = record == nullptr ? 0 : record->incarnation;
      version.outputs = combine(
          node.place, edge.hole ? outputs_in_use(*node.wanted, *edge.key, record) : Digest{});
    } else if (edge.bond == Bond::refresh) {
      version.changes = record == nullptr ? 0 : record->changes;
      version.outputs = edge.hole ? outputs_in_use(*node.wanted, *edge.key, record) : Digest{};
    } else {
      version.outputs = outputs_in_use(*node.wanted, *edge.key, record);
    }
    found.push_back(std::move(version));
  }
  return found;
}

std::vector<Key> Decider::events(NodeId id) const {
  const Node& node = graph_.node(id);
  std::vector<Key> found;
  for (const Edge& edge : graph_.needs(id)) {
    if (edge.bond != Bond::refresh || edge.node == no_node)
      continue;
    const Node& target = graph_.node(edge.node);
    // A look leaves no record: its finding that something would change is the event.
    if (target.wanted != nullptr && target.wanted->mandate != Mandate::act &&
        standings_[edge.node] == Standing::changed) {
      found.push_back(*edge.key);
      continue;
    }
    const RecordPointer& need = target.known;
    const Version* before =
        node.known == nullptr ? nullptr : find_version(node.known->acted_on, *edge.key);
    if (need != nullptr && need->changes != (before == nullptr ? 0 : before->changes))
      found.push_back(*edge.key);
  }
  return found;
}

Step Decider::decide(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.seen != nullptr && !node.seen->unavailable.empty())
    return blocked(id, Obstacle::unavailable, cat("unavailable: ", node.seen->unavailable));
  if (node.asked)
    return decide_asked(id);
  if (node.wanted == nullptr)
    return decide_leftover(id);
  Step found = decide_wanted(id);
  found.maybe |= acts(found.verb) && waits_for_doubtful(id);
  return found;
}

/// An action that waits for changes acts each time one comes.
const Edge* Decider::cause(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.kind->sort() != Sort::action || is_done_in_this_run(id))
    return nullptr;
  for (const Edge& edge : graph_.needs(id))
    if ((edge.when == When::changed || edge.when == When::stirred) && edge.node != no_node &&
        has_come(edge))
      return &edge;
  return nullptr;
}

/// After a kill, a run goes on: its actions count as done. Resources that look for themselves look
/// once more.
bool Decider::is_done_in_this_run(NodeId id) const {
  const uint64_t now =
      graph_.node(id).kind->sort() == Sort::ensuring ? options_.edit : options_.run;
  return now != 0 && graph_.node(id).known->run == now;
}

/// Whether the continued run did it before it was killed. If so, the event that it waited for had
/// come.
bool Decider::ended_before_the_kill(NodeId id) const {
  const Node& node = graph_.node(id);
  return options_.run != options_.edit && node.known != nullptr && node.known->applied &&
         !node.known->attempt && node.known->run >= options_.run;
}

/// Whether it is due only if something changes, which is not known yet.
bool Decider::waits_for_doubtful(NodeId id) const {
  return std::ranges::any_of(graph_.needs(id), [&](const Edge& edge) {
    return (edge.when == When::changed || edge.when == When::stirred) && edge.node != no_node &&
           is_doubtful(standings_[edge.node]);
  });
}

/// The step for a request by hand: it brings about the requested state, and does nothing if that
/// holds.
Step Decider::decide_asked(NodeId id) const {
  const Node& node = graph_.node(id);
  const Name why = "by command";
  if (node.kind == nullptr)
    return blocked(id, Obstacle::unavailable,
                   cat("unavailable: unknown resource type `", node.key->kind, "`"));
  if (node.asked == Verb::start) {
    if (auto unmet = check_needs(id))
      return *unmet;
    // Two may exist: the recorded one, and one that was started and is half made.
    if (auto attempt = check_attempt(id))
      return *attempt;
  }
  // A thing that no driver looks at has to be made.
  if (node.seen == nullptr || node.kind->sort() != Sort::observable)
    return step(id, *node.asked, why);
  const bool is_there = node.seen->state.has_value();
  if (node.asked == Verb::remove)
    return is_there ? step(id, Verb::remove, why) : step(id, Verb::keep, "already gone");
  Record known = *node.known;
  if (!known.applied)
    known.applied = known.attempt->resource;
  known.by_hand = node.asked == Verb::start ? ByHand::stopped : ByHand::nothing;
  const Comparison found = node.kind->compare(
      known, *node.seen, node.asked == Verb::start ? Presence::running : Presence::stopped);
  if (node.asked == Verb::stop && is_there && stop_was_interrupted(node))
    return step(id, Verb::stop, cat(why, ": the stop before was interrupted"));
  if (node.asked == Verb::stop)
    return is_there && found.verb != Verb::keep ? step(id, Verb::stop, why)
                                                : step(id, Verb::keep, "it is not running");
  if (found.verb == Verb::keep && is_there && stop_was_interrupted(node))
    return step(id, Verb::start, interrupted_stop_text(node));
  return found.verb == Verb::keep ? step(id, Verb::keep, "it is already running")
                                  : step(id, found.verb, cat(why, ": ", found.why));
}

/// Whether an act in a host belongs to the present incarnation.
bool Decider::lives_in(NodeId id, const Edge& host) const {
  const Record& known = *graph_.node(id).known;
  const Record* record = graph_.node(host.node).known.get();
  if (standings_[host.node] == Standing::anew || record == nullptr)
    return false;
  const Version* inside = find_version(known.acted_on, *host.key);
  const bool interrupted = known.attempt && !known.attempt->failed &&
                           known.attempt->host_incarnation == record->incarnation;
  return interrupted || (inside != nullptr && inside->incarnation == record->incarnation);
}

/// A thing that somebody else wants, too, is not ours alone to remove.
Step Decider::left_to_others(NodeId id) const {
  const std::string& who = options_.shared->at(*graph_.node(id).key);
  Step kept = step(id, Verb::keep, cat("no longer wanted; left in place: ", who));
  kept.is_shared = true;
  return kept;
}

Step Decider::decide_leftover(NodeId id) const {
  const Node& node = graph_.node(id);
  const bool in_world = node.kind == nullptr || node.kind->sort() != Sort::action;
  for (const Edge& edge : graph_.needs(id)) {
    if (edge.when == When::succeeded && !is_good(standings_[edge.node]))
      return blocked(id, Obstacle::need, cat(named(*edge.key), " may still use it"), edge.key);
    // A thing in the world goes by itself; an action is part of its host.
    if (edge.when == When::finished && lives_in(id, edge) &&
        !(in_world && node.leftover == Leftover::remove))
      return step(id, Verb::keep,
                  cat("it was done in ", named(*edge.key), ", which has not changed"));
  }
  for (const Edge& edge : graph_.needs(id))
    if (edge.when == When::finished && !in_world)
      return step(id, Verb::forget, cat("it goes with ", named(*edge.key)));
  const bool was_held = node.known->attempt && !may_have_changed(*node.known->attempt);
  if (node.leftover == Leftover::remove && was_held && !node.known->applied)
    return step(id, Verb::forget, "no longer wanted; it was never done");
  if (node.leftover == Leftover::remove && is_left_in_place(node))
    return step(id, Verb::forget, "no longer wanted; it existed before and is left in place");
  if (node.leftover == Leftover::remove && options_.shared && options_.shared->contains(*node.key))
    return left_to_others(id);
  if (node.leftover == Leftover::remove && node.has_remains())
    return step(id, Verb::remove,
                cat("no longer wanted; interrupted on ", to_string(node.known->attempt->started),
                    ", and it may have left something"));
  if (node.leftover == Leftover::remove)
    return step(id, in_world ? Verb::remove : Verb::forget, "no longer wanted");
  if (node.leftover == Leftover::forget)
    return step(id, Verb::forget, "no longer wanted; left in place");
  return step(id, Verb::keep, "not part of this run");
}

/// A thing that already is at its place, without our mark, belongs to somebody else: the reason of
/// the step says so.
Step Decider::decide_new(NodeId id) const {
  const Node& node = graph_.node(id);
  const Verb verb = node.kind->first_verb();
  if (node.kind->is_marked() || node.seen == nullptr || !node.seen->state)
    return step(id, verb, is_new);
  Record as_wanted;
  as_wanted.applied = *node.wanted;
  Comparison found = node.kind->compare(as_wanted, *node.seen, Presence::running);
  if (found.fields.empty())
    return step(id, verb, "new; it exists already");
  Step changed =
      step(id, verb, cat("new; it exists already, with another ", fields_text(found.fields)));
  changed.seen = *node.seen->state;
  changed.fields = std::move(found.fields);
  return changed;
}

Step Decider::decide_wanted(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.kind == nullptr)
    return blocked(id, Obstacle::unavailable,
                   cat("unavailable: unknown resource type `", node.key->kind, "`"));
  if (node.wanted->mandate == Mandate::none)
    return blocked(id, Obstacle::unavailable, "unavailable: nothing here can act on it");
  if (node.wanted->attributes.has_unknown())
    return blocked(id, Obstacle::undefined, "undefined: an attribute is unknown");
  if (options_.given_up != nullptr && options_.given_up->contains(*node.key) &&
      node.known != nullptr && node.known->attempt)
    return blocked(id, Obstacle::given_up, text_of_failed(*node.known->attempt));
  if (auto unmet = check_needs(id))
    return *unmet;
  if (auto described = check_look(id))
    return *described;
  if (node.wanted->mandate == Mandate::report)
    return decide_reported(id);
  if (node.wanted->mandate == Mandate::look)
    return step(id, Verb::ensure, "looked at for those that need it");
  if (node.known == nullptr || (!node.known->applied && !node.known->attempt))
    return decide_new(id);
  if (auto attempt = check_attempt(id))
    return *attempt;
  if (node.seen != nullptr && node.seen->content_is_lost)
    return again(id, "its content is lost");
  if (node.known->by_hand == ByHand::removed)
    return step(id, node.kind->first_verb(), "it was removed");
  if (node.wanted->redo == Redo::always && !is_done_in_this_run(id))
    return again(id, "runs in every run");
  if (node.wanted->redo == Redo::resolved && !is_done_in_this_run(id)) {
    const std::optional<Step> changed = check_attributes(id);
    Step resolved = again(id, changed ? changed->why.str() : "the resolver runs it again");
    if (changed)
      resolved.fields = changed->fields;
    return resolved;
  }
  if (node.wanted->redo == Redo::if_lost) {
    for (const auto check :
         {&Decider::check_host, &Decider::check_interrupted, &Decider::check_life})
      if (auto found = (this->*check)(id))
        return *found;
    return step(id, Verb::keep, "the resolver found it up to date");
  }
  if (node.kind->sort() == Sort::ensuring && (!is_done_in_this_run(id) || node.known->attempt))
    return decide_ensured(id);
  if (const Edge* change = cause(id))
    return again(id, cat(named(*change->key), " changed"), change->key);
  for (const auto check : {&Decider::check_host, &Decider::check_interrupted,
                           &Decider::check_history, &Decider::check_attributes})
    if (auto found = (this->*check)(id))
      return *found;
  // If it relies on something that has changed since, it is made again, however it was found. A
  // start or a repair would count as done with what it relies on now.
  const std::optional<Step> relied = check_versions(id);
  if (relied && !relied->maybe)
    return *relied;
  if (auto drift = check_observation(id))
    return *drift;
  // It is repeated in any case, whatever happens to its needs.
  const std::optional<Step> outlived = check_life(id);
  if (outlived && acts(outlived->verb))
    return *outlived;
  if (relied)
    return *relied;
  if (node.kind->sort() == Sort::action && node.known->attempt)
    return again(id, cat("it failed before: ", node.known->attempt->error));
  return outlived ? *outlived : step(id, Verb::keep, unchanged_why);
}

/// A resource that looks for itself does so in every run. What it listens to may make it act, too.
Step Decider::decide_ensured(NodeId id) const {
  const Box<Attempt>& attempt = graph_.node(id).known->attempt;
  if (attempt && attempt->failed)
    return step(id, Verb::ensure, text_of_failed(*attempt));
  if (const std::vector<Key> changed = events(id); !changed.empty())
    return step(id, Verb::ensure, cat(named(changed.front()), " changed"), &changed.front());
  return step(id, Verb::ensure, checked_why);
}

/// In a preview, a thing that was found as described acts only when it is told of a change.
/// Everything that an unsuccessful act may have changed counts as changed, however it is found.
std::optional<Step> Decider::check_look(NodeId id) const {
  const Node& node = graph_.node(id);
  if (options_.as_described == nullptr)
    return std::nullopt;
  const auto look = options_.as_described->find(*node.key);
  if (look == options_.as_described->end())
    return std::nullopt;
  if (node.known != nullptr && node.known->attempt && may_have_changed(*node.known->attempt))
    return std::nullopt;
  const bool listens = look->second && node.wanted->mandate == Mandate::act;
  if (const std::vector<Key> changed = events(id); listens && !changed.empty())
    return step(id, Verb::ensure, cat(named(changed.front()), " changed"), &changed.front());
  for (const Edge& edge : graph_.needs(id))
    if (relies(edge) && edge.node != no_node && is_doubtful(standings_[edge.node]) &&
        (edge.hole || listens)) {
      Step perhaps = step(id, Verb::ensure,
                          cat(named(*edge.key), " is due, and its output may change"), edge.key);
      perhaps.maybe = true;
      return perhaps;
    }
  return step(id, Verb::keep, "it is as described");
}

/// An act that has started and not succeeded. The world shows how far an interrupted start or stop
/// came.
std::optional<Step> Decider::check_attempt(NodeId id) const {
  const Node& node = graph_.node(id);
  if (!node.known->attempt)
    return std::nullopt;
  const Attempt& attempt = *node.known->attempt;
  const bool world_tells =
      attempt.verb == Verb::start || attempt.verb == Verb::stop || attempt.verb == Verb::remove;
  if (!attempt.failed && !options_.at_work.empty())
    return blocked(id, Obstacle::at_work, cat(options_.at_work, " is working on it"));
  if (attempt.course)
    return again(id, cat("it had not finished: ", attempt.error));
  if (!attempt.failed && !(world_tells && node.known->applied && node.seen != nullptr)) {
    Step due = again(id, cat("interrupted on ", to_string(attempt.started)));
    // An update in place that was interrupted goes on in place.
    if (due.verb == Verb::replace && attempt.verb == Verb::update &&
        node.kind->in_place_changes(node.known->applied->attributes, node.wanted->attributes))
      due.verb = Verb::update;
    return due;
  }
  if (!node.known->applied)
    return again(id, text_of_failed(attempt));
  return std::nullopt;
}

/// A resource that is only reported: the world is compared with the description, whatever the
/// record says.
Step Decider::decide_reported(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.kind->sort() == Sort::ensuring)
    return step(id, Verb::ensure, "report only: checked in every run");
  if (node.seen == nullptr)
    return blocked(id, Obstacle::report_only, "report only: not checked yet");
  Record as_wanted = node.known == nullptr ? Record() : *node.known;
  as_wanted.applied = *node.wanted;
  Comparison found = node.kind->compare(as_wanted, *node.seen, Presence::running);
  if (found.verb == Verb::keep)
    return step(id, Verb::keep, "it is as described");
  Step told = blocked(id, Obstacle::report_only, cat("report only: ", found.why));
  told.fields = std::move(found.fields);
  if (node.seen->state)
    told.seen = *node.seen->state;
  return told;
}

}  // namespace fettle
