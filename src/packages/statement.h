#pragma once
/// One instruction of a package as scripts and people read it. It is kept if all its resources are.

#include <memory>
#include <vector>

#include "core/key.h"
#include "value/value.h"

namespace fettle {

struct Statement {
  Name name;    ///< `add_service`
  Name text;    ///< canonical text
  Name origin;  ///< `file:line:column`
  std::vector<Key> keys;
  Value detail;  ///< what a report finds again: arguments, description, names
};

/// The statements in the order of the script.
using Statements = std::shared_ptr<const std::vector<Statement>>;

}  // namespace fettle
