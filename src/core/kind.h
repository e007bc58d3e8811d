#pragma once
/// The meaning of a type of resource. Pure: no IO, no clock. To add a type: a file in `src/kinds/`,
/// a row in `src/app/kinds.cc`, support in a driver, a row in the contract test.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/record.h"
#include "core/step.h"

namespace fettle {

enum class Sort {
  observable,  ///< the world shows whether it exists and is as wanted
  action,      ///< only its own record shows that it was done
  ensuring,  ///< looks and acts in one call: due on every run, reports whether it changed anything
};

/// The meaning of an action inside a host for the host.
enum class Role {
  none,   ///< not part of the host's history
  reads,  ///< runs again after the history before it ran again
  acts,   ///< part of the host's history: changing it changes the host
};

/// How a thing is expected to be found.
enum class Presence {
  running,  ///< unless it ended by itself
  serving,  ///< others wait for it to answer: it runs and does not end
  stopped,
  absent
};
constexpr bool runs(Presence presence) {
  return presence == Presence::running || presence == Presence::serving;
}

struct Comparison {
  Verb verb = Verb::keep;
  std::vector<std::string> fields;
  std::string why;
};

class Kind {
 public:
  virtual ~Kind() = default;
  virtual Name name() const = 0;
  virtual Sort sort() const = 0;

  /// The name in a key as people read it.
  virtual std::string shown(const Name& name) const { return name.str(); }

  /// Checks the attributes, fills in defaults, drops members without effect and sorts unordered
  /// ones, so that from here on equality is `==`. A hole may stand wherever a string may.
  virtual Result<Attributes> normalise(const Value& attributes) const {
    return Attributes(attributes);
  }

  /// Whether an existing thing can only be ours, because the driver marks what it creates.
  virtual bool is_marked() const { return true; }

  /// For unmarked things: the place, as a path in the driver's world. Two at one path are one
  /// thing, whatever their keys, and everything below a path is inside it. Empty: nowhere, because
  /// it should be absent, or not known yet.
  virtual std::string place(const Attributes& /*attributes*/, const Outputs& /*outputs*/) const {
    return {};
  }

  /// Things that only one resource at a time can have, such as a port of the machine, as strings
  /// that are equal if the things are. The resource that releases one comes before the one that
  /// takes it.
  virtual std::vector<std::string> holds(const Attributes& /*attributes*/) const { return {}; }

  /// Whether the change from one to the other can be made without recreating the thing.
  virtual bool in_place_changes(const Attributes& /*before*/, const Attributes& /*after*/) const {
    return false;
  }

  /// For an observable kind: the step that the difference between record and world (drift)
  /// requires. `seen` is an observation that was made; `expected` is the presence after the last
  /// transition. Asked before the wanted attributes are compared with the recorded ones.
  virtual Comparison compare(const Record& known, const Observation& seen, Presence expected) const;

  /// The digests of the contents that it produced. If one is lost, it is due again.
  virtual std::vector<Name> contents(const Outputs& /*outputs*/) const { return {}; }

  /// For an action: whether an interrupted one may have left something in the world, which its
  /// driver cleans up when told to remove it.
  virtual bool leaves_remains() const { return false; }

  virtual Role role(const Attributes& /*attributes*/) const { return Role::none; }
  /// For an act inside a host: whether its purpose is to see that the host answers.
  virtual bool awaits_host(const Attributes& /*attributes*/) const { return false; }
  /// How a transition (start, stop, remove) leaves its host; none: this is not a transition.
  virtual std::optional<Presence> leaves_host() const { return std::nullopt; }

  /// The verb of a sentence about its first act: `exec` is run, a service is created.
  Verb first_verb() const {
    return sort() == Sort::observable ? Verb::create
           : sort() == Sort::action   ? Verb::run
                                      : Verb::ensure;
  }
};

/// Finds a kind by its name; none if there is no such kind.
class Kinds {
 public:
  virtual ~Kinds() = default;
  virtual const Kind* find(const Name& name) const = 0;
};

}  // namespace fettle
