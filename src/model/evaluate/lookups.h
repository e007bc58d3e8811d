#pragma once
/// Looks things up in dicts and in indexes. A look-up in an index may have to wait for the
/// instance.

#include <unordered_map>
#include <utility>
#include <vector>

#include "model/evaluate/state.h"

namespace fettle::model {

class Evaluator;

/// The names and values of a look-up in an index.
using IndexKeys = std::vector<std::pair<Symbol, Datum>>;

class Lookups {
 public:
  Lookups(State& state, Evaluator& evaluator)
      : program_(state.program),
        errors_(state.errors),
        contributions_(state.contributions),
        instances_(state.instances),
        now_(state.now),
        evaluator_(evaluator) {}

  /// `d[k]`
  Step in_dict(const MapLookup& node, Frame* frame, Datum& value);
  /// `A[k=v]`; `keys`: those that are known already.
  Step in_index(Entity* entity, std::span<const Argument> arguments, Frame* frame, const Expr* node,
                IndexKeys keys, Datum& value);
  /// `a.bs[k=v]`: the inverse of the relation is one more key.
  Step in_relation(const ShortLookup& node, Frame* frame, Datum& value);

  /// A value as a key of an index.
  Step as_key(const Expr& node, const Attribute& attribute, Datum& value);
  /// `k=1, s='a'`.
  std::string key_text(std::span<const std::pair<Symbol, Datum>> keys) const;
  /// A value cannot be a key.
  std::string no_key_text(Symbol name, const Datum& value) const;

  /// Reports all that tasks have looked for in vain, when nothing moves any more.
  void tell_missing(std::vector<Failure>& failures) const;

 private:
  Step look_up(Entity* entity, IndexKeys keys, const Expr* node, Datum& value);

  struct MissingInstance {
    std::string keys;
    const Expr* node;
  };
  Program& program_;
  Diagnosis& errors_;
  Contributions& contributions_;
  Instances& instances_;
  const Underway& now_;
  Evaluator& evaluator_;
  std::unordered_map<const Task*, MissingInstance> missing_;  ///< what a task waits for
};

}  // namespace fettle::model
