#include "workplace/machines.h"

#include <algorithm>

#include "base/text.h"
#include "store/edit.h"

namespace fettle {
namespace {

constexpr std::string_view machine_note = "machine";

/// Whether it has something that is on a machine, by its records.
Result<bool> has_things(const Workplace& place, const Name& environment) {
  const Known known = TRY(place.store->known(environment));
  return std::ranges::any_of(known, [&](const auto& entry) {
    return place.machines->is_of_machine(entry.first.kind.view());
  });
}

std::string asked_machine(const Workplace& place, const Name& environment) {
  if (place.machines == nullptr)
    return {};
  const auto own = place.machines->asked_for->find(environment);
  return own == place.machines->asked_for->end() ? place.machines->asked : own->second;
}

/// How to get elsewhere.
std::string way_to_move(const Name& environment) {
  return cat(
      "what is there would stay: choose another environment (`-e`), or remove this one "
      "first (`fettle enclave rm ",
      environment, "`)");
}

/// Of the machine that is asked for, and the one that is remembered.
Result<std::string> machine_meant(const Workplace& place, const Name& environment) {
  const std::string asked = asked_machine(place, environment);
  std::string remembered = TRY(remembered_machine(place, environment));
  if (asked.empty() || remembered == asked)
    return remembered;
  if (!TRY(has_things(place, environment)))
    return asked;
  return user_error(
      cat("`", environment, "` is on ",
          remembered.empty() ? "the machine where its state is kept" : cat("`", remembered, "`"),
          ", not on `", asked, "`, and ", way_to_move(environment)));
}

}  // namespace

Driver* driver_of_machine(const Machines& machines, const Name& driver) {
  const std::string_view name = machine_of_driver(driver);
  if (name.empty() || !machines.find)
    return nullptr;
  const Result<Machine*> machine = machines.find(std::string(name));
  return machine ? &(*machine)->driver() : nullptr;
}

Result<std::string> remembered_machine(const Workplace& place, const Name& environment) {
  const std::optional<Value> note = TRY(place.store->note(environment, machine_note));
  return note && note->is_text() ? note->text().str() : std::string();
}

void FoundMachines::put(const Name& environment, const std::string& name) {
  const std::lock_guard lock(mutex_);
  names_[environment] = name;
}

std::optional<std::string> FoundMachines::find(const Name& environment) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(environment);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::string> machine_name(const Workplace& place, const Name& environment) {
  if (place.machines == nullptr)
    return std::string();
  std::string name = TRY(machine_meant(place, environment));
  place.machines->found->put(environment, name);
  return name;
}

Error no_machine_named(const Name& environment) {
  return user_error(
      cat("`", environment,
          "` acts on a machine, and a server cannot say on which: name one that has an agent "
          "(`--on HOST`; `fettle agent ls` lists them), or call it on that machine with "
          "`--server local`"));
}

Result<Machine*> machine_of(const Workplace& place, const Name& environment) {
  if (place.machines == nullptr)
    return nullptr;
  const std::string name = TRY(machine_name(place, environment));
  if (!name.empty())
    return place.machines->find(name);
  if (place.machines->is_here_refused)
    return no_machine_named(environment);
  return nullptr;
}

Status remember_machine(const Workplace& place, Edit& edit) {
  if (place.machines == nullptr)
    return {};
  const std::string name = TRY(machine_name(place, edit.environment()));
  if (asked_machine(place, edit.environment()).empty())
    return {};
  if (TRY(remembered_machine(place, edit.environment())) == name)
    return {};
  return edit.put_note(machine_note, Value(name));
}

}  // namespace fettle
