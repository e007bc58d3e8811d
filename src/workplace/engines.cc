#include "workplace/engines.h"

#include <algorithm>
#include <mutex>

#include "base/at_once.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view node_mark = "engine@";
constexpr size_t most_looks_at_once = 32;

using Silent = std::map<Name, std::string>;

std::shared_ptr<const Intent> without(const std::shared_ptr<const Intent>& intent,
                                      const Silent& silent) {
  const auto is_silent = [&](const Resource& resource) { return silent.contains(resource.driver); };
  if (std::ranges::none_of(intent->resources, [&](const auto& set) {
        return std::ranges::any_of(set.second, is_silent);
      }))
    return intent;
  auto changed = std::make_shared<Intent>(*intent);
  for (auto& [set, resources] : changed->resources)
    for (Resource& resource : resources)
      if (is_silent(resource))
        resource.mandate = Mandate::none;
  return changed;
}

/// Takes out the records of which the intent does not speak, so that nobody tries to remove those
/// things.
size_t keep_away(Known& known, const Intent& intent, const Silent& silent) {
  std::set<Key> wanted;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      wanted.insert(resource.key);
  return std::erase_if(known, [&](const auto& each) {
    const Resource* const then = each.second == nullptr ? nullptr : resource_of_then(*each.second);
    return then != nullptr && silent.contains(then->driver) && !wanted.contains(each.first);
  });
}

}  // namespace

Name engine_of_node(std::string_view node) {
  return node.empty() ? Name(own_engine) : Name(cat(node_mark, node));
}

std::string_view node_of_engine(const Name& driver) {
  const std::string_view name = driver;
  return name.starts_with(node_mark) ? name.substr(node_mark.size()) : std::string_view();
}

bool is_engine(const Name& driver) {
  return driver == own_engine || driver.view().starts_with(node_mark);
}

Result<std::vector<Name>> engines_of(const Workplace& place) {
  std::vector<Name> all{own_engine};
  if (place.nodes)
    for (const std::string& node : TRY(place.nodes()))
      all.push_back(engine_of_node(node));
  return all;
}

std::set<Name> drivers_of(const Intent& intent) {
  std::set<Name> drivers;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      drivers.insert(resource.driver);
  return drivers;
}

std::set<Name> drivers_of(const Known& known) {
  std::set<Name> drivers;
  for (const auto& [key, record] : known)
    if (const Resource* const then = resource_of_then(*record))
      drivers.insert(then->driver);
  return drivers;
}

Engines engines_named(const Workplace& place, const std::set<Name>& drivers) {
  Engines engines;
  for (const Name& name : drivers)
    engines.emplace(name, place.driver(name));
  return engines;
}

namespace {

class AwayDriver : public Driver {
 public:
  Status ready(std::span<const Resource* const>, std::stop_token) override { return error(); }
  Result<std::vector<Observation>> observe(std::span<const Subject>, std::stop_token) override {
    return error();
  }
  Result<Outcome> apply(const Act&, const ProgressSink&, std::stop_token) override {
    return error();
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override { return error(); }

 private:
  static Error error() { return world_error("it did not answer when it was asked last"); }
};

}  // namespace

Driver& away_driver() {
  static AwayDriver driver;
  return driver;
}

Result<Silent> silent_of(const Engines& engines, const std::stop_token& stop) {
  Silent silent;
  std::mutex mutex;
  std::vector<Task> questions;
  for (const auto& engine : engines) {
    if (node_of_engine(engine.first).empty())
      continue;
    questions.emplace_back(
        [&, name = engine.first, driver = engine.second](const std::stop_token& ends) -> Status {
          const Status answer =
              driver == nullptr
                  ? Status(world_error(cat("node `", node_of_engine(name), "` no longer exists")))
                  : driver->ready({}, ends);
          if (answer || is_cancelled(answer.error()))
            return answer;
          const std::lock_guard lock(mutex);
          silent.emplace(name, to_string(answer.error()));
          return {};
        });
  }
  TRY(do_at_once(questions, most_looks_at_once, stop));
  return silent;
}

Result<Silent> silent_engines(const Workplace& place, const std::set<Name>& drivers) {
  return silent_of(engines_named(place, drivers), place.interrupt->acts_token());
}

Status leave_silent_engines(const Workplace& place, RunRequest& run_request,
                            RunContext& run_context) {
  std::set<Name> drivers = drivers_of(*run_request.intent);
  drivers.merge(drivers_of(run_request.known));
  const auto silent = std::make_shared<const Silent>(TRY(silent_engines(place, drivers)));
  if (silent->empty())
    return {};
  const size_t left = keep_away(run_request.known, *run_request.intent, *silent);
  for (const auto& [name, why] : *silent)
    place.tell(cat("node `", node_of_engine(name), "` does not answer: ", why));
  if (left > 0)
    place.tell(cat(left,
                   left == 1 ? " resource that is no longer wanted stays"
                             : " resources that are no longer wanted stay",
                   " there until it answers"));
  run_request.intent = without(run_request.intent, *silent);
  if (run_request.wants)
    run_request.wants = [silent, wants = std::move(run_request.wants)](
                            const Run& run) -> Result<std::shared_ptr<const Intent>> {
      const std::shared_ptr<const Intent> intent = TRY(wants(run));
      return intent == nullptr ? intent : without(intent, *silent);
    };
  if (run_request.also_known)
    run_request.also_known = [silent, also_known = std::move(run_request.also_known)](
                                 const Run& run, const Intent& wanted) {
      Known known = also_known(run, wanted);
      keep_away(known, wanted, *silent);
      return known;
    };
  run_context.driver = [silent,
                        driver = std::move(run_context.driver)](const Name& name) -> Driver* {
    return silent->contains(name) ? nullptr : driver(name);
  };
  return {};
}

}  // namespace fettle
