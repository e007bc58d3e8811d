#pragma once
/// Finds the name that was probably meant instead of one that is not there. Empty: no name is near.

#include "model/program/program.h"

namespace fettle::model {

/// Among the types and plugins that `from` sees, written as it writes them.
std::string meant_type(Program& program, const Space& from, const QualifiedName& name);

/// Among the attributes and relations of an entity.
std::string meant_attribute(const Program& program, const Entity& entity, std::string_view name);

/// Among the variables of the namespace in which `name` is looked up, else a reserved word.
std::string meant_variable(Program& program, const QualifiedName& name);

}  // namespace fettle::model
