#pragma once
/// On which machine things of an environment are that are on a machine: files, commands, and what
/// users' code manages. Usually on this one; at a server, on that of an agent.
///
/// Whoever first acts there says so (`--on`), the environment remembers it, and later commands find
/// what is there without being told.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/machine_driver.h"
#include "workplace/workplace.h"

namespace fettle {

/// The machine of an agent.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual const std::string& name() const = 0;
  /// Of one run. It acts on things of the machine alone, and lives as long as this object.
  virtual Driver& driver() = 0;
  /// How the states of this run are to be called there.
  virtual Status begin_states(const Value& settings, std::stop_token stop) = 0;
  /// What is called outside of acts, once states have begun: `{"exec": {path, positional, named}}`,
  /// answered by what the function gives, or `{"describe": PATTERN, "is_hard"}`, by
  /// `{states, warnings}`. Error with `unknown_outcome`: the machine was lost meanwhile.
  virtual Result<Value> ask_states(const Value& asked, std::stop_token stop) = 0;
  /// States that running ones have added to the run, each `{by, what}`, since this was last asked.
  virtual std::vector<Value> take_additions() = 0;
};

/// What `machine_name` has found out, for acts: on their threads, the store is not read.
class FoundMachines {
 public:
  void put(const Name& environment, const std::string& name);
  /// Empty: this one. None: nobody has asked yet.
  std::optional<std::string> find(const Name& environment) const;

 private:
  mutable std::mutex mutex_;  ///< guards what follows
  std::map<Name, std::string> names_;
};

struct Machines {
  std::string asked;  ///< by `--on`; empty: it was not given
  /// For environments of their own, as `-L` has one for each machine.
  std::shared_ptr<std::map<Name, std::string>> asked_for =
      std::make_shared<std::map<Name, std::string>>();
  bool is_here_refused = false;  ///< somebody else's command does not mean this machine
  std::shared_ptr<FoundMachines> found = std::make_shared<FoundMachines>();
  bool (*is_of_machine)(std::string_view kind) = nullptr;  ///< whether things of a kind are on one
  std::function<Result<Machine*>(const std::string& name)> find;
};

/// The driver that acts on a machine by its name (`core/machine_driver.h`). Null: the name has none.
Driver* driver_of_machine(const Machines& machines, const Name& driver);
/// Empty: it remembers none.
Result<std::string> remembered_machine(const Workplace& place, const Name& environment);

/// The name of the machine on which things of an environment are. Empty: this one. Whoever has drivers
/// look or act asks first, so that they know it, too. Error (`Blame::user`): another one was asked for.
Result<std::string> machine_name(const Workplace& place, const Name& environment);
/// The same machine. Null: this one. Error (`Blame::user`): this one is refused, and none was named.
Result<Machine*> machine_of(const Workplace& place, const Name& environment);
/// The error of an environment that is on this machine, where somebody else's command may not act.
Error no_machine_named(const Name& environment);
/// The environment remembers the one that was asked for. It may change as long as the environment has
/// nothing there. Error (`Blame::user`): it has.
Status remember_machine(const Workplace& place, Edit& edit);

}  // namespace fettle
