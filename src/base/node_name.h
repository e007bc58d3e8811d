#pragma once
/// Names of machines that run something for others: nodes of a fleet, and agents.

#include <string_view>

#include "base/result.h"

namespace fettle {

/// By the rules of Kubernetes: it becomes part of keys, of names of drivers and of files. `what`:
/// `a node`. Error (`Blame::user`): it is none.
Status check_node_name(std::string_view name, std::string_view what);

}  // namespace fettle
