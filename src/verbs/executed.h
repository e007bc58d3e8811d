#pragma once
/// The ordered list of what was executed in an environment, which the seeds' resolver reads. Every
/// run and every edit by a command appends to it, whatever resolver is asked for.

#include "core/record.h"
#include "plan/overlap.h"
#include "verbs/workplace.h"

namespace fettle {

/// The statements of an intent as the resolver sees them.
std::vector<ListedInstruction> listed(const Intent& intent);

/// The intent as the resolver wants it: what it found equal is never done again, everything else
/// always.
std::shared_ptr<const Intent> with_resolution(const Intent& intent, const Resolution& resolution);

/// After a run that was killed, what it kept of the list and those of its instructions whose
/// records say that they were done.
Result<std::vector<ListedInstruction>> read_executed(const Workplace& place,
                                                     const Name& environment);

/// Says before a run acts what the list is going to be, so that nothing is lost when it is killed.
struct Submission {
  const Intent& intent;
  const std::vector<ListedInstruction>& instructions;  ///< of the intent's statements
  const Resolution& resolution;
};
Status begin_executed(const Workplace& place, const Name& environment,
                      const std::vector<ListedInstruction>& executed, const Submission& submitted);
Status write_executed(const Workplace& place, const Name& environment,
                      const std::vector<ListedInstruction>& list);
Status append_executed(const Workplace& place, const Name& environment,
                       ListedInstruction instruction);

}  // namespace fettle
