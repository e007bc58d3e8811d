#pragma once
/// The engines of a workplace: that of this machine, and one for each node. Each is a driver of its
/// own, whose name carries where it is (`engine`, `engine@NODE`), so that a resource and its record
/// say in which world they live, and a world that does not answer does not disturb the others.

#include <map>
#include <set>

#include "reconcile/carry_out.h"
#include "workplace/workplace.h"

namespace fettle {

/// The driver of this machine's engine.
inline constexpr std::string_view own_engine = "engine";
/// The driver of a node's engine; for no node, this machine's.
Name engine_of_node(std::string_view node);
/// The node of an engine's driver; empty for this machine's.
std::string_view node_of_engine(const Name& driver);
bool is_engine(const Name& driver);

/// The drivers of all engines, this machine's first.
Result<std::vector<Name>> engines_of(const Workplace& place);
/// All drivers that an intent or the records name.
std::set<Name> drivers_of(const Intent& intent);
std::set<Name> drivers_of(const Known& known);

/// Why engines of nodes do not answer, by driver. All are asked at once. The engine of a node that
/// is no longer known counts as not answering. Errors: a stop was asked for.
Result<std::map<Name, std::string>> silent_engines(const Workplace& place,
                                                   const std::set<Name>& drivers);
/// The same in two steps. To make drivers, the store is read, so only the second step may run on
/// another thread.
using Engines = std::map<Name, Driver*>;  ///< by driver; null: there is no such node any more
Engines engines_named(const Workplace& place, const std::set<Name>& drivers);
Result<std::map<Name, std::string>> silent_of(const Engines& engines, const std::stop_token& stop);

/// Stands for an engine that is known not to answer, so that nobody waits for it again.
Driver& away_driver();

/// Takes out of a request what lives where nobody answers: what is wanted there cannot be acted on,
/// and what is left there stays recorded. Says so.
Status leave_silent_engines(const Workplace& place, RunRequest& run_request,
                            RunContext& run_context);

}  // namespace fettle
