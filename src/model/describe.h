#pragma once
/// Statements and expressions in the words of error messages: `x = Construct(A)`, `(1 < 'a')`.

#include <string>

#include "model/program.h"

namespace fettle::model {

std::string describe(const Program& program, const Expr* expr);
std::string describe(const Program& program, const Stmt* statement);
/// `string n = 5`.
std::string describe(const Program& program, const AttributeDefinition& definition);
/// `implement a::A using i when self.n`.
std::string describe(const Program& program, const Entity& entity, const Implement& implement);

/// Where an expression is, exact for the kinds whose column errors print.
Place location_of(const Expr* expr);

/// `x = 1 (m.cf:2)`.
std::string reported_in(const Program& program, const Expr* expr);
std::string reported_in(const Program& program, const Stmt* statement);
std::string reported_in(const Program& program, const Instance* instance);

}  // namespace fettle::model
