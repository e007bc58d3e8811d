#pragma once
/// Which name was probably meant by one that is not there. Each gives an empty text when no name is
/// near.

#include "model/program/program.h"

namespace fettle::model {

/// Of the types and plugins that `from` sees, written as it writes them.
std::string meant_type(Program& program, const Space& from, const QualifiedName& name);

/// Of the attributes and relations of an entity.
std::string meant_attribute(const Program& program, const Entity& entity, std::string_view name);

/// Of the variables of the namespace that `name` is looked for in; else a reserved word.
std::string meant_variable(Program& program, const QualifiedName& name);

}  // namespace fettle::model
