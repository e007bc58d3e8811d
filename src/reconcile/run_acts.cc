#include "base/text.h"
#include "core/open_payload.h"
#include "core/output_at.h"
#include "plan/decide_parts.h"
#include "reconcile/run.h"
#include "value/json.h"

namespace fettle {
namespace {

/// The field of an event with lines that were printed for people. Null: there are none.
Value printed_by(const std::vector<std::string>& lines) {
  return lines.empty() ? Value()
                       : Value::dict({{"printed", Value::list({lines.begin(), lines.end()})}});
}

}  // namespace

/// A resource was started, stopped or removed by hand, or had been already. Its sets want it as
/// before. If only the set of the request wants it, it is forgotten.
void Run::request_done(NodeId id, const Done& done, bool was_kept) {
  const Node& node = graph_->node(id);
  const Verb verb = *node.asked;
  auto record = std::make_shared<Record>(*node.known);
  record->attempt.reset();
  if (!record->applied)
    record->applied = node.known->attempt->resource;
  record->by_hand = verb == Verb::stop     ? ByHand::stopped
                    : verb == Verb::remove ? ByHand::removed
                                           : ByHand::nothing;
  if (!was_kept && verb == Verb::start) {
    record->outputs = done.outputs;
    record->remote_id = done.remote_id;
    if (done.is_anew) {
      ++record->incarnation;
      record->sequence = ++options_.sequence;
    }
  }
  if (verb == Verb::remove) {
    record->remote_id.clear();
    std::erase_if(record->wanted_by,
                  [&](const auto& wish) { return intent_->sets.contains(wish.first); });
  }
  const bool is_forgotten = verb == Verb::remove && record->wanted_by.empty();
  if (!was_kept) {
    ++summary_.done;
    record->run = options_.number;
    ++record->changes;
    log(is_forgotten ? EventType::removed : EventType::done, id, verb,
        is_forgotten ? flights_[id].step.why.str() : std::string(),
        Value::dict({{"changed", done.changed}}));
  } else {
    ++summary_.kept;
  }
  forget_seen(id);
  if (is_forgotten)
    forget(id);
  else
    write(id, std::move(record));
  if (!was_kept)
    settle(id, Standing::changed);
}

/// The attributes for a removal: those that were applied. A hole is filled only if the output is
/// still the one of that time. Another one might name something else, so the hole stays.
Value Run::as_applied(const Record& record, const Resource& resource) const {
  return fill_with(dict_of(resource.attributes), [&](const Output& hole) -> std::optional<Value> {
    const Key need{resource.key.environment, hole.kind, hole.name};
    const auto known = known_.find(need);
    const Version* then = find_version(record.acted_on, need);
    if (known == known_.end() || then == nullptr ||
        then->outputs != outputs_in_use(resource, need, known->second.get()))
      return std::nullopt;
    return output_at(*known->second, hole.path.view());
  });
}

std::optional<Attributes> Run::filled_attributes(NodeId id, std::optional<Output>& missing) const {
  const Node& node = graph_->node(id);
  const Resource& resource = resource_at(id);
  if (node.wanted == nullptr)
    return as_applied(*node.known, resource);
  // A thing that is only started again keeps the attributes it was made with.
  const bool may_miss = node.asked && flights_.at(id).step.verb == *node.asked;
  Value filled = fill_with(dict_of(resource.attributes), [&](const Output& hole) {
    const NodeId need = graph_->find({resource.key.environment, hole.kind, hole.name});
    const Record* record = need == no_node ? nullptr : graph_->node(need).known.get();
    // An act that only looks uses what others have only looked at.
    const Outputs* look = need == no_node ? nullptr : looked(*graph_->node(need).key);
    std::optional<Value> output;
    if (look != nullptr)
      output = reach(dict_of(*look), hole.path.view());
    if (!output && look != nullptr && options_.yet_to_come)
      output = options_.yet_to_come(hole, *look);
    if (look == nullptr && need != no_node && looks_only(id) && hole.path.view().starts_with('@') &&
        graph_->node(need).wanted != nullptr)
      output = shown_at(graph_->node(need).wanted->attributes, hole.path.view());
    if (!output && look == nullptr && record != nullptr)
      output = output_at(*record, hole.path.view());
    if (!output && !missing && !may_miss)
      missing = hole;
    return output;
  });
  return missing ? std::nullopt : std::optional(std::move(filled));
}

/// The acts of a killed process continue where they were: with the number of their calls, and at
/// the time when they are due.
bool Run::resume(NodeId id) {
  const Node& node = graph_->node(id);
  Flight& flight = flights_[id];
  flight.resource = resource_at(id);
  flight.retries = Retries(flight.resource, flight.step.wanted == nullptr, now_.instant);
  const Attempt* before =
      node.known != nullptr && node.known->attempt ? &*node.known->attempt : nullptr;
  return before != nullptr && before->course && node.wanted != nullptr &&
         before->resource->attributes == node.wanted->attributes &&
         flight.retries.resume(*before->course, before->error, now_.instant);
}

void Run::begin_act(NodeId id) {
  const Node& node = graph_->node(id);
  Flight& flight = flights_[id];
  const bool waits = resume(id);
  Act& act = flight.act;
  act.verb = flight.step.verb;
  act.key = *node.key;
  act.known = node.known;
  flight.has_unclear_past =
      node.known != nullptr && node.known->attempt && may_have_changed(*node.known->attempt);
  act.incarnation = (node.known == nullptr ? 0 : node.known->incarnation) + 1;
  if (node.seen != nullptr)
    act.seen = *node.seen;
  act.looks_only = looks_only(id);
  if (act.looks_only && node.kind->sort() != Sort::ensuring)
    act.compares = node.kind;
  act.is_instant = node.wanted != nullptr && node.wanted->is_instant;
  act.events = decider().events(id);
  const bool may_find_all_well =
      act.verb == Verb::ensure && node.kind->sort() == Sort::ensuring && !act.looks_only;
  log(EventType::started, id, act.verb, flight.step.why.str(), {},
      !act.is_instant && !may_find_all_well);
  if (may_find_all_well && !act.is_instant)
    flight.beginning = std::get<LogEvent>(commands_.back()).event;
  if (waits) {
    release_slot(id);
    timers_.calls.set(flight.retries.due(), id);
    return;
  }
  start_act(id);
}

/// The records that an act may use: its hosts first, then its needs, then those of the past.
std::vector<RecordPointer> Run::records_of_needs(NodeId id) const {
  const Node& node = graph_->node(id);
  std::vector<RecordPointer> records;
  for (const bool hosts : {true, false})
    for (const Edge& edge : graph_->needs(id))
      if (node.wanted != nullptr && edge.node != no_node && (edge.bond == Bond::inside) == hosts &&
          graph_->node(edge.node).known != nullptr)
        records.push_back(graph_->node(edge.node).known);
  for (const Need& need : resource_at(id).needs)
    if (need.bond == Bond::past || node.wanted == nullptr)
      for (const Key& key : need.keys)
        if (const auto record = known_.find(key); record != known_.end())
          records.push_back(record->second);
  return records;
}

/// Calls the driver, for the first time or again.
void Run::start_act(NodeId id) {
  Flight& flight = flights_[id];
  Act& act = flight.act;
  const Node& node = graph_->node(id);
  if (flight.retries.calls() > 0 && node.kind != nullptr && node.kind->sort() == Sort::ensuring)
    act.known = node.known;  // the results of the previous call
  // An act whose result is no longer wanted comes to its end as it started.
  if (!flight.is_stale) {
    std::optional<Output> missing;
    std::optional<Attributes> attributes = filled_attributes(id, missing);
    if (!attributes) {
      Error error = world_error(
          cat("`", missing->kind, "/", missing->name, "` has no output `", missing->path, "`"));
      Failure failure = failure_of(id, std::move(error));
      failure.missing = std::move(missing);
      fail(id, std::move(failure));
      return;
    }
    // The value that fills a hole is checked like a written one, and values derived from it are
    // derived now.
    if (node.wanted != nullptr && node.kind != nullptr &&
        resource_at(id).attributes.has_deferred()) {
      Result<Attributes> normal = node.kind->normalise(dict_of(*attributes));
      if (!normal) {
        fail(id, failure_of(id, std::move(normal).error()));
        return;
      }
      attributes = *std::move(normal);
    }
    act.attributes = std::move(*attributes);
    act.needs = records_of_needs(id);
    act.releases.clear();
    for (const NodeId holder : graph_->releases(id))
      if (graph_->node(holder).known != nullptr)
        act.releases.push_back(graph_->node(holder).known);
    if (node.wanted != nullptr)
      flight.relies_on = decider().versions(id);
  }
  act.so_far = flight.retries.so_far();
  act.attempt = flight.retries.calls() + 1;
  flight.retries.call(now_.instant);
  flight.notice = Notice::none;
  if (!act.looks_only && !act.is_instant && act.attempt == 1)
    write_begin(id);
  watch_over_limits(id);
  commands_.push_back(StartAct{act, flight.resource->driver});
}

/// Writes the record that must be in the store before the act starts.
void Run::write_begin(NodeId id) {
  const Node& node = graph_->node(id);
  auto record = record_of(id);
  const Flight& flight = flights_[id];
  Attempt attempt{flight.resource, flight.step.verb, now_.wall, false, {}, 0};
  if (node.host != no_node && graph_->node(node.host).known != nullptr)
    attempt.host_incarnation = graph_->node(node.host).known->incarnation;
  if (attempt.verb == Verb::create && !record->attempt && node.kind != nullptr)
    record->was_found = !node.kind->is_marked() && flight.act.seen && flight.act.seen->state;
  record->attempt = std::move(attempt);
  write(id, std::move(record));
}

void Run::write_beginning(NodeId id) {
  if (std::optional<Event> event = std::exchange(flights_[id].beginning, std::nullopt))
    commands_.push_back(LogEvent{.event = *std::move(event), .is_told = false});
}

/// A resource that looks for itself in every run, and found everything as it had left it, leaves no
/// event: the last event is about the last change.
bool Run::is_quiet(NodeId id) const {
  const Flight& flight = flights_.at(id);
  const Record* before = flight.act.known.get();
  return flight.beginning && !flight.has_changed && before != nullptr && before->applied &&
         !before->attempt;
}

void Run::release_slot(NodeId id) {
  Flight& flight = flights_[id];
  if (!flight.is_acting())
    return;
  flight.phase = Phase::waiting;
  slots_.release(graph_->node(id).wanted);
  if (const auto limit = flight.retries.limit())
    timers_.limits.cancel(*limit, id);
}

void Run::watch_over_limits(NodeId id) {
  if (const auto limit = flights_[id].retries.limit())
    timers_.limits.set(*limit, id);
}

void Run::act_ended(NodeId id, const Result<Outcome>& ended) {
  const bool was_stopped = flights_[id].phase == Phase::stopping;
  release_slot(id);
  // An observation of a host from before something happened in it is out of date.
  const Node& node = graph_->node(id);
  if (node.host != no_node && node.role == Role::acts)
    forget_seen(node.host);
  Flight& flight = flights_[id];
  const CallEnd end{.now = now_.instant,
                    .is_look = looks_only(id),
                    .is_stale = flight.is_stale,
                    .is_run_late = ending_ == StopMode::late,
                    .was_stopped = was_stopped};
  const auto of_error = ended ? Outcome() : flight.retries.outcome_of(ended.error(), end);
  const Outcome& outcome = ended ? *ended : of_error;
  const Verdict verdict = flight.retries.judge(outcome, end, prng_);
  std::visit([&](const auto& answer) { act_answered(id, answer, verdict); }, outcome);
}

/// A success. One that has not settled is recorded as such, and called again.
void Run::act_answered(NodeId id, const Done& done, const Verdict& verdict) {
  if (verdict.next == Verdict::Next::give_up)
    wait_no_longer(id, verdict.text());
  if (verdict.next != Verdict::Next::call_again) {
    act_done(id, done);
    return;
  }
  call_again(id, verdict);
  const bool changed = record_success(id, done, true);
  flights_[id].is_answered = true;
  announce(id, changed ? Standing::changed : Standing::unchanged);
}

/// A failure. One that has not settled holds up those that need it, and is called again.
void Run::act_answered(NodeId id, const Failed& failed, const Verdict& verdict) {
  Flight& flight = flights_[id];
  Failure failure = failure_of(id, failed);
  if (verdict.next == Verdict::Next::call_again) {
    flight.failure = std::move(failure);
    call_again(id, verdict, failed.outputs);
    return;
  }
  if (verdict.is_over_time)
    failure.late = verdict.over;
  fail(id, std::move(failure), failed.outputs, failed.has_only_looked && !flight.has_unclear_past);
}

/// The call has no answer yet.
void Run::act_answered(NodeId id, const Pending&, const Verdict& verdict) {
  if (verdict.next == Verdict::Next::call_again)
    call_again(id, verdict);
  else
    fail(id, failure_of(id, world_error(verdict.text())));
}

/// Neither a failure nor a success: the next run tries again.
void Run::act_answered(NodeId id, const Skipped& skipped, const Verdict&) {
  write_beginning(id);
  log(EventType::skipped, id, flights_[id].step.verb, skipped.why);
  write_attempt(id, {.said = skipped.why});
  if (!flights_[id].is_stale)
    summary_.skips.push_back({*graph_->node(id).key, origin_of(id), skipped.why});
  settle(id, Standing::skipped);
}

/// The act succeeded and has not settled, and the run waits no longer.
void Run::wait_no_longer(NodeId id, std::string why) {
  log(EventType::pending, id, flights_[id].step.verb, why);
  summary_.unsettled.push_back({*graph_->node(id).key, origin_of(id), std::move(why)});
}

/// Sets the timer, and records what has to outlive the process.
void Run::call_again(NodeId id, const Verdict& verdict, const Outputs& outputs) {
  Flight& flight = flights_[id];
  const Again& again = *verdict.again;
  if (verdict.is_news) {
    write_beginning(id);
    log(EventType::pending, id, flight.step.verb, again.what);
  }
  watchers_.turn(id, flight.watch, again.watch);
  flight.watch = again.watch;
  if (!flight.watch.empty() && watchers_.is_first_of(flight.resource->driver))
    commands_.push_back(Watch{flight.resource->driver});
  const bool is_at_once = flight.notice != Notice::none;
  timers_.calls.set(flight.retries.due(), id);
  const Node& node = graph_->node(id);
  if (node.kind != nullptr && node.kind->sort() == Sort::ensuring)
    write_attempt(
        id, {.said = again.what, .outputs = outputs, .has_failed = false, .is_waiting = true});
  if (is_at_once)
    call_now(id);
}

void Run::time_passes() {
  while (const auto id = timers_.calls.take(now_.instant))
    queue(*id);
  while (const auto id = timers_.limits.take(now_.instant)) {
    flights_[*id].phase = Phase::stopping;
    commands_.emplace_back(EndAct{*graph_->node(*id).key});
  }
  if (timers_.deadline && *timers_.deadline <= now_.instant)
    give_up_waiting();
}

void Run::call_now(NodeId id) {
  if (timers_.calls.cancel(flights_[id].retries.due(), id))
    queue(id);
}

void Run::take_hint(const Key& key) {
  std::set<NodeId> concerned = watchers_.of(key);
  if (const NodeId id = graph_->find(key); id != no_node)
    concerned.insert(id);
  for (const NodeId id : concerned)
    if (const auto flight = flights_.find(id); flight != flights_.end()) {
      if (!flight->second.is_acting())
        call_now(id);
      else if (flight->second.notice == Notice::none)
        flight->second.notice = Notice::hint;
    }
}

/// The run is out of time: acts that wait are left as they are, and acts in flight are told to
/// stop.
void Run::give_up_waiting() {
  timers_.deadline.reset();
  ending_ = StopMode::late;
  summary_.is_late = true;
  std::vector<NodeId> waiting;
  for (auto& [id, flight] : flights_) {
    if (flight.is_acting())
      commands_.emplace_back(EndAct{*graph_->node(id).key});
    else if (flight.has_begun())
      waiting.push_back(id);
  }
  std::ranges::sort(waiting, {}, [&](NodeId id) { return ready_.place(id); });
  for (const NodeId id : waiting) {
    Flight& flight = flights_[id];
    const std::string over = cat(run_is_late, ": ", flight.retries.what());
    if (!flight.is_answered) {
      if (flight.failure)
        flight.failure->late = run_is_late;
      fail(id, flight.failure ? *std::move(flight.failure) : failure_of(id, world_error(over)));
      continue;
    }
    wait_no_longer(id, over);
    auto record = std::make_shared<Record>(*graph_->node(id).known);
    record->attempt.reset();
    write(id, std::move(record));
    settle(id, ready_.standing(id));
  }
}

void Run::act_done(NodeId id, const Done& done) {
  const Node& node = graph_->node(id);
  const Flight& flight = flights_[id];
  const Verb verb = flight.step.verb;
  if (done.is_vain)
    options_.plan.changed_in_vain->insert(*node.key);
  if (looks_only(id) || flight.act.looks_only) {
    pasts_[*node.key].look = done.outputs;
    ++summary_.done;
    settle(id, done.changed ? Standing::changed : Standing::unchanged);
    return;
  }
  if (node.asked && verb != Verb::create && verb != Verb::replace) {
    request_done(id, done, false);
    return;
  }
  if (flight.step.wanted == nullptr) {
    log(EventType::removed, id, verb, flight.step.why.str(), printed_by(done.printed));
    forget(id);
    ++summary_.done;
    settle(id, Standing::changed);
    return;
  }
  const bool changed = record_success(id, done, false);
  settle(id, changed ? Standing::changed : Standing::unchanged);
}

namespace {

/// When it started, it was not known that it would find something to change.
void tell_why_changed(Event& beginning, const Record* before, const Resource& resource) {
  if (beginning.text != checked_why || before == nullptr || !before->applied)
    return;
  const std::vector<std::string> fields =
      differences(dict_of(before->applied->attributes), dict_of(resource.attributes));
  beginning.text =
      fields.empty() ? "it was not as described" : cat(fields_text(fields), " changed");
}

}  // namespace

/// Returns whether anything was changed since the act started.
bool Run::record_success(NodeId id, const Done& done, bool goes_on) {
  const Node& node = graph_->node(id);
  Flight& flight = flights_[id];
  const Verb verb = flight.step.verb;
  // An earlier, unfinished act may have done all of it, so that this one found nothing to change.
  const bool changed = done.changed || (!flight.is_answered && flight.has_unclear_past);
  auto record = std::make_shared<Record>(node.known ? *node.known : Record{});
  if (flight.act.is_instant && !node.set->empty())
    record->wanted_by[*node.set] = wish_of(*node.wanted);
  if (!goes_on) {
    record->attempt.reset();
  } else if (record->attempt) {
    Attempt& attempt = record->attempt.edit();
    attempt.failed = false;
    attempt.error = flight.retries.what();
    attempt.course = flight.retries.course(now_.instant);
  }
  record->applied = flight.resource;
  // A thing that is removed again has the presence in which a transition left it.
  if (verb != Verb::remove)
    record->outputs = done.outputs;
  record->remote_id = done.remote_id;
  record->by_hand = ByHand::nothing;
  // A thing with our mark was made by us.
  const bool was_adopted = std::exchange(record->is_adopted, false);
  record->run = node.kind->sort() == Sort::ensuring ? options_.plan.edit : options_.plan.run;
  record->finished = now_.wall;
  record->changes += changed || was_adopted ? 1 : 0;
  record->acted_on = flight.relies_on;
  note_life(id, done, *record);
  const bool anew =
      verb == Verb::create || verb == Verb::replace || verb == Verb::run || done.is_anew;
  if (anew && !flight.is_answered) {
    ++record->incarnation;
    record->sequence = ++options_.sequence;
    if (is_of_a_host(id))
      ++pasts_[*node.key].times_anew;
  }
  flight.has_changed |= changed;
  const bool is_news =
      !flight.act.is_instant || goes_on || flight.has_changed || !is_as_recorded(id, *record);
  const bool is_told = is_news && !is_quiet(id);
  if (is_told) {
    if (flight.beginning && flight.has_changed)
      tell_why_changed(*flight.beginning, flight.act.known.get(), *flight.resource);
    write_beginning(id);
  }
  if (!goes_on) {
    std::vector<Entry> detail{{"changed", flight.has_changed}, {"run", options_.plan.run}};
    if (!done.printed.empty())
      detail.push_back(printed_by(done.printed).entries().front());
    log(EventType::done, id, verb, {}, Value::dict(std::move(detail)), is_told);
    ++summary_.done;
  }
  if (is_news)
    write(id, std::move(record));
  forget_seen(id);
  return flight.has_changed;
}

/// An act in a host records the host's life. A start begins another life.
void Run::note_life(NodeId id, const Done& done, Record& record) {
  const Node& node = graph_->node(id);
  auto& lives = *options_.plan.lives;
  const Verb verb = flights_[id].step.verb;
  if (verb == Verb::start && !done.is_anew)
    lives[*node.key] = done.life != 0 ? done.life : unnumbered_life;
  else if (verb == Verb::create || verb == Verb::replace || done.is_anew)
    lives.erase(*node.key);
  if (node.host == no_node || done.life == 0)
    return;
  const Key& host = *graph_->node(node.host).key;
  lives[host] = done.life;
  for (Version& version : record.acted_on)
    if (version.key == host)
      version.life = done.life;
}

/// Whether the existing record says the same.
bool Run::is_as_recorded(NodeId id, const Record& record) const {
  const Record* known = graph_->node(id).known.get();
  return known != nullptr && !known->attempt && !record.attempt && known->applied &&
         wish_of(*known->applied) == wish_of(*record.applied) && known->outputs == record.outputs &&
         known->remote_id == record.remote_id && known->by_hand == record.by_hand &&
         known->is_adopted == record.is_adopted && known->wanted_by == record.wanted_by &&
         known->acted_on == record.acted_on && known->incarnation == record.incarnation &&
         known->applied->origin == record.applied->origin;
}

Failure Run::failure_of(NodeId id, const Failed& failed) const {
  Failure failure = failure_of(id, failed.error);
  failure.has_outputs = !failed.outputs.is_null();
  failure.printed = failed.printed;
  failure.has_changed = failed.has_changed;
  return failure;
}

Failure Run::failure_of(NodeId id, Error error) const {
  return {*graph_->node(id).key, origin_of(id), std::move(error)};
}

void Run::fail(NodeId id, Failure failure, const Outputs& outputs, bool has_only_looked) {
  const Error& error = failure.error;
  write_beginning(id);
  log(EventType::failed, id, flights_[id].step.verb, to_string(error), printed_by(failure.printed));
  if (failure.has_changed)
    options_.plan.changed_in_vain->insert(failure.key);
  write_attempt(id, {.said = error.message,
                     .outputs = outputs,
                     .has_failed = !error.unknown_outcome,
                     .has_only_looked = has_only_looked});
  if (!outputs.is_null() && (looks_only(id) || flights_[id].act.looks_only))
    pasts_[*graph_->node(id).key].look = outputs;
  // It would have gone on, had nobody asked for a stop.
  summary_.stopped |= ending_ == StopMode::asked && is_cancelled(error);
  if (!flights_[id].is_stale)
    summary_.failures.push_back(std::move(failure));
  const Resource* const wanted = graph_->node(id).wanted;
  if (wanted != nullptr && wanted->ends_run)
    ending_ = std::max(ending_, StopMode::asked);
  settle(id, Standing::failed);
}

/// An act ended without success, or waits to be called again: the record keeps the last success and
/// gains the message.
void Run::write_attempt(NodeId id, const AttemptEnd& end) {
  const Node& node = graph_->node(id);
  const Flight& flight = flights_[id];
  if (looks_only(id) || flight.act.looks_only)
    return;
  auto record = record_of(id);
  if (!record->attempt && node.wanted != nullptr)
    record->attempt = Attempt{*node.wanted, flight.step.verb, now_.wall, false, {}, 0};
  if (record->attempt) {
    Attempt& attempt = record->attempt.edit();
    attempt.failed = end.has_failed;
    attempt.error = end.said;
    attempt.verb = end.has_only_looked ? Verb::keep : attempt.verb;
    attempt.course.reset();
    if (end.is_waiting)
      attempt.course = flight.retries.course(now_.instant);
  }
  if (!end.outputs.is_null()) {
    record->outputs = end.outputs;
    if (node.kind != nullptr && node.kind->sort() == Sort::ensuring)
      record->run = options_.plan.edit;
  }
  write(id, std::move(record));
  // A lost content is still lost.
  if (node.seen == nullptr || !node.seen->content_is_lost)
    forget_seen(id);
}

}  // namespace fettle
