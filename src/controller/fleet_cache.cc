#include "controller/fleet_cache.h"

namespace fettle {

using workloads::Object;

Status FleetCache::learn() {
  auto all = std::make_unique<All>(TRY(source_.learn()));
  for (const Name& owner : all->view->owners)
    all->wishes.add(owner);
  if (source_.tells_of_pods())
    all->view->seen = {};  // see `see`
  all_ = std::move(all);
  drifted_.clear();
  return {};
}

void FleetCache::take_objects(std::vector<Object> objects) {
  FleetView& view = *all_->view;
  std::set<Name> stored;
  for (Object& object : objects) {
    const Name owner = object.owner();
    stored.insert(owner);
    view.owners.insert(owner);
    const Object* const known = view.fleet.object(owner);
    if (known == nullptr || known->document != object.document)
      view.fleet.put(std::move(object));
  }
  for (const Name& owner : view.owners)
    if (!stored.contains(owner) && view.fleet.object(owner) != nullptr)
      view.fleet.drop(owner);
}

bool FleetCache::put(const Key& key, const RecordPointer& record) {
  if (!all_->records.put(key, record))
    return false;
  // What was seen belongs to the former record.
  all_->view->seen.erase(key);
  drifted_.erase(key);
  tell_record(fleet(), key, record);
  return true;
}

void FleetCache::meet(const Key& key, const RecordPointer& record) {
  const RecordPointer before = all_->records.find(key);
  put(key, record);
  for (const auto& [owner, wish] : record->wanted_by)
    if (before == nullptr || !before->wanted_by.contains(owner))
      wishes().renew(owner);
}

void FleetCache::renew(const Record& record) {
  for (const auto& [owner, wish] : record.wanted_by)
    wishes().renew(owner);
}

void FleetCache::lose(const Key& key) {
  const RecordPointer known = all_->records.find(key);
  if (known != nullptr && known->applied && !known->attempt)
    renew(*known);
  put(key, nullptr);
}

Status FleetCache::see(PodsSeen answer) {
  TRY(source_.tell_seen(*all_->view, std::move(answer)));
  find_drift();
  return {};
}

bool FleetCache::see(const Key& key, Observation observation) {
  const bool is_another = fleet().see(key, observation.state);
  // Where a source tells of pods, they are not looked at for what drifted, so nobody asks for it.
  if (!source_.tells_of_pods())
    all_->view->seen[key] = std::move(observation);
  return is_another;
}

Status FleetCache::look_at_pods() {
  if (const PodsQuestion question = source_.question_about_pods(view()))
    return see(TRY(question(place_.interrupt->acts_token())));
  return {};
}

void FleetCache::find_drift() {
  drifted_.clear();
  const Kind* const kind = place_.kinds->find("pod");
  for (const auto& [key, seen] : all_->view->seen)
    if (const RecordPointer& record = all_->records.find(key);
        record != nullptr && record->applied && record->by_hand == ByHand::nothing &&
        kind->compare(*record, seen, Presence::running).verb != Verb::keep)
      drifted_.insert(key);
}

std::set<Name> FleetCache::owners_of_drifted() const {
  std::set<Name> owners;
  for (const Key& key : drifted_)
    if (const RecordPointer& record = all_->records.find(key))
      for (const auto& [owner, wish] : record->wanted_by)
        owners.insert(owner);
  return owners;
}

}  // namespace fettle
