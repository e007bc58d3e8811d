#pragma once
/// `relation_precedence_policy` of `project.yml`: which relations are complete before others.

#include "model/program/program.h"

namespace fettle::model {

/// Ranks the relations that the rules `entity.relation before entity.relation` name, those without
/// a predecessor first. Errors (`Blame::user`): a rule of another form, an unknown name, a circle.
Status rank_relations(Program& program, const Project& project);

}  // namespace fettle::model
