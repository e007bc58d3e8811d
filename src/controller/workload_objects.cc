#include "controller/workload_objects.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/base64.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/wait.h"
#include "workloads/read/change.h"
#include "workloads/read/gates.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

using workloads::Object;

constexpr size_t kept_versions = 20;
constexpr std::string_view gates_note = "feature_gates";
constexpr Duration turn_pause = 50ms;

using Pieces = std::vector<std::pair<Piece, ContentPointer>>;

Pieces changed_pieces(const Workplace& place, const std::vector<StoredObject>& stored,
                      std::vector<Object>& objects) {
  Pieces pieces;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (stored[i].fate == StoredObject::Fate::unchanged && !stored[i].is_record_new)
      continue;
    if (stored[i].fate == StoredObject::Fate::created) {
      objects[i].uid = new_uuid(place);
      objects[i].created = place.clock();
    }
    pieces.emplace_back(piece_of_manifest(objects[i].owner()), content_of_manifest(objects[i]));
  }
  return pieces;
}

/// Finds objects by their names as owners. They must outlive it.
class ByOwner {
 public:
  explicit ByOwner(const std::vector<Object>& objects) {
    for (const Object& object : objects)
      objects_.emplace(object.owner(), &object);
  }
  /// Null: there is none.
  const Object* find(const Name& owner) const {
    const auto found = objects_.find(owner);
    return found == objects_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<Name, const Object*> objects_;
};

Result<const Object*> find_object(const std::vector<Object>& objects, const ByOwner& by_owner,
                                  const Name& owner) {
  if (const Object* found = by_owner.find(owner))
    return found;
  std::vector<std::string> names;
  for (const Object& object : objects)
    names.push_back(object.owner().str());
  return user_error(cat("there is no `", owner, "`", suggestion(owner, names)));
}

/// The empty marks of a pod about which nobody has said anything. `owner`: `Pod/NAMESPACE/NAME`.
Object unmarked(const Name& owner) {
  const auto parts = split(owner.view(), '/');
  Object object;
  object.kind = parts[0];
  object.space = parts[1];
  object.name = parts[2];
  object.document = Value::dict({{"metadata", Value::dict({{"name", object.name}})}});
  return object;
}

/// Adds a version that differs in some pieces; `decide` says in which.
using Decide = std::function<Result<Pieces>(const std::vector<Object>& before)>;
Status push_objects(const Workplace& place, const Name& environment, const Decide& decide) {
  std::unique_ptr<PushTurn> turn;
  while (turn == nullptr) {
    turn = TRY(place.store->versions().begin_push(environment));
    if (turn == nullptr)
      TRY(pause_for(turn_pause, place.interrupt->acts_token()));
  }
  const Snapshot& newest = turn->newest();
  const std::vector<Object> before = TRY(manifests_in(newest));
  if (!is_of_fleet(newest.detail()))
    return user_error(cat("`", environment,
                          "` holds a model; `-e NAME` names another environment for workloads"));
  Delta delta{.number = newest.number() + 1,
              .pieces = TRY(decide(before)),
              .detail = detail_of_fleet(newest.detail())};
  if (delta.pieces.empty())
    return {};
  const std::unique_ptr<StagedVersion> staged = TRY(turn->stage(std::move(delta)));
  TRY(place.store->wish(environment, [&](Wish& wish) -> Status {
    TRY(wish.ensure_environment({environment, new_uuid(place), place.clock(), Value::dict({})}));
    return wish.commit(*staged, place.clock());
  }));
  return turn->forget_old(kept_versions);
}

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

namespace {

/// The contents of an object as Kubernetes writes them: in base64 for Secrets, and for binary data
/// of ConfigMaps.
Value with_encoded_data(const Object& object) {
  const bool is_secret = object.kind == "Secret";
  const Value& data = object.document.at("data");
  if ((!is_secret && object.kind != "ConfigMap") || !data.is_dict())
    return object.document;
  std::vector<Entry> texts, encoded;
  for (const Entry& entry : data.entries()) {
    const Value& inside = entry.value.is_secret() ? entry.value.inside() : entry.value;
    const std::string text = to_text(inside);
    if (is_secret)
      texts.push_back({entry.key, Value::secret(base64_encode(text))});
    else
      (is_valid_utf8(text) ? texts : encoded)
          .push_back({entry.key, is_valid_utf8(text) ? text : base64_encode(text)});
  }
  return workloads::edited(
      object.document,
      {{"data", texts.empty() ? Value() : Value::dict(std::move(texts))},
       {"binaryData", encoded.empty() ? Value() : Value::dict(std::move(encoded))}});
}

}  // namespace

Value shown_document(const Object& object) {
  const Value document = with_encoded_data(object);
  std::vector<Entry> more{{"namespace", object.space.empty() ? Value() : Value(object.space)},
                          {"generation", object.generation}};
  if (!object.uid.empty())
    more.push_back({"uid", object.uid});
  if (object.created != Time())
    more.push_back({"creationTimestamp", write_moment(object.created)});
  return workloads::edited(
      document, {{"metadata", workloads::edited(document.at("metadata"), std::move(more))}});
}

namespace {

/// Checks new objects with one another, and with those that stay. Only SidecarSets have such rules.
Status check_together(const std::vector<Object>& before, const std::vector<Object>& objects) {
  std::set<Name> changed;
  std::vector<const Object*> sets;
  const auto is_set = [](const Object& object) { return object.kind == "SidecarSet"; };
  for (const Object& object : objects)
    if (is_set(object)) {
      changed.insert(object.owner());
      sets.push_back(&object);
    }
  const size_t count = sets.size();
  if (count > 0)
    for (const Object& object : before)
      if (is_set(object) && !changed.contains(object.owner()))
        sets.push_back(&object);
  for (size_t i = 0; i < count; ++i)
    for (size_t other = i + 1; other < sets.size(); ++other)
      if (const auto errors = workloads::check_beside(*sets[other], *sets[i]); !errors.empty())
        return errors.front();
  return {};
}

}  // namespace

Result<std::vector<StoredObject>> fates_of(const std::vector<Object>& before,
                                           std::vector<Object>& objects) {
  std::vector<StoredObject> stored;
  TRY(check_together(before, objects));
  const ByOwner by_owner(before);
  for (Object& object : objects) {
    const Object* old = by_owner.find(object.owner());
    StoredObject& fated = stored.emplace_back();
    fated.owner = object.owner();
    fated.fate = StoredObject::Fate::created;
    if (old != nullptr) {
      if (const auto errors = workloads::check_change(*old, object); !errors.empty())
        return errors.front();
      const bool is_same = old->document == object.document;
      fated.fate = is_same ? StoredObject::Fate::unchanged : StoredObject::Fate::configured;
      fated.is_record_new = object.applied != old->applied;
      fated.taken_back = workloads::taken_back(old->applied, old->document, object.document);
      object.generation = old->generation + (is_same ? 0 : 1);
      object.uid = old->uid;
      object.created = old->created;
    }
  }
  return stored;
}

Result<std::vector<Object>> merged_objects(const std::vector<Object>& before,
                                           std::vector<Object> objects) {
  const ByOwner by_owner(before);
  for (Object& object : objects) {
    object.applied = object.document;
    const Object* const old = by_owner.find(object.owner());
    Value document = workloads::merged(object.kind, old == nullptr ? Value() : old->applied,
                                       old == nullptr ? Value() : old->document, object.document);
    if (document == object.document)
      continue;
    object.document = std::move(document);
    TRY(workloads::check_document(object).context(
        cat("merging ", object.kind, " `", object.name, "` with what is stored")));
  }
  return objects;
}

Result<std::vector<StoredObject>> apply_objects(const Workplace& place, const Name& environment,
                                                const std::vector<Object>& objects) {
  std::vector<StoredObject> stored;
  TRY(push_objects(place, environment, [&](const std::vector<Object>& before) -> Result<Pieces> {
    std::vector<Object> changed = TRY(merged_objects(before, objects));
    stored = TRY(fates_of(before, changed));
    return changed_pieces(place, stored, changed);
  }));
  return stored;
}

Result<std::vector<StoredObject>> store_objects(const Workplace& place, const Name& environment,
                                                std::vector<Object> objects) {
  std::vector<StoredObject> stored;
  TRY(push_objects(place, environment, [&](const std::vector<Object>& before) -> Result<Pieces> {
    stored = TRY(fates_of(before, objects));
    return changed_pieces(place, stored, objects);
  }));
  return stored;
}

Result<std::vector<StoredObject>> change_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners,
                                                 const ObjectChange& change) {
  std::vector<StoredObject> stored;
  TRY(push_objects(place, environment, [&](const std::vector<Object>& before) -> Result<Pieces> {
    std::vector<Object> objects;
    const ByOwner by_owner(before);
    for (const Name& owner : owners)
      objects.push_back(TRY(change(*TRY(find_object(before, by_owner, owner)))));
    stored = TRY(fates_of(before, objects));
    return changed_pieces(place, stored, objects);
  }));
  return stored;
}

Result<std::vector<StoredObject>> mark_pods(const Workplace& place, const Name& environment,
                                            const std::map<Name, Time>& made,
                                            const ObjectChange& change) {
  std::vector<StoredObject> stored;
  TRY(push_objects(place, environment, [&](const std::vector<Object>& before) -> Result<Pieces> {
    std::vector<Object> objects;
    const ByOwner by_owner(before);
    for (const auto& [owner, since] : made) {
      const Object* old = by_owner.find(owner);
      const bool holds =
          old != nullptr && Time(Duration(old->document.integer_at("since"))) > since;
      Object object = TRY(change(holds ? *old : unmarked(owner)));
      object.document =
          workloads::edited(object.document, {{"since", place.clock().time_since_epoch().count()}});
      objects.push_back(std::move(object));
    }
    stored = TRY(fates_of(before, objects));
    return changed_pieces(place, stored, objects);
  }));
  return stored;
}

Result<std::vector<StoredObject>> delete_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners) {
  std::vector<StoredObject> stored;
  TRY(push_objects(place, environment, [&](const std::vector<Object>& before) -> Result<Pieces> {
    Pieces pieces;
    stored.clear();
    const ByOwner by_owner(before);
    for (const Name& owner : owners) {
      TRY(find_object(before, by_owner, owner));
      pieces.emplace_back(piece_of_manifest(owner), nullptr);
      stored.push_back({.owner = owner, .fate = StoredObject::Fate::deleted});
    }
    return pieces;
  }));
  return stored;
}

namespace {

Result<workloads::GateWords> gates_with(const std::optional<Value>& before, std::string_view text) {
  return workloads::merged_gates(workloads::gate_words_of(before.value_or(Value())),
                                 TRY(workloads::read_gates(text)));
}

}  // namespace

Status check_gates(const Workplace& place, const Name& environment, std::string_view text) {
  TRY(gates_with(TRY(place.store->note(environment, gates_note)), text));
  return {};
}

Status put_gates(const Workplace& place, const Name& environment, std::string_view text) {
  return place.store->wish(environment, [&](Wish& wish) -> Status {
    TRY(wish.ensure_environment({environment, new_uuid(place), place.clock(), Value::dict({})}));
    const workloads::GateWords merged = TRY(gates_with(TRY(wish.note(gates_note)), text));
    return wish.put_note(gates_note, workloads::value_of(merged));
  });
}

Result<workloads::Gates> stored_gates(const Workplace& place, const Name& environment) {
  const auto words = TRY(place.store->note(environment, gates_note));
  return workloads::gates_of(workloads::gate_words_of(words.value_or(Value())));
}

Result<workloads::Gates> gates_in(std::string_view text) {
  if (text.empty())
    return workloads::Gates();
  return workloads::gates_of(TRY(gates_with(std::nullopt, text)));
}

}  // namespace fettle
