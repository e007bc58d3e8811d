#include "plan/decide.h"

#include <algorithm>

#include "base/text.h"
#include "core/output_at.h"
#include "plan/presence.h"

namespace fettle {
namespace {

const Name is_new("new");  // the reason of very many

const Name unchanged_why = "unchanged";
const Name none;

bool relies(const Edge& edge) { return edge.hole || edge.bond != Bond::order; }

/// Digest of the outputs of `need` that the holes of `resource` use, in their order.
Digest outputs_in_use(const Resource& resource, const Key& need, const Record* record) {
  Digest digest{0, 1};
  for (const Output& hole : holes(resource.attributes)) {
    if (hole.kind != need.kind || hole.name != need.name)
      continue;
    const Value* output = record == nullptr ? nullptr : output_at(*record, hole.path.view());
    digest = combine(combine(digest, hole.path.digest()),
                     output == nullptr ? Digest{} : output->digest());
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

const Version* find_version(const std::vector<Version>& versions, const Key& key) {
  const auto found = std::find_if(versions.begin(), versions.end(),
                                  [&](const Version& v) { return v.key == key; });
  return found == versions.end() ? nullptr : &*found;
}

/// What existed before is not ours to remove, unless it says so itself.
bool is_left_in_place(const Node& node) {
  const Record& known = *node.known;
  const bool says_so = known.applied && known.applied->leftover == Leftover::remove;
  return node.kind != nullptr && node.kind->sort() != Sort::action && existed_before(known) &&
         !says_so;
}

/// What is seen to run may be about to end.
bool stop_was_interrupted(const Node& node) {
  return node.known->attempt && !node.known->attempt->failed &&
         node.known->attempt->verb == Verb::stop && node.known->applied && node.seen != nullptr;
}

std::string interrupted_stop_text(const Node& node) {
  return cat("its stop was interrupted on ", to_string(node.known->attempt->started));
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

/// It is done anew: an observable thing is replaced, or created when there is nothing to replace.
Step Decider::again(NodeId id, std::string why, const Key* because) const {
  const Node& node = graph_.node(id);
  Verb verb = node.kind->first_verb();
  if (verb == Verb::create && node.known != nullptr && node.known->applied) {
    const bool absent = node.seen != nullptr && !node.seen->state;
    verb = absent ? Verb::create : Verb::replace;
  }
  return step(id, verb, why, because);
}

/// The same, of what has the attributes that it had: what can be changed where it is stays there.
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
    const RecordPointer& need = graph_.node(edge.node).known;
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

/// An action that waits for changes is done each time they come.
const Edge* Decider::cause(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.kind->sort() != Sort::action || is_done_in_this_run(id))
    return nullptr;
  for (const Edge& edge : graph_.needs(id))
    if (edge.when == When::changed && edge.node != no_node && has_come(edge))
      return &edge;
  return nullptr;
}

/// A run that was killed goes on: its actions are done. What looks for itself does so once more.
bool Decider::is_done_in_this_run(NodeId id) const {
  const uint64_t now =
      graph_.node(id).kind->sort() == Sort::ensuring ? options_.edit : options_.run;
  return now != 0 && graph_.node(id).known->run == now;
}

/// Whether the run that goes on has done it, before it was killed. What it waited for had come.
bool Decider::ended_before_the_kill(NodeId id) const {
  const Node& node = graph_.node(id);
  return options_.run != options_.edit && node.known != nullptr && node.known->applied &&
         !node.known->attempt && node.known->run >= options_.run;
}

/// Whether it is due only when something changes of which nobody knows yet whether it will.
bool Decider::waits_for_doubtful(NodeId id) const {
  return std::ranges::any_of(graph_.needs(id), [&](const Edge& edge) {
    return edge.when == When::changed && edge.node != no_node && is_doubtful(standings_[edge.node]);
  });
}

/// What somebody asks for by hand: whatever brings it there, and nothing when it is there.
Step Decider::decide_asked(NodeId id) const {
  const Node& node = graph_.node(id);
  const Name why = "by command";
  if (node.kind == nullptr)
    return blocked(id, Obstacle::unavailable,
                   cat("unavailable: unknown resource type `", node.key->kind, "`"));
  if (node.asked == Verb::start) {
    if (auto unmet = check_needs(id))
      return *unmet;
    // Two may be there, the recorded one and a half made one.
    if (auto attempt = check_attempt(id))
      return *attempt;
  }
  // What no driver looks at has to be done.
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

/// Whether what happened in a host is part of the one that is there.
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

/// What somebody else wants is not ours alone to remove.
Step Decider::left_to_others(NodeId id) const {
  const std::string& who = options_.shared->at(*graph_.node(id).key);
  Step kept = step(id, Verb::keep, cat("no longer wanted; left in place: ", who));
  kept.is_shared = true;
  return kept;
}

Step Decider::decide_leftover(NodeId id) const {
  const Node& node = graph_.node(id);
  for (const Edge& edge : graph_.needs(id)) {
    if (edge.when == When::succeeded && !is_good(standings_[edge.node]))
      return blocked(id, Obstacle::need, cat(named(*edge.key), " may still use it"), edge.key);
    if (edge.when == When::finished && lives_in(id, edge))
      return step(id, Verb::keep,
                  cat("it was done in ", named(*edge.key), ", which has not changed"));
  }
  const bool in_world = node.kind == nullptr || node.kind->sort() != Sort::action;
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

/// What is at its place already, and carries no mark of ours, is somebody's: it is told.
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
  // What relies on another one now is done anew, however it was found: what is merely started, or
  // repaired, would count as done with what it relies on now.
  const std::optional<Step> relied = check_versions(id);
  if (relied && !relied->maybe)
    return *relied;
  if (auto drift = check_observation(id))
    return *drift;
  // Repeated in any case, whatever becomes of what it relies on.
  const std::optional<Step> outlived = check_life(id);
  if (outlived && acts(outlived->verb))
    return *outlived;
  if (relied)
    return *relied;
  if (node.kind->sort() == Sort::action && node.known->attempt)
    return again(id, cat("it failed before: ", node.known->attempt->error));
  return outlived ? *outlived : step(id, Verb::keep, unchanged_why);
}

/// What looks for itself does so in every run; what it listens to may have it act, too.
Step Decider::decide_ensured(NodeId id) const {
  const Boxed<Attempt>& attempt = graph_.node(id).known->attempt;
  if (attempt && attempt->failed)
    return step(id, Verb::ensure, cat("it failed before: ", attempt->error));
  if (const std::vector<Key> changed = events(id); !changed.empty())
    return step(id, Verb::ensure, cat(named(changed.front()), " changed"),
                &changed.front());
  return step(id, Verb::ensure, "checked in every run");
}

/// A preview: what was found as described acts only when it is told of a change. What may have been
/// changed by an act that did not succeed counts as changed, however it is found.
std::optional<Step> Decider::check_look(NodeId id) const {
  const Node& node = graph_.node(id);
  const auto* const looks = options_.as_described.get();
  const auto look =
      looks == nullptr ? std::map<Key, bool>::const_iterator() : looks->find(*node.key);
  if (looks == nullptr || look == looks->end())
    return std::nullopt;
  if (node.known != nullptr && node.known->attempt && may_have_changed(*node.known->attempt))
    return std::nullopt;
  const bool listens = look->second && node.wanted->mandate == Mandate::act;
  if (const std::vector<Key> changed = events(id); listens && !changed.empty())
    return step(id, Verb::ensure, cat(named(changed.front()), " changed"),
                &changed.front());
  for (const Edge& edge : graph_.needs(id))
    if (relies(edge) && edge.node != no_node && is_doubtful(standings_[edge.node]) &&
        (edge.hole || listens)) {
      Step perhaps =
          step(id, Verb::ensure,
               cat(named(*edge.key), " is due, and its output may change"), edge.key);
      perhaps.maybe = true;
      return perhaps;
    }
  return step(id, Verb::keep, "it is as described");
}

/// An act that was begun and has not succeeded. Of a start or a stop that was interrupted the world
/// tells how far it came.
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
    // What was being changed where it is goes on there.
    if (due.verb == Verb::replace && attempt.verb == Verb::update &&
        node.kind->in_place_changes(node.known->applied->attributes, node.wanted->attributes))
      due.verb = Verb::update;
    return due;
  }
  if (!node.known->applied)
    return again(id,
                 cat(attempt.verb == Verb::blocked ? "it was due before: " : "it failed before: ",
                     attempt.error));
  return std::nullopt;
}

/// What is compared only: the world with what is wanted, whatever is recorded.
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

/// Whether what a need waits for has come: a change; a failure, or what one kept from running.
bool Decider::has_come(const Edge& edge) const {
  const Standing standing = standings_[edge.node];
  if (edge.when == When::failed)
    return standing == Standing::failed || standing == Standing::blocked;
  if (standing == Standing::changed || is_doubtful(standing))
    return true;
  return options_.changed_before != nullptr && options_.changed_before->contains(*edge.key);
}

/// Of a look for those that need it each run makes its own: what came of it earlier says nothing.
bool Decider::is_look(const Edge& edge) const {
  const Resource* wanted = edge.node == no_node ? nullptr : graph_.node(edge.node).wanted;
  return wanted != nullptr && wanted->mandate == Mandate::look;
}

bool Decider::is_called_for(NodeId id) const {
  bool is_any = false, is_open = false;
  uint16_t group = 0;
  for (const Edge& edge : graph_.needs(id)) {
    if (edge.when != When::changed && edge.when != When::failed)
      continue;
    const bool came = edge.node != no_node && has_come(edge);
    if (is_open && edge.group != group)
      return false;
    is_open = edge.group == 0 ? !came : (edge.group != group || is_open) && !came;
    if (is_open && edge.group == 0)
      return false;
    group = edge.group;
    is_any |= edge.when == When::changed && !is_look(edge);
  }
  return is_any && !is_open;
}

/// A failure of this run has put out what the attributes embed. What a thing was made with before
/// it failed is none of that.
bool Decider::reads_what_is_there(NodeId id, const Edge& edge) const {
  const Node& node = graph_.node(id);
  const Record* left = graph_.node(edge.node).known.get();
  if (!edge.reads || standings_[edge.node] != Standing::failed || node.wanted == nullptr ||
      left == nullptr || options_.edit == 0 || left->run != options_.edit)
    return false;
  return std::ranges::all_of(holes(node.wanted->attributes), [&](const Output& hole) {
    return hole.kind != edge.key->kind || hole.name != edge.key->name ||
           follow(left->outputs, hole.path) != nullptr;
  });
}

/// Needs that are not met, and the rule that what waits for changes or failures is not due before
/// each of its needs has seen one. An act that did not succeed is due all the same, for the change
/// came before it; one that failed is not when what it would make good does not fail any more. What
/// needs something that was not needed is not needed, either.
std::optional<Step> Decider::check_needs(NodeId id) const {
  bool waits = false, waits_for_failure = false, waits_for_look = false;
  const Edge* unmet = nullptr;  // of what is to be skipped
  uint16_t group = 0;
  bool group_met = true, group_awaits = false, group_came = false, group_fails = false;
  // What it needs in any case comes first, whatever the order.
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
    if (edge.when == When::failed || edge.when == When::changed) {
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
      met = edge.when == When::failed || met;
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

/// What happens inside a host dies with the host's incarnation.
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

/// Whether a value that the record embeds has changed since, as far as the records tell now.
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

/// A host in which an act was under way when somebody died may hold half of it or all.
std::optional<Step> Decider::check_interrupted(NodeId id) const {
  const Node& host = graph_.node(id);
  // Who is at work just now knows how far it came.
  if (options_.edit_in_place || !options_.at_work.empty())
    return std::nullopt;
  for (const NodeId act : graph_.happened(id)) {
    const Boxed<Attempt>& attempt = graph_.node(act).known->attempt;
    if (attempt && !attempt->failed && attempt->host_incarnation == host.known->incarnation)
      return again(id, cat("unknown whether ", named(*graph_.node(act).key), " finished in it"),
                   graph_.node(act).key);
  }
  return std::nullopt;
}

/// A host whose recorded history is no beginning of the wanted one is no longer what is described.
std::optional<Step> Decider::check_history(NodeId id) const {
  const Node& host = graph_.node(id);
  if (options_.edit_in_place)
    return std::nullopt;
  const auto wanted = graph_.history(id);
  size_t place = 0, left_at = 0;  // acts until it was left stopped or absent; 0: it was not
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

/// Whether something that only reads has to run in the incarnation of its host that lives.
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

/// How the last transition that happened in the host left it.
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
  // What an interrupted stop left running may end at any moment.
  if (found.verb == Verb::keep && runs(expected) && node.seen->state && stop_was_interrupted(node))
    return step(id, Verb::start, interrupted_stop_text(node));
  if (found.verb == Verb::keep)
    return std::nullopt;
  const bool has_failed = node.known->attempt && may_have_changed(*node.known->attempt);
  Step drift = step(id, found.verb,
                    has_failed ? cat("it failed before: ", node.known->attempt->error)
                               : cat("drift: ", found.why));
  if (node.seen->state)
    drift.seen = *node.seen->state;
  drift.fields = std::move(found.fields);
  return drift;
}

std::optional<Step> Decider::check_attributes(NodeId id) const {
  const Node& node = graph_.node(id);
  const Value& before = node.known->applied->attributes;
  const Value& after = node.wanted->attributes;
  if (before == after)
    return std::nullopt;
  // Only the driver can tell whether it is the same; what is done in it, nobody can.
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

/// Whether a transition that its host is wanted to go through comes after it: what it did to what
/// ran then was meant to end.
bool Decider::is_before_a_transition(NodeId id) const {
  const auto history = graph_.history(graph_.node(id).host);
  const auto place = std::ranges::find(history, id);
  return std::any_of(place, history.end(),
                     [&](NodeId act) { return graph_.node(act).kind->leaves_host().has_value(); });
}

/// What happened in a host that was started again since is not what runs there now. It is repeated
/// only when somebody asks for it: a start is no reason to do again what was done.
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

/// A preview: it stays what it is and is started, which concerns nothing that was done in it.
bool Decider::is_only_started(const Edge& edge) const {
  return edge.bond == Bond::inside && !edge.hole && options_.lives != nullptr &&
         options_.lives->contains(*edge.key);
}

/// Something that it relied on when it acted is another now, or may turn out to be.
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
    // An act that succeeded in a host that lives on cannot be done again there: the next pass will
    // see it in the host's history.
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
  Step perhaps =
      again_in_place(id, cat(named(*doubtful->key), " is due, and its output may change"),
                     doubtful->key);
  perhaps.maybe = true;
  return perhaps;
}

}  // namespace fettle
