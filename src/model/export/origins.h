#pragma once
/// Finds where values come from. A value is followed backwards from its attribute through the
/// expressions that gave it: arguments of constructors, assignments, variables, loops and calls of
/// plugins. What became of the value on the way is not known.

#include <deque>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/model.h"

namespace fettle::model {

/// An attribute of an instance.
using Source = std::pair<const Instance*, uint32_t>;

struct Origin {
  std::set<Source> sources;      ///< attributes of which the value is made
  bool is_from_plugin = false;   ///< a call is on the way
  bool may_be_anything = false;  ///< an expression on the way cannot be followed

  /// Whether the value may be made from the attribute.
  bool may_have(const Source& source) const { return may_be_anything || sources.contains(source); }
  bool may_come_from_plugin() const { return may_be_anything || is_from_plugin; }
  bool is_constant() const { return sources.empty() && !is_from_plugin && !may_be_anything; }
  void add(const Origin& other);
};

class Origins {
 public:
  explicit Origins(const Model& model);

  /// The origin of the value of an attribute, which itself counts as a source. Arguments of the
  /// constructor of `border` (may be null) are not followed any further.
  Origin of(const Source& source, const Instance* border);

 private:
  /// A file or an implementation: what its variables are given.
  struct Scope {
    const Entity* entity = nullptr;  ///< of an implementation
    std::unordered_map<Symbol, std::vector<const Expr*>> variables;
  };
  struct ConstructorSite {
    const Constructor* node;
    const Scope* scope;
  };
  struct AssignmentSite {
    const AssignAttribute* node;
    const Scope* scope;
  };
  class Reader;
  class Walk;

  const Model& model_;
  std::deque<Scope> scopes_;
  std::vector<const Scope*> files_;                             ///< by number of the namespace
  std::unordered_map<uint64_t, ConstructorSite> constructors_;  ///< by place
  std::unordered_map<Symbol, std::vector<AssignmentSite>> assignments_;
};

}  // namespace fettle::model
