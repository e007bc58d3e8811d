#pragma once
/// The catalogue of all states: their functions, and what these take. With it, a compile reports
/// missing states before anything runs. `doc` prints it.
///
/// To add a built-in state: see `builtins.h`. States of users come from other catalogues,
/// which are asked first.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "states/shape.h"
#include "value/value.h"

namespace fettle::states {

struct Parameter {
  Name name;
  std::optional<Value> otherwise;  ///< the default; none: the parameter is required
  std::string text;
  Shape shape = Shape::any;     ///< of the given value; null is allowed if there is a default
  std::vector<Name> aliases{};  ///< other names under which it may be given
};

struct Function {
  Name name;
  std::string text;
  std::vector<Parameter> parameters;  ///< without `name`
  bool takes_rest = false;            ///< it takes any further argument, too
  std::string test_mode;              ///< the answer of `--test`
  Value computed{};                   ///< outputs that make no difference (`value/changes.h`)
  /// The parameters that get what memory has when a file leaves them out; none: all do.
  std::optional<std::vector<Name>> remembered{};
  /// With this argument, the thing exists: nothing else is required, as nothing is made.
  Name identity{};

  /// By its name, or by another one under which it may be given.
  const Parameter* find(std::string_view parameter) const;
  /// Whether a parameter that a file leaves out gets what memory has.
  bool remembers(std::string_view parameter) const;
};

/// The implied needs of every use of a function (Idem: TREQ).
struct ImpliedNeeds {
  Name function;
  std::vector<Name> require;  ///< all states of these refs, `state.function` or `state`
};

struct Module {
  Name ref;
  std::string text;
  std::vector<Function> functions;
  std::vector<ImpliedNeeds> implied;
  std::vector<Name> unique;       ///< functions that are called one at a time
  Value wait;                     ///< its `__reconcile_wait__`; null: none
  bool has_is_pending = false;    ///< it says itself whether a result is pending
  bool skips_memory = false;      ///< nothing about it is remembered
  bool can_look = true;           ///< with `ctx.test` it changes nothing
  bool can_repeat = true;         ///< a call that did not end may be repeated
  bool is_instant = false;        ///< it does not block, and touches nothing outside fettle
  std::vector<Name> providers{};  ///< those whose credentials it uses

  const Function* find(std::string_view function) const;
};

/// Users' waits, by name: `NAME` is the function `reconcile.wait.NAME.get`. The text says why one
/// cannot be used; empty: it can.
using Waits = std::map<std::string, std::string>;

class Catalogue {
 public:
  virtual ~Catalogue() = default;
  /// Null: there is no such state.
  virtual const Module* find(std::string_view ref) const = 0;
  virtual std::vector<std::string> refs() const = 0;
  virtual const Waits& waits() const;
};

/// The states that ship.
const Catalogue& builtin_states();

/// Joins several catalogues. If two know a ref, the first one counts. They must outlive the result.
std::unique_ptr<Catalogue> joined(std::vector<const Catalogue*> catalogues);

/// Makes a catalogue of modules and waits.
std::unique_ptr<Catalogue> catalogue_of(std::vector<Module> modules, Waits waits = {});

}  // namespace fettle::states
