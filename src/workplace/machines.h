#pragma once
/// On which machine things of an environment are that are on a machine: files, commands, and what
/// users' code manages. Usually on this one; at a server, on that of an agent.
///
/// Whoever first acts there says so (`--on`), the environment remembers it, and later commands find
/// what is there without being told.

#include <functional>
#include <map>
#include <memory>
#include <string>

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
  /// States that running ones have added to the run, each `{by, what}`, since this was last asked.
  virtual std::vector<Value> take_additions() = 0;
};

struct Machines {
  std::string asked;  ///< by `--on`; empty: it was not given
  /// For environments of their own, as `-L` has one for each machine.
  std::shared_ptr<std::map<Name, std::string>> asked_for =
      std::make_shared<std::map<Name, std::string>>();
  bool is_here_refused = false;  ///< somebody else's command does not mean this machine
  bool (*is_of_machine)(std::string_view kind) = nullptr;  ///< whether things of a kind are on one
  std::function<Result<Machine*>(const std::string& name)> find;
};

/// The name of the machine on which things of an environment are. Empty: this one. Error
/// (`Blame::user`): another one was asked for.
Result<std::string> machine_name(const Workplace& place, const Name& environment);
/// The same machine. Null: this one. Error (`Blame::user`): this one is refused, and none was named.
Result<Machine*> machine_of(const Workplace& place, const Name& environment);
/// The environment remembers the one that was asked for. It may change as long as the environment has
/// nothing there. Error (`Blame::user`): it has.
Status remember_machine(const Workplace& place, Edit& edit);

}  // namespace fettle
