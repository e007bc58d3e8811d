#pragma once
/// The types of a model on which fettle can act by itself, and how it uses their fields. To add
/// one: a row in the table of `types.cc`.

#include <string_view>

#include "base/result.h"
#include "core/kind.h"
#include "value/value.h"

namespace fettle::model {

struct DeployedType {
  std::string_view name;    ///< `fs::File`
  const Kind* kind;         ///< what the engine makes of it
  std::string_view driver;  ///< who acts
  bool needs_agent = true;  ///< else it is nowhere in particular
  /// The attributes of the kind, not normalised. Errors (`Blame::user`): a field is wrong.
  Result<Value> (*attributes)(const Value& fields);
};

/// Null: fettle has nothing for the type.
const DeployedType* find_deployed_type(std::string_view type);

}  // namespace fettle::model
