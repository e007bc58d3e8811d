#include "reconcile/run.h"

#include "base/invariant.h"
#include "base/text.h"
#include "reconcile/wait.h"
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
      seen_(std::move(seen)),
      kinds_(&kinds),
      options_(std::move(options)),
      prng_(options_.seed) {
  options_.plan.run = options_.number;
  for (const auto& [key, record] : known_)
    sequence_ = std::max(sequence_, record->sequence);
}

Result<Run> Run::make(std::shared_ptr<const Intent> intent, Known known, Seen seen,
                      const Kinds& kinds, RunOptions options) {
  Run run(std::move(intent), std::move(known), std::move(seen), kinds, options);
  // The intent does not change between passes, so an error of its graph shows here and never later.
  run.graph_ =
      std::make_unique<Graph>(TRY(Graph::build(*run.intent_, run.known_, run.seen_, kinds)));
  return run;
}

const Step* Run::step(const Key& key) const {
  const auto found = steps_.find(key);
  return found == steps_.end() ? nullptr : &found->second;
}

const Value* Run::looked(const Key& key) const {
  const auto found = looks_.find(key);
  return found == looks_.end() ? nullptr : &found->second;
}

bool Run::is_under_way(const Key& key) const {
  const NodeId id = graph_->find(key);
  const auto flight = id == no_node ? flights_.end() : flights_.find(id);
  return flight != flights_.end() && flight->second.began.has_value();
}

Standing Run::standing(const Key& key) const {
  const auto found = outcomes_.find(key);
  return found == outcomes_.end() ? Standing::open : found->second;
}

std::vector<Order> Run::start(Moment now) {
  now_ = now;
  begin_pass();
  proceed();
  return std::move(commands_);
}

std::vector<Order> Run::on(std::span<const Input> inputs, Moment now) {
  commands_.clear();
  now_ = now;
  for (const Input& input : inputs)
    take(input);
  proceed();
  return std::move(commands_);
}

void Run::take(const Input& input) {
  if (const auto* ended = std::get_if<ActEnded>(&input)) {
    const NodeId id = graph_->find(ended->key);
    INVARIANT(id != no_node && flights_.contains(id));
    act_ended(id, ended->outcome);
  } else if (std::holds_alternative<TimerDue>(input)) {
    wake_pending();
  } else {
    stopping_ = true;
  }
}

void Run::begin_pass() {
  replan_ = false;
  done_before_ = summary_.done;
  if (graph_ == nullptr) {
    Result<Graph> built = Graph::build(*intent_, known_, seen_, *kinds_);
    INVARIANT(built.has_value());
    graph_ = std::make_unique<Graph>(std::move(*built));
  }
  const size_t size = graph_->size();
  standings_.assign(size, Standing::open);
  open_needs_.assign(size, 0);
  place_.assign(size, 0);
  dependants_begin_.assign(size + 1, 0);
  summary_ = {.done = summary_.done, .leftovers = graph_->leftovers(), .failures = {}, .skips = {}};
  for (uint32_t i = 0; i < size; ++i)
    place_[graph_->order()[i]] = i;
  // Who waits for whom, as one flat array: count, add up, fill.
  const auto each_edge = [&](const auto& visit) {
    for (NodeId id = 0; id < size; ++id)
      for (const Edge& edge : graph_->needs(id))
        if (edge.node != no_node)
          visit(id, edge.node);
  };
  each_edge([&](NodeId, NodeId need) { ++dependants_begin_[need + 1]; });
  for (size_t i = 0; i < size; ++i)
    dependants_begin_[i + 1] += dependants_begin_[i];
  dependants_.assign(dependants_begin_[size], no_node);
  std::vector<uint32_t> next(dependants_begin_.begin(), dependants_begin_.end() - 1);
  each_edge([&](NodeId id, NodeId need) {
    dependants_[next[need]++] = id;
    ++open_needs_[id];
  });
  for (uint32_t i = 0; i < size; ++i)
    if (open_needs_[graph_->order()[i]] == 0)
      decidable_.push_back(graph_->order()[i]);
  const auto later = [&](NodeId a, NodeId b) { return place_[a] > place_[b]; };
  std::make_heap(decidable_.begin(), decidable_.end(), later);
}

/// Decides what can be decided, starts what fits, and ends the pass when nothing is under way.
void Run::proceed() {
  while (!finished_) {
    const auto later = [&](NodeId a, NodeId b) { return place_[a] > place_[b]; };
    while (!decidable_.empty()) {
      std::pop_heap(decidable_.begin(), decidable_.end(), later);
      const NodeId id = decidable_.back();
      decidable_.pop_back();
      decide(id);
    }
    start_what_fits();
    if (!decidable_.empty())
      continue;
    const bool pending_only = stopping_ && acting_ == 0;
    if (flights_.empty() || pending_only)
      end_pass();
    else
      return;
  }
}

void Run::end_pass() {
  if (stopping_) {
    summary_.stopped = std::any_of(standings_.begin(), standings_.end(),
                                   [](Standing s) { return !is_settled(s); });
  } else if (goes_on()) {
    graph_.reset();
    begin_pass();
    return;
  }
  give_up_on_hosts();
  finished_ = true;
  commands_.push_back(Finish{});
}

/// A pass that did nothing would be followed by the same one.
bool Run::goes_on() const {
  return replan_ && summary_.failures.empty() && summary_.done > done_before_;
}

/// What waits for its host to be made anew, which no pass will do any more.
void Run::give_up_on_hosts() {
  for (NodeId id = 0; id < graph_->size(); ++id) {
    const Node& node = graph_->node(id);
    const Step* decided = standings_[id] == Standing::blocked ? step(*node.key) : nullptr;
    if (decided == nullptr || decided->obstacle != Obstacle::host)
      continue;
    ++summary_.blocked;
    log(EventType::blocked, id, decided->verb, decided->why.str());
  }
}

void Run::decide(NodeId id) {
  const Node& node = graph_->node(id);
  Step step = Decider(*graph_, standings_, options_.plan).decide(id);
  switch (step.verb) {
    case Verb::keep:
      if (node.asked)
        request_done(id, {}, true);
      else
        keep(id);
      if (node.wanted != nullptr || node.asked)
        steps_[*node.key] = std::move(step);
      settle(id, Standing::kept);
      return;
    case Verb::forget:
      log(EventType::removed, id, step.verb, step.why.str());
      forget(id);
      settle(id, Standing::changed);
      return;
    case Verb::blocked:
      steps_[*node.key] = step;
      if (step.obstacle == Obstacle::host) {
        const NodeId host = graph_->node(id).host;
        replan_ |= made_anew_[*graph_->node(host).key] < options_.anew_limit;
      } else {
        ++summary_.blocked;
        log(EventType::blocked, id, step.verb, step.why.str());
      }
      settle(id, Standing::blocked);
      return;
    default:
      standings_[id] = Standing::under_way;
      flights_[id].step = std::move(step);
      pool_of(id).ready.emplace(place_[id], id);
  }
}

/// The record of something kept still learns who wants it, and as what.
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
      !node.known->attempt && node.known->by_hand == ByHand::nothing)
    return;
  auto record = std::make_shared<Record>(*node.known);
  record->wanted_by[*node.set] = wish;
  record->attempt.reset();
  record->by_hand = ByHand::nothing;
  // What it does not need any more may come back as another, whose changes count from the start.
  const std::vector<Version> needed = Decider(*graph_, standings_, options_.plan).versions(id);
  std::erase_if(record->acted_on, [&](const Version& version) {
    return std::ranges::none_of(needed, [&](const Version& v) { return v.key == version.key; });
  });
  // What is kept only because it is not due yet is not as wanted.
  if (record->applied && record->applied->attributes == node.wanted->attributes)
    record->applied = *node.wanted;
  write(id, std::move(record));
}

/// A named pool is a budget of its own; all others share the parallelism.
Run::Pool& Run::pool_of(NodeId id) {
  const Resource* wanted = graph_->node(id).wanted;
  const auto [found, added] = pools_.try_emplace(wanted == nullptr ? Name() : wanted->pool);
  if (added) {
    const auto depth = intent_->pools.find(found->first);
    found->second.depth = depth == intent_->pools.end() ? options_.parallelism : depth->second;
  }
  return found->second;
}

/// All pools together act `parallelism` times at once; whoever stands first in the order goes
/// first.
void Run::start_what_fits() {
  while (!stopping_ && acting_ < options_.parallelism) {
    Pool* next = nullptr;
    for (auto& [name, pool] : pools_)
      if (pool.in_use < pool.depth && !pool.ready.empty() &&
          (next == nullptr || *pool.ready.begin() < *next->ready.begin()))
        next = &pool;
    if (next == nullptr)
      return;
    const NodeId id = next->ready.begin()->second;
    next->ready.erase(next->ready.begin());
    ++next->in_use;
    ++acting_;
    if (flights_[id].began)
      start_act(id);
    else
      begin_act(id);
  }
}

/// Something was started, stopped or removed by hand, or had been already. Its sets want it as
/// before; what nobody wants besides whoever asks is known no more.
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
  graph_->forget_seen(id);
  seen_.erase(*node.key);
  if (is_forgotten)
    forget(id);
  else
    write(id, std::move(record));
  if (!was_kept)
    settle(id, Standing::changed);
}

/// What is acted on: as wanted, or as it was then when nobody wants it any more.
const Resource& Run::resource_at(NodeId id) const {
  const Node& node = graph_->node(id);
  const Resource* then = node.wanted != nullptr ? node.wanted : resource_of_then(*node.known);
  INVARIANT(then != nullptr);
  return *then;
}

/// What only looks leaves no trace: no record, no event.
bool Run::looks_only(NodeId id) const {
  const Resource* wanted = graph_->node(id).wanted;
  return wanted != nullptr && wanted->mandate == Mandate::report;
}

std::optional<Value> Run::filled_attributes(NodeId id, std::string& missing) const {
  const Node& node = graph_->node(id);
  const Resource& resource = resource_at(id);
  if (node.wanted == nullptr)
    return resource.attributes;
  // What is only started again is as it was made.
  const bool may_miss = node.asked && flights_.at(id).step.verb == *node.asked;
  Value filled = fill_holes(resource.attributes, [&](const Output& hole) -> const Value* {
    const NodeId need = graph_->find({resource.key.environment, hole.kind, hole.name});
    const Record* record = need == no_node ? nullptr : graph_->node(need).known.get();
    const Value* output = record == nullptr ? nullptr : follow(record->outputs, hole.path);
    if (output == nullptr && missing.empty() && !may_miss)
      missing = cat("`", hole.kind, "/", hole.name, "` has no output `", hole.path, "`");
    return output;
  });
  return missing.empty() ? std::optional(std::move(filled)) : std::nullopt;
}

void Run::begin_act(NodeId id) {
  const Node& node = graph_->node(id);
  Flight& flight = flights_[id];
  flight.began = now_.instant;
  Act& act = flight.act;
  act.verb = flight.step.verb;
  act.key = *node.key;
  act.known = node.known;
  act.incarnation = (node.known == nullptr ? 0 : node.known->incarnation) + 1;
  if (node.seen != nullptr)
    act.seen = *node.seen;
  act.looks_only = looks_only(id);
  act.events = Decider(*graph_, standings_, options_.plan).events(id);
  for (const bool hosts : {true, false})
    for (const Edge& edge : graph_->needs(id))
      if (node.wanted != nullptr && edge.node != no_node && (edge.bond == Bond::inside) == hosts &&
          graph_->node(edge.node).known != nullptr)
        act.needs.push_back(graph_->node(edge.node).known);
  for (const Need& need : resource_at(id).needs)
    if (need.bond == Bond::past || node.wanted == nullptr)
      for (const Key& key : need.keys)
        if (const auto record = known_.find(key); record != known_.end())
          act.needs.push_back(record->second);
  std::string missing;
  std::optional<Value> attributes = filled_attributes(id, missing);
  log(EventType::started, id, act.verb, flight.step.why.str());
  if (!attributes) {
    act_failed(id, world_error(missing));
    return;
  }
  act.attributes = std::move(*attributes);
  if (act.looks_only) {
    start_act(id);
    return;
  }
  auto record = std::make_shared<Record>(node.known ? *node.known : Record{});
  Attempt attempt{resource_at(id), act.verb, now_.wall, false, {}, 0};
  if (node.host != no_node && graph_->node(node.host).known != nullptr)
    attempt.host_incarnation = graph_->node(node.host).known->incarnation;
  record->attempt = std::move(attempt);
  if (node.set != nullptr && !node.set->empty())
    record->wanted_by[*node.set] = wish_of(*node.wanted);
  write(id, std::move(record));
  start_act(id);
}

void Run::start_act(NodeId id) {
  const Name driver = resource_at(id).driver;
  commands_.push_back(StartAct{flights_[id].act, driver});
}

void Run::act_ended(NodeId id, const Result<Outcome>& outcome) {
  if (!outcome)
    act_failed(id, outcome.error());
  else if (const auto* done = std::get_if<Done>(&*outcome))
    act_done(id, *done);
  else if (const auto* skipped = std::get_if<Skipped>(&*outcome))
    act_skipped(id, *skipped);
  else
    act_pending(id, std::get<Pending>(*outcome));
}

void Run::act_done(NodeId id, const Done& done) {
  const Node& node = graph_->node(id);
  const Verb verb = flights_[id].step.verb;
  if (looks_only(id)) {
    looks_[*node.key] = done.outputs;
    ++summary_.done;
    settle(id, done.changed ? Standing::changed : Standing::unchanged);
    return;
  }
  if (node.asked && verb != Verb::create && verb != Verb::replace) {
    request_done(id, done, false);
    return;
  }
  if (node.wanted == nullptr) {
    log(EventType::removed, id, verb, flights_[id].step.why.str());
    forget(id);
    ++summary_.done;
    settle(id, Standing::changed);
    return;
  }
  // An act that did not come to its end may have done it all, and then this one found nothing to
  // change.
  const RecordPointer& before = flights_[id].act.known;
  const bool changed = done.changed || (before && before->attempt);
  auto record = std::make_shared<Record>(*node.known);
  record->attempt.reset();
  record->applied = *node.wanted;
  record->outputs = done.outputs;
  record->remote_id = done.remote_id;
  record->by_hand = ByHand::nothing;
  record->is_adopted = false;
  record->run = options_.number;
  record->finished = now_.wall;
  record->changes += changed ? 1 : 0;
  record->acted_on = Decider(*graph_, standings_, options_.plan).versions(id);
  const bool anew = verb == Verb::create || verb == Verb::replace || verb == Verb::run;
  if (anew) {
    ++record->incarnation;
    record->sequence = ++sequence_;
    ++made_anew_[*node.key];
  }
  log(EventType::done, id, verb, {}, Value::dict({{"changed", changed}}));
  write(id, std::move(record));
  graph_->forget_seen(id);
  seen_.erase(*node.key);
  ++summary_.done;
  settle(id, changed ? Standing::changed : Standing::unchanged);
}

void Run::act_pending(NodeId id, const Pending& pending) {
  const Node& node = graph_->node(id);
  Flight& flight = flights_[id];
  const Resource& resource = resource_at(id);
  const Duration limit = node.wanted == nullptr ? Duration(0) : resource.deadlines.settle;
  if (limit.count() > 0 && now_.instant - *flight.began >= limit) {
    act_failed(id, world_error(cat("gave up after ", to_string(limit), ": ", pending.what)));
    return;
  }
  if (flight.waits_for != pending.what) {
    flight.waits_for = pending.what;
    log(EventType::pending, id, flight.step.verb, pending.what);
  }
  --acting_;
  --pool_of(id).in_use;
  flight.act.so_far = pending.so_far;
  Instant again =
      now_.instant + pending.retry_after.value_or(pause(resource.pace, flight.act.attempt, prng_));
  if (limit.count() > 0)
    again = std::min(again, *flight.began + limit);
  ++flight.act.attempt;
  timers_.emplace(again, id);
  commands_.push_back(WakeAt{timers_.begin()->first});
}

void Run::wake_pending() {
  while (!timers_.empty() && timers_.begin()->first <= now_.instant) {
    const NodeId id = timers_.begin()->second;
    timers_.erase(timers_.begin());
    pool_of(id).ready.emplace(place_[id], id);
  }
  if (!timers_.empty())
    commands_.push_back(WakeAt{timers_.begin()->first});
}

void Run::act_failed(NodeId id, Error error) {
  log(EventType::failed, id, flights_[id].step.verb, to_string(error));
  write_attempt(id, !error.unknown_outcome, error.message);
  summary_.failures.push_back({*graph_->node(id).key, origin_of(id), std::move(error)});
  settle(id, Standing::failed);
}

/// No failure, and no success either: the next run tries again.
void Run::act_skipped(NodeId id, const Skipped& skipped) {
  log(EventType::skipped, id, flights_[id].step.verb, skipped.why);
  write_attempt(id, true, skipped.why);
  summary_.skips.push_back({*graph_->node(id).key, origin_of(id), skipped.why});
  settle(id, Standing::skipped);
}

/// An act ended without success: the record keeps the last one and says what was said.
void Run::write_attempt(NodeId id, bool failed, const std::string& said) {
  if (looks_only(id))
    return;
  const Node& node = graph_->node(id);
  auto record = std::make_shared<Record>(node.known ? *node.known : Record{});
  if (!record->attempt && node.wanted != nullptr)
    record->attempt = Attempt{*node.wanted, flights_[id].step.verb, now_.wall, false, {}, 0};
  if (node.set != nullptr && !node.set->empty())
    record->wanted_by[*node.set] = wish_of(*node.wanted);
  if (record->attempt) {
    record->attempt->failed = failed;
    record->attempt->error = said;
  }
  write(id, std::move(record));
  graph_->forget_seen(id);
  seen_.erase(*node.key);
}

const Name& Run::origin_of(NodeId id) const {
  static const Name none;
  const Resource* wanted = graph_->node(id).wanted;
  return wanted == nullptr ? none : wanted->origin;
}

/// The node has come to its end in this pass; what waited for it alone can be decided.
void Run::settle(NodeId id, Standing standing) {
  const Node& node = graph_->node(id);
  if (const auto flight = flights_.find(id); flight != flights_.end()) {
    --acting_;
    --pool_of(id).in_use;
    steps_[*node.key] = std::move(flight->second.step);
    flights_.erase(flight);
  }
  standings_[id] = standing;
  Standing& outcome = outcomes_[*node.key];
  if (standing != Standing::kept || outcome == Standing::open)
    outcome = standing;
  const auto later = [&](NodeId a, NodeId b) { return place_[a] > place_[b]; };
  for (uint32_t i = dependants_begin_[id]; i < dependants_begin_[id + 1]; ++i)
    if (--open_needs_[dependants_[i]] == 0) {
      decidable_.push_back(dependants_[i]);
      std::push_heap(decidable_.begin(), decidable_.end(), later);
    }
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
  forgotten_.insert(known_.extract(key));
}

void Run::log(EventType type, NodeId id, Verb verb, std::string text, Value detail) {
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
  commands_.push_back(LogEvent{std::move(event)});
}

}  // namespace fettle
