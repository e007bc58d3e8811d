#include "reconcile/run.h"

#include "base/invariant.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {

Digest wish_of(const Resource& resource) {
  Digest digest = resource.attributes.digest();
  for (const Need& need : resource.needs) {
    digest =
        combine(digest, {static_cast<uint64_t>(need.when) << 8 | static_cast<uint64_t>(need.bond),
                         static_cast<uint64_t>(need.unmet) << 8 | static_cast<uint64_t>(need.any)});
    for (const Key& key : need.keys)
      digest = combine(combine(digest, key.kind.digest()), key.name.digest());
  }
  return digest;
}

Run::Run(std::shared_ptr<const Intent> intent, Known known, Seen seen, const Kinds& kinds,
         RunOptions options)
    : intent_(std::move(intent)),
      known_(std::move(known)),
      seen_{std::move(seen)},
      kinds_(&kinds),
      options_(std::move(options)),
      prng_(options_.seed),
      slots_(intent_->pools, options_.parallelism) {
  options_.plan.edit = options_.number;
  options_.plan.run = options_.continues != 0 ? options_.continues : options_.number;
  options_.plan.lives = std::make_shared<std::unordered_map<Key, uint64_t, KeyHash>>();
  options_.plan.changed_in_vain = std::make_shared<std::set<Key>>();
  for (const auto& [key, record] : known_)
    options_.sequence = std::max(options_.sequence, record->sequence);
}

Result<Run> Run::make(std::shared_ptr<const Intent> intent, Known known, Seen seen,
                      const Kinds& kinds, RunOptions options) {
  Run run(std::move(intent), std::move(known), std::move(seen), kinds, options);
  // The intent does not change between passes, so an error of its graph shows here and never later.
  run.graph_ =
      std::make_unique<Graph>(TRY(Graph::build(*run.intent_, run.known_, run.seen_.now, kinds)));
  return run;
}

void Run::let_go() {
  for (auto& [key, past] : pasts_)
    if (past.step)
      past.step->wanted = nullptr;
  flights_.clear();
  graph_.reset();
  next_ = {};
  intent_.reset();
}

const Observation* Run::seen_before(const Key& key) const {
  for (const Seen* seen : {&seen_.before, &seen_.now})
    if (const auto found = seen->find(key); found != seen->end())
      return &found->second;
  return nullptr;
}

/// It is acted on, so the observation of it is out of date.
void Run::forget_seen(NodeId id) {
  graph_->forget_seen(id);
  const Key& key = *graph_->node(id).key;
  if (const auto found = seen_.now.find(key); found != seen_.now.end()) {
    if (options_.keeps_seen)
      seen_.before.try_emplace(key, std::move(found->second));
    seen_.now.erase(found);
  }
}

const Run::Past& Run::past(const Key& key) const {
  static const Past none;
  const auto found = pasts_.find(key);
  return found == pasts_.end() ? none : found->second;
}

bool Run::is_under_way(const Key& key) const {
  const NodeId id = graph_ == nullptr ? no_node : graph_->find(key);
  const auto flight = id == no_node ? flights_.end() : flights_.find(id);
  return flight != flights_.end() && flight->second.has_begun();
}

std::vector<Key> Run::under_way() const {
  std::vector<Key> keys;
  for (const auto& [id, flight] : flights_)
    if (flight.has_begun())
      keys.push_back(*graph_->node(id).key);
  return keys;
}

std::vector<WaitingAct> Run::waiting() const {
  std::vector<WaitingAct> found;
  for (const auto& [due, id] : timers_.calls.moments()) {
    const Retries& retries = flights_.at(id).retries;
    found.push_back({*graph_->node(id).key, retries.what(), retries.calls(), due});
  }
  return found;
}

std::vector<Order> Run::start(Moment now) {
  now_ = now;
  if (options_.deadline.count() > 0)
    timers_.deadline = now.instant + options_.deadline;
  begin_pass();
  return answer();
}

std::vector<Order> Run::on(std::span<const Input> inputs, Moment now) {
  commands_.clear();
  commands_.reserve(8);
  now_ = now;
  for (const Input& input : inputs)
    take(input);
  return answer();
}

/// Goes on as far as possible, and returns the commands and the time of the next wake-up.
std::vector<Order> Run::answer() {
  proceed();
  if (const auto next = timers_.next(); next && !is_finished_)
    commands_.push_back(WakeAt{*next});
  return std::move(commands_);
}

namespace {

bool is_same_wish(const Node& before, const Node& after) {
  if (before.wanted == nullptr || after.wanted == nullptr)
    return before.wanted == after.wanted && before.leftover == after.leftover;
  return before.wanted->redo == after.wanted->redo &&
         before.wanted->mandate == after.wanted->mandate &&
         before.wanted->driver == after.wanted->driver &&
         wish_of(*before.wanted) == wish_of(*after.wanted);
}

}  // namespace

Result<std::vector<Order>> Run::want(std::shared_ptr<const Intent> intent, Seen seen, Moment now,
                                     Known also_known) {
  INVARIANT(intent_->requests.empty() && intent->requests.empty());
  const std::set<Key> learned = learn(also_known);
  // A resource that was acted on since then may differ from its observation.
  for (auto& [key, observation] : seen)
    if (const Standing standing = this->standing(key);
        !is_under_way(key) && (standing == Standing::open || standing == Standing::kept ||
                               standing == Standing::blocked || learned.contains(key)))
      seen_.now[key] = std::move(observation);
  // An error of the new graph is reported before anything is done.
  next_.graph = std::make_unique<Graph>(TRY(Graph::build(*intent, known_, seen_.now, *kinds_)));
  commands_.clear();
  now_ = now;
  next_.intent = std::move(intent);
  is_finished_ = false;
  return answer();
}

/// Whoever asks has been told of all that this run has written, so what differs was written by
/// others. Returns what does.
std::set<Key> Run::learn(const Known& also_known) {
  std::set<Key> learned;
  for (const auto& [key, record] : also_known) {
    const auto found = known_.find(key);
    const RecordPointer before = found == known_.end() ? nullptr : found->second;
    if (record == before || is_under_way(key))
      continue;
    learned.insert(key);
    if (record != nullptr)
      known_[key] = record;
    else
      pass_.forgotten.insert(known_.extract(found));
  }
  return learned;
}

/// Acts in a host are judged with the host, before anything else happens in it. So if there are
/// hosts, everything is decided once more when nothing acts. Otherwise, acts under way go on.
void Run::adopt_when_possible() {
  if (next_.intent == nullptr)
    return;
  if (!graph_->has_hosts()) {
    adopt(std::exchange(next_, {}));
    return;
  }
  next_.graph.reset();  // until then, the records will have changed
  if (slots_.acting() == 0) {
    flights_.clear();
    timers_.calls = {};
    watchers_.clear();
    const std::shared_ptr<const Intent> before =
        std::exchange(intent_, std::exchange(next_.intent, nullptr));
    slots_ = Slots(intent_->pools, options_.parallelism);
    graph_.reset();
    begin_pass();
    point_steps_at_what_is_wanted();
  }
}

/// Goes on with the present wish.
void Run::adopt(Wanted next) {
  intent_.swap(next.intent);
  graph_.swap(next.graph);
  const Graph& before = *next.graph;
  const Ready ready = std::exchange(ready_, Ready(*graph_));
  auto flights = std::exchange(flights_, {});
  const Slots slots = std::exchange(slots_, Slots(intent_->pools, options_.parallelism));
  timers_.calls = timers_.limits = {};
  watchers_.clear();
  for (NodeId id = 0; id < graph_->size(); ++id) {
    const NodeId then = before.find(*graph_->node(id).key);
    if (then == no_node)
      continue;
    const bool was_changed = before.node(then).known != graph_->node(id).known;
    const bool is_same = is_same_wish(before.node(then), graph_->node(id)) && !was_changed;
    if (was_changed && ready.has_answered(then))
      take_back(*graph_->node(id).key, ready.standing(then));
    const auto flight = flights.find(then);
    // A step that had not started is decided again, and so is one that waits and whose wish has
    // changed.
    const bool flies = flight != flights.end() && flight->second.has_begun() &&
                       (is_same || flight->second.is_acting());
    if (!flies && !(is_same && ready.has_answered(then)))
      continue;
    ready_.carry_over(id, ready, then);
    if (flies) {
      flight->second.is_stale |= !is_same;
      flights_.emplace(id, std::move(flight->second));
    }
  }
  ready_.count();
  forget_what_neither_knows(before);
  point_steps_at_what_is_wanted();
  for (auto& [id, flight] : flights_) {
    flight.step.wanted = flight.step.wanted == nullptr ? nullptr : &*flight.resource;
    watchers_.turn(id, {}, flight.watch);
    if (flight.is_acting()) {
      slots_.hold(graph_->node(id).wanted);
      watch_over_limits(id);
    } else {
      timers_.calls.set(flight.retries.due(), id);
    }
  }
  slots_.add_strays(slots.acting() - slots_.acting());
  summary_.leftovers = graph_->leftovers().size();
}

/// A run that gets wishes for days forgets resources that went long ago.
void Run::forget_what_neither_knows(const Graph& before) {
  std::erase_if(pasts_, [&](const auto& entry) {
    return graph_->find(entry.first) == no_node && before.find(entry.first) == no_node;
  });
  pass_.forgotten.clear();
}

/// The steps so far borrow from the former intent, which is about to go.
void Run::point_steps_at_what_is_wanted() {
  for (auto& [key, past] : pasts_)
    if (const NodeId id = graph_->find(key); past.step)
      past.step->wanted = id == no_node ? nullptr : graph_->node(id).wanted;
}

void Run::take(const Input& input) {
  if (const auto* ended = std::get_if<ActEnd>(&input)) {
    const NodeId id = graph_->find(ended->key);
    if (id == no_node || !flights_.contains(id))
      slots_.end_stray();  // a look that is no longer wanted
    else
      act_ended(id, ended->outcome);
  } else if (const auto* hint = std::get_if<Hint>(&input)) {
    take_hint(hint->key);
  } else if (std::holds_alternative<TimerDue>(input)) {
    time_passes();
  } else {
    ending_ = std::max(ending_, StopMode::asked);
  }
}

void Run::begin_pass() {
  pass_ = {.done_before = summary_.done};
  if (graph_ == nullptr) {
    Result<Graph> built = Graph::build(*intent_, known_, seen_.now, *kinds_);
    INVARIANT(built.has_value());
    graph_ = std::make_unique<Graph>(std::move(*built));
  }
  ready_ = Ready(*graph_);
  ready_.count();
  summary_ = {.done = summary_.done,
              .leftovers = graph_->leftovers().size(),
              .failures = {},
              .skips = {},
              .unsettled = std::move(summary_.unsettled)};
}

/// Decides ready nodes, starts the acts that fit, and ends the pass when nothing is under way.
void Run::proceed() {
  while (!is_finished_) {
    adopt_when_possible();
    while (!ready_.empty() && !slots_.is_batch_full())
      decide(ready_.take());
    start_what_fits();
    // Decided steps that take no time are started before more is decided, since they take memory.
    if (!ready_.empty() && !slots_.is_batch_full())
      continue;
    const bool pending_only = is_ending() && slots_.acting() == 0;
    if (flights_.empty() || pending_only)
      end_pass();
    else
      return;
  }
}

void Run::end_pass() {
  if (is_ending()) {
    summary_.stopped |= !flights_.empty() || !std::ranges::all_of(ready_.standings(), is_settled);
  } else if (goes_on()) {
    graph_.reset();
    begin_pass();
    return;
  }
  give_up_on_hosts();
  is_finished_ = true;
  commands_.push_back(Finish{});
}

/// Whether another pass follows. After a pass that did nothing, the next one would be the same.
bool Run::goes_on() const {
  return pass_.is_repeated && summary_.failures.empty() && summary_.done > pass_.done_before;
}

/// Gives up on steps that wait for the recreation of their host, which no pass will do any more.
void Run::give_up_on_hosts() {
  for (NodeId id = 0; id < graph_->size(); ++id) {
    const Node& node = graph_->node(id);
    const Step* decided = ready_.standing(id) == Standing::blocked ? step(*node.key) : nullptr;
    if (decided == nullptr || decided->obstacle != Obstacle::host)
      continue;
    ++summary_.blocked;
    log(EventType::blocked, id, decided->verb, decided->why.str());
  }
}

bool Run::needs_what_is_done_again(NodeId id) const {
  return !flights_.empty() && std::ranges::any_of(graph_->needs(id), [&](const Edge& edge) {
    if (edge.node == no_node || !ready_.has_answered(edge.node))
      return false;
    const auto flight = flights_.find(edge.node);
    return flight != flights_.end() && !flight->second.is_answered;
  });
}

void Run::decide(NodeId id) {
  if (flights_.contains(id))
    return;
  const Node& node = graph_->node(id);
  if (node.wanted == nullptr && node.known == nullptr)
    return;  // it is gone
  if (needs_what_is_done_again(id)) {
    ready_.defer(id);
    return;
  }
  const bool is_answered = ready_.has_answered(id);
  Step step = decider().decide(id);
  // A thing that is unchanged, or cannot be done again, stays as it is.
  if (is_answered && (step.verb == Verb::keep || step.verb == Verb::forget ||
                      (step.verb == Verb::blocked && is_good(ready_.standing(id)))))
    return;
  if (is_answered)
    take_back(id);
  switch (step.verb) {
    case Verb::keep:
      if (node.asked)
        request_done(id, {}, true);
      else
        keep(id);
      if (node.wanted != nullptr || node.asked || step.is_shared)
        pasts_[*node.key].step = std::move(step);
      settle(id, Standing::kept);
      return;
    case Verb::forget:
      log(EventType::removed, id, step.verb, step.why.str());
      forget(id);
      settle(id, Standing::changed);
      return;
    case Verb::blocked:
      pasts_[*node.key].step = step;
      if (step.obstacle == Obstacle::unmet) {
        ++summary_.unmet;
        settle(id, Standing::unmet);
        return;
      }
      if (step.obstacle == Obstacle::given_up) {
        settle(id, Standing::failed);
        return;
      }
      if (step.obstacle == Obstacle::host) {
        const NodeId host = graph_->node(id).host;
        pass_.is_repeated |= past(*graph_->node(host).key).times_anew < options_.anew_limit;
      } else {
        ++summary_.blocked;
        log(EventType::blocked, id, step.verb, step.why.str());
        remember_the_call(id, step);
      }
      settle(id, Standing::blocked);
      return;
    default:
      if (!is_answered)
        ready_.stand(id, Standing::under_way);
      flights_[id].step = std::move(step);
      queue(id);
  }
}

/// The change that it waited for will not come again, so an attempt in the record tells the next
/// run.
void Run::remember_the_call(NodeId id, const Step& held) {
  const Node& node = graph_->node(id);
  if (held.obstacle != Obstacle::need || node.wanted == nullptr || looks_only(id) ||
      (node.known != nullptr && node.known->attempt) || !decider().is_called_for(id))
    return;
  auto record = record_of(id);
  record->attempt = Attempt{*node.wanted, Verb::blocked, now_.wall, true, held.why.str(), 0};
  write(id, std::move(record));
}

/// Whether its place in the source has changed, which its record then has to say.
bool Run::has_moved(const Node& node) {
  const Record& known = *node.known;
  return known.applied && known.applied->origin != node.wanted->origin &&
         known.applied->attributes == node.wanted->attributes;
}

/// The record of a kept resource still learns which sets want it, as what, and where.
void Run::keep(NodeId id) {
  const Node& node = graph_->node(id);
  if (node.wanted == nullptr || node.known == nullptr)
    return;
  ++summary_.kept;
  if (node.set->empty())
    return;
  const Digest wish = wish_of(*node.wanted);
  const auto wanted_by = node.known->wanted_by.find(*node.set);
  if (wanted_by != node.known->wanted_by.end() && wanted_by->second == wish &&
      !node.known->attempt && node.known->by_hand == ByHand::nothing && !has_moved(node))
    return;
  auto record = std::make_shared<Record>(*node.known);
  record->wanted_by[*node.set] = wish;
  record->attempt.reset();
  record->by_hand = ByHand::nothing;
  // A need that it no longer has may come back as another one, whose changes count from the start.
  const std::vector<Version> needed = decider().versions(id);
  std::erase_if(record->acted_on, [&](const Version& version) {
    return std::ranges::none_of(needed, [&](const Version& v) { return v.key == version.key; });
  });
  // A resource that is kept only because it is not due yet is not as wanted.
  if (record->applied && record->applied->attributes == node.wanted->attributes)
    record->applied = *node.wanted;
  write(id, std::move(record));
}

void Run::queue(NodeId id) { slots_.queue(graph_->node(id).wanted, ready_.place(id)); }

void Run::start_what_fits() {
  while (!is_ending() && next_.intent == nullptr) {
    const std::optional<uint32_t> place = slots_.next();
    if (!place)
      return;
    const NodeId id = graph_->order()[*place];
    Flight& flight = flights_[id];
    const bool has_begun = flight.has_begun();
    if (!has_begun && needs_what_is_done_again(id)) {
      flights_.erase(id);
      ready_.defer(id);
      continue;
    }
    slots_.hold(graph_->node(id).wanted);
    flight.phase = Phase::acting;
    if (has_begun)
      start_act(id);
    else
      begin_act(id);
  }
}

/// The resource that is acted on: as wanted, or as it once was if it is no longer wanted.
const Resource& Run::resource_at(NodeId id) const {
  const Node& node = graph_->node(id);
  const Resource* then = node.wanted != nullptr ? node.wanted : resource_of_then(*node.known);
  INVARIANT(then != nullptr);
  return *then;
}

/// An act that only looks leaves no trace: no record, no event.
bool Run::looks_only(NodeId id) const {
  const Resource* wanted = graph_->node(id).wanted;
  return wanted != nullptr &&
         (wanted->mandate == Mandate::report || wanted->mandate == Mandate::look);
}

const Name& Run::origin_of(NodeId id) const {
  static const Name none;
  const Resource* wanted = graph_->node(id).wanted;
  return wanted == nullptr ? none : wanted->origin;
}

/// The node has come to its end in this pass.
void Run::settle(NodeId id, Standing standing) {
  bool is_stale = false, is_dirty = false;
  if (const auto flight = flights_.find(id); flight != flights_.end()) {
    release_slot(id);
    timers_.calls.cancel(flight->second.retries.due(), id);
    watchers_.turn(id, flight->second.watch, {});
    is_stale = flight->second.is_stale;
    is_dirty = flight->second.notice == Notice::need;
    Past& past = pasts_[*graph_->node(id).key];
    past.calls_again += flight->second.retries.answers_again();
    past.step = std::move(flight->second.step);
    if (past.step->wanted != nullptr)
      past.step->wanted = graph_->node(id).wanted;
    flights_.erase(flight);
  }
  // Those that need it wait for the one that is wanted now.
  if (is_stale && !ready_.has_answered(id))
    ready_.stand(id, Standing::open);
  else
    announce(id, standing);
  if (is_dirty && is_of_a_host(id))
    pass_.is_repeated = true;
  else if ((is_stale || is_dirty) && !ready_.waits(id))
    ready_.put(id);
}

/// Those that need it may go on, or must be decided once more.
void Run::announce(NodeId id, Standing standing) {
  Standing& outcome = pasts_[*graph_->node(id).key].outcome;
  if (standing != Standing::kept || outcome == Standing::open)
    outcome = standing;
  const Record* record = graph_->node(id).known.get();
  const Digest answer = combine(record == nullptr ? Digest{} : record->outputs.digest(),
                                {record == nullptr ? 0 : record->changes, is_good(standing)});
  for (const NodeId dependant : ready_.answer(id, standing, answer))
    decide_again(dependant, id);
}

/// A need of the node has answered once more.
void Run::decide_again(NodeId id, NodeId need) {
  if (const auto flight = flights_.find(id); flight != flights_.end()) {
    if (flight->second.is_acting()) {
      if (graph_->node(id).wanted != nullptr)
        flight->second.notice = Notice::need;
    } else if (!flight->second.has_begun()) {
      slots_.unqueue(graph_->node(id).wanted, ready_.place(id));
      flights_.erase(flight);
      ready_.put(id);
    } else if (is_good(ready_.standing(need)) && graph_->node(id).wanted != nullptr) {
      call_now(id);
    }
    return;
  }
  if (!ready_.has_answered(id))
    return;
  const bool is_concerned = std::ranges::any_of(graph_->needs(id), [&](const Edge& edge) {
    return edge.node == need && (edge.hole || edge.bond != Bond::order ||
                                 edge.when != When::succeeded || !is_good(ready_.standing(id)));
  });
  if (!is_concerned)
    return;
  if (is_of_a_host(id))
    pass_.is_repeated = true;
  else
    ready_.put(id);
}

/// Whether it happens in a host. Such an act is judged with the host, before anything else happens
/// there.
bool Run::is_of_a_host(NodeId id) const {
  return graph_->node(id).host != no_node || !graph_->history(id).empty() ||
         !graph_->happened(id).empty() || !graph_->readers(id).empty();
}

/// Takes back the answer of a node that is done again.
void Run::take_back(const Key& key, Standing standing) {
  const auto of_it = [&](const auto& one) { return one.key == key; };
  std::erase_if(summary_.failures, of_it);
  std::erase_if(summary_.skips, of_it);
  std::erase_if(summary_.unsettled, of_it);
  const Step* decided = step(key);
  if (standing == Standing::unmet)
    --summary_.unmet;
  else if (standing == Standing::blocked && decided != nullptr &&
           decided->obstacle != Obstacle::host)
    --summary_.blocked;
}

/// A copy of its present record, to be changed and written. It says who wants the resource.
std::shared_ptr<Record> Run::record_of(NodeId id) const {
  const Node& node = graph_->node(id);
  auto record = std::make_shared<Record>(node.known ? *node.known : Record{});
  if (node.set != nullptr && !node.set->empty())
    record->wanted_by[*node.set] = wish_of(*node.wanted);
  return record;
}

void Run::write(NodeId id, RecordPointer record) {
  const Key& key = *graph_->node(id).key;
  known_[key] = record;
  graph_->set_known(id, record);
  commands_.push_back(WriteRecord{key, std::move(record)});
}

void Run::forget(NodeId id) {
  const Key key = *graph_->node(id).key;
  commands_.push_back(WriteRecord{key, nullptr});
  graph_->set_known(id, nullptr);
  pass_.forgotten.insert(known_.extract(key));
}

void Run::log(EventType type, NodeId id, Verb verb, std::string text, Value detail, bool is_kept) {
  if (looks_only(id) && type != EventType::blocked)
    return;
  Event event;
  event.time = now_.wall;
  event.type = type;
  event.environment = intent_->environment;
  event.key = *graph_->node(id).key;
  event.verb = verb;
  if (const auto flight = flights_.find(id); flight != flights_.end())
    event.because = flight->second.step.because;
  else if (const Step* decided = step(event.key); decided != nullptr)
    event.because = decided->because;
  event.text = std::move(text);
  event.detail = std::move(detail);
  commands_.push_back(LogEvent{std::move(event), is_kept});
}

}  // namespace fettle
