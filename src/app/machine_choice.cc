#include "app/machine_choice.h"

#include "app/kinds.h"
#include "base/text.h"

namespace fettle {
Result<Machine*> MachineChoice::machine_of_key(const Key& key) const {
  if (!is_kind_of_machine(key.kind.view()))
    return nullptr;
  const std::optional<std::string> name = place_.machines->found->find(key.environment);
  if (!name)  // to look or act on this one would be a guess
    return Error(Blame::bug, cat("nobody has asked on which machine `", key.environment, "` is"));
  return name->empty() ? Result<Machine*>(nullptr) : place_.machines->find(*name);
}

Status MachineChoice::ready(std::span<const Resource* const> wanted, std::stop_token stop) {
  std::vector<const Resource*> here;
  std::map<Machine*, std::vector<const Resource*>> there;
  for (const Resource* const resource : wanted) {
    Machine* machine = nullptr;
    if (is_kind_of_machine(resource->key.kind.view())) {
      TRY(machine_of(place_, resource->key.environment));
      machine = TRY(machine_of_key(resource->key));
    }
    (machine == nullptr ? here : there[machine]).push_back(resource);
  }
  for (const auto& [machine, resources] : there)
    TRY(machine->driver().ready(resources, stop));
  return driver_.ready(here, std::move(stop));
}

Result<std::vector<Observation>> MachineChoice::observe(std::span<const Subject> subjects,
                                                        std::stop_token stop) {
  std::map<Machine*, std::vector<size_t>> places;
  for (size_t i = 0; i < subjects.size(); ++i)
    places[TRY(machine_of_key(subjects[i].key))].push_back(i);
  std::vector<Observation> all(subjects.size());
  for (const auto& [machine, numbers] : places) {
    std::vector<Subject> part;
    for (const size_t number : numbers)
      part.push_back(subjects[number]);
    Driver& driver = machine == nullptr ? driver_ : machine->driver();
    std::vector<Observation> seen = TRY(driver.observe(part, stop));
    for (size_t i = 0; i < numbers.size(); ++i)
      all[numbers[i]] = std::move(seen[i]);
  }
  return all;
}

Result<Outcome> MachineChoice::apply(const Act& act, const ProgressSink& progress,
                                     std::stop_token stop) {
  Machine* const machine = TRY(machine_of_key(act.key));
  if (machine == nullptr && is_kind_of_machine(act.key.kind.view()) &&
      place_.machines->is_here_refused)
    return no_machine_named(act.key.environment);
  Driver& driver = machine == nullptr ? driver_ : machine->driver();
  return driver.apply(act, progress, std::move(stop));
}

}  // namespace fettle
