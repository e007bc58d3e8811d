#pragma once
/// Which labels are meant: a LabelSelector of Kubernetes, and the terms of a node selector, which
/// may also compare numbers.

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

/// All requirements have to match; one without any matches everything.
struct Selector {
  std::vector<Requirement> requirements;
  bool is_empty() const { return requirements.empty(); }
  /// `labels`: {key: text}; null counts as none.
  bool matches(const Value& labels) const;
};

/// From {"matchLabels", "matchExpressions"}; null gives the empty one. What was read has been
/// checked; a requirement that makes no sense matches nothing.
Selector selector_of(const Value& value);
/// From a list of {"key", "operator", "values"}.
std::vector<Requirement> requirements_of(const Value& list);

/// From what kubectl takes: `app=web,tier in (a,b),zone!=x,env,!old`. Errors (`Blame::user`): it is
/// none of that.
Result<Selector> parse_selector(std::string_view text);

/// As kubectl writes it: `app=web,tier in (a,b)`.
std::string to_string(const Selector& selector);

}  // namespace fettle::workloads
