#include "controller/pod_looks.h"

#include "workplace/engines.h"

namespace fettle {

PodLooks::PodLooks(const Workplace& place, FleetSource& source, FleetCache& cache,
                   Notifier& notifier)
    : place_(place),
      source_(source),
      cache_(cache),
      notifier_(notifier),
      looks_(place.interrupt->acts_token(),
             [&notifier] { notifier.notify(Notifier::Cause::look); }) {}

Status PodLooks::look_now() {
  looked_ = instant_from_clock();
  looked_time_ = place_.clock();
  TRY(cache_.look_at_pods());
  listen();
  return {};
}

Result<bool> PodLooks::proceed(const std::function<bool()>& is_time) {
  (void)notifier_.take(Notifier::Cause::look);
  const auto began = looks_.began();
  bool has_looked = false;
  if (auto answer = looks_.take()) {
    TRY(cache_.see(TRY(*std::move(answer))));
    looked_ = *began;
    looked_time_ = asked_time_;
    has_looked = true;
    listen();
  }
  is_wanted_ |= notifier_.take(Notifier::Cause::pods) || is_time();
  if (!is_wanted_ || looks_.began())
    return has_looked;
  is_wanted_ = false;
  asked_time_ = place_.clock();
  PodsQuestion question = source_.question_about_pods(cache_.view());
  if (question) {
    looks_.begin(std::move(question), instant_from_clock());
    return has_looked;
  }
  looked_ = instant_from_clock();
  looked_time_ = asked_time_;
  return true;
}

/// Listens to every engine that answers and has a pod.
void PodLooks::listen() {
  const FleetView& view = cache_.view();
  for (const Name& driver : drivers_of(view.known))
    if (is_engine(driver) && !view.silent.contains(driver))
      notifier_.listen(driver, view.fleet.environment());
}

}  // namespace fettle
