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
  observable,  ///< the world can be asked whether it is there and as wanted
  action,      ///< only its own record tells that it was done
  ensuring,  ///< looks and acts in one call: due on every run, reports whether it changed anything
};

/// The meaning of an action inside a host for the host.
enum class Role {
  none,   ///< not a matter of history
  reads,  ///< runs again when the history before it ran anew
  acts,   ///< part of the host's history: changing it makes the host another one
};

/// How a thing is expected to be found.
enum class Presence {
  running,  ///< unless it came to its end by itself
  serving,  ///< others wait for it to answer: it runs, and has no end
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

  /// Checks the attributes, fills in defaults, drops what has no effect and sorts what has no
  /// order, so that from here on equality is `==`. Holes may stand wherever a text may.
  virtual Result<Attributes> normalise(const Value& attributes) const {
    return Attributes(attributes);
  }

  /// Whether what is there can only be ours, since the driver marks what it makes.
  virtual bool is_marked() const { return true; }

  /// Of what is not marked: where it is, as a path of its driver's world. Two at one path are one
  /// thing, whatever their keys, and what is below a path is inside. Empty: nowhere, since it is to
  /// be away, or nobody knows yet.
  virtual std::string place(const Attributes& /*attributes*/, const Outputs& /*outputs*/) const {
    return {};
  }

  /// What only one thing at a time can have, as texts that are equal when it is the same: a port of
  /// the machine. Who lets go of it comes before who takes it.
  virtual std::vector<std::string> holds(const Attributes& /*attributes*/) const { return {}; }

  /// Whether the change from one to the other can be made without making the thing anew.
  virtual bool in_place_changes(const Attributes& /*before*/, const Attributes& /*after*/) const {
    return false;
  }

  /// What the difference between record and world asks for (drift), of an observable kind. `seen`
  /// is an observation that was made; `expected` is what the last transition left. Asked before the
  /// wanted attributes are compared with the recorded ones.
  virtual Comparison compare(const Record& known, const Observation& seen, Presence expected) const;

  /// The digests of the contents that it put out. When one is lost, it is due again.
  virtual std::vector<Name> contents(const Outputs& /*outputs*/) const { return {}; }

  /// Of an action: whether one that was interrupted may have left something in the world, which its
  /// driver takes away when it is told to remove it.
  virtual bool leaves_remains() const { return false; }

  virtual Role role(const Attributes& /*attributes*/) const { return Role::none; }
  /// Of what happens inside a host: whether it is there to see that the host answers.
  virtual bool awaits_host(const Attributes& /*attributes*/) const { return false; }
  /// How a transition (start, stop, remove) leaves its host; none: this is no transition.
  virtual std::optional<Presence> leaves_host() const { return std::nullopt; }

  /// What one does with it, for a sentence: `exec` is run, a service is created.
  Verb first_verb() const {
    return sort() == Sort::observable ? Verb::create
           : sort() == Sort::action   ? Verb::run
                                      : Verb::ensure;
  }
};

/// Finds a kind by its name; none when there is no such kind.
class Kinds {
 public:
  virtual ~Kinds() = default;
  virtual const Kind* find(const Name& name) const = 0;
};

}  // namespace fettle
