#pragma once
/// Selects labels: a LabelSelector of Kubernetes, and the terms of a node selector, which may also
/// compare numbers.

#include <string>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle::workloads {

struct Requirement {
  enum class Operator { in, not_in, exists, does_not_exist, greater, less };
  Name key;
  Operator op = Operator::in;
  std::vector<Name> values;
  bool matches(const Value& labels) const;
};

/// All requirements must match. A selector without any matches everything.
struct Selector {
  std::vector<Requirement> requirements;
  bool is_empty() const { return requirements.empty(); }
  /// `labels`: {key: text}; null counts as a missing label.
  bool matches(const Value& labels) const;
};

/// Reads {"matchLabels", "matchExpressions"}; null gives the empty selector. The value was checked
/// when it was read; a requirement that makes no sense matches nothing.
Selector selector_of(const Value& value);
/// Reads a list of {"key", "operator", "values"}.
std::vector<Requirement> requirements_of(const Value& list);

/// Reads kubectl's form: `app=web,tier in (a,b),zone!=x,env,!old`. Errors (`Blame::user`): it has
/// another form.
Result<Selector> parse_selector(std::string_view text);

/// The selector as kubectl writes it: `app=web,tier in (a,b)`.
std::string to_string(const Selector& selector);

}  // namespace fettle::workloads
