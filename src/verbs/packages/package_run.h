#pragma once
/// The ordered list of instructions that were executed in an environment, for the seeds' resolver.
/// Every run and every edit by a command appends to it, whichever resolver was asked for.

#include "core/record.h"
#include "packages/statement.h"
#include "plan/overlap.h"
#include "workplace/edit.h"

namespace fettle {

/// The statements of a package as the resolver sees them.
std::vector<ListedInstruction> listed(const Intent& intent, std::span<const Statement> statements,
                                      const Kinds& kinds);

/// The intent as the resolver wants it: instructions that it found equal are done again only if
/// their result is lost, all others always.
std::shared_ptr<const Intent> with_resolution(const Intent& intent,
                                              std::span<const Statement> statements,
                                              const Resolution& resolution);

struct PackageRun {
  std::vector<ListedInstruction> list;
  bool of_a_killed_run = false;  ///< with what it kept, and what its records say that it did
};
Result<PackageRun> read_executed(const Workplace& place, const Name& environment);

/// Writes, before a run acts, what the list is going to be, so that a kill loses nothing.
struct Submission {
  std::span<const Statement> statements;
  const std::vector<ListedInstruction>& instructions;  ///< one for each statement
  const Resolution& resolution;
};
Status begin_executed(Edit& edit, const std::vector<ListedInstruction>& executed,
                      const Submission& submitted);
Status write_executed(Edit& edit, const std::vector<ListedInstruction>& list);
Status append_executed(const Workplace& place, Edit& edit, ListedInstruction instruction);

}  // namespace fettle
