#pragma once
/// Statements and expressions in the words of error messages: `x = Construct(A)`, `(1 < 'a')`.

#include <string>

#include "model/program/program.h"

namespace fettle::model {

std::string describe(const Program& program, const Expr* expr);
std::string describe(const Program& program, const Stmt* statement);
/// `string n = 5`.
std::string describe(const Program& program, const AttributeDefinition& definition);
/// `implement a::A using i when self.n`.
std::string describe(const Program& program, const Entity& entity, const Implement& implement);

/// The place of an expression, exact for the kinds whose column is printed in errors.
Place location_of(const Expr* expr);
/// A constructor lacks values of indexes.
std::string missing_keys(const Program& program, const Entity& entity,
                         std::span<const uint32_t> slots);
/// Whether a name stands for nothing.
inline bool is_nothing(const Name& name) {
  return name.found == NameKind::missing || name.found == NameKind::no_space;
}
/// Whether an expression passes on the names in it: then the expression that computes with the
/// value reports errors about them.
bool hands_on(const Expr* expr);

/// `x = 1 (m.cf:2)`.
std::string reported_in(const Program& program, const Expr* expr);
std::string reported_in(const Program& program, const Stmt* statement);
std::string reported_in(const Program& program, const Instance* instance);

}  // namespace fettle::model
