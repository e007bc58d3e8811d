#include "verbs/workloads.h"

#include <algorithm>

#include "base/text.h"
#include "base/wait.h"
#include "kinds/pod.h"
#include "value/mask.h"
#include "verbs/engines.h"
#include "verbs/nodes.h"
#include "workloads/status.h"
#include "workloads/want.h"

namespace fettle {
namespace {

using workloads::Fleet;
using workloads::Object;

constexpr size_t kept_versions = 20;
constexpr Duration shortest_pause = 50ms, longest_pause = 1s;
constexpr int most_rounds = 1'000;  ///< of owners that change one another

Piece piece_of(const Name& owner) { return {owner, {}}; }

ContentPointer content_of(const Object& object) {
  Content content;
  Item item;
  item.id = object.owner();
  item.attributes = Value::dict({{"kind", object.kind},
                                 {"namespace", object.space},
                                 {"name", object.name},
                                 {"document", object.document},
                                 {"generation", object.generation}});
  content.items.push_back(std::move(item));
  return seal(std::move(content));
}

Object object_in(const Content& content) {
  const Value& stored = content.items.at(0).attributes;
  Object object;
  object.kind = stored.text_at("kind");
  object.space = stored.text_at("namespace");
  object.name = stored.text_at("name");
  object.document = stored.at("document");
  object.generation = stored.integer_at("generation", 1);
  return object;
}

Result<std::vector<Object>> objects_in(const Snapshot& snapshot) {
  std::vector<Object> objects;
  for (const auto& [piece, digest] : TRY(snapshot.pieces()))
    if (const ContentPointer content = TRY(snapshot.content(piece));
        content != nullptr && content->items.size() == 1)
      objects.push_back(object_in(*content));
  std::ranges::sort(objects, {}, &Object::owner);
  return objects;
}

/// Adds a version that differs in some pieces. `decide` says in which.
using Decide = std::function<Result<std::vector<std::pair<Piece, ContentPointer>>>(
    const std::vector<Object>& before)>;
Status push_objects(const Workplace& place, const Name& environment, const Decide& decide) {
  std::unique_ptr<PushTurn> turn;
  while (turn == nullptr) {
    turn = TRY(place.store->versions().begin_push(environment));
    if (turn == nullptr)
      TRY(pause_for(shortest_pause, place.interrupt->acts_token()));
  }
  const Snapshot& newest = turn->newest();
  Delta delta{.number = newest.number() + 1,
              .pieces = TRY(decide(TRY(objects_in(newest)))),
              .detail = newest.detail()};
  if (delta.pieces.empty())
    return {};
  const std::unique_ptr<Staged> staged = TRY(turn->stage(std::move(delta)));
  TRY(place.store->wish(environment, [&](Wish& wish) -> Status {
    TRY(wish.ensure_environment({environment, new_uuid(place), place.clock(), Value::dict({})}));
    return wish.commit(*staged, place.clock());
  }));
  return turn->forget_old(kept_versions);
}

/// Nodes and objects, as they are stored.
Status learn_fleet(const Workplace& place, const Name& environment, Fleet& fleet,
                   std::set<Name>& owners) {
  fleet.driver = own_engine;
  for (const NodeView& view : TRY(look_at_nodes(place))) {
    workloads::Node node;
    node.name = view.node.name;
    std::vector<Entry> labels{{"kubernetes.io/hostname", view.node.name}};
    for (const auto& [key, text] : view.node.labels)
      labels.push_back({key, text});
    node.labels = Value::dict(std::move(labels));
    node.pulls = view.node.pulls;
    node.is_ready = view.answers;
    node.is_cordoned = view.node.is_cordoned;
    fleet.put_node(std::move(node));
  }
  for (Object& object : TRY(stored_objects(place, environment))) {
    owners.insert(object.owner());
    fleet.put(std::move(object));
  }
  return {};
}

/// The pods that are known, as they are; `silent`: the engines that do not answer.
Result<Seen> look_at_pods(const Workplace& place, const Known& known,
                          std::map<Name, std::string>& silent) {
  Known pods;
  for (const auto& [key, record] : known)
    if (key.kind == "pod")
      pods.emplace(key, record);
  silent = TRY(silent_engines(place, drivers_of(pods)));
  Scene scene = place.scene();
  scene.driver = [&](const Name& name) -> Driver* {
    return silent.contains(name) ? nullptr : place.driver(name);
  };
  Seen seen = TRY(look_at_known(scene, pods));
  std::erase_if(seen, [](const auto& one) { return !one.second.unavailable.empty(); });
  return seen;
}

/// Wishes of all owners as one intent, and what the store and the engines know of them.
class Bringing {
 public:
  Bringing(const Workplace& place, Edit& edit, const BringOptions& options)
      : place_(place), edit_(edit), options_(options), fleet_(edit.environment()) {}

  Result<Brought> bring() {
    TRY(learn());
    Instant changed = instant_from_clock();
    while (true) {
      TRY(look());
      ask();
      if (has_news_) {
        TRY(carry());
        changed = instant_from_clock();
        if (brought_.summary.stopped)
          break;
        continue;
      }
      count();
      if (!is_any_awaited_ || !brought_.summary.failures.empty())
        break;
      if (instant_from_clock() - changed > options_.limit) {
        brought_.summary.is_late = true;
        break;
      }
      if (!pause_for(pause(), place_.interrupt->acts_token()) || place_.interrupt->asked() > 0) {
        brought_.summary.stopped = true;
        break;
      }
    }
    count();
    return std::move(brought_);
  }

 private:
  Status learn() {
    TRY(learn_fleet(place_, edit_.environment(), fleet_, owners_));
    known_ = TRY(place_.store->known(edit_.environment()));
    for (const auto& [key, record] : known_) {
      tell(key, record);
      for (const auto& [set, wish] : record->wanted_by)
        owners_.insert(set);
    }
    return {};
  }

  /// A pod that was removed by hand, as from a node that is drained, does not come back: its owner
  /// makes another one.
  void tell(const Key& key, const RecordPointer& record) {
    fleet_.know(key, record->by_hand == ByHand::removed ? nullptr : record);
  }

  /// At the pods, since nobody tells when one is ready.
  Status look() {
    for (const auto& [key, observation] : TRY(look_at_pods(place_, known_, silent_))) {
      fleet_.see(key, observation.state);
      seen_[key] = observation;
    }
    return {};
  }

  /// Asks owners until none wants anything else.
  void ask() {
    ask_at_.reset();
    const Time now = place_.clock();
    std::set<Name> open = owners_;
    for (int round = 0; round < most_rounds && !open.empty(); ++round) {
      for (const Name& owner : open) {
        workloads::Wanted wanted = workloads::want(fleet_, owner, now);
        fleet_.accept(owner, wanted.intent);
        if (wanted.ask && (!ask_at_ || *wanted.ask < *ask_at_))
          ask_at_ = wanted.ask;
        intents_[owner] = std::move(wanted.intent);
      }
      open.clear();
      for (const Name& owner : fleet_.take_changed())
        open.insert(owner);
    }
    merge();
  }

  void merge() {
    auto merged = std::make_shared<Intent>();
    merged->environment = edit_.environment();
    std::map<Key, Digest> wishes;
    for (const auto& [owner, intent] : intents_) {
      merged->sets.insert(intent.sets.begin(), intent.sets.end());
      merged->pools.insert(intent.pools.begin(), intent.pools.end());
      for (const auto& [set, resources] : intent.resources) {
        std::vector<Resource>& all = merged->resources[set];
        for (const Resource& resource : resources) {
          all.push_back(resource);
          // What is only remembered needs no engine.
          if (const Name& kind = resource.key.kind;
              kind == "revision" || kind == "pull_job" || kind == "notice")
            all.back().driver = "host";
          wishes.emplace(resource.key, wish_of(resource));
        }
      }
    }
    has_news_ = !intent_ || wishes != wishes_;
    wishes_ = std::move(wishes);
    intent_ = std::move(merged);
  }

  Status carry() {
    Undertaking undertaking;
    undertaking.intent = intent_;
    undertaking.known = known_;
    undertaking.audience = options_.audience;
    Carried carried = TRY(carry_out(place_, edit_, std::move(undertaking)));
    const Summary summary = TRY(std::move(carried.summary));
    brought_.summary.done += summary.done;
    brought_.summary.kept = summary.kept;
    brought_.summary.blocked = summary.blocked;
    brought_.summary.failures = summary.failures;
    brought_.summary.skips = summary.skips;
    brought_.summary.stopped = summary.stopped;
    const Known now = TRY(place_.store->known(edit_.environment()));
    for (const auto& [key, record] : known_)
      if (!now.contains(key))
        fleet_.know(key, nullptr);
    for (const auto& [key, record] : now)
      tell(key, record);
    known_ = now;
    return {};
  }

  /// Which pods are ready, and why the others are not. Nobody awaits those whose node is away.
  void count() {
    brought_.unsettled.clear();
    brought_.pods = brought_.ready = 0;
    is_any_awaited_ = false;
    fleet_.for_each_pod([&](const workloads::Pod& pod) {
      ++brought_.pods;
      if (pod.is_ready && !pod.is_leaving && !pod.is_updating) {
        ++brought_.ready;
        return;
      }
      const bool is_away = silent_.contains(engine_of_node(pod.node));
      is_any_awaited_ |= !is_away;
      const std::string reason = is_away             ? cat("node `", pod.node, "` does not answer")
                                 : pod.error.empty() ? why(pod.resource.key)
                                                     : pod.error.str();
      brought_.unsettled.push_back(cat("pod ", pod.space, "/", pod.name, ": ", reason));
    });
  }

  std::string why(const Key& key) const {
    const auto found = seen_.find(key);
    if (found == seen_.end() || !found->second.state)
      return "it is not there";
    const Value& conditions = found->second.state->at("conditions");
    if (conditions.is_list())
      for (const Value& condition : conditions.items())
        if (condition.text_at("type") == "Ready" && condition.text_at("status") != "True")
          return std::string(condition.text_at("message", "it is not ready"));
    return "its update has not ended";
  }

  Duration pause() const {
    if (!ask_at_)
      return longest_pause;
    return std::clamp<Duration>(*ask_at_ - place_.clock(), shortest_pause, longest_pause);
  }

  const Workplace& place_;
  Edit& edit_;
  const BringOptions& options_;
  Fleet fleet_;
  std::set<Name> owners_;
  std::map<Name, Intent> intents_;
  std::map<Key, Digest> wishes_;
  std::shared_ptr<const Intent> intent_;
  std::optional<Time> ask_at_;
  Known known_;
  Seen seen_;
  std::map<Name, std::string> silent_;
  bool has_news_ = false, is_any_awaited_ = false;
  Brought brought_;
};

}  // namespace

std::string_view to_string(StoredObject::Fate fate) {
  switch (fate) {
    case StoredObject::Fate::created:
      return "created";
    case StoredObject::Fate::configured:
      return "configured";
    case StoredObject::Fate::deleted:
      return "deleted";
    default:
      return "unchanged";
  }
}

Result<std::vector<Object>> stored_objects(const Workplace& place, const Name& environment) {
  return objects_in(*TRY(place.store->versions().open(environment, {})));
}

Result<std::vector<StoredObject>> store_objects(const Workplace& place, const Name& environment,
                                                std::vector<Object> objects) {
  std::vector<StoredObject> stored;
  TRY(push_objects(
      place, environment,
      [&](const std::vector<Object>& before)
          -> Result<std::vector<std::pair<Piece, ContentPointer>>> {
        std::vector<std::pair<Piece, ContentPointer>> pieces;
        for (Object& object : objects) {
          const auto old = std::ranges::find(before, object.owner(), &Object::owner);
          StoredObject::Fate fate = StoredObject::Fate::created;
          if (old != before.end()) {
            if (const auto errors = workloads::check_change(*old, object); !errors.empty())
              return errors.front();
            const bool is_same = old->document == object.document;
            fate = is_same ? StoredObject::Fate::unchanged : StoredObject::Fate::configured;
            object.generation = old->generation + (is_same ? 0 : 1);
          }
          stored.push_back({object.owner(), fate});
          if (fate != StoredObject::Fate::unchanged)
            pieces.emplace_back(piece_of(object.owner()), content_of(object));
        }
        return pieces;
      }));
  return stored;
}

Result<std::vector<StoredObject>> delete_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners) {
  std::vector<StoredObject> stored;
  TRY(push_objects(place, environment,
                   [&](const std::vector<Object>& before)
                       -> Result<std::vector<std::pair<Piece, ContentPointer>>> {
                     std::vector<std::pair<Piece, ContentPointer>> pieces;
                     for (const Name& owner : owners) {
                       if (std::ranges::find(before, owner, &Object::owner) == before.end()) {
                         std::vector<std::string> names;
                         for (const Object& object : before)
                           names.push_back(object.owner().str());
                         return user_error(
                             cat("there is no `", owner, "`", suggestion(owner, names)));
                       }
                       pieces.emplace_back(piece_of(owner), nullptr);
                       stored.push_back({owner, StoredObject::Fate::deleted});
                     }
                     return pieces;
                   }));
  return stored;
}

Result<Brought> bring_workloads(const Workplace& place, const Name& environment,
                                const BringOptions& options) {
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment, options.wait_for_others));
  TRY(ensure_environment(place, *edit, Value::dict({})));
  return Bringing(place, *edit, options).bring();
}

Result<std::vector<Value>> pods_of(const Workplace& place, const Name& environment) {
  Known pods;
  for (const auto& [key, record] : TRY(place.store->known(environment)))
    if (key.kind == "pod" && record->applied && record->by_hand != ByHand::removed)
      pods.emplace(key, record);
  std::map<Name, std::string> silent;
  const Seen seen = TRY(look_at_pods(place, pods, silent));
  std::map<Key, Value> sorted;
  for (const auto& [key, record] : pods) {
    const Value& attributes = record->applied->attributes;
    const auto found = seen.find(key);
    const Value status = found != seen.end() && found->second.state
                             ? *found->second.state
                             : Value::dict({{"phase", "Unknown"}});
    const Value metadata = Value::dict({{"name", attributes.at("name")},
                                        {"namespace", node_address(key.name).space},
                                        {"uid", record->outputs.at("uid")},
                                        {"creationTimestamp", record->outputs.at("started")},
                                        {"labels", pod_labels(attributes)},
                                        {"annotations", pod_annotations(attributes)}});
    sorted[key] = Value::dict({{"apiVersion", "v1"},
                               {"kind", "Pod"},
                               {"metadata", metadata},
                               {"spec", pod_spec(attributes)},
                               {"status", status}});
  }
  std::vector<Value> found;
  for (auto& [key, pod] : sorted)
    found.push_back(std::move(pod));
  return found;
}

Result<std::vector<Object>> objects_with_status(const Workplace& place, const Name& environment) {
  Fleet fleet(environment);
  std::set<Name> owners;
  std::map<Name, std::string> silent;
  TRY(learn_fleet(place, environment, fleet, owners));
  const Known known = TRY(place.store->known(environment));
  for (const auto& [key, record] : known)
    fleet.know(key, record->by_hand == ByHand::removed ? nullptr : record);
  for (const auto& [key, observation] : TRY(look_at_pods(place, known, silent)))
    fleet.see(key, observation.state);
  std::vector<Object> objects = TRY(stored_objects(place, environment));
  for (Object& object : objects) {
    Value status = workloads::status_of(fleet, object.owner(), place.clock());
    if (status.is_null())
      continue;
    std::vector<Entry> entries(object.document.entries().begin(), object.document.entries().end());
    entries.push_back({"status", std::move(status)});
    object.document = Value::dict(std::move(entries));
  }
  return objects;
}

}  // namespace fettle
