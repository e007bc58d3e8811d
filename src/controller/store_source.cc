#include "controller/store_source.h"

#include "controller/leftovers.h"
#include "controller/workload_objects.h"

namespace fettle {

Result<std::unique_ptr<FleetView>> StoreSource::learn() {
  std::unique_ptr<FleetView> view = TRY(learn_fleet(place_, environment_));
  TRY(look_at_room(place_, view->fleet));
  return view;
}

PodsQuestion StoreSource::question_about_pods(const FleetView& view) {
  return fettle::question_about_pods(place_, view);
}

Status StoreSource::tell_seen(FleetView& view, PodsSeen answer) {
  return fettle::tell_seen(place_, view, std::move(answer));
}

std::unique_ptr<FleetNews> StoreSource::news(FleetCache& cache, Edit& edit, Notifier& notifier) {
  return std::make_unique<StoreNews>(place_, cache, edit, notifier);
}

StoreNews::StoreNews(const Workplace& place, FleetCache& cache, Edit& edit, Notifier& notifier)
    : place_(place),
      cache_(cache),
      environment_(edit.environment()),
      notifier_(notifier),
      nodes_(place, cache, edit, [&notifier] { notifier.notify(Notifier::Cause::look); }) {}

void StoreNews::listen() { notifier_.listen_to_store(); }

Status StoreNews::learn() {
  stamp_ = TRY(place_.store->stamp());
  version_ = TRY(place_.store->versions().open(environment_, {}))->number();
  TRY(cache_.learn());
  TRY(nodes_.hear());
  read_ = instant_from_clock();
  nodes_.were_asked(read_);
  return {};
}

/// Reads what users stored in the meantime.
Result<FleetNews::News> StoreNews::hear() {
  const Instant now = instant_from_clock();
  if (!notifier_.take(Notifier::Cause::store) && now - read_ < notifier_.store_pause())
    return News::none;
  read_ = now;
  const bool has_written = TRY(delete_expired());
  const int64_t stamp = TRY(place_.store->stamp());
  if (std::exchange(stamp_, stamp) == stamp && !has_written)
    return News::none;
  const bool has_nodes = TRY(nodes_.hear());
  cache_.fleet().gates = TRY(stored_gates(place_, environment_));
  const uint64_t version = TRY(place_.store->versions().open(environment_, {}))->number();
  if (version == version_)
    return has_nodes ? News::some : News::none;
  version_ = version;
  cache_.take_objects(TRY(stored_objects(place_, environment_)));
  TRY(look_at_room(place_, cache_.fleet()));
  TRY(look_at_images(place_, cache_.fleet()));
  return News::wishes;
}

Result<bool> StoreNews::delete_expired() {
  bool has_written = false;
  for (const Name& owner : cache_.wishes().take_expired())
    if (cache_.fleet().object(owner) != nullptr) {
      TRY(delete_objects(place_, environment_, {owner}));
      has_written = true;
    }
  return has_written;
}

Instant StoreNews::due() const { return read_ + notifier_.store_pause(); }

Result<bool> StoreNews::watch_nodes() {
  if (!TRY(nodes_.watch()))
    return false;
  TRY(look_at_images(place_, cache_.fleet()));
  return true;
}

Status StoreNews::forget_lost() { return nodes_.forget_lost(); }

Status StoreNews::clear_leftovers() {
  TRY(forget_names_of_gone(place_, cache_));
  return forget_marks_of_gone(place_, cache_);
}

Workplace StoreNews::place_of_acts() const { return without_away(place_, cache_.fleet()); }

}  // namespace fettle
